"""The curve notation, the run made of it, and what a playbook's test compares."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playbook_support import GOOD

from grpo_tui.playbook.authoring.curves import CurveError, read_curve
from grpo_tui.playbook.authoring.fake_run import FakeRun, run_of
from grpo_tui.playbook.authoring.testing import Fired, Walked, run_tests
from grpo_tui.playbook.format.load import load_file, load_text
from grpo_tui.playbook.format.schema import Playbook, PlaybookTest
from grpo_tui.playbook.library import Library


def values(text: str) -> list[float]:
    return read_curve(text).points().values.tolist()


def test_curves_by_hand() -> None:
    assert values("1~3x3") == [1, 2, 3]
    assert values("0.5x2 7 1e-3x1") == [0.5, 0.5, 7, 0.001]
    assert values("-1~-2x2 +3") == [-1, -2, 3]
    assert values("1x2 _x3 2") == [1, 1, 2]
    assert read_curve("1x2 _x3 2").points(every=5).steps.tolist() == [5, 10, 30]
    assert str(values("nanx2 inf -infx1")) == "[nan, nan, inf, -inf]"
    assert len(read_curve("_x20").points()) == 0


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        ("abc", 0),
        ("1x0", 0),
        ("1 2x", 2),
        ("1~x5", 0),
        ("_~1x5", 0),
        ("1 1,5", 2),
        ("1x999999999", 0),
        ("1x99999999999", 0),
    ],
)
def test_what_is_no_curve(text: str, offset: int) -> None:
    with pytest.raises(CurveError) as caught:
        read_curve(text)
    assert caught.value.offset == offset


@settings(max_examples=300)
@given(st.text(alphabet="0123456789.~x_naif-+e ", max_size=20))
def test_any_text_is_a_curve_or_an_error(text: str) -> None:
    try:
        curve = read_curve(text)
    except CurveError as error:
        assert 0 <= error.offset <= len(text)
    else:
        assert len(curve) == len(curve.present) > 0


def test_noise_is_relative_repeatable_and_spares_exact_zeros() -> None:
    curve = read_curve("2x500 0x10")
    noisy = curve.noisy(0.1, 7).values
    assert np.array_equal(noisy, curve.noisy(0.1, 7).values)
    assert not np.array_equal(noisy, curve.noisy(0.1, 8).values)
    assert 0.15 < noisy[:500].std() < 0.25
    assert (noisy[500:] == 0).all()


def book(**changes: str) -> Playbook:
    text = GOOD
    for right, wrong in changes.values() if changes else ():
        text = text.replace(right, wrong)
    return load_text(text, "a.yaml")


def one_test(**fields: object) -> PlaybookTest:
    return PlaybookTest.model_validate({"name": "t", "expect": {}, **fields})


def test_the_run_of_a_test() -> None:
    test = one_test(
        series={"entropy": "1~0.5x10", "lr": "_x4 1x4"},
        every=5,
        config={"temperature": 0.7},
        incidents={"oom": 20},
        total_steps=100,
        framework="trl",
        state="died",
    )
    run = run_of(test, book())
    assert run.steps() == [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
    assert (run.step, run.total_steps, run.framework, run.state()) == (50, 100, "trl", "died")
    assert run.names() == ["entropy", "lr"]
    assert run.points("lr").steps.tolist() == [25, 30, 35, 40]
    assert len(run.points("nothing")) == 0
    assert run.config["temperature"].value == 0.7
    assert (run.incidents[0].kind, run.incidents[0].step) == ("oom", 20)
    (segment,) = run.segments
    assert (segment.first_step, segment.last_step, segment.rows) == (5, 50, 10)
    assert segment.series["entropy"].last == 0.5
    assert run.poll() == []


def test_an_empty_run() -> None:
    run = run_of(one_test(), book())
    assert (run.steps(), run.step, run.names()) == ([], None, [])


@dataclass
class Stub:
    """An engine that answers what it is told to."""

    fired: Fired | None = None
    walked: Walked = field(default_factory=lambda: Walked("undetermined", (), frozenset()))
    seen: list[FakeRun] = field(default_factory=list)

    def alarm(self, playbook: Playbook, run: FakeRun) -> Fired | None:
        self.seen.append(run)
        return self.fired

    def walk(self, playbook: Playbook, run: FakeRun, library: Library, test: PlaybookTest) -> Walked:
        return self.walked


def differences(expect: dict[str, object], engine: Stub) -> tuple[str, ...]:
    playbook = book().model_copy(update={"tests": (one_test(expect=expect),)})
    (result,) = run_tests(playbook, Library(), engine)
    assert result.passed is (not result.differences)
    return result.differences


ALARM = Fired("warning", 120)
WALKED = Walked("suspected healthy", ("learning",), frozenset())


@pytest.mark.parametrize(
    ("expect", "fired", "says"),
    [
        ({"triggered": True}, ALARM, ""),
        ({"triggered": True}, None, "stayed silent"),
        ({"triggered": False}, None, ""),
        ({"triggered": False}, ALARM, "expected silence, it fired at step 120 as warning"),
        ({"severity": "warning"}, ALARM, ""),
        ({"severity": "critical"}, ALARM, "expected critical, got warning"),
        ({"severity": "critical"}, None, "stayed silent"),
        ({"first_step": 110, "tolerance": 10}, ALARM, ""),
        ({"first_step": 110, "tolerance": 9}, ALARM, "expected 110 ± 9, got 120"),
        ({"first_step": 1}, Fired("info", None), "got None"),
    ],
)
def test_what_an_alarm_is_compared_with(expect: dict[str, object], fired: Fired | None, says: str) -> None:
    found = differences(expect, Stub(fired))
    assert (says in found[0]) if says else found == ()


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"verdict": "suspected healthy"}, ""),
        ({"verdict": "confirmed healthy"}, "expected confirmed healthy, got suspected healthy"),
        ({"verdict": "undetermined"}, "expected undetermined"),
        ({"path": ["learning"]}, ""),
        ({"path": ["learning", "sampling"]}, "expected learning → sampling, got learning"),
    ],
)
def test_what_a_walk_is_compared_with(expect: dict[str, object], says: str) -> None:
    found = differences(expect, Stub(walked=WALKED))
    assert (says in found[0]) if says else found == ()


def test_a_recorded_run_that_is_not_there_fails_its_test_only(tmp_path: Path) -> None:
    text = GOOD.replace(
        'series: {entropy: "0.9~0.25x200 0.25~0.2x100", reward_mean: "0.2~0.5x200 0.5~0.55x100"}',
        "series: {file: nowhere.log}",
    )
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    (result,) = run_tests(load_file(path), Library(), Stub())
    assert not result.passed and "nowhere.log" in result.differences[0]


def test_a_recorded_run_is_cut_to_its_steps(tmp_path: Path) -> None:
    rows = "".join(f'{{"step": {i}, "data": {{"actor/entropy": {1 / i}}}}}\n' for i in range(1, 51))
    (tmp_path / "run.jsonl").write_text(rows, encoding="utf-8")
    path = tmp_path / "a.yaml"
    path.write_text(GOOD, encoding="utf-8")
    run = run_of(one_test(series={"file": "run.jsonl", "steps": [10, 19]}), load_file(path))
    assert run.points("entropy").steps.tolist() == list(range(10, 20))


def test_the_real_engine_passes_the_good_playbook() -> None:
    playbook = book()
    (result,) = run_tests(playbook, Library({playbook.id: playbook}))
    assert result.differences == ()


def test_the_real_engine_notices_a_wrong_expectation() -> None:
    playbook = book(a=("verdict: suspected healthy", "verdict: suspected collapse.entropy"))
    (result,) = run_tests(playbook, Library({playbook.id: playbook}))
    assert "got suspected healthy" in result.differences[0]
