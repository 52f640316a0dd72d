"""OpenRLHF: `✨ Global step 12: {'policy_loss': …}` (asynchronous runs without the star).

`ppo_trainer.py` and `ppo_trainer_async.py` of release 0.11.2. Older releases, and SkyRL before its
trackers, print no row at all: metrics stand behind the bar of each update, `Train epoch [1/1]: 100%|…| 2/2
[00:03<00:00, pg=0.161, rm=0.396, …]`. Then every full bar counts as a step. `eval_metrics: {…}` behind
"Evaluation completed" is an evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Record, Warn
from .base import Dialect
from .text import number as parsed
from .trl_rows import values_of

_ROW = re.compile(r"Global step (\d{1,11}): (\{.*\})\s*$")
_EVALUATION = re.compile(r"global_step (\d{1,11}), eval_metrics: (\{.*\})\s*$")
_BAR = re.compile(r"Train epoch \[\d+/\d+\]:\s*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[([^\]]*=[^\]]*)\]")
_SHORT = {
    "pg": "policy_loss", "rm": "reward", "ret": "return", "glen": "response_length", "tlen": "total_length",
    "kl": "kl", "act_lr": "actor_lr", "policy_lr": "actor_lr", "ent": "entropy_loss",
    "grad_norm": "actor_grad_norm",
}  # fmt: skip


class OpenRlhfConsole(Dialect):
    name = "openrlhf-console"
    framework = "openrlhf"
    mark = re.compile(r"Global step \d+: \{'|Train epoch \[\d+/\d+\]:.*[ ,](?:pg|act_lr|policy_lr)=")

    def __init__(self) -> None:
        super().__init__()
        self._rows = self._bars = 0

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if "lobal" in text and (match := _ROW.search(text)):
            self._rows += 1
            self._step = None
            yield Record(int(match[1]), values_of(match[2]), number)
        elif "eval_metrics" in text and (match := _EVALUATION.search(text)):
            yield Record(int(match[1]), values_of(match[2]), number, "eval")
        elif "Train epoch" in text and not self._rows:
            for match in _BAR.finditer(text):
                yield from self._bar(match, number)

    def _bar(self, match: re.Match[str], number: int) -> Iterator[Item]:
        if self._step is not None:
            yield from self.close()
        if match[1] != match[2]:
            return
        pairs = (part.strip().partition("=") for part in match[3].split(",") if "=" in part)
        found = ((_SHORT.get(name, name), parsed(printed)) for name, _, printed in pairs)
        self._values = {name: value for name, value in found if value is not None}
        self._bars += 1
        if self._bars == 1:
            yield Warn("metrics stand only behind the bars of the updates: steps are counted bars")
        self._step, self._at = self._bars, number
