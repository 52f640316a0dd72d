"""Facts from the newest sampled groups: direction of equal groups, copies, loops, noise, empty winners.

Only what can be counted is said. The shares that decide are high on purpose (most groups, half of the
responses), because the dump of one step is a small sample [S0-12, S4-0].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from ...metrics.groups import EQUAL, direction_of
from ...metrics.likeness import near_copies
from .fact import Fact
from .texts import ends_in_loop, final_answer, is_empty, is_garbled, says_gold

MOST = 0.8
"""Share of the equal groups, or of the prompts, that decides which kind they are."""
HALF = 0.5
LEAST_GROUPS = 2
LEAST_PROMPTS = 3
LEAST_RESPONSES = 4


class ResponseLike(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def reward(self) -> float | None: ...
    @property
    def extra(self) -> dict[str, object]: ...


class GroupLike(Protocol):
    """The responses to one prompt at one step, as every source of rollouts gives them."""

    @property
    def step(self) -> int: ...
    @property
    def responses(self) -> Sequence[ResponseLike]: ...
    @property
    def gold(self) -> str | None: ...


def facts_of_groups(groups: Sequence[GroupLike]) -> list[Fact]:
    """Every fact that the groups of one step settle."""
    if not groups:
        return []
    step = groups[0].step
    found: list[Fact] = []
    for look in LOOKS:
        found.extend(
            Fact(observation, value, f"rollouts of step {step}", text, step, rules)
            for observation, value, text, rules in look(groups)
        )
    return found


Found = tuple[str, str | float, str, tuple[str, ...]]
Look = Callable[[Sequence[GroupLike]], Iterator[Found]]


def rewards_of(groups: Iterable[GroupLike]) -> list[float]:
    return [r.reward for group in groups for r in group.responses if r.reward is not None]


def _direction(groups: Sequence[GroupLike]) -> Iterator[Found]:
    rewards = rewards_of(groups)
    scored = [[r.reward for r in g.responses if r.reward is not None] for g in groups]
    kinds: Counter[str] = Counter(
        direction_of(group, max(rewards), min(rewards)) for group in scored if len(group) > 1
    )
    equal = sum(kinds.values()) - kinds["spread"]
    if equal < LEAST_GROUPS:
        return
    kind, many = max(
        ((kind, count) for kind, count in kinds.items() if kind != "spread"), key=lambda pair: pair[1]
    )
    value = kind if many >= MOST * equal else "mixed"
    counts = ", ".join(f"{kinds[k]} {k}" for k in ("all-right", "all-wrong", "other-equal") if kinds[k])
    yield "data.direction", value, f"of {equal} groups without a spread: {counts}", ("S0-3", "S1-9")


def _copies(groups: Sequence[GroupLike]) -> Iterator[Found]:
    several = [[r.text for r in g.responses] for g in groups if len(g.responses) > 1]
    if len(several) < LEAST_GROUPS:
        return
    alike = sum(near_copies(texts) >= HALF for texts in several)
    text = f"{alike} of {len(several)} groups are near-copies of one text"
    if alike >= HALF * len(several):
        yield "rollouts.near-identical", "yes", text, ("S0-12", "S3-10")
    elif alike <= 0.1 * len(several):
        yield "rollouts.near-identical", "no", text, ("S0-12",)


def _texts(groups: Sequence[GroupLike]) -> Iterator[Found]:
    texts = [r.text for g in groups for r in g.responses]
    if len(texts) < LEAST_RESPONSES:
        return
    garbled = sum(is_garbled(text) for text in texts)
    if garbled >= HALF * len(texts):
        what = f"{garbled} of {len(texts)} responses mix scripts or show raw token marks"
        yield "rollouts.readable", "no", what, ("S0-12", "S4-9")
    loops = sum(ends_in_loop(text) for text in texts)
    if loops >= 0.3 * len(texts):
        what = f"{loops} of {len(texts)} responses end in a loop of one phrase"
        yield "rollouts.repeats-tokens", "yes", what, ("S0-12",)


def _cut_off(groups: Sequence[GroupLike]) -> Iterator[Found]:
    """Only where the dump says why a response ended; text alone cannot tell [S4-10]."""
    told = [_stopped_by_length(r) for g in groups for r in g.responses]
    known = [cut for cut in told if cut is not None]
    if len(known) < LEAST_RESPONSES:
        return
    cut = sum(known)
    text = f"{cut} of {len(known)} responses stopped at the length limit"
    if cut >= HALF * len(known):
        yield "rollouts.cut-off", "yes", text, ("S4-10", "S3-7")
    elif cut <= 0.05 * len(known):
        yield "rollouts.cut-off", "no", text, ("S4-10",)


def _stopped_by_length(response: ResponseLike) -> bool | None:
    for name in ("finish_reason", "stop_reason", "truncated", "is_truncated", "clipped"):
        value = response.extra.get(name)
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value.casefold() in ("length", "max_tokens", "truncated")
    return None


def _scoring(groups: Sequence[GroupLike]) -> Iterator[Found]:
    rewards = rewards_of(groups)
    if not rewards:
        return
    best, worst = max(rewards), min(rewards)
    scored = [r for g in groups for r in g.responses if r.reward is not None]
    empty = [r for r in scored if is_empty(r.text)]
    paid = [r for r in empty if r.reward is not None and r.reward > 0 and r.reward >= best - EQUAL]
    if len(paid) >= 2 and len(paid) >= HALF * len(empty):
        text = f"{len(paid)} responses without any content got the highest reward, {best:g}"
        yield "verifier.empty-scores-zero", "no", text, ("S3-6", "S1-17")
    elif len(empty) >= 2 and best > worst and all(r.reward == worst for r in empty):
        text = f"{len(empty)} responses without any content got the lowest reward, {worst:g}"
        yield "verifier.empty-scores-zero", "yes", text, ("S3-6",)
    yield from _gold(groups, best, worst)
    differing = sum(_answers_to_text(group) for group in groups)
    if differing:
        text = f"different responses to one prompt are scored differently in {differing} groups"
        yield "verifier.reads-response", "yes", text, ("S3-6",)


def _gold(groups: Sequence[GroupLike], best: float, worst: float) -> Iterator[Found]:
    """Responses whose final answer is the gold one, and yet at the bottom of the scale."""
    right = [
        r for g in groups if g.gold for r in g.responses if r.reward is not None and says_gold(r.text, g.gold)
    ]
    if len(right) < LEAST_RESPONSES:
        return
    low = sum(r.reward <= worst + EQUAL for r in right if r.reward is not None)
    if low >= HALF * len(right) and (worst <= 0 or best > worst):
        text = f"{low} of {len(right)} responses that end in the gold answer got {worst:g}, the lowest score"
        yield "rollouts.scored-right", "no", text, ("S4-3", "S3-6")


def _answers_to_text(group: GroupLike) -> bool:
    rewards = [r.reward for r in group.responses if r.reward is not None]
    texts = {r.text.strip() for r in group.responses}
    return len(texts) > 1 and len(rewards) > 1 and max(rewards) - min(rewards) > EQUAL


def _constant_answer(groups: Sequence[GroupLike]) -> Iterator[Found]:
    """One final answer to prompts that want different ones [S3-14, S3-15].

    Different ones they want where the gold answers differ, or, without gold, where the scores of that one
    answer do.
    """
    asked = [g for g in groups if len(g.responses) > 1]
    if len(asked) < LEAST_PROMPTS:
        return
    usual = [Counter(final_answer(r.text) for r in g.responses).most_common(1)[0] for g in asked]
    held = [(a, g) for (a, n), g in zip(usual, asked, strict=True) if a and n >= HALF * len(g.responses)]
    if not held:
        return
    answer, many = Counter(a for a, _ in held).most_common(1)[0]
    if many >= MOST * len(asked) and _wanted_differ(asked, answer):
        shown = answer if len(answer) <= 40 else f"{answer[:40]}…"
        text = f"{many} of {len(asked)} prompts that want different answers get mostly {shown!r}"
        yield "rollouts.shortcut", "constant-answer", text, ("S3-14", "S3-15")


def _wanted_differ(groups: Sequence[GroupLike], answer: str) -> bool:
    golds = {group.gold for group in groups}
    if None not in golds:
        return len(golds) >= LEAST_PROMPTS
    given = (r for g in groups for r in g.responses if final_answer(r.text) == answer)
    paid = [r.reward for r in given if r.reward is not None]
    return bool(paid) and max(paid) - min(paid) > EQUAL


LOOKS: tuple[Look, ...] = (_direction, _copies, _texts, _cut_off, _scoring, _constant_answer)
