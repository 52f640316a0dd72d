"""What a chart shows as files: the figure as SVG, the series as CSV. They go where our own files live."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ..home import run_home
from ..metrics.series import Points
from ..publish.figure import AlarmMark, Line, curve_svg, standalone
from ..publish.incident import file_name
from ..publish.table import write_csv
from .snapshot import Snapshot


def stamped(run: Path, kind: str, name: str) -> Path:
    """A fresh place for a file of a run: `kind` is the folder."""
    folder = run_home(run) / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.now():%Y%m%d-%H%M%S}-{name}"


def write_figure(run: Path, snapshot: Snapshot, metric: str) -> Path:
    """The metric's curve, the baseline's and the compared runs', and the alarms about it. Raises OSError."""
    lines = [Line(name, points) for name, points in _curves(snapshot, metric)]
    marks = [
        AlarmMark(alarm.first_step, alarm.title, alarm.severity)
        for alarm in snapshot.alarms
        if metric in alarm.metrics and alarm.first_step is not None
    ]
    path = stamped(run, "exports", f"{file_name(metric)}.svg")
    path.write_text(standalone(curve_svg(metric, lines, marks)), encoding="utf-8")
    return path


def write_series(run: Path, snapshot: Snapshot, metric: str) -> Path:
    """Every logged step of the same curves, a column each. Raises OSError."""
    columns = {
        metric if place == 0 else f"{name}: {metric}": points
        for place, (name, points) in enumerate(_curves(snapshot, metric))
    }
    path = stamped(run, "exports", f"{file_name(metric)}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        write_csv(columns, file)
    return path


def _curves(snapshot: Snapshot, metric: str) -> Iterator[tuple[str, Points]]:
    yield "this run", snapshot.points[metric]
    others = [("baseline", snapshot.baseline), *((one.name, one.points) for one in snapshot.overlays)]
    for name, points in others:
        if metric in points and len(points[metric]):
            yield name, points[metric]
