"""The keys of one chart, by name; whoever remaps keys does it by their ids."""

from __future__ import annotations

from textual.binding import Binding, BindingType

LEAP_COLUMNS = 10
_ZOOM_KEYS = Binding.Group("Zoom", compact=True)
_PAN_KEYS = Binding.Group("Pan", compact=True)
_CURSOR_KEYS = Binding.Group("Cursor", compact=True)

CHART_KEYS: list[BindingType] = [
    Binding("+,equals_sign", "zoom(1)", "Zoom in", id="chart.zoom_in", group=_ZOOM_KEYS),
    Binding("-", "zoom(-1)", "Zoom out", id="chart.zoom_out", group=_ZOOM_KEYS),
    Binding("comma", "pan(-1)", "Pan left", id="chart.pan_left", group=_PAN_KEYS),
    Binding(".", "pan(1)", "Pan right", id="chart.pan_right", group=_PAN_KEYS),
    Binding("0", "reset", "Whole run", id="chart.reset"),
    Binding("home", "home", "First step", id="chart.home", show=False),
    Binding("end", "end", "Follow tail", id="chart.end", show=False),
    Binding("left", "cursor(-1)", "Cursor left", id="chart.cursor_left", group=_CURSOR_KEYS),
    Binding("right", "cursor(1)", "Cursor right", id="chart.cursor_right", group=_CURSOR_KEYS),
    Binding("shift+left", f"cursor(-{LEAP_COLUMNS})", "Leap left", id="chart.leap_left", show=False),
    Binding("shift+right", f"cursor({LEAP_COLUMNS})", "Leap right", id="chart.leap_right", show=False),
    Binding("escape", "cursor_off", "Cursor off", id="chart.cursor_off", show=False),
    Binding("y", "toggle_log", "Log y", id="chart.toggle_log"),
    Binding("s", "toggle_smoothing", "Smoothing", id="chart.toggle_smoothing"),
    Binding("m", "smooth(1)", "Smoother", id="chart.smoother", show=False),
    Binding("M", "smooth(-1)", "Less smooth", id="chart.less_smooth", show=False),
]
