"""Every check has a page; its bad example gives exactly that remark, and its good one none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grpo_tui.playbook.authoring.lint import check
from grpo_tui.playbook.format.check_names import CHECKS, page_of
from grpo_tui.playbook.format.load import read_file
from grpo_tui.playbook.library import Library, load_library

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "docs" / "checks"
SOURCES = ROOT / "grpo_tui" / "playbook"
WITHOUT_A_FILE = {
    "file/read",
    "flow/duplicate-id",
    "names/playbook",
    "tests/file",
    "yaml/character",
    "yaml/depth",
    "yaml/empty",
    "yaml/encoding",
    "yaml/size",
}
"""Their examples are no single file of text; other tests make each of them happen."""


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def example(page: str, title: str) -> str:
    found = re.search(rf"^## {title}\n+```(?:yaml|text)\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def sections(text: str) -> dict[str, str]:
    parts = [part for part in re.split(r"(?m)^(?=[A-Za-z_]+:)", text) if part]
    return {part.split(":")[0]: part for part in parts}


BASE = sections(
    re.findall(r"```yaml\n(.*?)```", (PAGES / "README.md").read_text(encoding="utf-8"), re.DOTALL)[-1]
)


def remarks(text: str, tmp_path: Path, library: Library) -> list[tuple[str, str]]:
    path = tmp_path / "reward-fell.yaml"
    path.write_text("".join({**BASE, **sections(text)}.values()), encoding="utf-8")
    loaded = read_file(path)
    problems = list(loaded.problems)
    if loaded.playbook is not None:
        problems += check(loaded.playbook, library)
    return [(problem.check, problem.severity) for problem in problems]


def test_the_playbook_of_the_examples_has_no_remarks(tmp_path: Path, library: Library) -> None:
    assert remarks("", tmp_path, library) == []


@pytest.mark.parametrize("name", sorted(set(CHECKS) - WITHOUT_A_FILE))
def test_the_examples_of_a_page(name: str, tmp_path: Path, library: Library) -> None:
    page = (ROOT / page_of(name)).read_text(encoding="utf-8")
    assert remarks(example(page, "Bad"), tmp_path, library) == [(name, CHECKS[name][0])]
    assert remarks(example(page, "Good"), tmp_path, library) == []


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_check_has_a_page_that_says_how_serious_it_is(name: str) -> None:
    severity, summary = CHECKS[name]
    page = (ROOT / page_of(name)).read_text(encoding="utf-8")
    assert page.startswith(f"# {name}\n\n**{severity}** · {summary}\n")
    assert ("# grpo-tui: ignore " + name in page) == (severity != "fatal" and not name.startswith("ignore/"))
    assert f"[`{name}`]({name}.md) | {severity} | {summary}" in (PAGES / "README.md").read_text(
        encoding="utf-8"
    )


def test_no_page_without_a_check() -> None:
    pages = {path.relative_to(PAGES).with_suffix("").as_posix() for path in PAGES.glob("*/*.md")}
    assert pages == set(CHECKS)


def test_every_name_in_the_code_is_known() -> None:
    groups = "|".join(sorted({name.split("/")[0] for name in CHECKS}))
    named: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        named |= set(re.findall(rf'"((?:{groups})/[a-z-]+)"', path.read_text(encoding="utf-8")))
    assert named - set(CHECKS) == set()
