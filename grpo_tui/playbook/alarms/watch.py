"""One trigger over the rows of one segment: the state machine fed with what the language evaluates.

Everything up to a row is a frozen `Standing`, so the newest row, which may still be incomplete, can
be looked at without being committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import EllipsisType

from ..evidence.readings import reading_of
from ..evidence.sentences import evidence_of, supporting
from ..facts.gather import automatic_facts, values_at
from ..format.schema import Playbook, Trigger
from ..language.expressions import Comparison, Expression, Outcome, evaluate, truth_of
from ..language.reach import may_hold, reach_of, truth_where_logged
from ..scope import RunLike, RunScope, points_of
from ..verdict.rule import Evidence
from .alarm import Alarm, State
from .machine import SEVERITIES, Condition, Severity, advance, rows_needed, warming_up
from .onset import onset

NOTHING_YET = Condition()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a trigger stands after row `row` (0-based; -1 before the first).

    `first_step` is the onset of the present stretch, `last_true` the last step in which the condition
    held, `peak` how far its leading comparison went beyond the threshold and where, `resolved` the alarms
    that came and went, `outcome` what the newest evaluation said.
    """

    row: int = -1
    condition: Condition = NOTHING_YET
    first_step: int | None = None
    last_true: int | None = None
    peak: tuple[float, int | None] | None = None
    resolved: tuple[Alarm, ...] = ()
    outcome: Outcome | None = None


