"""AReaL's statistics: `Train step 3/1000 done.`, then a grid of names and values, two or four pairs a line.

`stats_logger.py` and `printing.py` of release 1.0.4. The grid is tabulate's, in scientific notation with
five digits. The line counts from 1 while the sinks count from 0: the sinks' number is taken, so that an
event file and the console agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Progress
from .base import Dialect
from .text import number as parsed

_STEP = re.compile(r"Train step (\d{1,11})/(\d{1,11}) done")
_LAST = re.compile(r"^(?:\[[^\]]{1,40}\])?\s*[╘└]")


class ArealConsole(Dialect):
    name = "areal-console"
    framework = "areal"
    mark = re.compile(r"Train step \d+/\d+ done\.|\(AReaL\) [\d:. -]+StatsLogger")

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.search(text):
            yield from self.open(int(match[1]) - 1, number)
            yield Progress(int(match[1]) - 1, int(match[2]))
        elif self._step is not None and "│" in text:
            cells = [cell.strip() for cell in text[text.index("│") + 1 :].split("│")]
            for name, printed in zip(cells[::2], cells[1::2], strict=False):
                value = parsed(printed) if name else None
                if value is not None:
                    self._values[name] = value
        elif self._step is not None and _LAST.match(text):
            step = self._step
            yield from self.close()
            self._step = step
