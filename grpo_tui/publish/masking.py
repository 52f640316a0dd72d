"""Masks what a report should not carry to strangers: credentials, hosts, people, folders.

A masked report stays readable: the same host is the same `[host 1]` everywhere, a path keeps its last
part, numbers and metric names are never touched. It is a help, not a guarantee: prompts and responses are
a person's to check, and the command says so.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable
from pathlib import Path, PurePath

_CREDENTIALS = re.compile(
    r"""
      \bhf_[A-Za-z0-9]{16,}            # Hugging Face
    | \bsk-[A-Za-z0-9_-]{16,}          # OpenAI and its likes
    | \b(?:ghp|gho|ghs|ghu)_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bxox[abprs]-[A-Za-z0-9-]{8,}    # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b    # AWS
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*   # JWT
    | (?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}
    | \bhttps?://(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks)/\S+
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"(?i)\b([\w.-]*(?:api_?key|secret|passw(?:or)?d|access_?key|auth_?token|_token|wandb_key)[\w.-]*)"
    r"(\s*['\"]?\s*[=:]\s*['\"]?)([^\s'\",;&}]{4,})"
)
_USER_INFO = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@]+@")
_MAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b")
_URL_HOST = re.compile(r"(\b[a-z][a-z0-9+.-]*://(?:\[credential\]@)?)([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_NODE = re.compile(
    r"\b[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:internal|local|lan|intra|corp|cluster\.local|compute\.amazonaws\.com)\b"
)
_PATH = re.compile(r"(?<![\w/.:~>-])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\:;,'\"`<>()\[\]{}|]+){2,}[/\\]?")
_PUBLIC = frozenset({"huggingface.co", "github.com", "arxiv.org", "pypi.org", "wandb.ai"})
_LEAST_NAME = 3


class Mask:
    """Replaces, the same way every time, what names a place or a person. Call it with one text.

    `people` and `hosts` are names to hide besides the present user and this machine.
    """

    def __init__(self, *, people: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._hosts: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        """How often each kind was replaced: credentials, hosts, addresses of people, people, folders."""
        self._people = _word(name for name in (*people, _user()) if len(name) >= _LEAST_NAME)
        known = {*hosts, socket.gethostname(), socket.gethostname().split(".")[0]}
        self._machines = _word(name for name in known if len(name) >= _LEAST_NAME and name != "localhost")

    def __call__(self, text: str) -> str:
        text = _CREDENTIALS.sub(lambda m: self._count("credentials", "[credential]"), text)
        text = _NAMED.sub(self._named, text)
        text = _USER_INFO.sub(lambda m: self._count("credentials", f"{m[1]}[credential]@"), text)
        text = _MAIL.sub(lambda m: self._count("people", "[mail]"), text)
        text = _URL_HOST.sub(self._in_url, text)
        text = _ADDRESS.sub(self._address, text)
        text = _NODE.sub(lambda m: self._host(m[0]), text)
        if self._machines is not None:
            text = self._machines.sub(lambda m: self._host(m[0]), text)
        text = _PATH.sub(self._path, text)
        if self._people is not None:
            text = self._people.sub(lambda m: self._count("people", "[user]"), text)
        return text

    def path(self, path: str | Path) -> str:
        """A path that is known to be one: its last part alone."""
        name = PurePath(str(path)).name
        return f"…/{self(name)}" if name else "…"

    def _named(self, match: re.Match[str]) -> str:
        value = match[3]
        # Token counts and token ids are numbers; a credential that is only digits is not known to us.
        if value.startswith("[") or re.fullmatch(r"[\d.eE+-]+|None|null|true|false|True|False", value):
            return match[0]
        return self._count("credentials", f"{match[1]}{match[2]}[credential]")

    def _in_url(self, match: re.Match[str]) -> str:
        host = match[2].lower().rstrip(".")
        if host in _PUBLIC or any(host.endswith(f".{known}") for known in _PUBLIC):
            return match[0]
        return f"{match[1]}{self._host(host)}"

    def _address(self, match: re.Match[str]) -> str:
        parts = [int(part) for part in match[0].split(".")]
        if max(parts) > 255 or parts[0] == 127 or not any(parts):
            return match[0]
        return self._host(match[0])

    def _host(self, name: str) -> str:
        if name.lower() in ("localhost", "127.0.0.1", "0.0.0.0"):
            return name
        label = self._hosts.setdefault(name.lower(), f"[host {len(self._hosts) + 1}]")
        return self._count("hosts", label)

    def _path(self, match: re.Match[str]) -> str:
        parts = [part for part in re.split(r"[/\\]", match[0]) if part]
        return self._count("folders", f"…/{parts[-1]}")

    def _count(self, kind: str, replacement: str) -> str:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return replacement


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _word(names: Iterable[str]) -> re.Pattern[str] | None:
    """Any of the names as a whole word; `root` and its likes say nothing about a person."""
    held = sorted({name for name in names if name not in ("root", "user", "runner")}, key=len, reverse=True)
    if not held:
        return None
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(name) for name in held)})(?![\w-])")
