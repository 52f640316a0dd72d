"""SkyRL's console tracker: `Step 12: ` and, from the next line on, a pprinted dictionary.

`ConsoleLogger` of SkyRL (release 0.3.0, and skyrl-train 0.2 before it). Floats are quoted and have four
decimals: below 0.00005 they read as 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item
from .base import Dialect
from .trl_rows import values_of

_STEP = re.compile(r"(?:^|[\s|\-\]])Step (\d{1,11}): *$")
_MOST = 2000


class SkyRlConsole(Dialect):
    name = "skyrl-console"
    framework = "skyrl"
    mark = re.compile(r"Step \d+: *\n(?:\([^)\n]*\) ?)?\{'[\w/]+':")
    resolution = 5e-5

    def __init__(self) -> None:
        super().__init__()
        self._block: list[str] = []

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.search(text):
            self._block = []
            yield from self.open(int(match[1]), number)
        elif self._step is not None and (self._block or text.startswith("{'")):
            self._block.append(text)
            if text.rstrip().endswith("}") or len(self._block) > _MOST:
                self._values = values_of(" ".join(self._block))
                self._block = []
                yield from self.close()
        elif self._step is not None and text.strip():
            self._step = None
