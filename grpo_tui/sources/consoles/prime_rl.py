"""prime-rl's trainer and orchestrator: `Step 12 | 1m 20s | Loss 0.0012 | Entropy 0.3121 | …`.

`train.py` and `orchestrator.py` of PrimeIntellect-ai/prime-rl (559b447 and 004274e, 2026): a time is
`850ms`, `41s`, `1m 20s` or `2h 3m`. Up to the beginning of 2026 the same row had colons and seconds,
`Step 12 | Time: 41.20s | Loss: 0.0012 | …`. Two processes with two logs; `metrics.jsonl` holds both in full
precision and is the better source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Record
from .base import NUMBER, Dialect, value

_TIME = r"(?:Time: )?((?:[\d.]+(?:ms|d|h|m|s) ?)+)"
_ROW = re.compile(rf"(?:^|\s)Step (\d{{1,11}}) \|\s*{_TIME}\s*\|(.*)$")
_PART = re.compile(rf"\s*([A-Z][A-Za-z.\- ]*?):?\s+({NUMBER})(%|/\d+ \(({NUMBER})%\))?")
_CLOCK = re.compile(r"([\d.]+)(ms|d|h|m|s)")
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NAMES = {
    "Loss": "loss/mean",
    "Entropy": "entropy/all/mean",
    "Mismatch KL": "mismatch_kl/all/mean",
    "Importance Ratio": "importance_ratio/mean",
    "Grad. Norm": "optim/grad_norm",
    "LR": "optim/lr",
    "Throughput": "perf/throughput",
    "MFU": "perf/mfu",
    "Peak Mem.": "perf/peak_memory",
    "Reward": "reward/mean",
    "Val. Reward": "val_reward/mean",
    "Seq. Length": "seq_len/mean",
    "Truncation": "truncation_rate",
    "Max Off-Policy": "off_policy/max",
    "Max. Off-Policy Level": "off_policy/max",
    "Async Level": "async_level",
    "Turns": "num_turns/mean",
    "Trainable": "trainable_frac",
    "Error": "error_rate",
    "Cancelled": "cancelled_rate",
    "Max Vio": "max_vio/mean",
}


class PrimeRlConsole(Dialect):
    name = "prime-rl-console"
    framework = "prime-rl"
    mark = re.compile(rf"Step \d+ \|\s+{_TIME}\s*\| (?:Loss|Reward):? [-\d]")

    def rows(self, number: int, text: str) -> Iterator[Item]:
        match = _ROW.search(text) if " | " in text else None
        if match is None:
            return
        values: dict[str, float] = {}
        for part in match[3].split("|"):
            if found := _PART.match(part):
                share = found[4] or (found[2] if found[3] == "%" else None)
                name = _NAMES.get(found[1], found[1])
                percent = share is not None and name != "perf/mfu"
                values[name] = value(share or found[2]) / (100 if percent else 1)
        if values.keys() & {"loss/mean", "reward/mean"}:
            spent = sum(float(count) * _SECONDS[unit] for count, unit in _CLOCK.findall(match[2]))
            yield Record(int(match[1]), {"time/step": spent, **values}, number)
