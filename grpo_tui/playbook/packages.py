"""What installed packages bring: folders of playbooks, and probes that they register.

Nothing of a package is imported here. A folder is found from the entry point's text and the package's
files; a registered probe is a name and the place of its code, listed with its origin before anybody uses
it. Groups: `grpo_tui.playbooks` (value: the package that holds the YAML files) and `grpo_tui.probes`.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .vocabulary import OWN_PREFIX, is_own

PLAYBOOKS = "grpo_tui.playbooks"
PROBES = "grpo_tui.probes"


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """Playbooks of an installed package; `folder` is None where its files cannot be found."""

    package: str
    version: str
    value: str
    folder: Path | None


@dataclass(frozen=True, slots=True)
class RegisteredProbe:
    """A probe that a package offers, under an id of its own (`x.…`); `value` is where its code is."""

    id: str
    value: str
    package: str
    version: str


def playbook_folders() -> list[PackageFolder]:
    """Every folder that an installed package offers, by package."""
    found = [
        PackageFolder(_package(entry), _version(entry), entry.value, _folder(entry))
        for entry in _entries(PLAYBOOKS)
    ]
    return sorted(found, key=lambda folder: (folder.package, folder.value))


def registered_probes() -> list[RegisteredProbe]:
    """Every probe that an installed package registers; none of them has been imported."""
    found = [
        RegisteredProbe(
            entry.name if is_own(entry.name) else OWN_PREFIX + entry.name,
            entry.value,
            _package(entry),
            _version(entry),
        )
        for entry in _entries(PROBES)
    ]
    return sorted(found, key=lambda probe: (probe.id, probe.package))


def _entries(group: str) -> list[metadata.EntryPoint]:
    return list(dict.fromkeys(metadata.entry_points(group=group)))


def _package(entry: metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.split(".")[0]


def _version(entry: metadata.EntryPoint) -> str:
    return entry.dist.version if entry.dist is not None else ""


def _folder(entry: metadata.EntryPoint) -> Path | None:
    """`team.playbooks` as a folder: beside the package's metadata, else where Python would import it from."""
    parts = entry.value.split(":")[0].split(".")
    if entry.dist is not None:
        beside = Path(str(entry.dist.locate_file("/".join(parts))))
        if beside.is_dir():
            return beside
    try:
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place).joinpath(*parts[1:])
        if folder.is_dir():
            return folder
    return None
