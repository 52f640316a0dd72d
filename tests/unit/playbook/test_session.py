"""The session file: on disk before the next question, torn lines forgotten, changed steps refused."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from engine_support import FakeRun, line, playbook, shelf, stored

from grpo_tui.playbook.walk.session import (
    SessionChanged,
    SessionError,
    SessionFile,
    find_open,
    sessions_folder,
    sessions_of,
)
from grpo_tui.playbook.walk.views import ProbeOutcome
from grpo_tui.playbook.walk.walk import Walk, WalkError, begin_session

BOOKS = shelf(stored("made-up"), stored("part"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def run(tmp_path: Path) -> FakeRun:
    series = {"entropy": line((0, 0.9), (199, 0.1)), "reward_mean": [0.4] * 200}
    return FakeRun(series, config={"temperature": 0.3}, path=tmp_path / "train.log")


def started(run: FakeRun) -> Walk:
    session = begin_session(BOOKS["made-up"], run, BOOKS, by="ada")
    return Walk.start("made-up", run, BOOKS, session=session, by="ada")


def half_way(run: FakeRun) -> Walk:
    walk = started(run)
    walk.advance()
    walk.advance()
    walk.answer("yes", note="five groups read")
    return walk


def resumed(walk: Walk, run: FakeRun) -> Walk:
    assert walk.session is not None
    return Walk.resume(SessionFile(walk.session.path), run, BOOKS)


def test_it_lives_in_the_runs_own_folder(run: FakeRun) -> None:
    walk = started(run)
    assert walk.session is not None and walk.session.path.parent == sessions_folder(run.path)  # type: ignore[arg-type]
    header = json.loads(walk.session.path.read_text().splitlines()[0])
    assert (header["schema"], header["playbook"], header["run"]) == (1, "made-up", str(run.path))
    assert header["digest"] and header["started"] and header["steps"][0]["text"].startswith("learning: check")


def test_one_event_per_answer_with_everything_a_person_looks_for(run: FakeRun) -> None:
    walk = half_way(run)
    assert walk.session is not None
    events = [json.loads(text) for text in walk.session.path.read_text().splitlines()[1:]]
    assert [event["event"] for event in events] == ["begin", "done", "done", "done"]
    check, _, answer = events[1:]
    assert check["place"] == "steps/0/if_false" and check["window"] == 300 and check["time"].endswith("Z")
    assert check["compared"][0]["text"] == "rise(reward_mean, within=300) >= 0.05"
    assert check["compared"][0]["left"] == 0.0 and check["compared"][0]["right"] == 0.05
    assert (answer["place"], answer["value"], answer["by"]) == ("steps/2/cases/0", "yes", "ada")


def test_every_event_is_synced(run: FakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = started(run)
    calls: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append(fd), real(fd))[1])
    walk.advance()
    assert len(calls) == 1


def test_resume_stands_at_the_same_step_with_the_same_scores(run: FakeRun) -> None:
    walk = half_way(run)
    walk.advance()
    walk.record_probe(
        ProbeOutcome({"probe.ratio.engine-agrees": "no"}, {"x": 1}, rehearsal=True, verdict="fail")
    )
    again = resumed(walk, run)
    assert again.current == walk.current and again.scores == walk.scores and again.facts == walk.facts
    assert again.history == walk.history


def test_resume_does_not_evaluate_what_was_accepted(run: FakeRun) -> None:
    walk = half_way(run)
    run.series = {"reward_mean": line((0, 0.1), (199, 0.9))}
    again = resumed(walk, run)
    assert again.history[0].result == "false" and again.scores == walk.scores
    assert again.refresh() and again.history[0].result == "true"
    assert resumed(again, run).history == again.history


def test_back_and_notes_survive(run: FakeRun) -> None:
    walk = half_way(run)
    walk.note("the gold answers look odd")
    walk.back()
    again = resumed(walk, run)
    assert again.current is not None and again.current.id == "alike" and again.facts == {}
    assert [note["text"] for note in again.notes] == ["the gold answers look odd"]


TORN = {
    "short": b'{"event": "done", "ent',
    "long": b'{"event": "done", "ent' + b"x" * 20_000,
    "zeros": b"\x00" * 2000,
    "whole line": b'{"event": "done"\n',
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
def test_a_torn_last_line_is_forgotten_and_written_over(run: FakeRun, torn: bytes) -> None:
    walk = half_way(run)
    assert walk.session is not None
    with walk.session.path.open("ab") as file:
        file.write(torn)
    again = resumed(walk, run)
    assert again.current == walk.current
    again.advance()
    assert resumed(again, run).current == again.current
    lines = walk.session.path.read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)


def test_every_cut_of_the_file_gives_an_earlier_moment(run: FakeRun) -> None:
    walk = half_way(run)
    assert walk.session is not None
    data = walk.session.path.read_bytes()
    places = set()
    for end in range(data.index(b"\n") + 1, len(data), 97):
        walk.session.path.write_bytes(data[:end])
        again = resumed(walk, run)
        places.add(again.current.id if again.current else None)
    assert places == {"learning", "temperature", "alike"}


def test_damage_in_the_middle_is_said(run: FakeRun) -> None:
    walk = half_way(run)
    assert walk.session is not None
    lines = walk.session.path.read_bytes().splitlines(keepends=True)
    walk.session.path.write_bytes(b"".join([lines[0], b"{broken\n", *lines[2:]]))
    with pytest.raises(SessionError, match="line 2 is damaged"):
        SessionFile(walk.session.path)


def test_a_second_window_cannot_overwrite_answers(run: FakeRun) -> None:
    walk = half_way(run)
    other = resumed(walk, run)
    walk.advance()
    with pytest.raises(SessionError, match="another window"):
        other.advance()
    assert resumed(walk, run).current == walk.current


def test_changed_steps_are_refused_with_what_changed(run: FakeRun) -> None:
    walk = half_way(run)
    text = (Path(__file__).parents[2] / "data" / "playbooks" / "made-up.yaml").read_text()
    changed = shelf(playbook(text.replace(">= 0.05", ">= 0.10")), BOOKS["part"])
    assert walk.session is not None
    with pytest.raises(SessionChanged) as caught:
        Walk.resume(SessionFile(walk.session.path), run, changed)
    said = str(caught.value)
    assert "- steps/0  learning: check rise(reward_mean, within=300) >= 0.05" in said
    assert "+ steps/0  learning: check rise(reward_mean, within=300) >= 0.10" in said
    assert "steps/1" not in said


def test_other_points_are_a_change_and_another_title_is_none(run: FakeRun) -> None:
    walk = half_way(run)
    text = (Path(__file__).parents[2] / "data" / "playbooks" / "made-up.yaml").read_text()
    assert walk.session is not None
    session = SessionFile(walk.session.path)
    titled = shelf(playbook(text.replace("A throw-away", "Another")), BOOKS["part"])
    assert Walk.resume(session, run, titled).current is not None
    pointed = shelf(playbook(text.replace("{healthy: +2}", "{healthy: +1}")), BOOKS["part"])
    with pytest.raises(SessionChanged, match="its branches differ"):
        Walk.resume(session, run, pointed)


def test_find_open_gives_the_newest_unfinished(run: FakeRun) -> None:
    assert run.path is not None and find_open(run.path) is None
    first, second = started(run), started(run)
    second.advance()
    second.advance()
    second.answer("no")
    assert second.finished and len(sessions_of(run.path)) == 2
    found = find_open(run.path)
    assert found is not None and first.session is not None and found.path == first.session.path
    second.back()
    assert find_open(run.path) is not None and not SessionFile(second.session.path).finished  # type: ignore[union-attr]


def test_a_session_under_way_is_not_started_again(run: FakeRun) -> None:
    walk = started(run)
    with pytest.raises(WalkError, match="resume it"):
        Walk.start("made-up", run, BOOKS, session=walk.session)


def test_what_is_no_session_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("hello\n")
    with pytest.raises(SessionError, match="no session header"):
        SessionFile(path)
    path.write_text('{"kind": "session", "schema": 9}\n')
    with pytest.raises(SessionError, match="another version"):
        SessionFile(path)


CHILD = """
import sys, time
sys.path.insert(0, {here!r})
from engine_support import FakeRun, line, shelf, stored
from grpo_tui.playbook.walk.walk import Walk, begin_session
from pathlib import Path
books = shelf(stored("made-up"), stored("part"))
series = {{"entropy": line((0, 0.9), (199, 0.1)), "reward_mean": [0.4] * 200}}
run = FakeRun(series, config={{"temperature": 0.3}}, path=Path({path!r}))
session = begin_session(books["made-up"], run, books)
walk = Walk.start("made-up", run, books, session=session)
walk.advance(); walk.advance(); walk.answer("yes")
print(session.path, walk.current.place, flush=True)
time.sleep(60)
"""


def test_kill_9_loses_nothing(run: FakeRun) -> None:
    code = textwrap.dedent(CHILD.format(here=str(Path(__file__).parent), path=str(run.path)))
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    path, place = child.stdout.readline().split()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert run.path is not None
    found = find_open(run.path)
    assert found is not None and str(found.path) == path
    walk = Walk.resume(found, run, BOOKS)
    assert walk.current is not None and walk.current.place == place
    assert walk.facts == {"rollouts.near-identical": "yes"}
