"""prime-rl's trainer and orchestrator: `Step 12 | 41.20s | Loss 0.0012 | Entropy 0.3121 | …`.

Two processes with two logs; `metrics.jsonl` holds both in full precision and is the better source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Record
from .base import NUMBER, Dialect, value

_ROW = re.compile(r"(?:^|\s)Step (\d{1,11}) \|\s*([\d.]+)s \|(.*)$")
_PART = re.compile(rf"\s*([A-Z][A-Za-z.\- ]*?)\s+({NUMBER})(%|/\d+ \(({NUMBER})%\))?")
_NAMES = {
    "Loss": "loss/mean",
    "Entropy": "entropy/all/mean",
    "Mismatch KL": "mismatch_kl/all/mean",
    "Grad. Norm": "optim/grad_norm",
    "LR": "optim/lr",
    "Throughput": "perf/throughput",
    "MFU": "perf/mfu",
    "Peak Mem.": "perf/peak_memory",
    "Reward": "reward/mean",
    "Truncation": "truncation_rate",
    "Max Off-Policy": "off_policy/max",
    "Turns": "num_turns/mean",
    "Trainable": "trainable_frac",
}


class PrimeRlConsole(Dialect):
    name = "prime-rl-console"
    framework = "prime-rl"
    mark = re.compile(r"Step \d+ \|\s+[\d.]+s \| (?:Loss|Reward) ")

    def rows(self, number: int, text: str) -> Iterator[Item]:
        match = _ROW.search(text) if " | " in text else None
        if match is None:
            return
        values = {"time/step": float(match[2])}
        for part in match[3].split("|"):
            if found := _PART.match(part):
                share = found[4] or (found[2] if found[3] == "%" else None)
                name = _NAMES.get(found[1], found[1])
                percent = share is not None and name != "perf/mfu"
                values[name] = value(share or found[2]) / (100 if percent else 1)
        yield Record(int(match[1]), values, number)
