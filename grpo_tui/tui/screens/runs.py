"""Many runs at a glance: which lives, which is in trouble, which to open."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from ..keymap import bindings
from ..query import GRAMMAR, BadQuery, Query, parse
from ..run_scan import FIELDS, RunRow, RunScan
from ..snapshot import FIRST, Snapshot
from ..theme import SEVERITIES, STATES, rank
from ..view_state import RunsView
from ..widgets.bar import Part, fit_parts
from ..widgets.key_bar import KeyBar
from ..widgets.run_list import RunList, heading
from ..widgets.text import clean_label
from .base import RunScreen
from .dialogs import TextDialog

MOST_MARKED = 3
SORTS = ("newest", "worst", "name", "step", "value")
_NONE = (
    "No run was found under this folder.\n\n"
    "A run is a log of a trainer, a trainer_state.json, an event file, a wandb or trackio store.\n"
    "Give another folder:  grpo-tui FOLDER"
)


class RowPosted(Message):
    """The scan has news; the rows wait in the screen's queue."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowPosted)


class RunsScreen(RunScreen):
    """The list of runs; filled while it is looked at."""

    CSS_PATH = "runs.tcss"
    BINDINGS = bindings("runs")
    PLACES = ("runs",)
    HERE = frozenset({"app.runs"})

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[Path, RunRow] = {}
        self._news: deque[RunRow] = deque()
        self._scan: RunScan | None = None
        self.view = RunsView()
        self.query_now = Query()

    def compose(self) -> ComposeResult:
        yield Static("", id="head", markup=False)
        yield Static("", id="columns", markup=False)
        yield RunList()
        yield Static("looking for runs …", id="nothing", markup=False)
        yield Static("", id="note", markup=False)
        yield KeyBar("runs", "app", disabled=self.HERE)

    def on_mount(self) -> None:
        root = self.grpo.root
        self.view = RunsView.load(root)
        self.query_now = self._parsed(self.view.filter)
        self._scan = RunScan(root, lambda: self.grpo.library, self._post)
        self._scan.start()
        self.set_interval(5.0, self.redraw)

    def on_unmount(self) -> None:
        if self._scan is not None:
            self._scan.stop()
        self.view.save(self.grpo.root)

    def _post(self, row: RunRow) -> None:
        """Called in the scan's thread."""
        self._news.append(row)
        if self.is_running:
            self.post_message(RowPosted())

    def on_row_posted(self) -> None:
        while self._news:
            row = self._news.popleft()
            self._rows[row.path] = row
        self.redraw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)

    def take(self, snapshot: Snapshot) -> None:
        """The list has news of its own; what the open run does is not shown here."""
        if self.is_mounted and self.query(RunList):
            self.redraw()

    def draw(self, snapshot: Snapshot) -> None:
        self.redraw()

    # -- showing -----------------------------------------------------------------------------

    @property
    def listed(self) -> list[RunRow]:
        """The runs that the filter lets through, in order; pinned ones on top."""
        rows = [row for row in self._rows.values() if self.query_now.matches(self._text(row), row.fields)]
        metric = self.view.metric

        def key(row: RunRow) -> tuple[object, ...]:
            newest = -(row.changed or 0.0)
            match self.view.sort:
                case "worst":
                    order: tuple[object, ...] = (rank(row.severity) if row.severity else 99, newest)
                case "name":
                    order = (row.name.casefold(),)
                case "step":
                    order = (-(row.step or 0), newest)
                case "value":
                    value = row.last.get(metric)
                    order = (value is None or value != value, -(value or 0.0), newest)
                case _:
                    order = (newest,)
            return (row.name not in self.view.pinned, *order, row.name)

        return sorted(rows, key=key)

    def _text(self, row: RunRow) -> str:
        return f"{row.name} {row.framework} {row.state} {row.severity}"

    def redraw(self) -> None:
        if not self.is_mounted or not self.query(RunList):
            return
        rows = self.listed
        shown = self.query_one(RunList)
        columns = shown.show(rows, self.view.metric, self.view.pinned, self.grpo.marked)
        self.query_one("#columns", Static).update(heading(columns, self.view.metric))
        self.query_one("#head", Static).update(self._head())
        none = self._scan is not None and self._scan.found and not self._rows
        nothing = self.query_one("#nothing", Static)
        nothing.display = not rows
        shown.display = bool(rows)
        if none:
            nothing.update(_NONE)
        elif self._rows:
            nothing.update(f"No run passes the filter “{self.query_now.text}”. Esc clears it.")
        self.query_one("#note", Static).update(self._note(rows))
        if rows and self.focused is None:
            shown.focus()

    def _head(self) -> Content:
        """How many runs there are, how many live, and how they are."""
        rows = list(self._rows.values())
        states = Counter(row.state for row in rows if not row.reading)
        worst = Counter(row.severity for row in rows if row.severity)
        parts = [
            Part(Content.styled(clean_label(str(self.grpo.root)), "bold"), 5),
            Part(Content(f"{len(rows)} run{'s' if len(rows) != 1 else ''}")),
        ]
        reading = sum(row.reading for row in rows)
        if reading:
            parts.append(Part(Content.styled(f"reading {reading} …", "$accent"), 2))
        for name in ("running", "stalled", "died"):
            if states[name]:
                look = STATES[name]
                parts.append(Part(Content.styled(f"{look.glyph} {states[name]} {look.word}", look.style), 1))
        for name, look in SEVERITIES.items():
            if worst[name]:
                parts.append(Part(Content.styled(f"{look.glyph} {worst[name]} {look.word}", look.style)))
        return fit_parts(parts, max(10, self.size.width - 2), "  ")

    def _note(self, rows: list[RunRow]) -> str:
        texts = [f"sorted by {self.view.sort}"]
        if self.query_now:
            texts.insert(0, f"filter “{self.query_now.text}”: {len(rows)} of {len(self._rows)} (esc clears)")
        marked = len(self.grpo.marked)
        if marked:
            texts.append(f"{marked} marked to compare with the run that is opened")
        chosen = self.query_one(RunList).chosen
        if chosen is not None and chosen.title:
            texts.append(chosen.title)
        return "   ".join(texts)

    def on_option_list_option_highlighted(self) -> None:
        self.query_one("#note", Static).update(self._note(self.listed))

    # -- keys --------------------------------------------------------------------------------

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        row = self.query_one(RunList).chosen
        if row is not None:
            self.grpo.open_run(row.path)

    def action_mark(self) -> None:
        """Mark for the comparison; at most three."""
        row = self.query_one(RunList).chosen
        if row is None:
            return
        marked = self.grpo.marked
        if row.path in marked:
            marked.remove(row.path)
        elif len(marked) >= MOST_MARKED:
            self.grpo.say(f"{MOST_MARKED} runs are marked already; space takes a mark away", "warning")
        else:
            marked.append(row.path)
        self.grpo.compare()
        self.redraw()

    def action_pin(self) -> None:
        row = self.query_one(RunList).chosen
        if row is not None:
            pinned = self.view.pinned
            (pinned.remove if row.name in pinned else pinned.append)(row.name)
            self.redraw()

    def action_sort(self, by: int) -> None:
        place = SORTS.index(self.view.sort) if self.view.sort in SORTS else 0
        self.view.sort = SORTS[(place + by) % len(SORTS)]
        self.redraw()

    def action_metric(self, by: int) -> None:
        """The next metric that some run has."""
        there = [name for name in FIRST if any(name in row.curves for row in self._rows.values())]
        if there:
            place = there.index(self.view.metric) if self.view.metric in there else -by
            self.view.metric = there[(place + by) % len(there)]
            self.redraw()

    def _parsed(self, text: str) -> Query:
        try:
            return parse(text, FIELDS)
        except BadQuery as error:
            self.grpo.say(str(error), "warning")
            return Query()

    @work
    async def action_filter(self) -> None:
        text = await self.app.push_screen_wait(
            TextDialog(
                "Show runs that match", self.view.filter, f"trl reward>0.5 state:running   ({GRAMMAR})"
            )
        )
        if text is not None:
            self.query_now = self._parsed(text)
            self.view.filter = self.query_now.text
            self.redraw()

    def action_clear(self) -> None:
        """Clear the filter; without one, back to the run that is open."""
        if self.query_now:
            self.query_now, self.view.filter = Query(), ""
            self.redraw()
        elif self.grpo.has_run:
            self.grpo.action_go("overview")
