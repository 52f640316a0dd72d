"""Files made to hurt: bombs are refused at once, and no expression reaches anything but the run's numbers."""

from __future__ import annotations

import builtins
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.format.load import load_text, read_bytes, read_text
from grpo_tui.playbook.library import Library
from grpo_tui.playbook.walk.walk import Walk

BUDGET = 0.1
"""Seconds in which a bomb must be refused (the best of five: other work runs on the same cores)."""

BOMBS = {
    "a billion laughs": "a: &a [x, x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)),
    "an alias at the end": "".join(f"k{i}: {{a: 1, b: 2}}\n" for i in range(900)) + "z: *a\n",
    "a cycle": "a: &a [*a]\n",
    "merges": "a: &a {x: 1}\nb: {<<: [*a, *a]}\n",
    "brackets": "[" * 500_000,
    "braces": "{a: " * 200_000,
    "dashes": "- " * 400_000,
    "question marks": "? " * 400_000,
    "indentation": "".join(" " * i + "a:\n" for i in range(1200)),
    "a plain text": "a: " + "x" * 900_000,
    "many words": "a: " + "x " * 450_000,
    "a quoted text": 'a: "' + "x" * 900_000 + '"',
    "escapes": 'a: "' + "\\x41" * 220_000 + '"',
    "a block": "a: |\n" + "  x\n" * 220_000,
    "digits": "a: " + "9" * 900_000,
    "more than a megabyte": "a: " + "x" * 1_000_001,
    "many megabytes": "a: " + "x" * 8_000_001,
    "keys": "".join(f"k{i}: 1\n" for i in range(90_000)),
    "one key again and again": "a: 1\n" * 190_000,
    "comments": "# x\n" * 240_000,
    "quotes": '"' * 990_001,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_at_once(name: str) -> None:
    data = BOMBS[name].encode()
    best = 1e9
    for _ in range(5):
        begin = time.perf_counter()
        loaded = read_bytes(data, "bomb.yaml")
        best = min(best, time.perf_counter() - begin)
        assert loaded.playbook is None and 1 <= len(loaded.problems) <= 21
        assert all(problem.check.startswith("yaml/") for problem in loaded.problems)
        if best < BUDGET:
            break
    assert best < BUDGET


HOSTILE = [
    "__import__('os').system('touch {canary}') == 0",
    "().__class__.__bases__ == 1",
    "entropy.__class__ == 1",
    "obs.__class__ == 1",
    "answer.format == 1",
    "drop.__globals__ == 1",
    "metric('__class__').real > 0",
    "(lambda: 1)() > 0",
    "[x for x in (1, 2)] == 1",
    "{{x: 1 for x in (1,)}} == 1",
    "f'{{entropy}}' == 'a'",
    "'%s' % 1 == '1'",
    "'a' * 1000000000 == 'a'",
    "9**9**9 > 1",
    "1 << 999999999 > 0",
    "open('{canary}', 'w') > 0",
    "exec('1') == 1",
    "eval('1') > 0",
    "ｅxec('1') > 0",
    "print(1) > 0",
    "globals()['x'] == 1",
    "entropy[0] > 0",
    "obs[entropy] == 1",
    "obs['__class__'] == 'yes'",
    "(x := 1) > 0",
    "(yield) > 0",
    "drop(*[entropy]) > 0",
    "drop(**{{}}) > 0",
    "drop(entropy, within=__import__('os')) > 0",
    "metric(metric('x')) > 0",
    "entropy > 0; import os",
    "import os",
    "1 if entropy > 0 else 2",
    "... == 1",
    "(" * 200 + "1" + " + 1)" * 60 + " > 0",
    "not " * 100 + "true",
    "9" * 450 + " > 0",
]


def with_condition(condition: str) -> str:
    return GOOD.replace("drop(entropy, within=window) >= drop_at_least", f"|-\n    {condition}", 1)


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_expression_is_one_error_and_does_nothing(
    expression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    for place, name in ((os, "system"), (builtins, "eval"), (subprocess, "Popen")):
        monkeypatch.setattr(place, name, lambda *_, **__: canary.write_text("reached"))
    loaded = read_text(with_condition(expression.format(canary=canary)), "a.yaml")
    assert loaded.playbook is None
    (problem,) = loaded.problems
    assert problem.check == "expression/syntax" and problem.line == 7
    assert not canary.exists()


@pytest.mark.parametrize("name", ["__class__", "__dict__", "__init__", "keys", "_asdict"])
def test_names_of_python_are_only_keys_that_nobody_has(name: str) -> None:
    """`config.<key>` and `result.<field>` look into dictionaries, never at attributes."""
    text = GOOD.replace(
        "    check: rise(reward_mean, within=300) >= 0.05",
        f"    check: config.{name} == 1 or result.{name} == 1",
    )
    walk = Walk.start(load_text(text, "a.yaml"), FakeRun({}), Library())
    walk.advance()
    assert walk.history[0].result == "unknown"


def test_a_playbook_names_no_program() -> None:
    """Only a registered probe can be started: there is no key for shell text, and none is taken for one."""
    for key in ("run", "shell", "command", "exec", "script"):
        text = GOOD.replace("    probe: ratio\n", f"    {key}: rm -rf /\n")
        loaded = read_text(text, "a.yaml")
        assert loaded.playbook is None and loaded.problems[0].check == "schema/step"
    for probe in ("ratio; rm -rf /", "../ratio", "os.system", "python -c 1"):
        loaded = read_text(GOOD.replace("probe: ratio", f'probe: "{probe}"'), "a.yaml")
        assert [problem.check for problem in loaded.problems] == ["names/probe"]


def test_a_thousand_mistakes_are_said_quickly() -> None:
    """Near names are looked for in every one of them, which must not grow with their square."""

    def book(steps: int) -> str:
        made = "".join(f"  - id: s{i}\n    note: x\n    goto: nowhere{i}\n" for i in range(steps))
        return f"playbook: a\nformat: 1\ntitle: t\nhypotheses: {{healthy: x}}\nsteps:\n{made}"

    times: dict[int, float] = {}
    for steps in (500, 2000):
        best = 1e9
        for _ in range(3):
            begin = time.perf_counter()
            problems: tuple[Any, ...] = read_text(book(steps), "a.yaml").problems
            best = min(best, time.perf_counter() - begin)
        assert len(problems) == 200
        times[steps] = best
    assert times[2000] < 10 * times[500]
