"""A probe that an installed package registers: whose code it is, the plan to start it, a person's consent.

The package's module is run by the training interpreter (`python -m team_pack.probes.our_check …`) with the
words that our own probes take, and answers as they do: JSON lines of events, and `result.json` in the folder
given. Nothing of it is imported here, and nothing of it runs before a person has agreed to this package in
this version.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_tui.probes.events import write_atomic

from ..home import state_root
from ..playbook.language.names import did_you_mean
from ..playbook.packages import RegisteredProbe, registered_probes

_CODE = re.compile(r"(?P<module>[\w.]+)\s*(:\s*(?P<function>[\w.]+)\s*)?(\[.*\])?\s*")
_ASK_S = 20.0
_VERSION = (
    "import sys\n"
    "try: from importlib.metadata import version\n"
    "except ImportError: sys.exit('needs Python 3.8 or newer')\n"
    "try: print(version(sys.argv[1]))\n"
    "except Exception: print('')\n"
)


class NotStartable(ValueError):
    """This probe cannot be started, in one line for a person."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose code a probe is: the package, its version in the interpreter that will run it, the place."""

    probe: str
    package: str
    version: str
    code: str

    def __str__(self) -> str:
        return f"package {self.package} {self.version}, code {self.code}"


def registered(probe: str) -> RegisteredProbe:
    """The registration of a probe. Raises `NotStartable` where no package, or more than one, offers it."""
    known = registered_probes()
    found = [one for one in known if one.id == probe]
    if not found:
        meant = did_you_mean(probe, [one.id for one in known])
        raise NotStartable(f"no installed package registers {probe!r}{meant}; see: grpo-tui playbook list")
    if len(found) > 1:
        packages = " and ".join(one.package for one in found)
        raise NotStartable(f"{probe} is registered by {packages}; uninstall one of them")
    return found[0]


def origin_of(probe: RegisteredProbe, python: Path) -> Origin:
    """Its origin as the training interpreter would run it; asks that interpreter for the version, once."""
    try:
        asked = subprocess.run(
            [str(python), "-c", _VERSION, probe.package],
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = getattr(error, "strerror", None) or "no answer"
        raise NotStartable(f"{python} cannot be asked for {probe.package}: {why}") from None
    version = asked.stdout.strip()
    if not version:
        raise NotStartable(
            f"{probe.id} needs its package where training runs: {python} -m pip install {probe.package}"
        )
    return Origin(probe.id, probe.package, version, probe.value)


def words_of(probe: RegisteredProbe) -> list[str]:
    """The words after the interpreter that run its code."""
    found = _CODE.fullmatch(probe.value)
    if found is None:
        raise NotStartable(f"{probe.package} registers {probe.id} as {probe.value!r}, which names no module")
    if found["function"] is None:
        return ["-m", found["module"]]
    name = found["function"].split(".")[0]
    return ["-c", f"import sys; from {found['module']} import {name}; sys.exit({found['function']}())"]


# -- consent ---------------------------------------------------------------------------------------


def agreed_to(origin: Origin) -> bool:
    """Whether a person has agreed to this package in this version before."""
    return str(origin) in _agreed()


def remember(origin: Origin) -> None:
    """Keep that a person agreed. Raises OSError where it cannot be kept."""
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    held: Mapping[str, Any] = {"agreed": sorted({*_agreed(), str(origin)})}
    write_atomic(path, dict(held))


def _path() -> Path:
    return state_root() / "packages-agreed-to.json"


def _agreed() -> frozenset[str]:
    try:
        held = json.loads(_path().read_text(encoding="utf-8"))["agreed"]
        return frozenset(str(one) for one in held)
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
