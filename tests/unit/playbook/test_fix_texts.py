"""What a fix tells a tired person: what to do and by which rule, what not to do, what to watch how long."""

from __future__ import annotations

import pytest

from grpo_tui.playbook.format.schema import Playbook
from grpo_tui.playbook.library import builtin_dir, files_in, load_library
from grpo_tui.playbook.vocabulary import diagnoses

BOOKS = load_library().playbooks
NAMES = [path.stem for path in files_in(builtin_dir())]
NOTHING_TO_WATCH = {"config.reward-weights"}
"""Their curves are a playbook's own aliases, watched where those are defined."""


@pytest.fixture(params=NAMES)
def book(request: pytest.FixtureRequest) -> Playbook:
    return BOOKS[request.param]


def test_whatever_it_may_say_it_says_what_to_do(book: Playbook) -> None:
    told = {fix.for_ for fix in book.fixes}
    kinds = {id: diagnoses()[id].kind for id in book.hypotheses if id in diagnoses()}
    assert [id for id, kind in kinds.items() if id not in told and kind not in ("healthy", "metric")] == []


def test_a_fix_cites_its_rule(book: Playbook) -> None:
    assert [fix.title for fix in book.fixes if not fix.rules] == []


def test_a_fix_says_what_to_watch_and_for_how_many_steps(book: Playbook) -> None:
    silent = [fix.for_ for fix in book.fixes if fix.expect is None]
    assert [id for id in silent if diagnoses()[id].kind != "metric" and id not in NOTHING_TO_WATCH] == []


def test_a_diagnosis_comes_with_what_not_to_do(book: Playbook) -> None:
    warned = {fix.for_ for fix in book.fixes if fix.note or fix.unless is not None}
    assert sorted({fix.for_ for fix in book.fixes} - warned) == []
