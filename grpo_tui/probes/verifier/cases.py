"""What a verifier is asked: the gold answer, nothing, noise, wrong answers in the right form, broken forms.

`[S3-6]`: all right, partly right, missing duplicate, reordered, extra line, answer only, several answers;
an illegal form must not score above a legal wrong answer.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from ..subject.prompts import read_lines, read_object
from .adapter import Call

FORMS = (
    "{gold}",
    "\\boxed{{gold}}",
    "<answer>{gold}</answer>",
    "#### {gold}",
    "The answer is {gold}.",
    "<think>It follows.</think>\n<answer>{gold}</answer>",
    "<think>\nIt follows.\n</think>\n<answer>\n{gold}\n</answer>",
    "<think>It follows.</think>\n\\boxed{{gold}}",
)
BUILTIN = (("What is 17 + 25?", "42"), ("What is 9 * 8?", "72"), ("What is 100 - 64?", "36"))
_OWN = ("prompt", "response", "gold", "expect", "kind")
KINDS = ("right", "wrong", "illegal", "nothing", "partial")


@dataclass(frozen=True)
class Example:
    """A prompt with its gold answer and the dataset's other columns."""

    prompt: str
    gold: str
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One response to score. `kind` is one of `KINDS` or a closer name; `expect` an exact score, if said."""

    name: str
    kind: str
    example: int
    call: Call
    expect: float | None = None


def load_cases(path: Path, limit: int) -> tuple[list[Example], list[Case]]:
    """Examples, and the person's own cases (records with a `response`). Raises `CannotRun` by line."""
    examples: list[Example] = []
    cases: list[Case] = []
    for number, text in read_lines(path):
        value = read_object(path, number, text)
        gold = value.get("gold", value.get("answer", value.get("ground_truth")))
        if gold is None:
            raise CannotRun(f"{path}:{number}: no 'gold' (or 'answer', 'ground_truth')")
        example = Example(
            str(value.get("prompt", "")), str(gold), {k: v for k, v in value.items() if k not in _OWN}
        )
        if "response" not in value:
            examples.append(example)
            continue
        kind = value.get("kind", "own")
        if kind not in (*KINDS, "own"):
            raise CannotRun(f"{path}:{number}: 'kind' is {kind}; use {', '.join(KINDS)}")
        expect = value.get("expect")
        if expect is not None and not isinstance(expect, (int, float)):
            raise CannotRun(f"{path}:{number}: 'expect' must be a number")
        cases.append(_own(number, kind, example, str(value["response"]), expect))
        examples.append(example)
    if not examples:
        raise CannotRun(f"{path} holds no case")
    return list({(e.prompt, e.gold): e for e in examples}.values())[:limit], cases


def _own(number: int, kind: str, example: Example, response: str, expect: float | None) -> Case:
    call = Call(example.prompt, response, example.gold, example.columns)
    return Case(f"line {number}", kind, number, call, None if expect is None else float(expect))


def builtin_examples() -> list[Example]:
    return [Example(prompt, gold) for prompt, gold in BUILTIN]


def fill(form: str, gold: str) -> str:
    """The form with the answer in it; other braces are left alone."""
    return form.replace("{gold}", gold)


def generated(examples: list[Example], form: str, seed: int) -> list[Case]:
    """All cases of all examples, in one legal form."""
    noise = random.Random(seed)
    cases = []
    for index, example in enumerate(examples):
        for name, kind, response in _responses(example.gold, _wrong(examples, index), form, noise):
            call = Call(example.prompt, response, example.gold, example.columns)
            cases.append(Case(name, kind, index, call))
    return cases


def _wrong(examples: list[Example], index: int) -> str:
    """A wrong answer of the same kind: another example's, or the number plus one."""
    gold = examples[index].gold
    others = [example.gold for example in examples if example.gold.strip() != gold.strip()]
    if others:
        return others[index % len(others)]
    return str(int(gold) + 1) if gold.strip().lstrip("-").isdigit() else f"not {gold}"


def _responses(gold: str, wrong: str, form: str, noise: random.Random) -> list[tuple[str, str, str]]:
    words = " ".join("".join(noise.choices("bcdfgklmnprstvwz", k=6)) for _ in range(12))
    before, _, after = form.partition("{gold}")
    found = [
        ("gold", "right", fill(form, gold)),
        ("empty", "nothing", ""),
        ("blank", "nothing", " \n"),
        ("noise", "nothing", words),
        ("wrong", "wrong", fill(form, wrong)),
        ("wrong then gold", "several", f"{fill(form, wrong)}\n{fill(form, gold)}"),
        ("gold then wrong", "several", f"{fill(form, gold)}\n{fill(form, wrong)}"),
    ]
    if before or after:
        found += [
            ("answer only", "bare", gold),
            ("form without answer", "illegal", fill(form, "")),
            ("form opened only", "illegal", f"{before}{before}" if before else after),
        ]
    if after.strip():
        found.append(("form never closed, wrong", "illegal", f"{before}{wrong}"))
    return found + _parts(gold, form)


def _parts(gold: str, form: str) -> list[tuple[str, str, str]]:
    """Variants of an answer of several lines."""
    lines = gold.splitlines()
    if len(lines) < 2:
        return []
    found = [
        ("first half", "partial", fill(form, "\n".join(lines[: len(lines) // 2]))),
        ("extra line", "partial", fill(form, "\n".join([*lines, lines[0] + "x"]))),
    ]
    if lines != lines[::-1]:
        found.append(("reordered", "partial", fill(form, "\n".join(lines[::-1]))))
    unique = list(dict.fromkeys(lines))
    if unique != lines:
        found.append(("missing duplicate", "partial", fill(form, "\n".join(unique))))
    return found
