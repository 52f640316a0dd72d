"""Which outlets there are: from flags (`--outlet slack=URL`) and from a small YAML file.

    outlets:
      - slack: ${SLACK_WEBHOOK}          # the value of an environment variable
      - webhook: https://example.org/hook
        headers: {Authorization: "Bearer ${HOOK_TOKEN}"}
        severity: critical               # the least severity (default: warning)
        per_minute: 2                    # at most (default: 6)
      - command: [python, page_me.py]    # a list, never a shell line
      - desktop: true
      - wandb: {project: alarms}

A mistake is one sentence without the value that is wrong: it may be a secret.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..playbook.alarms.machine import SEVERITIES
from ..playbook.format.load import read_mapping
from ..playbook.language.names import did_you_mean
from .dispatch import PER_MINUTE, Outlet
from .senders import DIALECTS, Command, Desktop, Sender, WandbAlert, Webhook

KINDS = (*DIALECTS, "command", "desktop", "wandb")
OPTIONS = ("severity", "per_minute", "headers")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class OutletSettingError(Exception):
    """One clear sentence: where, what, what to write instead."""


def outlets_of(file: Path | None, flags: Iterable[str]) -> list[Outlet]:
    """The outlets of a file, then those of the flags. Raises OutletSettingError."""
    found = [] if file is None else _of_file(file)
    return [*found, *(_of_flag(flag) for flag in flags)]


def _of_flag(flag: str) -> Outlet:
    kind, given, value = flag.partition("=")
    where = f"--outlet {kind}"
    if kind in DIALECTS or kind == "command":
        if not value:
            raise OutletSettingError(
                f"{where}: give its {'argv' if kind == 'command' else 'address'} after `=`"
            )
        try:
            return _outlet({kind: shlex.split(value) if kind == "command" else value}, where)
        except ValueError:
            raise OutletSettingError(f"{where}: a quotation mark is not closed") from None
    if kind in KINDS:
        if kind == "desktop" and given:
            raise OutletSettingError(f"{where}: takes no value")
        return _outlet({kind: {"project": value} if value else True}, where)
    raise OutletSettingError(f"--outlet: {_no_such(kind)}")


def _of_file(file: Path) -> list[Outlet]:
    try:
        settings = read_mapping(file)
    except OSError as error:
        raise OutletSettingError(f"{file}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise OutletSettingError(f"{file}: {error}") from None
    listed = settings.get("outlets")
    if set(settings) != {"outlets"} or not isinstance(listed, list):
        raise OutletSettingError(f"{file}: expected `outlets:` with a list, and nothing else")
    return [_outlet(entry, f"{file}: outlet {place}") for place, entry in enumerate(listed, 1)]


def _outlet(entry: Any, where: str) -> Outlet:
    if not isinstance(entry, Mapping):
        raise OutletSettingError(f"{where}: expected a kind and its target, such as `slack: URL`")
    kinds = [key for key in entry if key in KINDS]
    for key in entry:
        if key not in (*KINDS, *OPTIONS):
            raise OutletSettingError(f"{where}: {_no_such(str(key))}")
    if len(kinds) != 1:
        raise OutletSettingError(f"{where}: expected one of {', '.join(KINDS)}")
    severity, most = entry.get("severity", "warning"), entry.get("per_minute", PER_MINUTE)
    if severity not in SEVERITIES:
        raise OutletSettingError(f"{where}: severity is one of {', '.join(SEVERITIES)}")
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= 60:
        raise OutletSettingError(f"{where}: per_minute is a number from 1 to 60")
    if "headers" in entry and kinds[0] not in DIALECTS:
        raise OutletSettingError(f"{where}: only an address has headers")
    try:
        return Outlet(_sender(kinds[0], entry, where), severity, most)
    except ValueError as error:
        raise OutletSettingError(f"{where}: {error}") from None


def _sender(kind: str, entry: Mapping[str, Any], where: str) -> Sender:
    value = entry[kind]
    if kind in DIALECTS:
        headers = entry.get("headers", {})
        if not isinstance(value, str) or not _is_texts(headers):
            raise ValueError("an address is text, headers are `name: text`")
        return Webhook(kind, _filled(value), {name: _filled(text) for name, text in headers.items()})
    if kind == "command":
        if not isinstance(value, list) or not value or not all(isinstance(part, str) for part in value):
            raise ValueError("a command is a list of texts, such as [python, page_me.py]; there is no shell")
        return Command([_filled(part) for part in value])
    if kind == "desktop":
        if value is not True:
            raise ValueError("write `desktop: true`, or leave it out")
        return Desktop()
    if value is not True and not _is_texts(value):
        raise ValueError("wandb takes `true` or texts such as {project: alarms, entity: team}")
    return WandbAlert({} if value is True else {key: _filled(text) for key, text in value.items()})


def _is_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in (*value, *value.values()))


def _filled(text: str) -> str:
    """With `${NAME}` replaced from the environment. Raises ValueError for one that is not set."""

    def value_of(found: re.Match[str]) -> str:
        value = os.environ.get(found[1])
        if not value:
            raise ValueError(f"the environment variable {found[1]} is not set")
        return value

    return _VARIABLE.sub(value_of, text)


def _no_such(kind: str) -> str:
    return f"{kind!r} is no outlet{did_you_mean(kind, KINDS) or '; there are ' + ', '.join(KINDS)}"
