"""Any walk, killed at any point and resumed, ends as the uninterrupted one.

Killed means: the process is gone after any move, or in the middle of writing one, at any byte. Walked are
bundled playbooks, over a run that grows meanwhile, by a person who answers, skips, goes back, takes
notes and runs probes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_support import FakeRun, line
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.playbook.format.schema import AskStep, CheckStep, ProbeStep
from grpo_tui.playbook.library import load_library
from grpo_tui.playbook.verdict.questions import asked_by
from grpo_tui.playbook.vocabulary import observations
from grpo_tui.playbook.walk.session import SessionFile
from grpo_tui.playbook.walk.views import ProbeOutcome
from grpo_tui.playbook.walk.walk import Walk, begin_session

LIBRARY = load_library()
CURVES = {"entropy", "grad_norm", "reward_mean", "zero_std_group_frac", "kl_ref", "response_length_mean"}
WALKED = sorted(
    name
    for name, book in LIBRARY.playbooks.items()
    if any(isinstance(s, CheckStep) and set(s.check.metrics) & CURVES for s in book.steps[:4])
)
"""Playbooks that begin with what these curves can answer, so that new data changes what was found."""
MOVES = st.sampled_from(["go", "go", "go", "go", "skip", "back", "note", "grow", "grow"])
KILLS = st.none() | st.floats(0, 1)


@pytest.fixture(autouse=True, scope="module")
def _state() -> Iterator[None]:
    folder = tempfile.mkdtemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRPO_TUI_STATE", folder)
        yield
    shutil.rmtree(folder)


def a_run(path: Path) -> FakeRun:
    """Entropy falls, gradients die, the reward stands still; at first little of it is there."""
    falling, dying = line((0, 0.9), (199, 0.02)), line((0, 1.0), (120, 0.5), (199, 0.0))
    series = {
        "entropy": falling,
        "grad_norm": dying,
        "reward_mean": [0.4] * 200,
        "zero_std_group_frac": line((0, 0.1), (199, 1.0)),
        "kl_ref": line((0, 0.0), (199, 0.4)),
        "response_length_mean": line((0, 300), (199, 1000)),
    }
    return FakeRun(series, config={"temperature": 0.3, "group_size": 8}, path=path, shown=30)


def value_for(observation: str, choice: int) -> Any:
    known = observations()[observation]
    return known.values[choice % len(known.values)] if known.values else float(choice)


def make(walk: Walk, run: FakeRun, move: str, choice: int) -> None:
    """One thing a person does; the same from the same place, whoever holds the walk."""
    step = walk.step
    if move == "grow":
        run.show(min(200, (run.shown or 0) + 60))
        walk.refresh()
    elif move == "note":
        walk.note(f"seen {choice}")
    elif move == "back":
        walk.back()
    elif step is None:
        return
    elif move == "skip":
        walk.skip("no time")
    elif isinstance(step, AskStep):
        walk.answer(value_for(step.ask, choice), note="looked" if choice % 2 else "")
    elif isinstance(step, ProbeStep):
        names = [name for name in asked_by(step) if name in observations()]
        facts = {name: value_for(name, choice) for name in names}
        walk.record_probe(ProbeOutcome(facts=facts, verdict="done", rehearsal=choice % 5 == 4))
    else:
        walk.advance()


def standing(walk: Walk) -> tuple[Any, ...]:
    """Everything a walk is, but for the times of day."""
    history = [replace(entry, time="") for entry in walk.history]
    notes = [(note["place"], note["text"]) for note in walk.notes]
    place = walk.current.place if walk.current is not None else None
    return (
        history,
        notes,
        walk.facts,
        walk.scores,
        str(walk.verdict),
        walk.verdict.ranked,
        place,
        walk.finished,
    )


def begun(name: str, run: FakeRun) -> Walk:
    session = begin_session(LIBRARY.playbooks[name], run, LIBRARY)
    return Walk.start(name, run, LIBRARY, session=session)


def torn(path: Path, before: int, share: float) -> None:
    """The file as it is when the process dies while it writes what comes after `before` bytes."""
    data = path.read_bytes()
    path.write_bytes(data[: before + round(share * (len(data) - before))])


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(WALKED),
    ahead=st.integers(0, 5),
    moves=st.lists(st.tuples(MOVES, st.integers(0, 6), KILLS), min_size=1, max_size=30),
)
def test_a_killed_walk_ends_as_the_uninterrupted_one(
    name: str, ahead: int, moves: list[tuple[str, int, float | None]]
) -> None:
    whole_run, killed_run = a_run(Path("/runs/whole")), a_run(Path("/runs/killed"))
    whole, killed = begun(name, whole_run), begun(name, killed_run)
    assert killed.session is not None
    path = killed.session.path
    for move, choice, kill in [*[("go", ahead, None)] * ahead, *moves]:
        make(whole, whole_run, move, choice)
        before, size, shown = standing(killed), path.stat().st_size, killed_run.shown
        make(killed, killed_run, move, choice)
        if kill is None:
            continue
        torn(path, size, kill)
        killed = Walk.resume(SessionFile(path), killed_run, LIBRARY)
        if standing(killed) == before and standing(whole) != before:
            killed_run.shown = shown
            make(killed, killed_run, move, choice)
    assert standing(killed) == standing(whole)
    again = Walk.resume(SessionFile(path), killed_run, LIBRARY)
    assert standing(again) == standing(whole)
