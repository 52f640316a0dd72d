"""Which `key:number` chains of a console are the run's rows, and which a response only quotes.

A response may contain `step:5 - a/b:1` on a line of its own, and nothing in that line says that it is none.
But a run's rows are alike: they have many names, the same ones in every row. So a chain counts when it is as
long as rows are, or when its names are ones that rows have. A short one of unknown names is held back until
it shows that this log has only such rows.
"""

from __future__ import annotations

from itertools import pairwise

from ..records import Record

FAMILIES = (
    "actor/", "critic/", "reward/", "rewards/", "response_length/", "response/", "prompt_length/", "timing",
    "perf/", "global_seqlen/", "training/", "train/", "val/", "val-core/", "val-aux/", "env/", "rollout/",
    "rollout_corr/", "num_turns/", "tool_call_counts/", "batch/", "state_tokens/",
)  # fmt: skip
"""How the names of verl and its forks begin."""
_VALIDATION = ("val/", "val-core/", "val-aux/")
LONG = 3
"""Names of a chain that no answer has by chance."""
_HABIT = 3
"""Short rows alike, their steps rising, that make such rows a habit."""
_MOST_HELD = 200


class RowTrust:
    """Judges the chains of one console in their order."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._usual = 0
        self._accepted: set[tuple[str, ...]] = set()
        self._held: dict[tuple[str, ...], list[Record]] = {}

    def known(self, names: tuple[str, ...]) -> bool:
        """Whether rows of exactly these names were taken before."""
        return names in self._accepted

    def judge(self, record: Record) -> list[Record]:
        """The rows that may count now that this one has come: none, this one, or those held back too."""
        names = tuple(record.values)
        if names in self._accepted:
            return [record]
        if self._like(names):
            return [*self._habit(names), *self._take(names, record)]
        held = self._held.setdefault(names, [])
        if sum(map(len, self._held.values())) < _MOST_HELD:
            held.append(record)
        rising = all(a.step < b.step for a, b in pairwise(held))
        if not self._usual and len(held) >= _HABIT and rising:
            return [*self._habit(names), *self._take(names)]
        return []

    def rest(self) -> list[Record]:
        """What was held back, of a log that had nothing else."""
        if self._usual:
            return []
        records = sorted((one for held in self._held.values() for one in held), key=lambda one: one.line)
        self._held.clear()
        return records

    def _like(self, names: tuple[str, ...]) -> bool:
        """Whether a chain is a row by its length and its names."""
        if all(name.startswith(_VALIDATION) for name in names):
            return True
        if not self._usual:
            return len(names) >= LONG or all(name.startswith(FAMILIES) for name in names)
        if len(names) >= max(self._usual, LONG):
            return True
        shared = sum(name in self._seen or name.startswith(_VALIDATION) for name in names)
        return 2 * shared >= len(names) and 3 * len(names) >= self._usual

    def _habit(self, names: tuple[str, ...]) -> list[Record]:
        return self._held.pop(names, [])

    def _take(self, names: tuple[str, ...], record: Record | None = None) -> list[Record]:
        self._accepted.add(names)
        self._seen.update(names)
        if not all(name.startswith(_VALIDATION) for name in names):
            self._usual = max(self._usual, len(names))
        return [record] if record is not None else []
