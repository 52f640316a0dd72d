"""The small pieces: header and bars at any width, numbers, the terminal, wrapped text, saved views."""

import json
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from grpo_tui.playbook.alarms.alarm import Alarm
from grpo_tui.tui import format as form
from grpo_tui.tui.snapshot import Facts, Snapshot
from grpo_tui.tui.terminal import announce, farewell, progress
from grpo_tui.tui.theme import SEVERITIES, STATES
from grpo_tui.tui.view_state import ViewState
from grpo_tui.tui.widgets.bar import Part, fit_parts
from grpo_tui.tui.widgets.page import hang
from grpo_tui.tui.widgets.run_header import line_of, parts_of

FACTS: dict[str, Any] = {
    "framework": "trl",
    "version": "0.26.1",
    "step": 120,
    "total": 500,
    "pace": 12.3,
    "eta": 4674.0,
    "state": "running",
}


def alarm(severity: str = "warning", state: str = "firing") -> Alarm:
    return Alarm("a", "a", "A", severity, None, state, 3, 9, "m")  # type: ignore[arg-type]


def snapshot(*alarms: Alarm, **facts: Any) -> Snapshot:
    return Snapshot(
        Facts("a-run-with-a-rather-long-name.log", "/x", **{**FACTS, **facts}), alarms=alarms, reading=False
    )


@pytest.mark.parametrize("width", [38, 58, 78, 98, 118, 198])
def test_the_header_fits_and_drops_whole_parts(width: int) -> None:
    shown = snapshot(alarm("critical"), alarm(), alarm())
    line = line_of(shown, width)
    assert line.cell_length <= width
    whole = {part.content.plain for limit in (48, 10, width // 8) for part in parts_of(shown, limit)}
    if width >= 58:
        assert set(line.plain.split("  ")) <= whole
        assert "◆ 1 critical ▲ 2" in line.plain
    if width >= 78:
        assert all(text in line.plain for text in ("step 120/500", "ETA 77 min", "▸ running", "trl 0.26.1"))


def test_the_header_says_what_it_does_not_know() -> None:
    line = line_of(snapshot(step=None, total=None, eta=None, pace=None, framework="unknown"), 80)
    assert "no step yet" in line.plain and "unknown" not in line.plain and "ETA" not in line.plain


def test_an_alarm_that_is_over_is_not_in_the_header() -> None:
    assert "warning" not in line_of(snapshot(alarm(state="resolved")), 120).plain


def test_the_last_ranked_part_goes_first() -> None:
    parts = [Part(Content("aaaa"), 0), Part(Content("bbbb"), 2), Part(Content("cccc"), 1)]
    assert fit_parts(parts, 14, " ").plain == "aaaa bbbb cccc"
    assert fit_parts(parts, 13, " ").plain == "aaaa cccc"
    assert fit_parts(parts, 8, " ").plain == "aaaa"


def test_severities_and_states_differ_without_colour() -> None:
    for looks in (SEVERITIES, STATES):
        assert (
            len({look.glyph for look in looks.values()})
            == len({look.word for look in looks.values()})
            == len(looks)
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "NaN"),
        (float("-inf"), "-inf"),
        (3.0, "3"),
        (0.123456, "0.1235"),
        (-0.0, "0"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert form.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (42, "42 s"),
        (720, "12 min"),
        (11_100, "3 h 05"),
        (187_200, "2 d 4 h"),
        (float("inf"), "–"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert form.duration(seconds) == text


def test_progress_is_told_to_vs_code_only_and_taken_back() -> None:
    code, other = {"TERM": "xterm", "TERM_PROGRAM": "vscode"}, {"TERM": "xterm"}
    assert "\x1b]9;4;1;24\x07" in announce(snapshot(), code) and "9;4" not in announce(snapshot(), other)
    assert announce(snapshot(), {"TERM": "dumb"}) == farewell({"TERM": "dumb"}) == ""
    assert "\x1b]9;4;0;" in farewell(code)
    assert progress(snapshot(alarm("critical"))).startswith("\x1b]9;4;2;")
    assert progress(snapshot(state="stalled")).startswith("\x1b]9;4;4;")
    assert progress(snapshot(total=None)) == "\x1b]9;4;0;\x07"


def test_the_terminals_title_cannot_be_escaped_from() -> None:
    evil = Snapshot(Facts("run\x07\x1b]0;owned", "/x"), reading=False)
    assert announce(evil, {"TERM": "xterm"}) == "\x1b]0;run\x07" or "owned" not in announce(
        evil, {"TERM": "xterm"}
    )


def test_wrapped_text_hangs_by_its_mark() -> None:
    rows = hang(Content("   • " + "word " * 20), 40)
    assert len(rows) > 2 and all(row.cell_length <= 40 for row in rows)
    assert all(row.plain.startswith("     w") for row in rows[1:])
    assert hang(Content("short"), 40)[0].plain == "short"
    path = "/a/rather/long/path/to/a/file"
    rows = hang(Content(f"result in   {path}"), 32, 12)
    assert [row.plain.strip() for row in rows] == ["result in", path], "a path is never broken while it fits"
    labelled = hang(Content("command     " + "x" * 60), 40, 12)
    assert "".join(row.plain.strip() for row in labelled).count("x") == 60


def test_a_wrapped_style_stays_on_its_words() -> None:
    rows = hang(Content.assemble("• ", ("red " * 20, "bold")), 30)
    assert all(any(str(span.style) == "bold" for span in row.spans) for row in rows)


def test_a_view_is_saved_and_a_damaged_one_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "home" / "view.json"
    ViewState(columns=2, log_pane=True).save(path)
    assert ViewState.load(path) == ViewState(columns=2, log_pane=True)
    for text in (
        "",
        "[]",
        json.dumps({"columns": "x"}),
        json.dumps({"log_pane": 3}),
        "{",
        json.dumps({"columns": 0}),
    ):
        path.write_text(text)
        assert ViewState.load(path) == ViewState()
    path.write_text(json.dumps({"columns": 3, "from": "the future"}))
    assert ViewState.load(path) == ViewState(columns=3)
