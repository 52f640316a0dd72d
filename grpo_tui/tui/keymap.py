"""Every key of the app in one table: bindings, the key bar and the help are all made from it.

A key that is not here does nothing, and a key that is here is in the help. Only keys that VS Code's
terminal lets through are used: letters, digits, `? : / [ ]`, Enter, Esc, Tab, Space, arrows, Home,
End and the page keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType

SHOWN_KEYS = {
    "shift+tab": "⇧tab",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One action with its key. `keys` may list several, comma separated, the first one is shown."""

    id: str
    keys: str
    action: str
    label: str
    """For the key bar: one or two words, or empty to keep it in the help only."""
    help: str
    """For the help: what happens, in one line."""

    @property
    def place(self) -> str:
        """Where the key works: the part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def shown(self) -> str:
        """The key as a person would name it."""
        first = self.keys.split(",")[0]
        return SHOWN_KEYS.get(first, first)

    @property
    def all_shown(self) -> str:
        """Every key of the action, for the help."""
        names = [SHOWN_KEYS.get(key, key) for key in self.keys.split(",")]
        return " ".join(names) if len(names) <= 3 else f"{names[0]}…{names[-1]}"


PLACES = {
    "app": "Everywhere",
    "overview": "Curves",
    "chart": "On one chart",
    "alarms": "Alarms",
    "triage": "Playbooks",
    "walk": "Walking a playbook",
    "verdict": "Verdict",
    "log": "Log",
    "probe": "Probe",
    "rollouts": "Rollouts",
    "config": "Configuration",
    "explain": "Explanations",
    "dialog": "Questions",
    "help": "This help",
}
"""Where a key works -> the heading in the help, in the order of the help."""

KEYS: tuple[Key, ...] = (
    Key("app.overview", "o", "app.go('overview')", "curves", "the curves of the run"),
    Key("app.alarms", "a", "app.go('alarms')", "alarms", "what fired, since when, and why"),
    Key("app.triage", "t", "app.go('triage')", "triage", "playbooks, or the walk in progress"),
    Key("app.log", "l", "app.go('log')", "log", "the log, full screen"),
    Key("app.rollouts", "R", "app.rollouts", "", "sampled responses, if they are on disk"),
    Key("app.config", "C", "app.config", "", "the run's settings, and the defaults"),
    Key("app.explain", "i", "app.explain", "explain", "what the metric or diagnosis you look at means"),
    Key("app.palette", "colon", "app.command_palette", "commands", "find any command by typing"),
    Key("app.help", "question_mark", "app.help", "help", "this list"),
    Key("app.theme", "D", "app.toggle_theme", "", "dark or light"),
    Key("app.quit", "q", "app.leave", "quit", "leave; asks first if a walk is open"),
    Key("overview.next", "tab,right", "screen.chart(1)", "", "next chart"),
    Key("overview.previous", "shift+tab,left", "screen.chart(-1)", "", "previous chart"),
    Key("overview.down", "down", "screen.chart_row(1)", "", "chart below"),
    Key("overview.up", "up", "screen.chart_row(-1)", "", "chart above"),
    Key(
        "overview.zoom",
        "enter",
        "screen.enlarge",
        "enlarge",
        "one chart alone: cursor, zoom, log scale",
    ),
    Key("overview.back", "escape", "screen.shrink", "", "back to all charts; clears the filter"),
    Key(
        "overview.page_next", "right_square_bracket,pagedown", "screen.page(1)", "more", "next page of charts"
    ),
    Key(
        "overview.page_previous",
        "left_square_bracket,pageup",
        "screen.page(-1)",
        "",
        "previous page of charts",
    ),
    Key("overview.filter", "slash", "screen.filter", "filter", "only metrics whose name contains a text"),
    Key("overview.pane", "v", "screen.log_pane", "log pane", "show or hide the log under the curves"),
    Key("overview.columns", "c", "screen.columns", "columns", "fewer, more, or automatic columns"),
    Key("alarms.start", "enter", "screen.start", "start playbook", "walk the alarm's playbook"),
    Key(
        "alarms.page_next",
        "right_square_bracket",
        "screen.page(1)",
        "curves",
        "more metrics around the alarm",
    ),
    Key("alarms.page_back", "left_square_bracket", "screen.page(-1)", "", "the metrics before"),
    Key("alarms.log", "g", "screen.to_log", "see log", "the log near the alarm's first step"),
    Key("triage.start", "enter", "screen.start", "start", "start the chosen playbook"),
    Key("triage.resume", "r", "screen.resume", "resume", "go on with the walk that was left open"),
    Key("walk.choose", "enter", "screen.choose", "choose", "take the marked choice"),
    Key("walk.digit", "1,2,3,4,5,6,7,8,9", "screen.digit", "", "take a choice by its number"),
    Key("walk.open", "x", "screen.open_aid", "look", "open what the question is about"),
    Key("walk.probe", "p", "screen.probe", "probe", "the step's probe: command, device, cost"),
    Key("walk.back", "b", "screen.back", "back", "undo the last answer"),
    Key("walk.skip", "s", "screen.skip", "skip", "leave this step out, and say why"),
    Key("walk.note", "n", "screen.note", "note", "write a note into the session"),
    Key("walk.metric", "right_square_bracket", "screen.metric", "", "the next curve of this step"),
    Key("walk.scroll_down", "pagedown,space", "screen.scroll_card(1)", "", "read on in a long step"),
    Key("walk.scroll_up", "pageup", "screen.scroll_card(-1)", "", "read back"),
    Key("walk.leave", "escape", "screen.leave", "list", "to the list; the walk stays open"),
    Key("verdict.report", "w", "screen.report", "write report", "save the session as Markdown"),
    Key("verdict.back", "b", "screen.back", "back", "undo the last answer"),
    Key("verdict.note", "n", "screen.note", "note", "write a note into the session"),
    Key("verdict.leave", "escape", "screen.leave", "list", "to the list of playbooks"),
    Key("log.error", "e", "screen.incident('error', 1)", "error", "next error"),
    Key("log.error_back", "E", "screen.incident('error', -1)", "", "previous error"),
    Key("log.warning", "w", "screen.incident('warning', 1)", "warning", "next warning"),
    Key("log.warning_back", "W", "screen.incident('warning', -1)", "", "previous warning"),
    Key("log.search", "slash", "screen.search", "search", "find a text; again with n and N"),
    Key("log.search_next", "n", "screen.again(1)", "", "next match"),
    Key("log.search_previous", "N", "screen.again(-1)", "", "previous match"),
    Key("log.follow", "f,end", "screen.follow", "follow", "to the newest line, and stay there"),
    Key("log.back", "escape", "app.go('overview')", "", "back to the curves"),
    Key("probe.start", "enter", "screen.confirm", "start", "run the command as shown"),
    Key(
        "probe.accept",
        "enter",
        "screen.confirm",
        "take result",
        "afterwards: give the result to the walk",
    ),
    Key("probe.path", "m", "screen.model", "model", "choose the model directory"),
    Key("probe.tiny", "y", "screen.tiny", "rehearse", "a tiny model instead; proves nothing"),
    Key("probe.cancel", "c", "screen.cancel_probe", "cancel", "stop the probe"),
    Key("probe.close", "escape", "screen.close", "close", "back to the step"),
    Key("dialog.accept", "enter", "screen.accept", "ok", "accept"),
    Key("dialog.cancel", "escape", "screen.cancel", "cancel", "do nothing"),
    Key(
        "help.close",
        "escape,question_mark,q",
        "screen.close",
        "close",
        "close; arrows and page keys scroll",
    ),
    Key("rollouts.later", "right_square_bracket", "screen.step(1)", "later", "the rollouts of a later step"),
    Key("rollouts.earlier", "left_square_bracket", "screen.step(-1)", "earlier", "those of an earlier step"),
    Key("rollouts.down", "space", "screen.scroll(1)", "read on", "read on in the responses"),
    Key("rollouts.close", "escape", "screen.close", "close", "back"),
    Key("explain.links", "tab", "screen.links", "see also", "to the related pages, Enter opens one"),
    Key("explain.back", "b", "screen.back", "back", "the page before"),
    Key("explain.find", "slash", "screen.find", "find", "the page of any metric or diagnosis"),
    Key("explain.down", "space", "screen.scroll(1)", "read on", "read on"),
    Key("explain.close", "escape,i,q", "screen.close", "close", "back to where you were"),
    Key("config.close", "escape", "screen.close", "close", "back; arrows and page keys scroll"),
)


def keys_of(*places: str) -> list[Key]:
    """The keys that work in some places, in the order of the places and then of the table."""
    return [key for place in places for key in KEYS if key.place == place]


def bindings(*places: str, without: Iterable[str] = ()) -> list[BindingType]:
    """The table's keys as Textual bindings; our own key bar shows them, so Textual's footer does not."""
    left_out = set(without)
    made: list[BindingType] = []
    for key in keys_of(*places):
        if key.id not in left_out:
            made.extend(_bindings_of(key))
    return made


def _bindings_of(key: Key) -> list[Binding]:
    """One binding a key; `screen.digit` learns which digit it was."""
    names = key.keys.split(",")
    if key.action == "screen.digit":
        return [Binding(name, f"screen.digit({name})", key.help, show=False) for name in names]
    first, *others = names
    main = Binding(first, key.action, key.help, show=False, id=key.id)
    return [main, *(Binding(other, key.action, key.help, show=False) for other in others)]
