"""Signs of life that must be seen before a run may be called healthy.

No alarm is not the same as health: a trigger that has no data does not fire either. So `healthy` is
only said when reward is seen to pay and enough of the rest is seen to be in order [S2-4, S0-17].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..evidence.sentences import evidence_of, texts
from ..language.expressions import evaluate, parse
from ..language.nodes import Expression
from ..scope import RunLike, RunScope
from .rule import Evidence

ENOUGH_ROWS = 10
ENOUGH_SEEN = 3
"""Signs beside a rising reward that must be known and good."""


REASSURING = frozenset(
    {
        ("rollouts.readable", "yes"),
        ("rollouts.scored-right", "yes"),
        ("rollouts.answer-present", "yes"),
        ("rollouts.near-identical", "no"),
        ("rollouts.cut-off", "no"),
        ("rollouts.repeats-tokens", "no"),
        ("rollouts.shortcut", "none"),
        ("verifier.gold-scores-full", "yes"),
        ("verifier.empty-scores-zero", "yes"),
        ("probe.ratio.repeatable", "yes"),
        ("probe.ratio.engine-agrees", "yes"),
        ("probe.ratio.shape", "none"),
        ("probe.accumulation.equivalent", "yes"),
        ("probe.mask.right", "yes"),
        ("probe.nonfinite.first", "none"),
        ("probe.groups.right", "yes"),
        ("probe.update.gradient-finite", "yes"),
        ("mismatch.at-step-zero", "no"),
        ("run.eval-follows", "yes"),
    }
)
"""Answers that speak against every fault they ask about; any other answer is a reason to look further."""
REASSURED = frozenset(name for name, _ in REASSURING)
TROUBLING = frozenset({("data.direction", "all-wrong"), ("data.gold-parses", "no")})
MOVED = 0.05
"""Share of parameters that three steps must change [S3-2]."""


def reassuring(name: str, value: object) -> bool:
    """Whether an answer speaks for the run."""
    if name == "probe.update.moved":
        return isinstance(value, float | int) and value >= MOVED
    return (name, value) in REASSURING


def troubling(name: str, value: object) -> bool:
    """Whether an answer forbids calling the run healthy, whoever looks at it."""
    return (name in REASSURED and (name, value) not in REASSURING) or (name, value) in TROUBLING


@dataclass(frozen=True, slots=True)
class Vital:
    """One sign: `good` must not be false anywhere; a `needed` one must be true."""

    name: str
    good: Expression
    needed: bool = False


def _vital(name: str, text: str, *, needed: bool = False) -> Vital:
    return Vital(name, parse(text), needed)


VITALS = (
    _vital("reward rises", "rise(reward_mean, within=1000) >= 0.01", needed=True),
    _vital("reward is finite", "bad(reward_mean, within=20) == 0", needed=True),
    _vital("gradient is alive", "median(grad_norm, last=50) > 1e-6"),
    _vital("gradient is finite", "bad(grad_norm, within=20) == 0"),
    _vital("gradient does not run away", "growth(grad_norm, within=all) < 50"),
    _vital("entropy was measured", "share_zero(entropy, within=100) < 1"),
    _vital("answers keep their length", "drop(response_length_mean, within=1000) < 0.8"),
    _vital("groups have a spread", "median(zero_std_group_frac, last=50) < 0.7"),
    _vital("answers end", "median(truncation_ratio, last=50) < 0.2"),
    _vital("entropy is finite", "bad(entropy, within=20) == 0"),
    _vital("close to the reference", "median(kl_ref, last=50) < 5"),
    _vital("nothing in the log", "incidents() == 0"),
)


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the signs allow `healthy`, the signs that were seen, and one sentence for each that was not."""

    good: bool
    doubts: tuple[str, ...]
    signs: tuple[Evidence, ...] = ()


def health_of(run: RunLike, vitals: Iterable[Vital] = VITALS) -> Health:
    """Look at every sign. Unknown is never good."""
    scope = RunScope(run, None)
    doubts: list[str] = []
    signs: list[Evidence] = []
    seen, good = 0, scope.steps_logged >= ENOUGH_ROWS
    if not good:
        doubts.append(f"only {scope.steps_logged} rows so far")
    for vital in vitals:
        outcome = evaluate(vital.good, scope)
        found = evidence_of(vital.good, outcome, scope)
        if outcome.truth is False or (vital.needed and outcome.truth is None):
            good = False
            doubts.append(f"not seen that {vital.name}: {'; '.join(texts(found)) or 'cannot be told'}")
        elif outcome.truth and vital.good.metrics:
            seen += not vital.needed
            signs.extend(found)
    return Health(good and seen >= ENOUGH_SEEN, tuple(doubts), tuple(signs))
