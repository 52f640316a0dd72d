"""What it costs to load, check and refuse playbooks.

    python benchmarks/playbook_loading.py        # prints a table; exits 1 over a budget

Loading is measured warm: importing pydantic and building the models (about half a second, once for a
process) is not in it, and printed apart. The floor is libyaml's own event stream over the same text.

Last measured (two shared cores, load about 6, best of several):

    20 steps, 5.3 kB            4.7–9.7 ms by the load of the machine (budget 15; libyaml's events alone 0.4)
    cold import of the loader   0.8–1.1 s, once for a process
    check, 1,000 → 4,000 steps  3.5 times as much (0.8 → 2.7 s); it was 4.4 times for twice the steps before
    bombs                       0.0–27 ms; a list of 480,000 items 34 ms (budget 100)
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import yaml

from grpo_tui.playbook.authoring.lint import check
from grpo_tui.playbook.format.load import load_text, read_bytes, read_text
from grpo_tui.playbook.library import Library

BUDGET_LOAD = 0.015
BUDGET_BOMB = 0.100

HEAD = """\
playbook: big
format: 1
title: Big
params: {window: 200}
trigger:
  when: drop(entropy, within=window) >= 0.5
  for: 20
  warmup: 5
hypotheses: {healthy: fine, collapse.entropy: collapsed}
steps:
"""
KINDS = (
    """\
  - id: s%d
    check: rise(reward_mean, within=300) >= 0.05 and median(entropy, last=20) < 0.4
    why: Look.
    rules: [S2-1]
    show: [entropy, reward_mean]
    if_true: {evidence: {healthy: +1, collapse.entropy: -1}}
    if_false: {evidence: {collapse.entropy: +1}}
    if_unknown: {note: not logged}
""",
    """\
  - id: s%d
    ask: rollouts.near-identical
    open: rollouts
    why: Look.
    cases:
      - {when: answer == "yes", evidence: {collapse.entropy: +2}}
      - {when: answer == "no", evidence: {collapse.entropy: -2}}
      - {otherwise: true, note: nobody looked}
""",
    """\
  - id: s%d
    config: temperature
    why: Look.
    cases:
      - {when: answer < 0.8, evidence: {collapse.entropy: +1}}
      - {otherwise: true}
""",
)
TESTS = """\
tests:
  - name: a
    series: {entropy: "0.9~0.25x200 0.25~0.2x100", reward_mean: "0.2~0.5x200 0.5~0.55x100"}
    answers: {rollouts.near-identical: "no"}
    expect: {triggered: true}
"""
BOMBS = {
    "a billion laughs": "a: &a [x, x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)),
    "500,000 brackets": "[" * 500_000,
    "200,000 braces": "{a: " * 200_000,
    "900 kB of plain text": "a: " + "x " * 450_000,
    "900 kB of escapes": 'a: "' + "\\x41" * 220_000 + '"',
    "900 kB of digits": "a: " + "9" * 900_000,
    "90,000 keys": "".join(f"k{i}: 1\n" for i in range(90_000)),
    "a list of 480,000": "[" + "1," * 480_000 + "]",
    "8 MB": "a: " + "x" * 8_000_000,
}


def book(steps: int) -> str:
    return HEAD + "".join(KINDS[i % 3] % i for i in range(steps)) + TESTS


def best(call: Callable[[], object], repeat: int = 7) -> float:
    found = 1e9
    for _ in range(repeat):
        begin = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - begin)
    return found


def events(text: str) -> None:
    for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        pass


def main() -> int:
    over = 0
    text = book(20)
    cost, floor = best(lambda: read_text(text, "a.yaml"), 15), best(lambda: events(text), 15)
    over += cost > BUDGET_LOAD
    print(
        f"load 20 steps, {len(text) / 1000:.1f} kB: {cost * 1e3:.1f} ms (budget 15); "
        f"events alone {floor * 1e3:.1f}"
    )
    code = "import time; a = time.time(); import grpo_tui.playbook.format.load; print(time.time() - a)"
    cold = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(3)
    )
    print(f"importing the loader, cold: {cold * 1e3:.0f} ms (not in the above)")
    print("\nsteps   load ms   check ms")
    costs: dict[int, float] = {}
    for steps in (250, 1000, 4000):
        text = book(steps)
        loading = best(partial(load_text, text, "a.yaml"), 2)
        playbook = load_text(text, "a.yaml")
        costs[steps] = best(partial(check, playbook, Library()), 2)
        print(f"{steps:>5} {loading * 1e3:>9.0f} {costs[steps] * 1e3:>10.0f}")
    ratio = costs[4000] / costs[1000]
    print(f"four times the steps cost {ratio:.1f} times as much (16 would be quadratic)")
    over += ratio > 8
    print("\nbomb                     refused after ms (budget 100)")
    for name, bomb in BOMBS.items():
        data = bomb.encode()
        assert read_bytes(data, "bomb.yaml").playbook is None
        cost = best(partial(read_bytes, data, "bomb.yaml"))
        over += cost > BUDGET_BOMB
        print(f"{name:<24} {cost * 1e3:>6.1f}")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
