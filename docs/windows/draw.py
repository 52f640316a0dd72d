"""Writes the page and the picture of every window function: `python docs/windows/draw.py`.

Every number on a page is what the function returns for the curve in the picture; a test keeps it so.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grpo_tui.metrics.series import Points
from grpo_tui.metrics.windows import WINDOWS, Parameter

HERE = Path(__file__).parent
ROWS = 300
OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
UNITS = {
    "drop": "a fraction: 0.5 is a fall by half",
    "growth": "a factor: 3 is three times the lowest",
    "rise": "a fraction of the first level: +0.2 is a fifth more",
    "flat": "a fraction of the level: 0 is constant",
    "crossed": "a count",
    "spikes": "a count of rows",
    "bad": "a count of rows",
    "count": "a count of rows",
    "age": "training steps",
    "share_zero": "a fraction of the rows",
    "corr": "from -1 to 1",
    "lag": "training steps; positive: the first metric follows the second",
    "vs_baseline": "a factor of the clean run's median",
}
OWN = "the metric's own unit"
CARE = {
    "last": "One row decides. For a curve with noise write `median(metric, last=20)`.",
    "max": "One outlier is enough, and heavy-tailed gradients have one in every long window.",
    "min": "One outlier is enough.",
    "mean": "An outlier moves it; `median` does not care.",
    "drop": "Entropy falls in healthy runs too: a fall alone is information, no verdict [S2-1].",
    "rise": "It sizes trends. A sudden step in an otherwise level curve is for `drop`, `growth` or `change`.",
    "flat": "It compares medians of blocks; noise hides a standstill only where it is larger than that.",
    "spikes": "A curve that has moved to a new level for good has no spikes after 50 rows: use `growth`.",
    "count": "0, and not unknown, for a metric that was never logged.",
    "age": "Unknown for a metric that never had a finite value.",
    "lag": "Two trends are no echo: changes from row to row are compared, and without an echo it is unknown.",
    "corr": "Two trends correlate whatever they have to do with each other.",
    "vs_baseline": "Unknown without `--baseline RUN`.",
}


@dataclass(frozen=True)
class Example:
    """A call on a curve that fires and on one that does not."""

    arguments: dict[str, float]
    op: str
    threshold: float
    fires: tuple[np.ndarray, ...]
    quiet: tuple[np.ndarray, ...]


def _noise(seed: int, spread: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, spread, ROWS)


def examples() -> dict[str, Example]:
    """One example for each window function."""
    at = np.arange(ROWS)
    level, late = 1 + _noise(0, 0.05), at >= 200
    falling = np.interp(at, [0, 150, 220, 299], [1, 0.95, 0.2, 0.15]) + _noise(1, 0.03)
    easing = np.interp(at, [0, 299], [1, 0.8]) + _noise(2, 0.03)
    jumped, broken = np.where(late, 3.0, 1.0) + _noise(3, 0.1), level.copy()
    broken[260::9] = np.nan
    spiked, silent = level.copy(), np.where(at > 220, np.nan, level)
    spiked[[230, 250, 280]] = 9
    dead = np.where(late, 0.0, np.abs(level))
    wave = 1 + 0.5 * np.sin(at / 12) + _noise(4, 0.03)
    climbing = np.interp(at, [0, 299], [0.3, 0.6]) + _noise(5, 0.02)
    base, other = _noise(6, 1.0), _noise(7, 1.0)
    once = np.where(at == 290, 9.0, level)
    return {
        "last": Example({}, ">", 2, (jumped,), (level,)),
        "first": Example({}, ">", 2, (4 - jumped,), (jumped,)),
        "mean": Example({"within": 100}, ">", 2, (jumped,), (level,)),
        "median": Example({"within": 20}, ">", 2, (jumped,), (once,)),
        "min": Example({"within": 100}, "<", 0.5, (falling,), (level,)),
        "max": Example({"within": 100}, ">", 5, (once,), (jumped,)),
        "quantile": Example({"q": 0.9, "within": 100}, ">", 2, (jumped,), (once,)),
        "drop": Example({"within": 300}, ">=", 0.5, (falling,), (easing,)),
        "growth": Example({"within": 300}, ">=", 2, (jumped,), (once,)),
        "rise": Example({"within": 300}, ">=", 0.2, (climbing,), (level,)),
        "change": Example({"within": 300}, "<=", -0.5, (falling,), (easing,)),
        "flat": Example({"within": 200}, "<=", 0.05, (level,), (climbing,)),
        "crossed": Example({"level": 1.0, "within": 300}, ">=", 3, (wave,), (climbing,)),
        "spikes": Example({"x": 5, "within": 200}, ">=", 2, (spiked,), (jumped,)),
        "bad": Example({"within": 100}, ">", 0, (broken,), (spiked,)),
        "count": Example({"within": 100}, "<", 50, (silent,), (level,)),
        "age": Example({}, ">", 50, (silent,), (level,)),
        "share_zero": Example({"within": 50}, ">=", 0.9, (dead,), (falling,)),
        "corr": Example({"within": 200}, "<=", -0.5, (falling, -falling + _noise(8, 0.03)), (base, other)),
        "lag": Example({"within": 300}, ">", 0, (np.roll(base, 15), base), (np.roll(base, -15), base)),
        "vs_baseline": Example({"within": 20}, ">", 2, (jumped, level), (level, easing)),
    }


def value_of(name: str, example: Example, curves: tuple[np.ndarray, ...]) -> float | None:
    """What the function returns at the end of the pictured curve."""
    steps = np.arange(1, ROWS + 1, dtype=np.int64)
    points = [Points(steps, values) for values in curves]
    given: dict[str, Any] = {k: int(v) if k == "within" else v for k, v in example.arguments.items()}
    return WINDOWS[name].function(*points, now=ROWS, **given)


def condition(name: str, example: Example) -> str:
    """The example as it is written in a playbook."""
    metrics = ["entropy", "reward_mean"][: WINDOWS[name].n_metrics - WINDOWS[name].baseline]
    said = [f"{key}={value:g}" for key, value in example.arguments.items()]
    said = [part.partition("=")[2] if part.startswith(("q=", "level=")) else part for part in said]
    return f"{name}({', '.join([*metrics, *said])}) {example.op} {example.threshold:g}"


def fired(name: str, example: Example, curves: tuple[np.ndarray, ...]) -> bool:
    value = value_of(name, example, curves)
    return value is not None and OPERATORS[example.op](value, example.threshold)


def page(name: str) -> str:
    """The page of a window function."""
    window, example = WINDOWS[name], examples()[name]
    text = " ".join((window.function.__doc__ or "").split())
    rows = [f"| {p.name} | {p.unit} | {_default(p)} |" for p in window.parameters]
    table = (
        "\n".join(["| parameter | unit | default |", "|---|---|---|", *rows]) if rows else "No parameters."
    )
    values = [value_of(name, example, curves) for curves in (example.fires, example.quiet)]
    said = ["unknown" if value is None else f"{value:.3g}" for value in values]
    care = f"\n{CARE[name]}\n" if name in CARE else ""
    return f"""# {name}

