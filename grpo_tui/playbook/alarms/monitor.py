"""From rows to alarms, the same ones live, replayed at any speed and after the fact.

Rows are evaluated one by one on a fixed grid, each as of its own step, and committed once a newer row
shows that they are whole; the newest row is looked at without being committed. Whatever else changes
the past (a late second source, another logging interval, a planned length that becomes known) is
noticed and makes the monitor replay itself, so its state is always a function of the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..facts.gather import automatic_facts
from ..format.schema import Playbook, Trigger
from ..language.expressions import Expression, Outcome
from ..scope import RunLike, incidents_of, points_of, setting
from ..sight import Sight
from ..walk.flow import Books, books_of
from .alarm import Alarm, AlarmChange, by_urgency, changes_between
from .machine import on_grid
from .replay import run_through
from .segments import PastSegment
from .watch import Standing, Watch

__all__ = ["Alarm", "AlarmChange", "Monitor"]

_ALWAYS = frozenset({"algorithm", "adv_estimator"})
FAMILY = {"ppo": "ppo", "gae": "ppo"}
"""Algorithms that are not of the group-baseline family; everything else counts as GRPO's kin."""


def applies(playbook: Playbook, run: RunLike) -> bool:
    """Whether a playbook is meant for this run's framework and algorithm; unknown ones are not refused."""
    frameworks = playbook.applies_to.frameworks
    framework = getattr(run, "framework", None)
    if framework not in (None, "unknown", *frameworks) and "any" not in frameworks:
        return False
    algorithms = playbook.applies_to.algorithms
    algorithm = setting(run, "algorithm") or setting(run, "adv_estimator")
    excluded = FAMILY.get(str(algorithm).casefold())
    return excluded is None or excluded in algorithms or "any" in algorithms


