"""ROLL: the whole dictionary of metrics as JSON on a line, or `metrics_tag: {"step": 12, "metrics": {…}}`.

`rlvr_pipeline.py` and `tracking.py` of alibaba/ROLL (8eb27cc, 2026, and releases of 2025). A line that is
JSON from its first character on is a table's. "pipeline complete!" is the pipeline's last word. In these
lines names keep the suffix that says how they were reduced (`@sum`, `@mean`), which the sinks lose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..records import Ended, Item, Record
from .base import Dialect
from .text import as_float, as_step

_FINISHED = re.compile(r"pipeline step (\d{1,11}) finished")


class RollConsole(Dialect):
    name = "roll-console"
    framework = "roll"
    mark = re.compile(
        r'metrics_tag: \{"step"|^[^{"\n]{5,200}\{"(?:critic|actor|token|system)/[\w/@]+": ', re.MULTILINE
    )

    def rows(self, number: int, text: str) -> Iterator[Item]:
        start = text.find('{"')
        if start > 0 and "/" in text:
            yield from self._row(number, text[start:])
        elif "pipeline step" in text and (match := _FINISHED.search(text)):
            yield from self._finished(int(match[1]))
        elif self._named and text.endswith("pipeline complete!"):
            yield Ended(number)

    def _row(self, number: int, text: str) -> Iterator[Item]:
        try:
            row: Any = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        inner = row.get("metrics")
        step = as_step(row.get("step", row.get("system/global_step")))
        named = {str(key).partition("@")[0]: as_float(held) for key, held in (inner or row).items()}
        values = {key: held for key, held in named.items() if held is not None and "/" in key}
        if not values:
            return
        if step is not None:
            values.pop("system/global_step", None)
            yield Record(step, values, number)
        else:
            self._values, self._at = values, number

    def _finished(self, step: int) -> Iterator[Item]:
        """Rows without a step belong to the one that the pipeline says it has finished."""
        if self._values:
            self._step = step
            yield from self.close()
