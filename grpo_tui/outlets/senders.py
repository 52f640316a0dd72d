"""How a notice gets out: by HTTP, to a command, to the desktop, through W&B.

A sender has a name that may be printed, and `send`, which raises `OutletError` with a sentence that holds
no address and no secret.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Protocol
from urllib.parse import urlsplit

from .notice import Notice

HTTP_SECONDS = 10.0
COMMAND_SECONDS = 30.0
_DISCORD_LONGEST = 1900


class OutletError(Exception):
    """Why a notice did not get out, in a few words that hold no secret."""


class Sender(Protocol):
    @property
    def name(self) -> str: ...
    def send(self, notice: Notice) -> None:
        """Deliver, or raise OutletError."""


# -- HTTP ------------------------------------------------------------------------------------------


def _as_json(notice: Notice) -> dict[str, Any]:
    return notice.as_dict()


def _as_slack(notice: Notice) -> dict[str, Any]:
    """Slack reads `&`, `<` and `>` as markup, also in a plain text."""
    text = f"{notice.title}\n{notice.body}"
    for sign, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, escaped)
    return {"text": text, "mrkdwn": False}


def _as_discord(notice: Notice) -> dict[str, Any]:
    """No `@everyone` out of a log line may call anybody."""
    text = f"{notice.title}\n{notice.body}"[:_DISCORD_LONGEST]
    return {"content": text, "allowed_mentions": {"parse": []}}


DIALECTS: Mapping[str, Callable[[Notice], dict[str, Any]]] = {
    "webhook": _as_json,
    "slack": _as_slack,
    "discord": _as_discord,
}


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A webhook that sends us elsewhere is a mistake; the alarm must not follow it to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Webhook:
    """A POST of JSON to an address. Raises ValueError for anything but http and https."""

    dialect: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = HTTP_SECONDS

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.dialect}: the address has to begin with http:// or https://")

    @property
    def name(self) -> str:
        """`slack (hooks.slack.com)`: the path of an address is its key, so only the host is said."""
        return f"{self.dialect} ({urlsplit(self.url).hostname})"

    def send(self, notice: Notice) -> None:
        body = json.dumps(DIALECTS[self.dialect](notice), ensure_ascii=True).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "grpo-tui", **self.headers}
        opener = urllib.request.build_opener(_StayHere)
        try:
            request = urllib.request.Request(self.url, body, headers, method="POST")
            with opener.open(request, timeout=self.seconds) as answer:
                answer.read(1024)
        except urllib.error.HTTPError as error:
            raise OutletError(f"answered {error.code}") from None
        except urllib.error.URLError as error:
            reason = error.reason
            raise OutletError(
                reason.strerror or "not reachable" if isinstance(reason, OSError) else "not reachable"
            ) from None
        except TimeoutError:
            raise OutletError(f"no answer within {self.seconds:g} s") from None
        except (OSError, HTTPException, ValueError) as error:
            raise OutletError(type(error).__name__) from None


# -- this machine ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A program with the notice as JSON on its standard input; never a shell."""

    argv: Sequence[str] = field(repr=False)
    seconds: float = COMMAND_SECONDS

    @property
    def name(self) -> str:
        """Arguments may hold a token, so only the program is said."""
        return f"command ({self.argv[0]})"

    def send(self, notice: Notice) -> None:
        try:
            done = subprocess.run(
                list(self.argv),
                input=json.dumps(notice.as_dict()).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=self.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OutletError(f"did not end within {self.seconds:g} s") from None
        except (OSError, ValueError) as error:
            raise OutletError(getattr(error, "strerror", None) or "cannot be started") from None
        if done.returncode:
            raise OutletError(f"ended with {done.returncode}")


@dataclass(frozen=True)
class Desktop:
    """A notification of the desktop: `notify-send`, macOS's own, else the terminal's (OSC 9)."""

    name: str = "desktop"

    def send(self, notice: Notice) -> None:
        notifier, script = shutil.which("notify-send"), shutil.which("osascript")
        if notifier is not None:
            urgency = {"info": "low", "warning": "normal", "critical": "critical"}[notice.severity]
            argv = [notifier, "--app-name=grpo-tui", f"--urgency={urgency}", "--", notice.title, notice.body]
        elif script is not None:
            say = "on run {a, b}\ndisplay notification b with title a\nend run"
            argv = [script, "-e", say, notice.title, notice.body]
        elif sys.stderr.isatty():
            sys.stderr.write(f"\x1b]9;{notice.title}: {notice.body}\x1b\\")
            sys.stderr.flush()
            return
        else:
            raise OutletError("no notify-send here, and no terminal to tell")
        try:
            done = subprocess.run(argv, capture_output=True, timeout=HTTP_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            raise OutletError("the notifier does not answer") from None
        if done.returncode:
            raise OutletError(f"the notifier ended with {done.returncode}")


# -- W&B -------------------------------------------------------------------------------------------


class WandbAlert:
    """W&B's own alert, from a small run of its own: the training process owns the training run.

    Raises ValueError where wandb cannot be imported. The run is begun with the first alarm.
    """

    name = "wandb"

    def __init__(self, settings: Mapping[str, str]) -> None:
        if importlib.util.find_spec("wandb") is None:
            raise ValueError("wandb: is not installed here; pip install wandb, or use a webhook")
        self._settings = dict(settings)
        self._run: Any = None

    def send(self, notice: Notice) -> None:
        try:
            wandb = importlib.import_module("wandb")
            if self._run is None:
                given = {"job_type": "grpo-tui-alarms", **self._settings}
                self._run = wandb.init(**given, settings=wandb.Settings(silent=True))
            level = {"info": "INFO", "warning": "WARN", "critical": "ERROR"}[notice.severity]
            self._run.alert(title=notice.title, text=notice.body, level=getattr(wandb.AlertLevel, level))
        except Exception as error:
            raise OutletError(type(error).__name__) from None