class Watch:
    """One playbook's trigger over one segment of a run."""

    def __init__(
        self,
        playbook: Playbook,
        trigger: Trigger,
        run: RunLike,
        *,
        segment: int = 0,
        baseline: RunLike | None = None,
    ) -> None:
        self.playbook = playbook
        self.trigger = trigger
        self.run = run
        self.segment = segment
        self.baseline = baseline
        self.facts = automatic_facts(run)
        self.corroborations = [(s, trigger.raise_[s]) for s in SEVERITIES if s in trigger.raise_]
        expressions = [trigger.when, *(expression for _, expression in self.corroborations)]
        self.metrics = tuple(dict.fromkeys(name for e in expressions for name in e.metrics))
        self._reach = reach_of(trigger.when.tree)
        self.config_keys = tuple(dict.fromkeys(key for e in expressions for key in e.config_keys))

    def scope(self, at: int | None, rows: Sequence[int]) -> RunScope:
        known = values_at(self.facts, at)
        return RunScope(self.run, self.playbook, at, answers=known, baseline=self.baseline, steps=rows)

    def may_hold(self, rows: Sequence[int]) -> bool:
        """Whether any row before the newest could meet the condition; if not, they need no look."""
        when, scope = self.trigger.when, self.scope(None, rows)

        def logged(name: str) -> bool:
            return len(points_of(self.run, self.playbook, name)) > 0

        return may_hold(self._reach, logged, lambda part: truth_of(when, scope, part))

    def step(
        self,
        standing: Standing,
        row: int,
        rows: Sequence[int],
        *,
        known: bool | EllipsisType | None = ...,
        corroboration: Sequence[tuple[Severity, bool | None]] | None = None,
    ) -> Standing:
        """The standing after also looking at row `row`.

        `known` is the truth of the condition in this row, and `corroboration` what the conditions of higher
        severities say, where somebody has worked them out already.
        """
        at = rows[row] if rows else None
        passed = row - standing.row
        if rows and warming_up(row, rows[row] - rows[0], self.trigger.warmup, self.run.total_steps):
            return replace(standing, row=row)
        scope = self.scope(at, rows)
        newest = row >= len(rows) - 1
        truth = known if known is not ... else None if newest else truth_of(self.trigger.when, scope)
        outcome = evaluate(self.trigger.when, scope) if newest or truth else Outcome(truth)
        if corroboration is None:
            corroboration = self._corroboration(scope) if outcome.truth else ()
        said = outcome.truth
        if said is None and standing.condition.phase != "ok":
            said = self._where_logged(self.trigger.when, scope)
        after = advance(
            standing.condition,
            said,
            row=row,
            rows=passed,
            need=rows_needed(self.trigger.for_, row + 1),
            base=self.trigger.severity,
            corroboration=corroboration,
        )
        moved = replace(standing, row=row, condition=after, outcome=outcome)
        if outcome.truth:
            began = standing.condition.phase == "ok"
            first = self._onset(outcome, scope, standing) if began else standing.first_step
            leading = next(iter(supporting(self.trigger.when, outcome)), None)
            peak = _higher(None if began else standing.peak, leading, at)
            return replace(moved, first_step=first, last_true=at, peak=peak)
        if standing.condition.fired and after.phase == "ok":
            ended = self._alarm(standing, "resolved", rows)
            return replace(moved, resolved=(*standing.resolved, ended))
        return moved

    def alarms(self, standing: Standing, rows: Sequence[int], *, over: bool = False) -> list[Alarm]:
        """Every alarm that fired so far. With `over` the segment has ended, and so has its alarm."""
        alarms = list(standing.resolved)
        if standing.condition.phase in ("firing", "recovering"):
            state: State = "firing" if standing.condition.phase == "firing" else "recovering"
            alarm = self._alarm(standing, "resolved" if over else state, rows)
            alarms.append(replace(alarm, unhealed=over))
        return alarms

    def pending(self, standing: Standing, rows: Sequence[int]) -> Alarm | None:
        return self._alarm(standing, "pending", rows) if standing.condition.phase == "pending" else None

    def _where_logged(self, condition: Expression, scope: RunScope) -> bool | None:
        """Of an unknown condition: what the metrics logged up to the row say."""
        at = scope.at

        def logged(name: str) -> bool:
            steps = points_of(self.run, self.playbook, name).steps
            return len(steps) > 0 and (at is None or int(steps[0]) <= at)

        return truth_where_logged(condition.tree, logged, lambda part: truth_of(condition, scope, part))

    def _corroboration(self, scope: RunScope) -> list[tuple[Severity, bool | None]]:
        found: list[tuple[Severity, bool | None]] = []
        for severity, expression in self.corroborations:
            truth = truth_of(expression, scope)
            found.append((severity, self._where_logged(expression, scope) if truth is None else truth))
        return found

    def _onset(self, outcome: Outcome, scope: RunScope, standing: Standing) -> int | None:
        """Where the raw curve left; never before the end of an earlier alarm of this trigger.

        What needs several things at once began with the last of them. That enough rows were there (`count`)
        is when it could be said, not when it began.
        """
        at = scope.at
        if at is None:
            return None
        after = standing.resolved[-1].last_step if standing.resolved else None
        not_before = None if after is None else after + 1
        found: list[int] = []
        guards: list[int] = []
        for comparison in supporting(self.trigger.when, outcome):
            reading = reading_of(self.trigger.when, comparison, scope.param)
            if reading is not None:
                points = points_of(self.run, self.playbook, reading.metric)
                kind = guards if reading.function == "count" else found
                kind.append(onset(points, reading, at, not_before=not_before))
        return max(found or guards or [at])

    def _alarm(self, standing: Standing, state: State, rows: Sequence[int]) -> Alarm:
        where = "-" if standing.first_step is None else str(standing.first_step)
        peak = standing.last_true if standing.peak is None else standing.peak[1]
        evidence = self._evidence(peak if state == "resolved" else standing.last_true, rows)
        message = self.trigger.message or self.playbook.title
        if evidence:
            message = f"{message}: {evidence[0].text}"
        return Alarm(
            id=f"{self.playbook.playbook}@{self.segment}:{where}",
            playbook=self.playbook.playbook,
            title=self.playbook.title,
            severity=standing.condition.severity,
            diagnosis=self.trigger.diagnosis,
            state=state,
            first_step=standing.first_step,
            last_step=standing.last_true,
            peak_step=peak,
            message=message,
            evidence=evidence,
            metrics=self.metrics,
            rules=tuple(self.trigger.rules),
            segment=self.segment,
        )

    def _evidence(self, at: int | None, rows: Sequence[int]) -> tuple[Evidence, ...]:
        """What the condition saw at a step: of a living alarm the last one in which it held."""
        scope = self.scope(at, rows)
        outcome = evaluate(self.trigger.when, scope)
        lines = evidence_of(self.trigger.when, outcome, scope, tuple(self.trigger.rules))
        held = {comparison.text for comparison in supporting(self.trigger.when, outcome)}
        chosen = [e for e, c in zip(lines, outcome.trace, strict=False) if c.text in held]
        return tuple(chosen) or lines


def _higher(
    peak: tuple[float, int | None] | None, leading: Comparison | None, at: int | None
) -> tuple[float, int | None] | None:
    """The row in which the leading comparison went furthest beyond its threshold so far."""
    if leading is None or not isinstance(leading.left, float) or not isinstance(leading.right, float):
        return peak
    gap = leading.left - leading.right
    excess = gap if leading.op in (">", ">=") else -gap
    return (excess, at) if peak is None or excess > peak[0] else peak
