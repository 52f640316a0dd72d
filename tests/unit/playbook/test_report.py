"""The report says who said what and what it comes to, and renders foreign text as text."""

from pathlib import Path

import pytest
from engine_support import FakeRun, line, shelf, stored
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.playbook.walk.markdown import code, plain, safe
from grpo_tui.playbook.walk.report import render_markdown
from grpo_tui.playbook.walk.session import SessionFile
from grpo_tui.playbook.walk.views import ProbeOutcome
from grpo_tui.playbook.walk.walk import Walk, begin_session

BOOKS = shelf(stored("made-up"), stored("part"))
NASTY = "<script>alert(1)</script> **bold** [link](http://x.y) \x1b[31mred\x1b[0m `tick` \u202ecba | # h\nnew"


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))
    series = {"entropy": line((0, 0.9), (199, 0.1)), "reward_mean": [0.4] * 200, "clip_frac": [0.0] * 200}
    run = FakeRun(series, path=tmp_path / "train.log")
    summary = {
        "path": str(run.path),
        "framework": "trl",
        "framework_version": "0.23",
        "steps": {"first": 1, "last": 200, "count": 200},
        "total_steps": 400,
        "state": "running",
        "sources": [{"path": "train.log", "reader": "trl-console"}],
    }
    alarm = {"severity": "warning", "first_step": 90, "message": NASTY, "evidence": [{"text": "it fell"}]}
    session = begin_session(BOOKS["made-up"], run, BOOKS, summary=summary, alarm=alarm)
    walk = Walk.start("made-up", run, BOOKS, session=session, by="ada")
    walk.advance()
    walk.advance()
    walk.answer("yes", note=NASTY)
    walk.advance()
    walk.record_probe(
        ProbeOutcome({"probe.ratio.engine-agrees": "no"}, rehearsal=True, verdict="fail", path="/r.json")
    )
    walk.note("ask the data team")
    walk.advance()
    return walk


def test_it_holds_what_a_reader_needs(walk: Walk) -> None:
    text = render_markdown(walk)
    for part in (
        "- Framework: trl 0.23",
        "up to 200 of 400 planned, 200 rows",
        "State: running",
        "## The alarm",
        "**warning** since step 90",
        "**Confirmed: `collapse.entropy`**",
        "1. `collapse.entropy` (3 points, a fact among them)",
        "Why: Reward pays for entropy.",
        "Result: **answered: yes**, ada, 20",
        "## What may help",
        "`epsilon_high = 0.28`",
        "that is so here",
        "Expected after 200 steps",
        "## Not checked",
        "rehearsal on other weights",
        "## What to do next",
        "ask the data team",
    ):
        assert part in text, part
    assert "clip_ratio_high" not in text


def test_a_session_file_alone_gives_the_same_story(walk: Walk) -> None:
    assert walk.session is not None
    session = SessionFile(walk.session.path)
    assert render_markdown(session, BOOKS, walk.run) == render_markdown(walk)
    bare = render_markdown(session)
    assert "**Confirmed: `collapse.entropy`**" in bare and "## What may help" not in bare


def test_foreign_text_stays_text(walk: Walk) -> None:
    text = render_markdown(walk)
    assert "<script" not in text and "**bold**" not in text and "[link]" not in text
    assert "\x1b" not in text and "\u202e" not in text and "http://" not in text
    assert "\\*\\*bold\\*\\*" in text and "&lt;script&gt;" in text


def test_an_unfinished_walk_says_so() -> None:
    walk = Walk.start("made-up", FakeRun({"entropy": [0.5] * 30}), BOOKS)
    text = render_markdown(walk)
    assert "not finished" in text and "**Undetermined.**" in text


@given(st.text())
def test_safe_is_one_line_without_markup(text: str) -> None:
    line = safe(text)
    assert not any(c in line for c in "<>\n\r\x1b")
    assert len(plain(text)) <= 400
    for at, character in enumerate(line):
        if character in "*[]`|~":
            assert at > 0 and line[at - 1] == "\\"


@given(st.text(alphabet="`a \n"))
def test_code_spans_close(text: str) -> None:
    span = code(text)
    ticks = len(span) - len(span.lstrip("`"))
    assert span.endswith("`" * ticks) and "`" * ticks not in span[ticks:-ticks]
