"""EasyR1's console: `Step 12`, then the metrics as a YAML tree: `actor:` and under it `  pg_loss: -0.012`.

`ConsoleLogger` and `convert_dict_to_str` of hiyouga/EasyR1 (read at 46c6c21 and 51636b2, 2025-2026): names
are split at their slashes and sorted, floats have three decimals, those that Python prints with an exponent
keep it (`1.0e-06`), a NaN is `!!float 'nan'`. 0.0 is therefore below 0.0005 and not known to be zero. Its
file logger writes the same tree as JSON, one row a line, in full precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item
from .base import Dialect
from .text import number as parsed

_STEP = re.compile(r"^Step (\d{1,11})\s*$")
_LINE = re.compile(
    r"^(?P<indent> *)(?P<quote>['\"]?)(?P<name>[\w@.+\-()% ]+)(?P=quote):(?: +(?P<value>\S.*))?$"
)
_PREFIX = r"(?:\([A-Za-z_][^)\n]*\) ?)?"


class EasyR1Console(Dialect):
    name = "easyr1-console"
    framework = "easyr1"
    mark = re.compile(
        rf"^{_PREFIX}Step \d+ *\n{_PREFIX}[a-z_]\w*: *\n{_PREFIX} {{2}}[\w@.\-]+:(?: |\n)", re.MULTILINE
    )
    resolution = 5e-4

    def __init__(self) -> None:
        super().__init__()
        self._path: list[tuple[int, str]] = []

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.match(text):
            self._path = []
            yield from self.open(int(match[1]), number)
        elif self._step is not None and not self._branch(text.rstrip()):
            yield from self.close()

    def _branch(self, text: str) -> bool:
        """Whether this is another line of the tree; its value, if it has one, is taken."""
        match = _LINE.match(text)
        if match is None:
            return False
        indent = len(match["indent"])
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()
        if indent and not self._path:
            return False
        self._path.append((indent, match["name"].strip()))
        if match["value"] is None:
            return True
        if not indent and not self._values:
            return False  # a row begins with a group, an answer with a sentence
        value = parsed(match["value"].removeprefix("!!float").strip())
        if value is not None:
            self._values["/".join(name for _, name in self._path)] = value
        return value is not None or bool(indent)
