"""Where playbooks come from, which of two wins, and that a broken file hurts nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.playbook.library import builtin_dir, load_library, use_problems, user_dir

SMALL = """\
playbook: {id}
format: 1
title: {title}
hypotheses: {{healthy: fine}}
steps:
  - id: first
    {step}
"""


@pytest.fixture(autouse=True)
def nothing_of_this_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "grpo-tui" / "playbooks"


def put(folder: Path, id: str, *, title: str = "Title", step: str = "note: hello", name: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name or f"{id}.yaml")
    path.write_text(SMALL.format(id=id, title=title, step=step), encoding="utf-8")
    return path


def test_the_bundled_playbooks_are_found() -> None:
    assert builtin_dir().is_dir()
    files = {path.stem for path in builtin_dir().glob("*.yaml")}
    library = load_library()
    broken = {Path(problem.path).stem for problem in library.problems}
    assert files and files - broken == set(library.playbooks)


def test_later_folders_override_by_id(tmp_path: Path, nothing_of_this_person: Path) -> None:
    put(nothing_of_this_person, "ours", title="mine")
    put(tmp_path / "a", "ours", title="team a", name="other-name.yml")
    put(tmp_path / "b", "more")
    assert user_dir() == nothing_of_this_person
    assert load_library().playbooks["ours"].title == "mine"
    library = load_library([tmp_path / "a", str(tmp_path / "b")])
    assert library.playbooks["ours"].title == "team a"
    assert "more" in library.playbooks
    assert library.playbooks["ours"].origin == tmp_path / "a" / "other-name.yml"


def test_a_broken_file_is_a_problem_and_the_rest_loads(tmp_path: Path) -> None:
    put(tmp_path, "good")
    (tmp_path / "broken.yaml").write_text("playbook: [", encoding="utf-8")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "notes.txt").write_text("not a playbook", encoding="utf-8")
    (tmp_path / "folder.yaml").mkdir()
    library = load_library([tmp_path])
    assert "good" in library.playbooks
    mine = [problem for problem in library.problems if str(tmp_path) in problem.path]
    assert {Path(problem.path).name for problem in mine} == {"broken.yaml", "binary.yaml"}


def test_a_broken_override_leaves_the_original(tmp_path: Path, nothing_of_this_person: Path) -> None:
    put(nothing_of_this_person, "ours", title="works")
    put(tmp_path / "a", "ours", title="[")
    assert load_library([tmp_path / "a"]).playbooks["ours"].title == "works"


def test_warnings_do_not_make_a_library_unusable(tmp_path: Path) -> None:
    put(tmp_path, "ours", step="config: made_up_key\n    cases: [{otherwise: true}]")
    library = load_library([tmp_path])
    assert "ours" in library.playbooks
    assert not [problem for problem in library.problems if str(tmp_path) in problem.path]
    assert any("made_up_key" in warning.message for warning in library.warnings)


def test_two_files_of_one_folder_with_one_id(tmp_path: Path) -> None:
    put(tmp_path, "ours", title="first", name="a.yaml")
    put(tmp_path, "ours", title="second", name="b.yaml")
    library = load_library([tmp_path])
    assert library.playbooks["ours"].title == "first"
    assert any("already given by a.yaml" in problem.message for problem in library.problems)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    assert any(
        "no such folder" in problem.message for problem in load_library([tmp_path / "nowhere"]).problems
    )


def test_use_that_leads_nowhere_takes_its_users_along(tmp_path: Path) -> None:
    put(tmp_path, "a", step="use: b")
    put(tmp_path, "b", step="use: missing-one")
    put(tmp_path, "c")
    library = load_library([tmp_path])
    assert {"a", "b"}.isdisjoint(library.playbooks) and "c" in library.playbooks
    lines = {(Path(problem.path).name, problem.line, problem.col) for problem in library.problems}
    assert {("a.yaml", 7, 5), ("b.yaml", 7, 5)} <= lines


def test_a_circle_is_refused_and_named(tmp_path: Path) -> None:
    put(tmp_path, "a", step="use: b")
    put(tmp_path, "b", step="use: c")
    put(tmp_path, "c", step="use: a")
    put(tmp_path, "d", step="note: outside")
    library = load_library([tmp_path])
    assert {"a", "b", "c"}.isdisjoint(library.playbooks) and "d" in library.playbooks
    assert any("a → b → c → a" in problem.message for problem in library.problems)


def test_using_another_playbook_is_fine(tmp_path: Path) -> None:
    put(tmp_path, "a", step="use: b")
    put(tmp_path, "b")
    library = load_library([tmp_path])
    assert {"a", "b"} <= set(library.playbooks)
    assert not list(use_problems(library.playbooks["a"], library.playbooks))


def test_what_an_unusable_playbook_had_replaced_comes_back(
    tmp_path: Path, nothing_of_this_person: Path
) -> None:
    """A project's `triage` that uses what is not there must not take the bundled one away."""
    put(nothing_of_this_person, "dead-lock", title="mine", step="use: not-there")
    library = load_library()
    assert library.origins["dead-lock"].kind == "bundled" and library.playbooks["dead-lock"].title != "mine"
    assert [problem.check for problem in library.left_out] == ["flow/use"] and not library.stopping
    put(tmp_path / "named", "other", step="use: not-there")
    assert len(load_library([tmp_path / "named"]).stopping) == 1
