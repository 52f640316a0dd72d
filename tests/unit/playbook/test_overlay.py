"""A playbook changed without copying it: what an overlay may say, and where its mistakes stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.authoring.testing import run_tests
from grpo_tui.playbook.format.load import PlaybookError, load_file, read_text
from grpo_tui.playbook.library import Library, load_library

OVERLAY = """\
extends: entropy-small
format: 1
params: {drop_at_least: 0.9}
fixes:
  - for: collapse.entropy
    title: Ask the platform team
    unless: drop(entropy, within=window) < 0.2
tests:
  - name: half is ordinary for us
    series: {entropy: "0.9~0.3x200 0.3x100", reward_mean: "0.2x300"}
    expect: {triggered: false}
"""


@pytest.fixture(autouse=True)
def nothing_of_this_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def library_of(folder: Path, overlay: str, base: str = GOOD) -> Library:
    folder.mkdir(exist_ok=True)
    (folder / "a-overlay.yaml").write_text(overlay, encoding="utf-8")
    (folder / "base.yaml").write_text(base, encoding="utf-8")
    return load_library([folder])


def test_it_changes_parameters_and_adds_fixes_and_tests(tmp_path: Path) -> None:
    library = library_of(tmp_path / "team", OVERLAY)
    assert library.problems == []
    book = library.playbooks["entropy-small"]
    assert book.params == {"window": 200, "drop_at_least": 0.9}
    assert [fix.title for fix in book.fixes] == ["Raise only the upper clip", "Ask the platform team"]
    assert book.overlays == (str(tmp_path / "team" / "a-overlay.yaml"),)
    assert book.origin == tmp_path / "team" / "base.yaml"
    assert book.digest != load_file(tmp_path / "team" / "base.yaml").digest
    assert run_tests(book, library)[-1].differences == ()


def test_several_lie_one_over_the_other(tmp_path: Path) -> None:
    library_of(tmp_path / "team", OVERLAY)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.yaml").write_text("extends: entropy-small\nformat: 1\nparams: {window: 100}\n")
    book = load_library([tmp_path / "team", tmp_path / "mine"]).playbooks["entropy-small"]
    assert book.params == {"window": 100, "drop_at_least": 0.9}
    assert len(book.overlays) == 2


def test_one_of_ours_can_be_changed(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    ours = load_library().playbooks["entropy-collapse"]
    name, value = next((k, v) for k, v in ours.params.items() if isinstance(v, int | float))
    (folder / "o.yaml").write_text(
        f"extends: entropy-collapse\nformat: 1\nparams: {{{name}: {float(value) + 1}}}\n"
    )
    library = load_library([folder])
    assert library.problems == []
    assert library.playbooks["entropy-collapse"].params[name] == float(value) + 1
    assert str(library.origins["entropy-collapse"]) == "bundled"


MISTAKES = [
    ("extends: entropy-small", "extends: entropy-smal", 1, 10, "names/playbook", "mean 'entropy-small'"),
    ("extends: entropy-small", "extend: entropy-small", 1, 1, "schema/key", "did you mean 'extends'"),
    ("extends: entropy-small", "extends: 5", 1, 10, "schema/value", "the id of a playbook"),
    ("drop_at_least: 0.9", "drop_at_lest: 0.9", 3, 10, "names/param", "did you mean 'drop_at_least'"),
    ("drop_at_least: 0.9", "drop_at_least: half", 3, 25, "schema/value", "expected a number"),
    ("params: {", "parms: {", 3, 1, "schema/key", "did you mean 'params'"),
    ("format: 1", "format: 2", 2, 9, "schema/value", "1"),
    ("for: collapse.entropy", "for: collapse.entrpy", 5, 10, "names/hypothesis", "mean 'collapse.entropy'"),
    ("within=window", "within=windw", 7, 34, "expression/syntax", "did you mean 'window'"),
    ("0.3x100", "0,3x100", 10, 36, "tests/curve", "no part of a curve"),
    ("tests:", "steps: []\ntests:", 8, 1, "schema/key", "unknown key 'steps'"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "col", "check", "says"), MISTAKES)
def test_a_mistake_is_placed_in_the_overlay(
    tmp_path: Path, right: str, wrong: str, line: int, col: int, check: str, says: str
) -> None:
    assert right in OVERLAY
    library = library_of(tmp_path / "team", OVERLAY.replace(right, wrong, 1))
    (problem,) = library.problems
    assert Path(problem.path).name == "a-overlay.yaml"
    assert (problem.line, problem.col, problem.check) == (line, col, check), str(problem)
    assert says in problem.message
    assert library.playbooks["entropy-small"].params["drop_at_least"] == 0.5


def test_an_overlay_is_no_playbook(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text(OVERLAY)
    with pytest.raises(PlaybookError, match="no playbook by itself"):
        load_file(path)
    assert read_text(OVERLAY, "o.yaml").overlay is not None


def test_a_recorded_run_lies_beside_the_overlay(tmp_path: Path) -> None:
    text = OVERLAY.replace('{entropy: "0.9~0.3x200 0.3x100", reward_mean: "0.2x300"}', "{file: run.jsonl}")
    library = library_of(tmp_path / "team", text)
    (tmp_path / "team" / "base").mkdir()
    rows = "".join(f'{{"step": {i}, "data": {{"actor/entropy": 0.5}}}}\n' for i in range(1, 51))
    (tmp_path / "team" / "run.jsonl").write_text(rows, encoding="utf-8")
    book = library.playbooks["entropy-small"]
    assert run_tests(book, library)[-1].differences == ()
