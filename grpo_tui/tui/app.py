"""The app: its screens, the ingest thread behind them, and the way from one to the other."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, work
from textual.binding import BindingType
from textual.screen import Screen

from ..run import Run
from ..sources.errors import SourceError
from . import modes, terminal
from .ingest import Ingest
from .keymap import OWN, bindings, chart_keymap
from .log_store import LogStore
from .messages import SnapshotPosted
from .naming import name_of
from .notify import notification
from .opened import OpenedRun
from .outgoing import Outgoing
from .screens.base import RunScreen
from .screens.dialogs import ConfirmDialog, resume_question
from .snapshot import Facts, Snapshot
from .theme import DARK, LIGHT, OWN_THEMES, severity
from .view_state import ViewState

if TYPE_CHECKING:
    from ..playbook.library import Library
    from .desk import Desk
    from .probing import Probing

T = TypeVar("T")
OF_ONE_RUN = ("overview", "alarms", "triage", "log")
"""The modes whose screens show one run, and begin anew with another."""
_TOAST = {"warning": "warning", "critical": "error"}


class GrpoApp(Outgoing):
    """One run on the screen. The run is read by the ingest thread; the app only shows snapshots."""

    TITLE = "grpo-tui"
    CSS_PATH = "app.tcss"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {**modes.MODES}
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    COMMANDS: ClassVar = {modes.commands}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "colon"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (70, "-normal"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (18, "-standard"), (36, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        run: Run | None,
        library: Library | Callable[[], Library],
        *,
        root: Path | None = None,
        baseline: Run | None = None,
        title: str = "",
        probing: Probing | None = None,
        python: str | None = None,
        watch: bool = True,
    ) -> None:
        """Show `run`, or without one the runs under `root`.

        `library` may be what loads one: it is then loaded behind the first frame.
        """
        super().__init__()
        self._load_library = library if callable(library) else lambda: library
        self._library_lock = threading.Lock()
        self.root = root if root is not None else run.path.absolute().parent if run is not None else Path()
        self.marked: list[Path] = []
        """The runs to draw under the curves of the one that is open."""
        self._baseline, self._watch = baseline, watch
        self._python = probing.python if probing is not None else python
        self.opened: OpenedRun | None = None
        self.snapshot = Snapshot(Facts("", ""))
        self._announced = ""
        self._no_state = ViewState()
        if run is not None:
            self._take_up(run, title=title, probing=probing)
        for theme in OWN_THEMES:
            self.register_theme(theme)
        known = self.view_state.theme in self.available_themes
        # Before the style sheets are read for the first time: each change of theme reads them again.
        self.set_reactive(GrpoApp.theme, self.view_state.theme if known else DARK.name)

    def _take_up(self, run: Run, *, title: str = "", probing: Probing | None = None) -> None:
        """Make a run the one that is shown."""
        generation = self.opened.log_store.generation + 1 if self.opened is not None else 0
        self.opened = OpenedRun(
            run,
            lambda: self.library,
            self._post,
            baseline=self._baseline,
            title=title,
            probing=probing,
            python=self._python,
            watch=self._watch,
            generation=generation,
        )
        self.snapshot = Snapshot(Facts(title or name_of(run.path), run.address))

    @property
    def library(self) -> Library:
        """The playbooks; loaded once, by whichever thread asks first."""
        with self._library_lock:
            return self._library

    @cached_property
    def _library(self) -> Library:
        return self._load_library()

    @property
    def has_run(self) -> bool:
        return self.opened is not None

    @property
    def _run(self) -> OpenedRun:
        """The run on the screen; the screens that ask are not shown without one."""
        assert self.opened is not None
        return self.opened

    @property
    def desk(self) -> Desk:
        return self._run.desk

    @property
    def ingest(self) -> Ingest:
        return self._run.ingest

    @property
    def probing(self) -> Probing:
        return self._run.probing

    @property
    def log_store(self) -> LogStore:
        return self._run.log_store

    @property
    def view_state(self) -> ViewState:
        return self._run.view_state if self.opened is not None else self._no_state

    def _post(self, source: OpenedRun, snapshot: Snapshot) -> None:
        """Called in the ingest thread."""
        self.post_message(SnapshotPosted(snapshot, source))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own style variables, for themes that do not define them."""
        return {"faint": "#93a1b0", "line": "#5a6673", "info": "#6cb6f0"}

    def run_to_end(self) -> int:
        """Run until the person leaves; the exit code. The reading thread is waited for, not cut off."""
        code = self.run() or self.return_code or 0
        if self.opened is not None:
            self.opened.settle()
        return code

    # -- life --------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.set_keymap(chart_keymap())
        for problem in OWN.problems:
            self.say(problem, "warning")
        self.switch_mode(self._first_mode())
        if not self.is_headless:
            self._write(terminal.PUSH_TITLE)
            if not (self.is_web or terminal.is_gone()):
                self.set_interval(terminal.LOOK_EVERY, self._leave_with_the_terminal)
        if self.has_run:
            self.ingest.start()

    def _first_mode(self) -> str:
        """Where the person left off; the list of runs without one."""
        if not self.has_run:
            return "runs"
        return self.view_state.mode if self.view_state.mode in OF_ONE_RUN else "overview"

    def _leave_with_the_terminal(self) -> None:
        """Nobody is there any more; reading on from a dead terminal would take a core."""
        if terminal.is_gone():
            self.exit(1)

    def on_unmount(self) -> None:
        if self.opened is not None:
            self.view_state.mode = self.current_mode
            self.opened.close()
        if not self.is_headless:
            self._write(terminal.farewell())

    async def on_event(self, event: events.Event) -> None:
        if self.opened is not None and isinstance(event, events.InputEvent):
            self.opened.ingest.give_way()
        await super().on_event(event)

    def on_snapshot_posted(self, message: SnapshotPosted) -> None:
        if message.source is not self.opened:
            return
        first = self.snapshot.reading and not message.snapshot.reading
        self.snapshot = message.snapshot
        self.log_store.add(self.ingest.news())
        for screen in reversed(self.screen_stack):
            if isinstance(screen, RunScreen) and screen.is_mounted:
                screen.take(self.snapshot)
            if screen.is_modal and screen.styles.background.a == 1:
                break  # what lies under it is not seen, and takes the news when it is
        self._announce(quiet=first)
        if first and not self._run.greeted:
            self._run.greeted = True
            self.run_worker(partial(modes.load, self), thread=True, group="load")
            if not self.is_headless:
                gc.freeze()
            self._offer_to_resume()

    def _announce(self, *, quiet: bool) -> None:
        """A toast for each alarm that opened or got worse; one that was there from the start is no news."""
        for alarm in self.snapshot.open_alarms:
            key = (alarm.id, alarm.severity)
            if key not in self._run.alarmed:
                self._run.alarmed.add(key)
                if not quiet and not self.snapshot.reading and alarm.id not in self.snapshot.handled:
                    self.say(
                        f"{severity(alarm.severity).glyph} {alarm.title}", _TOAST.get(alarm.severity, "")
                    )
                    if alarm.severity in _TOAST and not self.is_headless:
                        self._write(notification(self.snapshot.facts.name, alarm.title))
        sequences = terminal.announce(self.snapshot)
        if sequences != self._announced and not self.is_headless:
            self._announced = sequences
            self._write(sequences)

    def _write(self, sequences: str) -> None:
        if sequences and self._driver is not None and not self.is_web:
            self._driver.write(sequences)

    # -- for the screens -----------------------------------------------------------------------

    async def ask(self, job: Callable[[], T]) -> T:
        """Have the ingest thread do something with the run."""
        return await asyncio.wrap_future(self.ingest.ask(job))

    def say(self, text: str, level: str = "") -> None:
        """A short note in the corner; text is data."""
        known = level if level in ("warning", "error") else "information"
        self.notify(text, severity=known, markup=False)  # type: ignore[arg-type]

    @work(exclusive=True, group="open")
    async def open_run(self, path: Path) -> None:
        """Show another run. Its screens begin anew; the one before stops being read."""
        if self.opened is not None and self.opened.path == path:
            self.switch_mode("overview")
            return
        try:
            run = await asyncio.to_thread(Run.open, path, live=True)
        except SourceError as error:
            self.say(str(error), "warning")
            return
        if self.opened is not None:
            self.opened.close()
        self._take_up(run)
        for mode in OF_ONE_RUN:
            await self.remove_mode(mode)
            self.add_mode(mode, self.MODES[mode])
        self.ingest.start()
        self.compare()
        self.switch_mode("overview")

    def compare(self) -> None:
        """Draw the marked runs under the open one's curves."""
        if self.opened is not None:
            opened, paths = self.opened, tuple(self.marked)
            self.ingest.ask(lambda: opened.desk.compare(paths))

    def show_metric(self, name: str) -> None:
        self.switch_mode("overview")
        self.call_after_refresh(lambda: self._shown("overview").show_metric(name))

    def show_log_at_step(self, step: int) -> None:
        """The log, at the row of a step where the log holds its rows."""
        line = self.log_store.line_of_step(step)
        self.switch_mode("log")
        if line is not None:
            self.call_after_refresh(lambda: self._shown("log").show_line(line))

    @work(exclusive=True, group="walk")
    async def walk_playbook(self, playbook: str) -> None:
        """Start a walk, or go on with the one that is open."""
        self.switch_mode("triage")
        await self._shown("triage").walk(playbook)

    def _shown(self, mode: str) -> Any:
        """The screen of a mode that is shown."""
        return next(screen for screen in self.screen_stack if modes.is_of(screen, mode))

    @work
    async def _offer_to_resume(self) -> None:
        session = await self.ask(self.desk.walking.unfinished)
        if session is None or session.path.name == self.view_state.declined:
            return
        if await self.push_screen_wait(resume_question(session)):
            self.switch_mode("triage")
            await self._shown("triage").resume(session.path)
        else:
            self.view_state.declined = session.path.name

    # -- keys --------------------------------------------------------------------------------

    def action_go(self, mode: str) -> None:
        if self.screen.is_modal:
            return
        if not self.has_run:
            self.say("open a run first: enter on one of the list")
        elif mode != self.current_mode:
            self.switch_mode(mode)

    def action_runs(self) -> None:
        if not self.screen.is_modal:
            self.switch_mode("runs")

    def show_step(self, step: int) -> None:
        """The curves, with the cursor at a step."""
        self.switch_mode("overview")
        self.call_after_refresh(lambda: self._shown("overview").look_at(step))

    def action_toggle_theme(self) -> None:
        self.use_theme(LIGHT.name if self.current_theme.dark else DARK.name)

    def use_theme(self, name: str) -> None:
        """One of ours or of Textual's; kept for this run."""
        self.theme = self.view_state.theme = name

    @work
    async def action_leave(self) -> None:
        if any(getattr(screen, "phase", "") == "running" for screen in self.screen_stack):
            self.say("a probe is running: c cancels it first", "warning")
            return
        walk = self.snapshot.walk
        if walk is not None and walk.step is not None:
            question = f"Leave in the middle of “{walk.title}”?"
            detail = (
                f"Step {walk.step.number} of {walk.step.of}. Your answers are saved; you can go on next time."
            )
            if not await self.push_screen_wait(ConfirmDialog(question, detail)):
                return
        self.exit(0)


def _load(folders: Sequence[Path]) -> Library:
    from ..playbook.library import load_library

    return load_library(folders)


def run_app(
    run: Run | str | Path | None,
    library: Library | None = None,
    *,
    config: Path | None = None,
    baseline: Run | str | Path | None = None,
    playbooks: Sequence[str | Path] = (),
    python: str | None = None,
    title: str = "",
    root: Path | None = None,
) -> int:
    """Show a run, or without one the runs under `root`, until the person leaves; returns the exit code.

    Raises `SourceError` before anything is drawn where a path holds no readable run.
    """
    opened = run if isinstance(run, Run | None) else Run.open(run, config_file=config, live=True)
    clean = baseline if isinstance(baseline, Run | None) else Run.open(baseline)
    known = library if library is not None else partial(_load, tuple(Path(folder) for folder in playbooks))
    app = GrpoApp(opened, known, root=root, baseline=clean, title=title, python=python)
    with terminal.keyboard():
        return app.run_to_end()