class Monitor:
    """The triggers of a library over one run. `update` after every poll; an idle one costs microseconds.

    `alarms` holds what fired (firing, recovering, resolved), most urgent first; `pending` what may.
    """

    def __init__(
        self,
        run: RunLike,
        library: Books,
        baseline: RunLike | None = None,
        *,
        past_segments: bool = True,
    ) -> None:
        self.run = Sight.of(run)
        self.baseline = baseline
        self.alarms: list[Alarm] = []
        self.pending: list[Alarm] = []
        self.outcomes: dict[str, Outcome | None] = {}
        """What each trigger said in the newest row; None while warming up or without rows."""
        self._playbooks = [p for p in books_of(library).values() if p.trigger is not None]
        conditions = [e for p in self._playbooks if p.trigger is not None for e in _conditions(p.trigger)]
        self._config_keys = sorted({key for e in conditions for key in e.config_keys} | _ALWAYS)
        self._asks_facts = any(e.observations for e in conditions)
        self._past_segments = past_segments
        self._revision: object = _NEVER
        self._past: dict[tuple[int, int, int | None], list[Alarm]] = {}
        self._watches: list[Watch] = []
        self._standings: list[Standing] = []
        self._committed = 0
        self._mark: tuple[Any, ...] = ()

    def update(self) -> list[AlarmChange]:
        """Evaluate the rows that are new and return what changed since the last update."""
        revision = getattr(self.run, "revision", None)
        if revision is not None and revision == self._revision:
            return []
        self._revision = revision
        self.run.look_again()
        before = [*self.alarms, *self.pending]
        rows = self.run.steps()
        frame = (self._segment, self.run.total_steps, self._settings())
        self._begin_again_where_needed(frame, rows)
        self._commit(frame, rows)
        self._look(rows)
        fired = {alarm.id for alarm in before if alarm.state != "pending"}
        after = [alarm for alarm in self.alarms if alarm.segment == self._segment or alarm.id in fired]
        return changes_between([a for a in before if a.state != "pending"], after)

    def explain(self) -> dict[str, str]:
        """Why a trigger says nothing now, by playbook: broken, unknown, or too early."""
        reasons = {}
        for playbook, outcome in self.outcomes.items():
            if outcome is None:
                reasons[playbook] = "too few rows so far"
            elif outcome.error is not None:
                reasons[playbook] = f"broken: {outcome.error}"
            elif outcome.truth is None:
                reasons[playbook] = "; ".join(outcome.unknown_because) or "cannot be told"
        return reasons

    # -- inside ----------------------------------------------------------------------------

    @property
    def _segment(self) -> int:
        return max(0, len(self.run.segments) - 1)

    def _begin_again_where_needed(self, frame: tuple[Any, ...], rows: Sequence[int]) -> None:
        """Replay from the first row when the committed past is not what it was."""
        if self._watches and self._mark == (frame, *self._past_marks(rows)):
            return
        segment = self._segment
        self._watches = [
            Watch(p, p.trigger, self.run, segment=segment, baseline=self.baseline)
            for p in self._playbooks
            if p.trigger is not None and applies(p, self.run)
        ]
        self._standings = [Standing() for _ in self._watches]
        self._committed = 0
        self._close_past(segment)

    def _settings(self) -> tuple[Any, ...]:
        framework = getattr(self.run, "framework", None)
        return (framework, self._said(), *(str(setting(self.run, key)) for key in self._config_keys))

    def _said(self) -> tuple[Any, ...]:
        """The automatic facts, where a trigger asks for one."""
        facts = automatic_facts(self.run).values() if self._asks_facts else ()
        return tuple((fact.observation, fact.value, fact.step) for fact in facts)

    def _past_marks(self, rows: Sequence[int]) -> tuple[Any, ...]:
        """How much of every watched metric lies in the committed rows; changes only if the past does."""
        if not self._committed:
            return (0,)
        if self._committed > len(rows):
            return (-1,)
        last = rows[self._committed - 1]
        counts = tuple(
            len(points_of(self.run, watch.playbook, name).until(last))
            for watch in self._watches
            for name in watch.metrics
        )
        told = sum(i.step is not None and i.step <= last for i in incidents_of(self.run))
        return (self._committed, last, counts, told)

    def _close_past(self, segment: int) -> None:
        """The alarms of the segments before this one, as they ended; each is read once."""
        self._past = {key: alarms for key, alarms in self._past.items() if key[0] < segment}
        for index in range(segment if self._past_segments else 0):
            past = Sight.of(PastSegment(self.run, index))
            rows = past.steps()
            key = (index, len(rows), past.step)
            if key in self._past:
                continue
            self._past = {other: alarms for other, alarms in self._past.items() if other[0] != index}
            self._past[key] = []
            for current in self._watches:
                watch = Watch(current.playbook, current.trigger, past, segment=index, baseline=self.baseline)
                standing = run_through(watch, Standing(), rows, len(rows))
                self._past[key].extend(watch.alarms(standing, rows, over=True))

    def _commit(self, frame: tuple[Any, ...], rows: Sequence[int]) -> None:
        """Take in every row but the newest."""
        end = max(0, len(rows) - 1)
        self._standings = [
            run_through(watch, standing, rows, end, self._committed)
            for watch, standing in zip(self._watches, self._standings, strict=True)
        ]
        self._committed = end
        self._mark = (frame, *self._past_marks(rows))

    def _look(self, rows: Sequence[int]) -> None:
        """Publish the alarms with the newest row looked at."""
        alarms = [alarm for past in self._past.values() for alarm in past]
        pending = []
        for watch, standing in zip(self._watches, self._standings, strict=True):
            newest = standing
            if rows and (on_grid(len(rows) - 1) or not watch.metrics):
                newest = watch.step(standing, len(rows) - 1, rows)
            elif not rows:
                newest = watch.step(standing, 0, rows)
            alarms.extend(watch.alarms(newest, rows))
            waiting = watch.pending(newest, rows)
            if waiting is not None:
                pending.append(waiting)
            self.outcomes[watch.playbook.playbook] = newest.outcome
        segments = self._segment + 1
        self.alarms = by_urgency(alarm.among(segments) for alarm in alarms)
        self.pending = by_urgency(alarm.among(segments) for alarm in pending)


class _Never:
    """No revision equals this one."""


_NEVER = _Never()


def _conditions(trigger: Trigger) -> tuple[Expression, ...]:
    return (trigger.when, *trigger.raise_.values())
