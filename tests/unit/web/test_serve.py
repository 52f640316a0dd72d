"""The app in a browser: a real server on 127.0.0.1, with and without its token, and a real app behind it."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.demo import DEMOS

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

RUN = DEMOS["lr-too-high"].folder


def listening(port: int, patience: float = 60.0) -> bool:
    """Whether the server answers within `patience` seconds."""
    start = time.monotonic()
    while time.monotonic() - start < patience:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that the command prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "grpo_tui", "serve", str(RUN), "--port", str(port)]
    environment = os.environ | {"GRPO_TUI_STATE": str(tmp_path_factory.mktemp("state"))}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        assert listening(port)
        yield found[0]
        process.send_signal(signal.SIGINT)
        process.wait(20)


@contextlib.asynccontextmanager
async def visitor() -> AsyncIterator["aiohttp.ClientSession"]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


async def test_without_the_token_nothing_is_served(served: str) -> None:
    base = served.split("/?")[0]
    async with visitor() as session:
        for path in ("/", "/ws", "/static/js/textual.js", "/?token=wrong", "/download/x"):
            async with session.get(base + path) as response:
                assert response.status == 403, path
                assert "token" in await response.text()


async def test_another_site_cannot_open_the_socket(served: str) -> None:
    base = served.split("/?")[0]
    async with visitor() as session:
        async with session.get(served) as response:
            assert response.status == 200
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(base + "/ws", headers={"Origin": "http://evil.example"})


async def test_with_it_the_app_draws(served: str) -> None:
    base = served.split("/?")[0]
    async with visitor() as session:
        async with session.get(served) as response:
            assert response.status == 200 and "token=" not in str(response.url)
            assert "textual" in (await response.text()).lower()
        async with session.ws_connect(base + "/ws?width=120&height=36", headers={"Origin": base}) as socket_:
            drawn = b""
            for _ in range(400):
                message = await asyncio.wait_for(socket_.receive(), 30)
                drawn += message.data.encode() if isinstance(message.data, str) else (message.data or b"")
                if b"reward_mean" in drawn:
                    break
            assert b"reward_mean" in drawn


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--host", "0.0.0.0"], "ssh -L"),
        (["--port", "99999"], "is no port"),
    ],
)
def test_bad_input_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(RUN), *words]) == 2
    assert line in capsys.readouterr().err


def test_a_path_without_a_run_is_refused_before_anything_listens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / "none")]) == 2
    assert main(["serve", "-"]) == 2
    assert "cannot be served" in capsys.readouterr().err
