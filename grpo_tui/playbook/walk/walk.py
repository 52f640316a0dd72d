"""A person (or nobody) walking a playbook to a verdict.

A walk is a list of decisions, each with the place it led to; everything else is derived. So going
back is dropping one, resuming is reading them again, and new data can be looked at without moving the
ground under an answer. Automatic steps are evaluated live and wait to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..facts.fact import Fact
from ..facts.gather import automatic_facts, values_at
from ..format.schema import AskStep, NoteStep, Playbook, ProbeStep, Step, UseStep
from ..scope import RunLike, RunScope, known_of
from ..verdict.questions import open_questions
from ..verdict.rule import Contribution, Verdict, judge
from ..walk import showing
from .branching import Taken
from .flow import Books, Frame, Frames, WalkError, book_named, books_of, entered, moved, refuse_cycles
from .headless import run_to_the_end
from .judging import accepted_value, judge_ask, judge_probe, judge_step, judge_use, leaves_out
from .memory import Decision, begin_session, refuse_changed_steps
from .session import SessionFile, now
from .tally import Tally
from .views import AUTOMATIC, Choice, ProbeOutcome, StepDone, StepView

__all__ = ["Choice", "ProbeOutcome", "StepDone", "StepView", "Walk", "WalkError", "begin_session"]


class Walk:
    """One playbook over one run. Build it with `start` or `resume`; `current` is None once it is over.

    With a session file every move is on disk before the method returns.
    """

    def __init__(
        self,
        playbook: Playbook,
        run: RunLike,
        library: Books,
        *,
        session: SessionFile | None = None,
        answers: Mapping[str, Any] | None = None,
        by: str = "person",
        at: int | None = None,
        baseline: RunLike | None = None,
    ) -> None:
        self.playbook = playbook
        self.run = run
        self.by = by
        self.at = at
        self.session = session
        self.baseline = baseline
        self.notes: list[dict[str, Any]] = []
        self.books: Mapping[str, Playbook] = {**books_of(library), playbook.id: playbook}
        refuse_cycles(playbook, self.books)
        self._given = known_of(answers)
        self.automatic = automatic_facts(run)
        self._begin = Decision((), (Frame(playbook.id),))
        self._decisions: list[Decision] = []
        self._tally = Tally()
        self._verdict: Verdict | None = None

    @classmethod
    def start(
        cls,
        playbook: Playbook | str,
        run: RunLike,
        library: Books,
        *,
        session: SessionFile | None = None,
        answers: Mapping[str, Any] | None = None,
        by: str = "person",
        at: int | None = None,
        baseline: RunLike | None = None,
    ) -> Walk:
        """Stand before the first step. `at` walks the run as it was at a step.

        Raises WalkError for an unknown playbook, one that uses itself, or a session already begun.
        """
        if session is not None and session.events:
            raise WalkError(f"{session.path.name} is already under way; resume it instead")
        book = playbook if isinstance(playbook, Playbook) else book_named(playbook, library)
        walk = cls(book, run, library, session=session, answers=answers, by=by, at=at, baseline=baseline)
        walk._set_out()
        return walk

    @classmethod
    def resume(
        cls,
        session: SessionFile,
        run: RunLike,
        library: Books,
        *,
        by: str = "person",
        baseline: RunLike | None = None,
    ) -> Walk:
        """Stand at exactly the step where the session stopped.

        Raises SessionChanged, with the differing steps, when the playbook is no longer the one answered.
        """
        book = book_named(session.playbook, library)
        refuse_changed_steps(session, book, books_of(library))
        walk = cls(book, run, library, session=session, by=by, at=session.header.get("at"), baseline=baseline)
        if not session.events:
            walk._set_out()
        for event in session.events:
            walk._replay(event)
        return walk

    # -- where we stand --------------------------------------------------------------------

    @property
    def current(self) -> StepView | None:
        """The step to be answered or accepted, evaluated on the data of this moment; None at the end."""
        frames = self._frames
        if not frames:
            return None
        step, frame, book = self._step(frames)
        taken = None
        if showing.kind_of(step) in AUTOMATIC and not isinstance(step, NoteStep):
            taken = judge_step(step, self._scope(frames), frame.place, self.books)
        return showing.view_of(step, frame, book, taken, self.facts, self._sources())

    @property
    def step(self) -> Step | None:
        """The present step as the playbook has it."""
        return self._step(self._frames)[0] if self._frames else None

    @property
    def finished(self) -> bool:
        return not self._frames

    @property
    def history(self) -> list[StepDone]:
        """Every step that lies behind, oldest first, those left out included."""
        return [entry for decision in (self._begin, *self._decisions) for entry in decision.entries]

    @property
    def facts(self) -> dict[str, Any]:
        """What is known by observation: of the run's files, given, answered, measured; the last wins."""
        return {**known_of(values_at(self.automatic, self.at)), **self._given, **self._so_far[0]}

    @property
    def contributions(self) -> list[Contribution]:
        return [contribution for entry in self.history for contribution in entry.contributions]

    @property
    def scores(self) -> dict[str, float]:
        """Points so far by diagnosis."""
        return dict(self._so_far[1])

    @property
    def verdict(self) -> Verdict:
        """What the evidence so far comes to, with what is still worth asking."""
        if self._verdict is None:
            questions = open_questions(self.playbook, self.books, self.facts)
            self._verdict = judge(self.contributions, self.playbook.hypotheses, questions=questions)
        return self._verdict

    # -- moving ----------------------------------------------------------------------------

    def advance(self, note: str = "") -> None:
        """Accept what an automatic step found and go its way. Raises WalkError before any other step."""
        frames, step = self._here()
        if showing.kind_of(step) not in AUTOMATIC:
            raise WalkError(f"step '{step.id}' waits for an answer; give one or skip it with a reason")
        frame = frames[-1]
        if isinstance(step, UseStep) and step.use in self.books:
            self._decide([], entered(frames, step.use))
            return
        taken = judge_step(step, self._scope(frames), frame.place, self.books)
        entry = replace(self._done(step, frame, taken), note=note)
        self._decide([entry], self._after(frames, taken))

    def answer(self, value: Any, note: str = "", *, by: str | None = None) -> None:
        """Answer the question. Raises ValueError for a value the question does not know."""
        frames, step = self._here()
        if not isinstance(step, AskStep):
            raise WalkError(f"step '{step.id}' is not a question")
        frame = frames[-1]
        accepted = accepted_value(step.ask, value)
        said = self._sources().get(step.ask)
        lines = (said.evidence(),) if said is not None and said.value == accepted else None
        taken = judge_ask(step, self._scope(frames, answer=accepted), frame.place, accepted, lines)
        facts = {} if accepted is None else {step.ask: accepted}
        value = "unknown" if accepted is None else accepted
        entry = replace(self._done(step, frame, taken), value=value, facts=facts, note=note, by=by or self.by)
        self._decide([entry], self._after(frames, taken))

    def skip(self, reason: str = "") -> None:
        """Leave a step unanswered; it counts as unknown, and the reason is kept."""
        frames, step = self._here()
        taken = showing.unanswered(step, frames[-1].place)
        entry = replace(self._done(step, frames[-1], taken), note=reason, by=self.by)
        self._decide([entry], self._after(frames, taken))

    def record_probe(self, outcome: ProbeOutcome) -> None:
        """Take in a probe's result: its facts become known, and the branch is chosen by them.

        A rehearsal, and a probe that did not finish, is kept and shown but leaves everything unknown.
        """
        frames, step = self._here()
        if not isinstance(step, ProbeStep):
            raise WalkError(f"step '{step.id}' runs no probe")
        facts, taken = judge_probe(step, outcome, self._scope, frames)
        entry = replace(
            self._done(step, frames[-1], taken),
            facts=facts,
            rehearsal=outcome.rehearsal,
            probe={"verdict": outcome.verdict, "path": outcome.path, "facts": dict(outcome.facts)},
            by=f"probe {step.probe}",
        )
        self._decide([entry], self._after(frames, taken))

    def back(self) -> bool:
        """Undo the last decision; False at the beginning."""
        if not self._decisions:
            return False
        self._decisions.pop()
        self._verdict = None
        self._write({"event": "back"})
        return True

    def note(self, text: str) -> None:
        """Keep a remark with the step we stand before."""
        place = self._frames[-1].place if self._frames else "end"
        remark = {"event": "note", "place": place, "text": text, "by": self.by}
        self._write(remark)
        self.notes.append({**remark, "time": now()})

    def refresh(self) -> list[str]:
        """Look again at the automatic steps behind us; say what changed. Answers stay as they are."""
        self._verdict = None
        changed: dict[str, StepDone] = {}
        told = []
        for entry in self.history:
            again = self._again(entry)
            if again is None or (again.result, again.branch) == (entry.result, entry.branch):
                continue
            changed[entry.place] = again
            told.append(showing.change_of(entry, again))
        if changed:
            self._replace(changed)
            self._write({"event": "refresh", "entries": [entry.as_dict() for entry in changed.values()]})
        return told

    def run_headless(self, answers: Mapping[str, Any] | None = None) -> Verdict:
        """Walk to the end without a person: questions and probes from known facts, else unknown."""
        self._given.update(known_of(answers))
        return run_to_the_end(self)

    # -- inside ----------------------------------------------------------------------------

    def _sources(self) -> dict[str, Fact]:
        """The automatic facts that nobody has overruled."""
        known = self.facts
        return {name: fact for name, fact in self.automatic.items() if known.get(name) == fact.value}

    @property
    def _so_far(self) -> tuple[Mapping[str, Any], Mapping[str, float]]:
        return self._tally.after([self._begin, *self._decisions])

    @property
    def _frames(self) -> Frames:
        return self._decisions[-1].frames if self._decisions else self._begin.frames

    def _here(self) -> tuple[Frames, Step]:
        frames = self._frames
        if not frames:
            raise WalkError("the walk is over; go back to change an answer")
        return frames, self._step(frames)[0]

    def _step(self, frames: Frames) -> tuple[Step, Frame, Playbook]:
        frame = frames[-1]
        book = self.books[frame.playbook]
        return book.steps[frame.index], frame, book

    def _scope(
        self,
        frames: Frames,
        *,
        answer: Any = None,
        facts: Mapping[str, Any] | None = None,
        results: Mapping[str, Any] | None = None,
        entries: Iterable[StepDone] = (),
    ) -> RunScope:
        known = self.facts
        scores = self.scores
        for entry in entries:
            known.update(entry.facts)
            for held in entry.contributions:
                scores[held.hypothesis] = scores.get(held.hypothesis, 0) + held.points
        return RunScope(
            self.run,
            self.books[frames[-1].playbook],
            self.at,
            answers={**known, **(facts or {})},
            results=results,
            scores=scores,
            answer=answer,
            baseline=self.baseline,
        )

    def _done(self, step: Step, frame: Frame, taken: Taken) -> StepDone:
        entry = showing.done_of(step, frame, self.books[frame.playbook], taken, self.run)
        return replace(entry, time=now(), by="engine")

    def _decide(self, entries: list[StepDone], frames: Frames) -> None:
        decision = self._settled(frames, entries)
        self._decisions.append(decision)
        self._verdict = None
        first = decision.entries[0] if decision.entries else None
        if self.session is not None:
            self._write({"event": "done", **decision.as_dict(), **showing.line_for(first)})
        if not decision.frames:
            self._write({"event": "finish", "verdict": str(self.verdict)})

    def _after(self, frames: Frames, taken: Taken) -> Frames:
        return moved(frames, self.books[frames[-1].playbook], taken.branch.goto)

    def _set_out(self) -> None:
        self._begin = self._settled(self._begin.frames, [])
        self._write({"event": "begin", **self._begin.as_dict(), "given": self._given})

    def _settled(self, frames: Frames, entries: list[StepDone]) -> Decision:
        """Come to rest: pass steps that are left out, close sub-procedures that are through."""
        while frames:
            book = self.books[frames[-1].playbook]
            if frames[-1].index >= len(book.steps):
                frames = self._close(frames, entries)
                continue
            step, frame, _ = self._step(frames)
            taken = leaves_out(step, self._scope(frames, entries=entries), frame.place)
            if taken is None:
                break
            entries.append(self._done(step, frame, taken))
            frames = moved(frames, book, None)
        return Decision(tuple(entries), frames)

    def _close(self, frames: Frames, entries: list[StepDone]) -> Frames:
        """Leave a playbook. Its points already count; a `use` step's cases judge what it came to."""
        inner, outer = frames[-1], frames[:-1]
        if not outer:
            return ()
        step, frame, book = self._step(outer)
        inside = [
            held
            for entry in (*self.history, *entries)
            if entry.place.startswith(inner.prefix)
            for held in entry.contributions
        ]
        if not isinstance(step, UseStep):
            raise WalkError(f"step '{step.id}' uses no playbook")
        verdict = judge(inside, self.books[inner.playbook].hypotheses)
        scope = self._scope(outer, answer=verdict.diagnosis, entries=entries)
        taken = judge_use(step, scope, frame.place, verdict)
        entries.append(replace(self._done(step, frame, taken), value=str(verdict)))
        return moved(outer, book, taken.branch.goto)

    def _again(self, entry: StepDone) -> StepDone | None:
        """An automatic step judged anew, or None for one that is not."""
        if entry.kind not in ("check", "config") or entry.result == "left out" or entry.result == "skipped":
            return None
        book = self.books.get(entry.playbook)
        step = book.step(entry.id) if book is not None else None
        if book is None or step is None:
            return None
        frame = Frame(book.id, entry.place.rpartition("steps/")[0], book.steps.index(step))
        taken = judge_step(step, self._scope((frame,)), frame.place, self.books)
        return replace(self._done(step, frame, taken), note=entry.note)

    def _replace(self, entries: Mapping[str, StepDone]) -> None:
        self._begin = self._begin.renewed(entries)
        self._decisions = [decision.renewed(entries) for decision in self._decisions]

    def _replay(self, event: Mapping[str, Any]) -> None:
        match event["event"]:
            case "begin":
                self._begin = Decision.from_dict(event)
                self._given = dict(event.get("given", {}))
            case "done":
                self._decisions.append(Decision.from_dict(event))
            case "back" if self._decisions:
                self._decisions.pop()
            case "refresh":
                entries = [StepDone.from_dict(entry) for entry in event.get("entries", [])]
                self._replace({entry.place: entry for entry in entries})
            case "note":
                self.notes.append(dict(event))
            case _:
                pass

    def _write(self, event: Mapping[str, Any]) -> None:
        if self.session is not None:
            self.session.append(event)
