"""Playbooks to choose from, the walk through one, and its verdict: one screen in three states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import OptionList

from ..keymap import bindings
from ..rollout_marks import OBSERVATION, told
from ..snapshot import Offer, Overall, Snapshot, WalkState
from ..widgets.chart_grid import ChartGrid
from ..widgets.choice_list import ChoiceList, Pick
from ..widgets.page import Page
from ..widgets.playbook_list import PlaybookList
from ..widgets.step_card import StepCard
from ..widgets.text import clean_label
from ..widgets.verdict_page import VerdictPage
from ..widgets.walk_side import WalkSide
from .base import RunScreen
from .dialogs import TextDialog

if TYPE_CHECKING:
    from ...playbook.walk.views import StepView
    from ..walking import Walking

View = Literal["list", "walk", "verdict"]
_ACTIONS: dict[str, tuple[View, ...]] = {
    "start": ("list",),
    "resume": ("list",),
    "choose": ("walk",),
    "digit": ("walk",),
    "forward": ("walk",),
    "skip": ("walk",),
    "probe": ("walk",),
    "open_aid": ("walk",),
    "scroll_card": ("walk",),
    "metric": ("walk",),
    "back": ("walk", "verdict"),
    "note": ("walk", "verdict"),
    "leave": ("walk", "verdict"),
    "report": ("verdict",),
    "walk_better": ("verdict",),
}
_FOCUS: dict[View, str] = {"list": "PlaybookList", "walk": "ChoiceList", "verdict": "VerdictPage"}
_AIDS = {
    "curves": "go('overview')",
    "log": "go('log')",
    "alerts": "go('alarms')",
    "rollouts": "rollouts",
    "config": "config",
}


class TriageScreen(RunScreen):
    """Leads a person from a doubt to a verdict, one answer at a time."""

    CSS_PATH = "triage.tcss"
    BINDINGS = bindings("triage", "walk", "verdict")
    PLACES = ("triage",)
    HERE = frozenset({"app.triage"})

    _reminded: object = None
    _judged: object = None
    _overall: Overall | None = None
    listing = False
    """The person looks at the list although a walk is open."""
    _drawn: tuple[View, str | None, int] = ("list", None, -1)

    def compose_body(self) -> ComposeResult:
        with Container(id="list"):
            yield PlaybookList()
            yield Page(id="about")
        with Container(id="walk"):
            with Container(id="main"):
                yield StepCard()
                yield ChartGrid(id="curve")
                yield ChoiceList()
            yield WalkSide()
        yield VerdictPage()

    # -- showing -----------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """Which of the three states this is."""
        state = self.grpo.snapshot.walk
        if state is None or self.listing:
            return "list"
        return "verdict" if state.step is None else "walk"

    def draw(self, snapshot: Snapshot) -> None:
        view, state = self.view, snapshot.walk
        for name in ("list", "walk", "verdict"):
            self.set_class(name == view, f"-{name}")
        self.PLACES = ("triage",) if view == "list" else (view,)
        if view == "list":
            self._draw_list(snapshot)
        elif state is not None and state.step is not None:
            self._draw_walk(snapshot, state, state.step)
        elif state is not None:
            self.keys("verdict")
            self.query_one(VerdictPage).show(state, self._overall_of(state))
        self._place_focus(view, state)

    def _overall_of(self, state: WalkState) -> Overall | None:
        """What all playbooks say with the answers of this walk; asked for once, shown when it is there."""
        walked = (state.session, len(state.history))
        if walked != self._judged:
            self._judged, self._overall = walked, None
            self._judge()
        return self._overall

    @work(exclusive=True, group="overall")
    async def _judge(self) -> None:
        self._overall = await self.ask(self.grpo.desk.engine.overall)
        if self.is_current:
            self.draw(self.grpo.snapshot)

    def _place_focus(self, view: View, state: WalkState | None) -> None:
        """Focus what the state is about, once, so that a person can move it afterwards."""
        now = (view, state.step.id if state and state.step else None, len(state.history) if state else -1)
        if now != self._drawn or self.focused is None:
            self._drawn = now
            self.query_one(ChartGrid).page = 0
            self.query_one(_FOCUS[view]).focus()
            self.refresh_bindings()

    def _draw_list(self, snapshot: Snapshot) -> None:
        self.keys("triage")
        listed = self.query_one(PlaybookList)
        listed.show(snapshot.offers)
        self._describe(listed.chosen)

    def _describe(self, offer: Offer | None) -> None:
        if offer is None:
            self.query_one("#about", Page).write([Content("No playbook is loaded.")])
            return
        verb = "goes on with" if offer.fit == "open" else "starts"
        promise = f"Enter {verb} it. Every answer is saved at once; nothing runs unseen."
        lines = [
            Content.styled(clean_label(offer.title), "bold"),
            Content(clean_label(offer.summary)),
            Content.styled(f"{offer.steps} steps · {clean_label(offer.why)}", "$faint"),
            Content.styled(promise, "$faint"),
        ]
        self.query_one("#about", Page).write(line for pair in lines for line in (pair, Content("")))

    def _draw_walk(self, snapshot: Snapshot, state: WalkState, step: StepView) -> None:
        disabled = set() if step.probe else {"walk.probe"}
        disabled |= set() if step.automatic else {"walk.forward"}
        disabled |= set() if step.open_ in _AIDS else {"walk.open"}
        disabled |= set() if state.history else {"walk.back"}
        self.keys("walk", disabled=frozenset(disabled))
        self.query_one(StepCard).show(state)
        self.query_one(ChoiceList).show(step, len(state.history))
        self.query_one(WalkSide).show(state)
        self._tell_marks(step)
        names = [name for name in step.metrics if name in snapshot.points]
        self.set_class(not names, "-no-curve")
        self.query_one(ChartGrid).show(snapshot, names)

    def _tell_marks(self, step: StepView) -> None:
        """A question that a person has answered by marking rollouts is reminded of it, once."""
        if step.observation != OBSERVATION or self._reminded == step.place:
            return
        self._reminded = step.place
        marked = told(self.grpo.desk.run.path)
        if marked:
            self.grpo.say(f"you marked in the rollouts: {marked}")

    # -- moves -------------------------------------------------------------------------------

    async def _move(self, move: Callable[[Walking], object]) -> bool:
        """Have a move made; False where it was refused, which the person was told."""
        desk = self.grpo.desk
        return await self.ask(lambda: desk.walk(move)) is not None

    async def walk(self, playbook: str) -> None:
        """Walk a playbook; the one that is open goes on where it stands."""
        state = self.grpo.snapshot.walk
        self.listing = False
        if state is None or state.playbook != playbook:
            await self.ask(lambda: self.grpo.desk.engine.start(playbook))
            self._tell_of_segment(playbook)
        else:
            self.draw(self.grpo.snapshot)

    def _tell_of_segment(self, playbook: str) -> None:
        """A walk sees the newest segment; what fired in an earlier one alone may be gone there."""
        own = [alarm for alarm in self.grpo.snapshot.alarms if alarm.playbook == playbook]
        if own and all(alarm.segment < alarm.of_segments - 1 for alarm in own):
            first = own[0]
            where = f"segment {first.segment + 1} of {first.of_segments}"
            self.grpo.say(f"the alarm is of {where}; this walk looks at the newest, where it may be gone")

    async def resume(self, session: Path) -> None:
        self.listing = False
        await self._move(lambda walking: walking.resume(session))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in _ACTIONS or self.view in _ACTIONS[action]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if isinstance(event.option_list, PlaybookList):
            self._describe(event.option_list.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if isinstance(event.option_list, PlaybookList):
            self.action_start()
        else:
            self.action_choose()

    def action_start(self) -> None:
        offer = self.query_one(PlaybookList).chosen
        if offer is not None:
            self.grpo.walk_playbook(offer.id)

    @work(exclusive=True, group="dialog")
    async def action_resume(self) -> None:
        if self.grpo.snapshot.walk is not None:
            self.listing = False
            self.draw(self.grpo.snapshot)
            return
        session = await self.ask(self.grpo.desk.walking.unfinished)
        if session is None:
            self.grpo.say("no walk was left open for this run")
        else:
            await self.resume(session.path)

    def action_choose(self) -> None:
        self._do(self.query_one(ChoiceList).chosen)

    def action_forward(self) -> None:
        """Past the checks, to what only a person can answer."""
        step = self._step
        if step is not None and step.automatic:
            self._make_move(lambda walking: walking.forward(step))
        else:
            self.grpo.say("this step waits for you: answer, or s leaves it out")

    def action_digit(self, digit: int) -> None:
        self._do(self.query_one(ChoiceList).pick(digit))

    def _do(self, pick: Pick | None) -> None:
        """What a line of the list stands for."""
        step = self._step
        if pick is None or step is None:
            return
        match pick.does:
            case "advance":
                self._make_move(lambda walking: walking.advance(step))
            case "answer":
                self._make_move(lambda walking: walking.answer(step, pick.value))
            case "number":
                self._ask_number(step)
            case "probe":
                self.action_probe()
            case "skip":
                self.action_skip()

    @work(group="walk")
    async def _make_move(self, move: Callable[[Walking], object]) -> None:
        await self._move(move)

    @work(exclusive=True, group="dialog")
    async def _ask_number(self, step: StepView) -> None:
        """A question whose answer is a number has no list to choose from."""
        text = await self.app.push_screen_wait(TextDialog(step.question, "", "a number"))
        if text and text.strip():
            await self._move(lambda walking: walking.answer(step, text.strip()))

    def action_back(self) -> None:
        self._make_move(lambda walking: walking.back())

    @work(exclusive=True, group="dialog")
    async def action_skip(self) -> None:
        step = self._step
        reason = await self.app.push_screen_wait(
            TextDialog("Why is this step left out?", "", "it stays in the report", required=True)
        )
        if reason and step is not None:
            await self._move(lambda walking: walking.skip(step, reason))

    @work(exclusive=True, group="dialog")
    async def action_note(self) -> None:
        text = await self.app.push_screen_wait(TextDialog("Note", "", "what you saw, what you changed"))
        if text and await self._move(lambda walking: walking.note(text)):
            self.grpo.say("noted")

    @work(exclusive=True, group="dialog")
    async def action_probe(self) -> None:
        step = self._step
        if step is None or not step.probe:
            self.grpo.say("this step needs no probe")
            return
        from ..probing import outcome_of
        from .probe import ProbeScreen

        result = await self.app.push_screen_wait(ProbeScreen(self.grpo, step))
        if result is not None:
            await self._move(lambda walking: walking.record_probe(step, outcome_of(result)))

    def action_walk_better(self) -> None:
        """The playbook that speaks for what all of them say together."""
        better, state = self._overall, self.grpo.snapshot.walk
        if better is None or state is None or not better.playbook or better.playbook == state.playbook:
            self.grpo.say("no other playbook says more about this run")
        else:
            self.grpo.walk_playbook(better.playbook)

    def action_report(self, masked: bool = False) -> None:
        self.grpo.action_report(masked)

    def place(self) -> tuple[Path, int | None] | None:
        """The playbook: the one that is highlighted, or the one being walked."""
        offer, state = self.query_one(PlaybookList).chosen, self.grpo.snapshot.walk
        name = state.playbook if self.view != "list" and state is not None else offer.id if offer else ""
        book = self.grpo.library.playbooks.get(name)
        return (book.origin, None) if book is not None and book.origin and book.origin.is_file() else None

    async def action_open_aid(self) -> None:
        aid = _AIDS.get(self._step.open_ or "") if self._step is not None else None
        if aid is None:
            self.grpo.say("this step names nothing to look at")
        else:
            await self.run_action(f"app.{aid}")

    def action_scroll_card(self, direction: int) -> None:
        card = self.query_one(StepCard)
        card.scroll_relative(y=direction * max(1, card.size.height - 1), animate=False)

    def action_metric(self) -> None:
        curves = self.query_one(ChartGrid)
        if not curves.turn_page(1):
            curves.page = 0
            curves.lay_out()

    def action_leave(self) -> None:
        self.listing = True
        self.draw(self.grpo.snapshot)

    def topics(self) -> list[str]:
        """The leading diagnosis of a walk, then the metrics of its step; of the list, the playbook."""
        if self.view == "list":
            offer = self.query_one(PlaybookList).chosen
            return [offer.id] if offer is not None else []
        state, step = self.grpo.snapshot.walk, self._step
        assert state is not None
        focused = self.query_one(ChartGrid).focused_chart
        first = [focused.metric] if focused is not None else []
        ranked = [ranked.diagnosis for ranked in state.verdict.ranked]
        return list(dict.fromkeys([*first, *ranked, *(step.metrics if step is not None else ())]))

    @property
    def _step(self) -> StepView | None:
        state = self.grpo.snapshot.walk
        return state.step if state is not None else None
