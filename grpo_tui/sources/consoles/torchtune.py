"""torchtune's disk and standard-output logger: `Step 12 | loss:0.01 rewards:0.4 …`; tensors in their repr.

`metric_logging.py` and the development recipe `grpo_full_finetune_distributed.py` of release 0.6.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Record
from .base import Dialect
from .text import number as parsed

_ROW = re.compile(r"^Step (\d{1,11}) \| (\S+:.*)$")
_PAIR = re.compile(r"([A-Za-z_]\w*):(tensor\([^)]*\)|\S+)")


class TorchtuneConsole(Dialect):
    name = "torchtune-console"
    framework = "torchtune"
    mark = re.compile(r"^Step \d+ \| [a-z_]+:", re.MULTILINE)

    def rows(self, number: int, text: str) -> Iterator[Item]:
        match = _ROW.match(text)
        if match is None:
            return
        found = ((pair[1], parsed(pair[2])) for pair in _PAIR.finditer(match[2]))
        values = {name: value for name, value in found if value is not None}
        if values:
            yield Record(int(match[1]), values, number)
