"""Every branch of every bundled playbook that has a consequence is taken by one of its own tests."""

from __future__ import annotations

import pytest

from grpo_tui.playbook.authoring.branch_cover import uncovered_branches
from grpo_tui.playbook.library import Library, builtin_dir, files_in, load_library

NAMES = [path.stem for path in files_in(builtin_dir())]


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


@pytest.mark.parametrize("name", NAMES)
def test_no_branch_is_left(name: str, library: Library) -> None:
    assert [branch for _, branch in uncovered_branches(library.playbooks[name], library)] == []
