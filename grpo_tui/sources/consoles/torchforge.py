"""torchforge: `=== [GlobalReduce] - METRICS STEP 12 ===`, lines of `  key: value`, a rule.

`ConsoleBackend` of meta-pytorch/torchforge: the bracketed head since autumn 2025 (6e77f0b3), before that
`=== RANK 0 METRICS STEP 12 ===` and `=== GLOBAL METRICS STEP 12 ===`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item
from .base import Dialect
from .text import number as parsed

_STEP = re.compile(r"=== (?:\[[^\]]*\] -|RANK \d+|GLOBAL) METRICS STEP (\d{1,11}) ===")
_PAIR = re.compile(r"^\s+([\w/@.\-]+): (\S+)\s*$")


class TorchforgeConsole(Dialect):
    name = "torchforge-console"
    framework = "torchforge"
    mark = _STEP

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.search(text):
            yield from self.open(int(match[1]), number)
        elif self._step is not None:
            match = _PAIR.match(text)
            value = parsed(match[2]) if match else None
            if match and value is not None:
                self._values[match[1]] = value
            elif text.startswith("===="):
                yield from self.close()
