"""slime's console: `rollout 12: {'rollout/raw_reward': …}`, `step 12: {…}`, `perf 12: {…}`.

Behind Ray's `(RolloutManager pid=…)` prefix and a logging header; THUDM/slime at 624b824 (August 2026) and
excerpts of two public logs. Rollouts are numbered from 0; a training step may be counted faster than
rollouts, so its values go to the rollout that came last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..reader import LineReader
from ..records import Item, Origin, Record
from .trl_rows import values_of

_ROW = re.compile(r"(?:^|[\s-])(rollout|step|perf|eval) (\d{1,11}): (\{['\"].*\})\s*$")


class SlimeConsole(LineReader):
    name = "slime-console"
    rank = 40
    prose = True

    def __init__(self) -> None:
        self._named = False
        self._rollout: int | None = None

    @classmethod
    def sniff(cls, head: str) -> float:
        return 0.9 if any(_parsed(line) for line in head.split("\n") if ": {" in line) else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        return self._items(number, text) if ": {" in text else ()

    def _items(self, number: int, text: str) -> Iterator[Item]:
        parsed = _parsed(text)
        if parsed is None:
            return
        kind, count, values = parsed
        if not self._named:
            self._named = True
            yield Origin("slime", None, "its rollout and step lines", 2)
        if kind != "step":
            self._rollout = count
        step = count if self._rollout is None else self._rollout
        yield Record(step, values, number, "eval" if kind == "eval" else "train")


def _parsed(text: str) -> tuple[str, int, dict[str, float]] | None:
    match = _ROW.search(text)
    if match is None:
        return None
    values = values_of(match[3])
    slashed = any("/" in name for name in values)
    return (match[1], int(match[2]), values) if slashed else None
