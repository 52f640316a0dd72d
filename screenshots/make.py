"""Takes the pictures of the documentation from the running app, as SVG.

    python screenshots/make.py [--png] [--only NAME …] [--home FOLDER] [FOLDER]

Bundled runs are laid out as far as one of their steps, the app is driven by its keys, and every screen is
drawn in two themes at the sizes below: FOLDER/THEME/WIDTHxHEIGHT/NAME.svg. Paths are seen in them, so run
it from a copy under a path that may be seen; `--home` is where the runs and the app's state are put, empty
before (a temporary folder by default). `--png` adds PNG files (cairosvg).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from picture import Sheet, frame_of, png
from scenes import lay_out, scenes
from textual.pilot import Pilot

VARIANTS = (
    ("grpo-dark", (120, 36)),
    ("grpo-light", (120, 36)),
    ("grpo-dark", (200, 60)),
    ("grpo-light", (200, 60)),
    ("grpo-dark", (120, 12)),
    ("grpo-dark", (80, 24)),
)


async def take(pilot: Pilot[Any], name: str, folder: Path, with_png: bool) -> None:
    """One place in every variant; the size and theme of before are put back."""
    app = pilot.app
    before, theme = app.size, app.theme
    for look, (width, height) in VARIANTS:
        app.theme = look
        if app.size != (width, height):
            await pilot.resize_terminal(width, height)
        await pilot.pause(0.4)
        svg = Sheet([frame_of(app)]).svg()
        path = folder / look.removeprefix("grpo-") / f"{width}x{height}" / f"{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg, encoding="utf-8")
        print(f"{path}  {len(svg) / 1000:.0f} kB", flush=True)
        if with_png:
            path.with_suffix(".png").write_bytes(png(svg))
    app.theme = theme
    await pilot.resize_terminal(before.width, before.height)
    await pilot.pause(0.3)


async def take_all(folder: Path, runs: Path, only: list[str], with_png: bool) -> None:
    run = lay_out(runs)
    async for name, pilot in scenes(run):
        (run / "train.log").touch()  # the run lives: nothing else would tell after a minute
        if not only or name in only:
            await take(pilot, name, folder, with_png)


def main() -> None:
    """Take every picture."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    options.add_argument("--png", action="store_true")
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--home", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = given.home or Path(temporary)
        os.environ["GRPO_TUI_STATE"] = str(home / ".local/state/grpo-tui")
        asyncio.run(take_all(given.folder, home / "runs", given.only, given.png))


if __name__ == "__main__":
    main()
