"""The documentation as pages: one a metric, one a diagnosis, and the guides.

The command line and the screen show the same files that a person reads in the repository (`docs/`, shipped
in the wheel), so there is one text and no copy that could drift. Reading happens on the first question,
and only of the page asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from .metrics.catalog import catalog
from .playbook.language.names import near
from .playbook.vocabulary import diagnoses

Kind: TypeAlias = Literal["metric", "diagnosis", "guide"]
FOLDERS: tuple[tuple[str, Kind], ...] = (("diagnoses", "diagnosis"), ("metrics", "metric"), (".", "guide"))
INDEX = "README"
"""The list of a folder's pages; it is no page itself."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `name` is the canonical name; `markdown` the whole text, its heading included."""

    name: str
    kind: Kind
    title: str
    markdown: str


def docs_dir() -> Path:
    """Where the pages are: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    bundled = package / "docs"
    return bundled if bundled.is_dir() else package.parent / "docs"


def page(name: str) -> Page | None:
    """The page of a metric, a diagnosis or a guide; None where nothing of that name is known.

    `name` may be canonical (`kl_ref`, `collapse.entropy`), what a framework calls it (`actor/ppo_kl`,
    `rewards/accuracy/mean`), or the end of an id as people say it (`dead lock`, `oom-update`).
    """
    found = canonical(name)
    return _read(found) if found is not None else None


def pages() -> dict[str, Page]:
    """Every page by name: diagnoses as in the vocabulary, metrics as in the catalog, then the guides."""
    return {name: held for name in names() if (held := _read(name)) is not None}


def names() -> tuple[str, ...]:
    """The names that have a page, in the order of `pages`, without reading one."""
    files = _files()
    order = {name: place for place, name in enumerate((*diagnoses(), *catalog().metrics))}
    return tuple(sorted(files, key=lambda name: (order.get(name, len(order)), name)))


def canonical(name: str) -> str | None:
    """The name under which a page is kept, for any of the names that `page` understands."""
    files, wanted = _files(), name.strip()
    if wanted in files:
        return wanted
    metric = catalog().lookup(wanted)
    if metric is not None:
        return metric[0] if metric[0] in files else None
    family = catalog().metric(wanted)
    if family is not None and family.name in files:
        return family.name
    found = [held for held in files if _plain(wanted) in _spellings(held)]
    return found[0] if len(found) == 1 else None


def suggestion(name: str) -> str | None:
    """The page that was probably meant by a name that has none."""
    return near(name.strip(), [spelling for held in _files() for spelling in (held, *_spellings(held))])


@cache
def _files() -> dict[str, tuple[Kind, Path]]:
    """Page name -> its kind and file. Metrics win over guides of the same name."""
    found: dict[str, tuple[Kind, Path]] = {}
    for folder, kind in FOLDERS:
        for path in sorted((docs_dir() / folder).glob("*.md")):
            if path.stem != INDEX:
                found.setdefault(path.stem, (kind, path))
    return found


@cache
def _read(name: str) -> Page | None:
    kind, path = _files()[name]
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return None
    heading = re.search(r"^# (.+)$", text, re.M)
    return Page(name, kind, heading.group(1).strip() if heading else name, text)


def _plain(name: str) -> str:
    return re.sub(r"[\s_./-]+", "-", name.strip().lower())


def _spellings(name: str) -> Iterator[str]:
    """An id as it may be typed: with other separators, and without its group (`dead-lock`)."""
    yield _plain(name)
    if "." in name:
        yield _plain(name.split(".", 1)[1])
