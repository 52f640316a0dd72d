"""Makes the moving picture of the README from the real app: the tour, walked by the keys it names.

    python screenshots/animate.py [--png FOLDER] [FILE]

A bundled run is replayed while the app reads it; a frame is taken at every stop. One SVG with CSS keyframes
comes out: no script, no font, nothing from outside, so that it moves wherever an image may be an SVG.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from picture import Frame, Sheet, frame_of, png
from scenes import answer, until
from textual.pilot import Pilot

from grpo_tui.demo import DEMOS
from grpo_tui.demo.replay import Replay
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.tui.tour import TourApp

SIZE = (104, 30)
SPEED = 8.0
GROWING = (3, 6, 9, 14)
"""Steps at which the curves are taken while the run goes on."""


class Film:
    """Frames with the seconds that each is shown."""

    def __init__(self, pilot: Pilot[Any], frames: list[tuple[Frame, float]]) -> None:
        self._pilot = pilot
        self._frames = frames

    async def take(self, seconds: float) -> None:
        await self._pilot.pause(0.6)
        self._frames.append((frame_of(self._pilot.app), seconds))


async def walk_the_tour(replay: Replay, frames: list[tuple[Frame, float]]) -> None:
    """Every stop of the tour, in its order."""
    app = TourApp(Run.open(replay.folder, live=True), load_library(), title="lr-too-high")
    async with app.run_test(size=SIZE) as pilot:
        film = Film(pilot, frames)
        replay.start()
        for step in GROWING:
            await until(pilot, lambda s=step: (app.snapshot.facts.step or 0) >= s, f"step {step}")
            await film.take(1.1)
        await until(pilot, lambda: app.snapshot.open_alarms, "an alarm")
        await until(pilot, lambda: replay.wait(0), "the end of the run")
        await film.take(2.2)
        await pilot.press("a")
        await film.take(2.6)
        await pilot.press("enter")
        await until(pilot, lambda: app.snapshot.walk and app.snapshot.walk.step, "the first step")
        while app.snapshot.walk and app.snapshot.walk.step:
            await film.take(2.4)
            await answer(pilot, app)
        await until(
            pilot, lambda: "looking" not in str(app.screen.query_one("VerdictPage Static").content), "all"
        )
        await film.take(4.0)
        await pilot.press("w")
        await until(pilot, lambda: app.snapshot.walk and app.snapshot.walk.report, "the report")
        await pilot.press("o")
        await film.take(0.8)
        await pilot.press("tab", "tab", "enter")
        await until(pilot, lambda: app.place == 8, "the last stop")
        await pilot.press(*["left"] * 22)
        await film.take(2.4)
        app.theme = "grpo-light"
        await film.take(2.0)


def main() -> None:
    """Make the picture."""
    options = argparse.ArgumentParser()
    options.add_argument("file", nargs="?", type=Path, default=Path(__file__).parent / "tour.svg")
    options.add_argument("--png", type=Path, help="a folder for every frame as PNG (cairosvg)")
    given = options.parse_args()
    frames: list[tuple[Frame, float]] = []
    replay = Replay(DEMOS["lr-too-high"], SPEED)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["GRPO_TUI_STATE"] = temporary
        try:
            asyncio.run(walk_the_tour(replay, frames))
        finally:
            replay.stop()
    svg = Sheet([frame for frame, _ in frames]).animation([seconds for _, seconds in frames])
    given.file.write_text(svg, encoding="utf-8")
    print(f"{given.file}: {len(frames)} frames, {len(svg) / 1000:.0f} kB")
    if given.png is not None:
        given.png.mkdir(parents=True, exist_ok=True)
        for place, (frame, _) in enumerate(frames):
            (given.png / f"{place:02}.png").write_bytes(png(Sheet([frame]).svg()))


if __name__ == "__main__":
    main()
