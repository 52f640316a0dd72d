"""Outlets against a real server, a real process, a stand-in for W&B: what arrives, and what failure costs."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grpo_tui.outlets.dispatch import Dispatcher, Outlet
from grpo_tui.outlets.notice import Notice
from grpo_tui.outlets.senders import Command, Desktop, OutletError, WandbAlert, Webhook
from grpo_tui.outlets.settings import OutletSettingError, outlets_of
from grpo_tui.playbook.alarms.alarm import Alarm

SECRET = "s3cr3t-t0ken"
ALARM = Alarm(
    "lock@0:8",
    "dead-lock",
    "Lock",
    "critical",
    "collapse.dead-lock",
    "firing",
    8,
    30,
    "<!here> & \x1b[31mred",
)
NOTICE = Notice("/runs/run-1", "fired", "critical", ALARM.message, 30, ALARM)


class Server(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[int] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook/{SECRET}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    held = Server()
    thread = threading.Thread(target=held.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield held
    held.shutdown()
    held.server_close()


# -- HTTP ------------------------------------------------------------------------------------------


def test_a_webhook_gets_the_alarm_as_json(server: Server) -> None:
    Webhook("webhook", server.url, {"Authorization": f"Bearer {SECRET}"}).send(NOTICE)
    [(path, headers, body)] = server.got
    assert path == f"/hook/{SECRET}" and headers["Authorization"] == f"Bearer {SECRET}"
    assert body["schema"] == 1 and body["news"] == "fired" and body["alarm"]["first_step"] == 8
    assert "\x1b" not in body["text"]


def test_slack_and_discord_get_their_shapes_and_nobody_is_called_by_a_log_line(server: Server) -> None:
    Webhook("slack", server.url).send(NOTICE)
    Webhook("discord", server.url).send(NOTICE)
    slack, discord = (body for _, _, body in server.got)
    assert slack["text"].startswith("✖ run-1: dead-lock (critical)\n&lt;!here&gt; &amp;")
    assert discord["allowed_mentions"] == {"parse": []} and "since step 8" in discord["content"]


@pytest.mark.parametrize(
    ("code", "said"), [(500, "answered 500"), (404, "answered 404"), (307, "answered 307")]
)
def test_an_answer_that_is_no_success_is_an_error_without_the_address(
    server: Server, code: int, said: str
) -> None:
    server.answers = [code]
    with pytest.raises(OutletError, match=said) as caught:
        Webhook("slack", server.url).send(NOTICE)
    assert SECRET not in str(caught.value) + repr(Webhook("slack", server.url))
    assert Webhook("slack", server.url).name == "slack (127.0.0.1)"


def test_nobody_there_is_an_error(server: Server) -> None:
    with pytest.raises(OutletError, match="refused"):
        Webhook("webhook", f"http://127.0.0.1:9/{SECRET}").send(NOTICE)


# -- the machine -----------------------------------------------------------------------------------


def test_a_command_gets_the_alarm_on_its_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "out; touch nothing"
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    Command([sys.executable, "-c", code, str(out)]).send(NOTICE)
    assert json.loads(out.read_text())["alarm"]["id"] == "lock@0:8"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["/no/such/program", SECRET], "No such file"),
        ([sys.executable, "-c", "raise SystemExit(3)"], "ended with 3"),
        ([sys.executable, "-c", "import time; time.sleep(30)"], "did not end"),
    ],
)
def test_a_command_that_fails_is_an_error(argv: list[str], said: str) -> None:
    with pytest.raises(OutletError, match=said) as caught:
        Command(argv, seconds=0.3).send(NOTICE)
    assert SECRET not in str(caught.value) + Command(argv).name


def test_the_desktop_is_told_by_the_notifier_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notifier = tmp_path / "notify-send"
    notifier.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{tmp_path}/told"\n')
    notifier.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    Desktop().send(NOTICE)
    assert "--urgency=critical|--|✖ run-1: dead-lock (critical)|" in (tmp_path / "told").read_text()


def test_without_notifier_and_terminal_the_desktop_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(OutletError, match="no notify-send"):
        Desktop().send(NOTICE)


def test_wandb_is_told_through_a_run_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    begun: list[dict[str, Any]] = []

    def init(**given: Any) -> SimpleNamespace:
        begun.append(given)
        return SimpleNamespace(alert=lambda **alert: told.append(alert))

    levels = SimpleNamespace(INFO="INFO", WARN="WARN", ERROR="ERROR")
    fake = SimpleNamespace(init=init, AlertLevel=levels, Settings=lambda **_: None, __spec__=object())
    monkeypatch.setitem(sys.modules, "wandb", fake)  # type: ignore[arg-type]
    outlet = WandbAlert({"project": "alarms"})
    outlet.send(NOTICE)
    outlet.send(NOTICE)
    assert len(begun) == 1 and begun[0]["project"] == "alarms"
    assert [alert["level"] for alert in told] == ["ERROR", "ERROR"]


# -- dispatch --------------------------------------------------------------------------------------


class Sender:
    name = "fake"

    def __init__(self, *fails: bool, seconds: float = 0.0) -> None:
        self.fails, self.seconds = list(fails), seconds
        self.got: list[Notice] = []

    def send(self, notice: Notice) -> None:
        time.sleep(self.seconds)
        if self.fails and self.fails.pop(0):
            raise OutletError("is gone")
        self.got.append(notice)


def test_a_dead_outlet_is_told_of_once_and_its_recovery_as_well() -> None:
    sender, told = Sender(*[True] * 6, False), []
    dispatcher = Dispatcher([Outlet(sender)], told.append, retry_seconds=0)
    for _ in range(4):
        dispatcher.send(NOTICE)
        time.sleep(0.02)
    dispatcher.close()
    assert told == ["outlet fake: is gone; the watch goes on", "outlet fake: works again"]
    assert [notice.held_back for notice in sender.got] == [3]
    assert "not sent: 3" in sender.got[0].body


def test_more_than_the_limit_is_counted_and_said_with_the_next() -> None:
    now = 0.0
    sender, told = Sender(), []
    dispatcher = Dispatcher([Outlet(sender, per_minute=2)], told.append, clock=lambda: now)
    for _ in range(5):
        dispatcher.send(NOTICE)
    now = 61.0
    dispatcher.send(NOTICE)
    dispatcher.close()
    assert [notice.held_back for notice in sender.got] == [0, 0, 3] and told == []


def test_a_slow_outlet_holds_up_nobody_and_is_left_behind_at_the_end() -> None:
    told: list[str] = []
    dispatcher = Dispatcher([Outlet(Sender(seconds=5.0))], told.append)
    begun = time.monotonic()
    dispatcher.send(NOTICE)
    dispatcher.send(NOTICE)
    assert time.monotonic() - begun < 1.0
    dispatcher.close(0.1)
    assert time.monotonic() - begun < 3.0 and told == ["outlet fake: not sent: 2"]


def test_an_outlet_is_not_told_of_what_is_below_its_severity() -> None:
    sender = Sender()
    dispatcher = Dispatcher([Outlet(sender)], print)
    dispatcher.send(Notice("run", "fired", "info", "small"))
    dispatcher.close()
    assert sender.got == []


def test_a_bug_in_a_sender_is_a_dead_outlet_and_no_more() -> None:
    class Broken(Sender):
        def send(self, notice: Notice) -> None:
            raise ZeroDivisionError

    told: list[str] = []
    dispatcher = Dispatcher([Outlet(Broken())], told.append, retry_seconds=0)
    dispatcher.send(NOTICE)
    dispatcher.close()
    assert told[0] == "outlet fake: ZeroDivisionError; the watch goes on"


# -- settings --------------------------------------------------------------------------------------


def test_outlets_from_a_file_and_from_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_TOKEN", SECRET)
    file = tmp_path / "outlets.yaml"
    file.write_text(
        "outlets:\n"
        "  - slack: https://hooks.example.org/${HOOK_TOKEN}\n"
        "    severity: critical\n"
        "  - webhook: http://example.org/hook\n"
        '    headers: {Authorization: "Bearer ${HOOK_TOKEN}"}\n'
        "    per_minute: 2\n"
        "  - command: [python, page.py]\n"
        "  - desktop: true\n"
    )
    slack, webhook, command, desktop, flag = outlets_of(file, ["command=page --to 'me and you'"])
    assert slack.sender.url.endswith(SECRET) and slack.least == "critical"  # type: ignore[attr-defined]
    assert webhook.sender.headers == {"Authorization": f"Bearer {SECRET}"} and webhook.per_minute == 2  # type: ignore[attr-defined]
    assert command.sender.name == "command (python)" and desktop.sender.name == "desktop"
    assert flag.sender.argv == ["page", "--to", "me and you"]  # type: ignore[attr-defined]
    assert SECRET not in repr(slack) + repr(webhook)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("outlets: 3", "expected `outlets:` with a list"),
        ("outlets: []\nmore: 1", "and nothing else"),
        ("outlets: [x]", "outlet 1: expected a kind"),
        (f"outlets: [{{slak: 'https://x/{SECRET}'}}]", "'slak' is no outlet - did you mean 'slack'?"),
        (f"outlets: [{{slack: 'file:///{SECRET}'}}]", "has to begin with http"),
        ("outlets: [{slack: 'https://x/${NOT_SET}'}]", "NOT_SET is not set"),
        ("outlets: [{slack: 'https://x/', severity: loud}]", "severity is one of"),
        ("outlets: [{slack: 'https://x/', per_minute: 0}]", "from 1 to 60"),
        ("outlets: [{slack: 'https://x/', discord: 'https://x/'}]", "expected one of"),
        (f"outlets: [{{command: 'rm {SECRET}'}}]", "a list of texts"),
        ("outlets: [{desktop: yes please}]", "desktop: true"),
        ("outlets: [{desktop: true, headers: {}}]", "only an address has headers"),
        ("outlets: {", "line "),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence_without_secrets(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "outlets.yaml"
    file.write_text(text)
    with pytest.raises(OutletSettingError, match=said.replace("?", r"\?").replace("{", r"\{")) as caught:
        outlets_of(file, [])
    assert SECRET not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("flag", ["slack", "slack=", "mail=me", "desktop=1", "command='x", "webhook=ftp://x"])
def test_a_mistake_in_a_flag_is_one_sentence(flag: str) -> None:
    with pytest.raises(OutletSettingError):
        outlets_of(None, [flag])


def test_wandb_where_it_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OutletSettingError, match="wandb: is not installed here"):
        outlets_of(None, ["wandb=alarms"])