`{window.signature}`

{text}

The value is {UNITS.get(name, OWN)}. A window counts training steps back from the row that is judged.

{table}

![a curve that fires and one that does not]({name}.svg)

`{condition(name, example)}`: on the left the value is {said[0]} and it fires;
on the right it is {said[1]} and it does not.
{care}
Made by `docs/windows/draw.py`.
"""


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    return "the whole run" if parameter.default is None else f"{parameter.default:g}"


def picture(name: str) -> str:
    """Both curves side by side as SVG."""
    example = examples()[name]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="680" height="170"',
        ' font-family="sans-serif" font-size="12">',
        '<rect width="680" height="170" fill="white"/>',
    ]
    for left, curves, title in ((0, example.fires, "fires"), (340, example.quiet, "does not fire")):
        value = value_of(name, example, curves)
        said = "unknown" if value is None else f"{value:.3g}"
        parts.append(f'<text x="{left + 15}" y="18" fill="#333">{title}: {said}</text>')
        parts.append(f'<rect x="{left + 15}" y="26" width="310" height="130" fill="none" stroke="#ccc"/>')
        held = np.concatenate([c[np.isfinite(c)] for c in (*example.fires, *example.quiet)])
        low, high = float(held.min()), float(held.max())
        within = example.arguments.get("within", ROWS)
        start = left + 15 + 310 * max(0.0, 1 - within / ROWS)
        parts.append(
            f'<rect x="{start:.1f}" y="26" width="{left + 325 - start:.1f}" height="130" fill="#eef4ff"/>'
        )
        for curve, colour in zip(curves, ("#1f5fbf", "#999999"), strict=False):
            for run in _runs(curve):
                across = [left + 15 + 310 * i / (ROWS - 1) for i in run]
                up = [150 - 118 * (curve[i] - low) / ((high - low) or 1) for i in run]
                xy = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
                parts.append(f'<polyline points="{xy}" fill="none" stroke="{colour}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _runs(curve: np.ndarray) -> list[list[int]]:
    """The stretches without a hole."""
    runs: list[list[int]] = [[]]
    for place, value in enumerate(curve):
        if np.isfinite(value):
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def main() -> None:
    for name in WINDOWS:
        (HERE / f"{name}.md").write_text(page(name), encoding="utf-8")
        (HERE / f"{name}.svg").write_text(picture(name), encoding="utf-8")
    listed = "\n".join(f"| [`{n}`]({n}.md) | {WINDOWS[n].doc.replace('|', chr(92) + '|')} |" for n in WINDOWS)
    head = "# Window functions\n\nWhat a condition may ask of a curve.\n\n| function | what |\n|---|---|\n"
    (HERE / "README.md").write_text(f"{head}{listed}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
