"""What expressions say: three truth values, errors apart, and the evidence for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.metrics.series import NO_POINTS, Points
from grpo_tui.playbook.authoring.curves import read_curve
from grpo_tui.playbook.language.expressions import ExpressionError, Outcome, evaluate, parse
from grpo_tui.playbook.language.names import default_names

NAMES = default_names().of_playbook({"window", "limit", "word"}, ())


@dataclass
class Scene:
    """A scope with everything given by hand."""

    curves: dict[str, Points] = field(default_factory=dict)
    base: dict[str, Points] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    at: int | None = None
    answer: Any = None
    total_steps: int | None = None
    state: str | None = None
    framework: str | None = "trl"
    incident_lines: dict[str, int] = field(default_factory=dict)

    @property
    def step(self) -> int | None:
        ends = [int(points.steps[-1]) for points in self.curves.values() if len(points)]
        return max(ends, default=None)

    @property
    def steps_logged(self) -> int | None:
        return max((len(points) for points in self.curves.values()), default=0)

    def points(self, name: str) -> Points:
        return self.curves.get(name, NO_POINTS)

    def baseline(self, name: str) -> Points:
        return self.base.get(name, NO_POINTS)

    def config(self, key: str) -> Any:
        return self.settings.get(key)

    def observation(self, id: str) -> Any:
        return self.answers.get(id)

    def result(self, field: str) -> Any:
        return {"share": 0.25, "agrees": "no"}.get(field)

    def param(self, name: str) -> Any:
        return {"window": 50, "limit": 0.5, "word": "text"}[name]

    def score(self, id: str) -> float | None:
        return 2.0

    def incidents(self, kind: str) -> int | None:
        return sum(self.incident_lines.values()) if not kind else self.incident_lines.get(kind, 0)


def scene(**curves: str) -> Scene:
    return Scene({name: read_curve(text).points() for name, text in curves.items()})


def say(text: str, where: Scene | None = None) -> Outcome:
    return evaluate(
        parse(text, known=NAMES), where if where is not None else scene(loss="1x50", entropy="0.5x50")
    )


WORDS = {True: "true", False: "false", None: "unknown"}
TRUTHS = (True, False, None)


@pytest.mark.parametrize("a", TRUTHS)
@pytest.mark.parametrize("b", TRUTHS)
def test_kleene_tables(a: bool | None, b: bool | None) -> None:
    both = False if False in (a, b) else None if None in (a, b) else True
    either = True if True in (a, b) else None if None in (a, b) else False
    assert say(f"{WORDS[a]} and {WORDS[b]}").truth is both
    assert say(f"{WORDS[a]} or {WORDS[b]}").truth is either
    assert say(f"not {WORDS[a]}").truth is (None if a is None else not a)
    # the same with the unknown coming from a curve that was never logged
    seen = {True: "loss == 1", False: "loss == 2", None: "lr > 1"}
    assert say(f"{seen[a]} and {seen[b]}").truth is both
    assert say(f"{seen[a]} or {seen[b]}").truth is either


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("loss == 1", True),
        ("loss != 1", False),
        ("0 < entropy < 1", True),
        ("0 < entropy < 0.2", False),
        ("loss + 2 * 3 == 7", True),
        ("-loss < 0 and abs(-loss) == 1", True),
        ("loss / 4 == 0.25", True),
        ("loss / (entropy - 0.5) > 0", None),
        ("(loss - 1) / (loss - 1) > 0", None),
        ("lr > 1", None),
        ("lr > 1 and false", False),
        ("lr == lr", None),
        ("median(entropy, last=window) <= limit", True),
        ("step == 50 and steps_logged == 50", True),
        ("step > 0.5 * total_steps", None),
        ('framework == "trl"', True),
        ('state == "died"', None),
        ('score["collapse.entropy"] >= 2', True),
        ("result.share > 0.2", True),
        ('result.agrees == "no"', True),
        ('result.nothing == "no"', None),
        ("vs_baseline(loss) > 1", None),
        ("count(lr) == 0", True),
        ("rise(loss, within=5) > 0", None),
    ],
)
def test_truths(text: str, truth: bool | None) -> None:
    outcome = say(text)
    assert (outcome.truth, outcome.error) == (truth, None)
    assert bool(outcome.unknown_because) is (truth is None) or text == "lr > 1 and false"


@pytest.mark.parametrize(
    ("value", "text", "truth"),
    [
        (True, "config.flag", True),
        (True, 'config.flag == "yes"', True),
        (False, 'config.flag == "no"', True),
        (False, "config.flag == false", True),
        (1, "config.flag == true", True),
        ("1e-6", "config.flag < 1e-5", True),
        ("1e-6", "config.flag == 1e-6", True),
        ("group", 'config.flag in ["group", "none"]', True),
        ("group", 'config.flag not in ["batch"]', True),
        ("group", "config.flag == 3", False),
        (None, "config.flag == 3", None),
        (np.int64(3), "config.flag == 3", True),
        (float("nan"), "config.flag > 3", None),
    ],
)
def test_configuration_values(value: Any, text: str, truth: bool | None) -> None:
    where = Scene(settings={"flag": value})
    outcome = evaluate(parse(text), where)
    assert (outcome.truth, outcome.error) == (truth, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("group", "config.flag > 3"),
        ("group", "config.flag + 1 > 3"),
        ("group", "config.flag"),
        (2.0, "config.flag and true"),
        (0.5, "median(loss, last=config.flag) > 3"),
        ("many", "median(loss, last=config.flag) > 3"),
        (9, "quantile(loss, config.flag) > 3"),
        (True, "config.flag > 0"),
    ],
)
def test_nonsense_is_an_error_and_neither_true_false_nor_silently_unknown(value: Any, text: str) -> None:
    where = Scene({"loss": read_curve("1x50").points()}, settings={"flag": value})
    outcome = evaluate(parse(text), where)
    assert outcome.truth is None
    assert outcome.error is not None and "flag" in outcome.error


def test_an_answer_of_unknown_is_unknown() -> None:
    where = Scene(answers={"rollouts.readable": "unknown"}, answer="unknown")
    assert say('obs["rollouts.readable"] == "no"', where).truth is None
    assert say('answer == "no"', where).truth is None
    assert say('obs["rollouts.readable"] == "no"', where).unknown_because == (
        "rollouts.readable was not answered",
    )


def test_why_unknown() -> None:
    where = scene(loss="1x50", entropy="0.5x5", grad_norm="1x10 nanx3", lr="1x5 _x95")
    assert say("kl_ref > 1", where).unknown_because == ("kl_ref was not logged",)
    assert "5 usable rows" in say("drop(entropy, within=500) > 1", where).unknown_because[0]
    assert "not finite" in say("grad_norm > 1", scene(grad_norm="1x10 nanx3")).unknown_because[0]
    assert say("lr > 1", scene(loss="1x100", lr="1x5 _x95")).unknown_because == (
        "lr was last logged at step 5",
    )
    assert say("vs_baseline(loss) > 1", where).unknown_because == ("no baseline run",)


def test_the_trace_holds_what_decided() -> None:
    outcome = say("lr > 1 or median(entropy, last=window) < 0.6 or loss > 5")
    texts = [comparison.text for comparison in outcome.trace]
    assert texts == ["lr > 1", "median(entropy, last=window) < 0.6"], "the third was not needed"
    unknown, decided = outcome.trace
    assert (unknown.left, unknown.result) == (None, None)
    assert (decided.left, decided.op, decided.right, decided.result) == (0.5, "<", 0.6, True)
    assert (decided.metric, decided.step, decided.window) == ("entropy", 50, 50)


def test_the_trace_of_a_chain_and_of_a_list() -> None:
    chain = say("0 < entropy < 1").trace
    assert [comparison.text for comparison in chain] == ["0 < entropy", "entropy < 1"]
    listed = say('answer in ["a", "b"]', Scene(answer="b")).trace[0]
    assert (listed.left, listed.right, listed.result) == ("b", ("a", "b"), True)


def test_the_first_bad_row_is_named() -> None:
    outcome = say("bad(loss, within=100) >= 1", scene(loss="1x20 nanx2 1x5"))
    assert outcome.truth is True
    assert outcome.trace[0].first_step == 21


def test_a_window_in_minutes_follows_the_pace_of_the_run() -> None:
    curves = {"step_time": "30x100", "entropy": "1x60 0.5x40"}
    assert say("mean(entropy, within=10m) == 0.5", scene(**curves)).truth is True
    assert say("mean(entropy, within=10m) == 0.5", scene(**curves)).trace[0].window == 20
    assert say("mean(entropy, within=30m) == 0.5", scene(**curves)).truth is False
    assert say("mean(entropy, within=10m) == 0.5", scene(entropy="1x9")).truth is None
    assert say("step_time < 2m", scene(**curves)).truth is True


def test_as_of_a_step_nothing_later_is_seen() -> None:
    where = scene(entropy="1x50 0.1x50")
    for at, truth in ((50, False), (100, True)):
        where.at = at
        assert say("entropy < 0.5", where).truth is truth
        assert say("step == 50", where).truth is (at == 50)


def test_incidents() -> None:
    where = Scene(incident_lines={"oom": 1, "exception": 2})
    assert say('incidents("oom") == 1', where).truth is True
    assert say('incidents("oom", "exception") == 3', where).truth is True
    assert say("incidents() == 3", where).truth is True
    assert say('incidents("killed") > 0', where).truth is False


def test_a_baseline_is_read_at_the_same_steps() -> None:
    where = scene(entropy="1x40")
    where.base = {"entropy": read_curve("2x40 100x400").points()}
    assert say("vs_baseline(entropy, last=20) == 0.5", where).truth is True


PIECES = st.sampled_from(
    [
        "loss",
        "lr",
        "entropy",
        "1",
        "0",
        "true",
        "false",
        "unknown",
        "answer",
        "config.flag",
        "result.share",
        "step",
        "drop(entropy)",
        "rise(loss, within=window)",
        "median(loss, last=limit)",
        "word",
        '"yes"',
        "total_steps",
        "10m",
    ]
)
OPERATORS = st.sampled_from(["<", "==", "!=", ">=", "+", "-", "*", "/", "and", "or"])
TEXTS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["<", "==", "!=", ">=", "+", "-", "*", "/", "and", "or"]), inner
        ).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"(not {t})"),
        inner.map(lambda t: f"(-{t})"),
    ),
    max_leaves=8,
)
FLAGS = st.sampled_from([None, True, 0, 3.5, "text", "7", float("inf"), float("nan")])


@settings(max_examples=400, deadline=None)
@given(TEXTS, FLAGS, FLAGS)
def test_evaluation_never_raises(text: str, flag: Any, answer: Any) -> None:
    try:
        expression = parse(text, known=NAMES)
    except ExpressionError:
        return
    where = scene(loss="1x30 nanx2", entropy="1~0x40")
    where.settings, where.answer = {"flag": flag}, answer
    outcome = evaluate(expression, where)
    assert outcome.truth in (True, False, None)
    if outcome.error is not None:
        assert outcome.truth is None
    elif outcome.truth is None:
        assert outcome.unknown_because or "unknown" in text
