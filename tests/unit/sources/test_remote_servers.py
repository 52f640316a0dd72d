"""Runs behind real servers on this machine: SFTP, FTP, S3, plain HTTP. Each skips without its packages."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grpo_tui.run import Run

pytest.importorskip("fsspec")

MANY = 2000
Write = Callable[[bytes], None]


def rows(*steps: int) -> bytes:
    return b"".join(json.dumps({"step": i, "reward": i / 10}).encode() + b"\n" for i in steps)


def read(run: Run) -> list[int]:
    while run.poll():
        pass
    run.poll(final=True)
    return run.points("reward_mean").steps.tolist()


def follow(address: str, write: Write, *, ranges: bool = True) -> None:
    """Open a run, let it grow by a row, and see what came over the wire."""
    write(rows(*range(1, MANY + 1)))
    run = Run.open(address)
    assert len(read(run)) == MANY
    mirror = run.found.mirror
    assert mirror is not None and mirror.problem is None
    before = mirror.fetched
    write(rows(*range(1, MANY + 2)))
    assert read(run)[-1] == MANY + 1, run.warnings
    if ranges:
        assert 0 < mirror.fetched - before <= len(rows(MANY + 1)) + 64
    mirror.close()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "run"
    folder.mkdir(parents=True)
    return folder


def test_sftp(run_folder: Path) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    pytest.importorskip("paramiko")
    import asyncio

    class Server(asyncssh.SSHServer):  # type: ignore[name-defined,misc]
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return password == "secret"

    loop = asyncio.new_event_loop()
    ready = threading.Event()
    port: list[int] = []

    async def serve() -> None:
        root = str(run_folder.parent)
        factory = functools.partial(asyncssh.SFTPServer, chroot=root)
        server = await asyncssh.create_server(
            Server,
            "127.0.0.1",
            0,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            sftp_factory=factory,
        )
        port.append(server.sockets[0].getsockname()[1])
        ready.set()

    def turn() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()

    threading.Thread(target=turn, daemon=True).start()
    assert ready.wait(20)
    address = f"sftp://me:secret@127.0.0.1:{port[0]}/run"
    follow(address, (run_folder / "metrics.jsonl").write_bytes)
    wrong = Run.open(address)
    assert "secret" not in wrong.address
    loop.call_soon_threadsafe(loop.stop)


def test_ftp(run_folder: Path) -> None:
    pytest.importorskip("pyftpdlib")
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.servers import ThreadedFTPServer

    authorizer = DummyAuthorizer()
    authorizer.add_user("me", "secret", str(run_folder.parent), perm="elr")
    handler = type("Handler", (FTPHandler,), {"authorizer": authorizer})
    server = ThreadedFTPServer(("127.0.0.1", 0), handler)
    port = server.address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    follow(f"ftp://me:secret@127.0.0.1:{port}/run", (run_folder / "metrics.jsonl").write_bytes)
    server.close_all()


def test_s3(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    moto_server = pytest.importorskip("moto.server")
    import fsspec

    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    fs = fsspec.filesystem("s3", skip_instance_cache=True)
    fs.mkdir("bucket")
    follow("s3://bucket/run", lambda data: fs.pipe("bucket/run/metrics.jsonl", data))
    server.stop()


@pytest.fixture
def web(run_folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(run_folder.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/run"
    server.shutdown()


def test_http_that_knows_no_ranges(run_folder: Path, web: str) -> None:
    """Then the whole file comes again and the new end of it is kept."""
    pytest.importorskip("aiohttp")
    log = run_folder / "metrics.jsonl"
    follow(f"{web}/metrics.jsonl", log.write_bytes, ranges=False)
