"""What the rollout screen writes: one group, two answers against each other, and a run over its steps."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ..sources.records import Group, Response
from ..sources.rollouts.facts import RolloutFacts, answer_of, cut_off
from . import format as form
from .rollout_reading import GroupView, answers, difference, extremes, histogram, repeated
from .widgets.text import clean_label, clean_line, fit

Line = Content | tuple[int, Content]
_LONGEST = 4_000
_LABEL = 8
_BINS = 10
_SHADES = " ░▒▓█"


def facts_text(facts: RolloutFacts) -> str:
    """The step in one line."""
    parts = [f"{facts.groups} groups", f"{facts.responses} responses", f"{facts.distinct_texts} distinct"]
    for name, share in (
        ("without reward spread", facts.zero_variance),
        ("all right", facts.all_right),
        ("all wrong", facts.all_wrong),
        ("near-identical", facts.near_identical),
        ("cut off", facts.truncated),
    ):
        if share is not None:
            parts.append(f"{share:.0%} {name}")
    if facts.empty_texts:
        parts.append(f"{facts.empty_texts} empty")
    return " · ".join(parts)


def group_title(view: GroupView, width: int) -> Content:
    """Rewards first, a mark where they are all the same, then the prompt's beginning."""
    rewards = [r.reward for r in view.group.responses if r.reward is not None]
    spread = f"{form.number(min(rewards), 3)}…{form.number(max(rewards), 3)}" if rewards else "no reward"
    mark = ("  = no spread", "bold $warning") if view.equal else ("", "")
    if rewards and view.equal:
        spread = f"all {form.number(rewards[0], 3)}"
    cut = (f"  ✂ {view.cut} cut", "$warning") if view.cut else ("", "")
    return Content.assemble(
        (f"{len(view.group.responses)} × ", "$faint"),
        (spread, "bold"),
        mark,
        cut,
        (f"\n  {fit(clean_label(view.group.prompt), max(8, width - 2))}", "$faint"),
    )


def group_lines(group: Group) -> list[Line]:
    """Prompt, gold answer, which answers were given how often, then every response under its reward."""
    lines = labelled("prompt", group.prompt)
    if group.gold is not None:
        lines += labelled("gold", group.gold)
    given = answers(group.responses)
    if any(answer_of(response) for response in group.responses):
        text = "   ".join(f"{clean_label(answer)} ×{count}" + _scored(mean) for answer, count, mean in given)
        lines += labelled("answers", text)
    for number, response in enumerate(group.responses, 1):
        lines += [Content(""), head_of(number, response), *body(response.text)]
    return lines


def _scored(mean: float | None) -> str:
    return "" if mean is None else f" → {form.number(mean, 3)}"


def head_of(number: int, response: Response) -> Content:
    """Number, reward with its parts, and what is odd about a response."""
    parts = ", ".join(
        f"{clean_label(name)} {form.number(value, 3)}" for name, value in response.parts.items()
    )
    odd = []
    if cut_off(response):
        odd.append("✂ cut off")
    phrase = repeated(response.text)
    if phrase is not None:
        odd.append(f"↻ ×{phrase[1]} “{fit(clean_label(phrase[0]), 40)}”")
    return Content.assemble(
        (f"response {number}  ", "bold $accent"),
        (f"reward {form.number(response.reward, 3)}", "bold"),
        (f"  {parts}", "$faint"),
        (f"  {'  '.join(odd)}" if odd else "", "bold $warning"),
    )


def difference_lines(group: Group) -> list[Line]:
    """The best and the worst response, word by word."""
    places = extremes(group)
    if places is None:
        return [Content("This group has one response: there is nothing to compare it with.")]
    first, second = (group.responses[at] for at in places)
    heads = [
        Content.assemble(("− ", "bold $error"), head_of(places[1] + 1, second)),
        Content.assemble(("+ ", "bold $success"), head_of(places[0] + 1, first)),
    ]
    lines: list[Line] = [
        *heads,
        Content.styled("both have the rest; line breaks stand as ⏎", "$faint"),
        Content(""),
    ]
    pieces = []
    for kind, text in difference(_flat(second.text), _flat(first.text)):
        shown = clean_line(text)
        if kind == "same":
            pieces.append(Content.styled(_shortened(shown), "$faint"))
        elif kind == "first":
            pieces.append(Content.styled(f"[−{shown}−]", "$error"))
        else:
            pieces.append(Content.styled(f"{{+{shown}+}}", "$success"))
    return [*lines, Content(" ").join(pieces)]


def _flat(text: str) -> str:
    return " ⏎ ".join(text.splitlines())[:_LONGEST]


def _shortened(text: str, most: int = 160) -> str:
    """What both have needs not be read in full."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def over_steps(steps: Sequence[tuple[int, Sequence[Group]]], width: int) -> list[Line]:
    """The distribution of rewards and of lengths over the steps that have rollouts, as shades."""
    lines: list[Line] = []
    for name, of in (("reward", _rewards), ("length in characters", _lengths)):
        held = [(step, [value for group in groups for value in of(group)]) for step, groups in steps]
        held = [(step, values) for step, values in held if values]
        if not held:
            continue
        low = min(min(values) for _, values in held)
        high = max(max(values) for _, values in held)
        cell = max(1, min(6, (width - 12) // len(held)))
        shown = held[-max(1, (width - 12) // cell) :]
        columns = [histogram(values, low, high, _BINS) for _, values in shown]
        lines.append(Content.styled(f"{name} over the steps {shown[0][0]} … {shown[-1][0]}", "bold"))
        for row in reversed(range(_BINS)):
            edge = low + (high - low) * (row + (1.0 if row == _BINS - 1 else 0.0)) / _BINS
            label = form.number(edge, 3) if row in (0, _BINS // 2, _BINS - 1) else ""
            bar = "".join(_shade(column[row]) * cell for column in columns)
            lines.append(Content.assemble((f"{label:>9} ", "$faint"), (bar, "$primary")))
        lines.append(Content(""))
    note = "each column is one step, each row a tenth of the range; the darker, the more responses"
    return [*lines, Content.styled(note, "$faint")] if lines else [Content("No step here has responses.")]


def _rewards(group: Group) -> list[float]:
    return [r.reward for r in group.responses if r.reward is not None and r.reward == r.reward]


def _lengths(group: Group) -> list[float]:
    return [float(len(response.text)) for response in group.responses]


def _shade(share: float) -> str:
    if share <= 0:
        return "·"
    return _SHADES[min(len(_SHADES) - 1, 1 + int(share * (len(_SHADES) - 1)))]


def labelled(label: str, text: str) -> list[Line]:
    """Foreign text beside a label."""
    first, *others = body(text)
    head = Content.assemble((label.ljust(_LABEL), "$faint"), first)
    return [(_LABEL, head), *((_LABEL, Content(" " * _LABEL) + line) for line in others)]


def body(text: str) -> list[Content]:
    """Foreign text, line by line, as it stands; a very long one is cut and says so."""
    if not text.strip():
        return [Content.styled("(empty)", "$faint")]
    lines = [Content(clean_line(line)) for line in text[:_LONGEST].splitlines()]
    if len(text) > _LONGEST:
        lines.append(Content.styled(f"… {len(text) - _LONGEST} more characters", "$faint"))
    return lines
