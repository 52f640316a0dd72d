"""Takes the pictures of the documentation from the running app: SVG, and PNG where cairosvg is installed.

    python screenshots/make.py [FOLDER]

A bundled run is laid out as far as one of its steps, the app is driven by its keys, and what it shows is
exported. Braille is drawn as dots, because the fonts of browsers and viewers disagree on it.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from grpo_tui.demo import DEMOS
from grpo_tui.demo.replay import chunks
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.probing import Probing

SIZE = (120, 36)
DEMO, UNTIL = "lr-too-high", 24
CELL_WIDTH, BASELINE, CELL_HEIGHT = 12.2, 18.5, 24.4
DEJAVU_WIDTH = 0.602
"""Of a letter, as a share of the font's size."""
_TEXT = re.compile(r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"[^>]*>([^<]*)</text>')
_DOTS = (
    (0x01, 0, 0),
    (0x02, 0, 1),
    (0x04, 0, 2),
    (0x40, 0, 3),
    (0x08, 1, 0),
    (0x10, 1, 1),
    (0x20, 1, 2),
    (0x80, 1, 3),
)


def lay_out(folder: Path) -> Path:
    """The demo's run directory as it stood at one step."""
    demo = DEMOS[DEMO]
    run = folder / DEMO
    run.mkdir()
    for name in ("training_args.json", "requirements.txt"):
        shutil.copyfile(demo.folder / name, run / name)
    recorded = chunks((demo.folder / "train.log").read_bytes())
    (run / "train.log").write_bytes(b"".join(chunk.data for chunk in recorded if chunk.step <= UNTIL))
    return run


async def until(pilot: Pilot[Any], true: Callable[[], Any], what: str, patience: float = 90.0) -> None:
    """Wait until the app is where the next key makes sense."""
    for _ in range(int(patience / 0.05)):
        if true():
            await pilot.pause(0.3)
            return
        await pilot.pause(0.05)
    raise SystemExit(f"the app did not come to: {what}")


async def take_all(folder: Path, run: Path) -> None:
    """Curves, alarms, a step, a probe, the verdict."""
    app = GrpoApp(Run.open(run), load_library(), probing=Probing(run, python=sys.executable))
    async with app.run_test(size=SIZE) as pilot:

        def step() -> Any:
            return app.snapshot.walk.step if app.snapshot.walk else None

        await until(pilot, lambda: not app.snapshot.reading and app.snapshot.alarms, "alarms")
        save(app, folder / "overview")
        await pilot.press("a")
        await until(pilot, lambda: app.current_mode == "alarms", "the alarms")
        save(app, folder / "alarm")
        await pilot.press("enter")
        await until(pilot, lambda: step() is not None, "the first step")
        save(app, folder / "step")
        await walk_on(pilot, app, step)
        save(app, folder / "verdict")
        await probe(pilot, app, folder)


async def walk_on(pilot: Pilot[Any], app: GrpoApp, step: Callable[[], Any]) -> None:
    """Take the first choice of every step; a probe is left out."""

    def here() -> Any:
        return (step().place, len(app.snapshot.walk.history)) if step() and app.snapshot.walk else None

    while (before := here()) is not None:
        if step().kind == "probe":
            await pilot.press("s")
            await pilot.pause(0.3)
            await pilot.press(*"later", "enter")
        else:
            await pilot.press("1")
        await until(pilot, lambda before=before: here() != before, "the next step")


async def probe(pilot: Pilot[Any], app: GrpoApp, folder: Path) -> None:
    """The rehearsal of the ratio probe, while it runs."""
    app.walk_playbook("probability-consistency")
    walk = lambda: app.snapshot.walk  # noqa: E731
    await until(
        pilot, lambda: walk() and walk().playbook == "probability-consistency" and walk().step, "the playbook"
    )
    while walk().step is not None and walk().step.kind != "probe":
        place = walk().step.place
        await pilot.press("1")
        await until(pilot, lambda p=place: walk().step is None or walk().step.place != p, "the probe's step")
    await pilot.press("p")
    await until(pilot, lambda: getattr(app.screen, "phase", "") == "ready", "the plan")
    save(app, folder / "probe-plan")
    await pilot.press("enter")
    await until(pilot, lambda: "━" in str(app.screen.query_one("#progress").render()), "the probe's progress")
    save(app, folder / "probe-running")
    await pilot.press("c")
    await until(pilot, lambda: getattr(app.screen, "phase", "") == "done", "the probe's end")


def save(app: GrpoApp, path: Path) -> None:
    """Write one picture."""
    svg = with_dots(app.export_screenshot(title="grpo-tui"))
    path.with_suffix(".svg").write_text(svg, encoding="utf-8")
    print(path.with_suffix(".svg"))
    try:
        import cairosvg
    except ImportError:
        return
    plain = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    plain = plain.replace("font-family: Fira Code, monospace", "font-family: DejaVu Sans Mono")
    plain = plain.replace("font-size: 20px", f"font-size: {CELL_WIDTH / DEJAVU_WIDTH:.2f}px")
    cairosvg.svg2png(plain.encode(), write_to=str(path.with_suffix(".png")), output_width=SIZE[0] * 12)


def with_dots(svg: str) -> str:
    """The picture with every braille character drawn as the dots it stands for."""
    return _TEXT.sub(_dotted, svg)


def _dotted(match: re.Match[str]) -> str:
    style, x, y, text = match[1], float(match[2]), float(match[3]), html.unescape(match[4])
    if not any(0x2800 <= ord(character) <= 0x28FF for character in text):
        return match[0]
    dots = []
    for place, character in enumerate(text):
        bits = ord(character) - 0x2800 if 0x2800 <= ord(character) <= 0x28FF else 0
        for bit, column, line in _DOTS:
            if bits & bit:
                cx = x + (place + 0.27 + 0.46 * column) * CELL_WIDTH
                cy = y - BASELINE + (0.125 + 0.25 * line) * CELL_HEIGHT
                dots.append(f'<circle class="{style}" cx="{cx:.1f}" cy="{cy:.1f}" r="2.1"/>')
    rest = "".join(" " if 0x2800 <= ord(c) <= 0x28FF else c for c in text)
    words = match[0].replace(match[4], html.escape(rest).replace(" ", "&#160;")) if rest.strip() else ""
    return "".join(dots) + words


def main() -> None:
    """Take every picture."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["GRPO_TUI_STATE"] = str(Path(temporary) / "state")
        asyncio.run(take_all(folder, lay_out(Path(temporary))))


if __name__ == "__main__":
    main()
