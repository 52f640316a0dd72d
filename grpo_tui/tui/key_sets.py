"""Keys of one's own: a set by name, and single keys, from `~/.config/grpo-tui/keys.yaml`.

    set: vim
    keys:
      app.log: L
      overview.next: tab,right,l

The ids are those of the key table; `grpo-tui` says at the start what in the file it could not use and goes
on with the default for it: a mistake in a file of keys must not keep a person from their run. `GRPO_TUI_KEYS`
names another file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import yaml

from .key import Key
from .key_table import TABLE

VIM: Mapping[str, str] = MappingProxyType(
    {
        "app.log": "L",
        "overview.next": "tab,right,l",
        "overview.previous": "shift+tab,left,h",
        "overview.down": "down,j",
        "overview.up": "up,k",
        "overview.page_next": "right_square_bracket,pagedown,ctrl+d",
        "overview.page_previous": "left_square_bracket,pageup,ctrl+u",
        "chart.cursor_left": "left,h",
        "chart.cursor_right": "right,l",
        "list.down": "down,j",
        "list.up": "up,k",
        "list.first": "home,g",
        "list.last": "end,G",
        "text.down": "down,j",
        "text.up": "up,k",
    }
)
SETS: Mapping[str, Mapping[str, str]] = MappingProxyType({"default": MappingProxyType({}), "vim": VIM})
_CHART = re.compile(r"chart\.[a-z_]+")
_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super)\+)*(?:[^\s,]|[a-z][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """What a file of keys says."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """Id of the table -> keys, comma separated."""
    problems: tuple[str, ...] = ()
    path: Path | None = None


def keys_file() -> Path:
    """Where the file of keys is looked for."""
    given = os.environ.get("GRPO_TUI_KEYS")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "grpo-tui" / "keys.yaml"


def chosen() -> OwnKeys:
    """The person's own keys; none where there is no file."""
    path = keys_file()
    return read_keys(path) if path.is_file() else OwnKeys()


def read_keys(path: Path) -> OwnKeys:
    """Read a file of keys. What cannot be used is said in one line each and left at its default."""
    try:
        held = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        return OwnKeys({}, (f"{path}: cannot be read: {str(error).splitlines()[0]}",), path)
    if not isinstance(held, dict):
        return OwnKeys({}, (f"{path}: expected `set:` and `keys:`",), path)
    problems = [f"{path}: unknown entry {name!r}" for name in held if name not in ("set", "keys")]
    base = held.get("set", "default")
    if base not in SETS:
        problems.append(f"{path}: no set {base!r}; there are {', '.join(SETS)}")
        base = "default"
    keys, wrong = _checked(held.get("keys") or {}, path)
    return OwnKeys(MappingProxyType({**SETS[base], **keys}), (*problems, *wrong), path)


def _checked(given: object, path: Path) -> tuple[dict[str, str], list[str]]:
    if not isinstance(given, dict):
        return {}, [f"{path}: `keys` is a list of `id: key`"]
    known = {key.id for key in TABLE}
    keys: dict[str, str] = {}
    problems = []
    for name, value in given.items():
        wanted = [part.strip() for part in str(value).split(",")] if isinstance(value, str | int) else []
        if name not in known and not _CHART.fullmatch(str(name)):
            problems.append(f"{path}: no key is called {name!r}; `?` in the app lists them")
        elif not wanted or not all(_KEY.fullmatch(part) for part in wanted):
            problems.append(f"{path}: {name}: {value!r} is no key")
        else:
            keys[str(name)] = ",".join(_named(part) for part in wanted)
    return keys, problems


def _named(key: str) -> str:
    """A punctuation mark by the name that Textual gives it."""
    from textual.keys import _character_to_key

    return _character_to_key(key) if len(key) == 1 else key


def with_keys(table: Iterable[Key], keys: Mapping[str, str]) -> tuple[Key, ...]:
    """The table with these keys in place of its own.

    A key that was moved to an action is taken from the other actions of the same place.
    """
    moved = {key.id: keys[key.id].split(",") for key in table if key.id in keys}
    made = []
    for key in table:
        if key.id in moved:
            made.append(replace(key, keys=",".join(moved[key.id])))
            continue
        taken = {name for other, names in moved.items() if _meet(other, key.id) for name in names}
        left = [name for name in key.keys.split(",") if name not in taken]
        made.append(replace(key, keys=",".join(left)))
    return tuple(key for key in made if key.keys)


def _meet(one: str, other: str) -> bool:
    """Whether two actions are of one place."""
    return one.partition(".")[0] == other.partition(".")[0]
