"""A frame of the running app as a small SVG that looks alike in every viewer.

Curves, borders and bars are drawn as shapes and only words are text: the fonts of browsers disagree on
braille, and lines made of letters have gaps. Nothing is loaded from outside, so it shows wherever SVG does.
"""

from __future__ import annotations

import html
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from textual.app import App

DOT = 4.2
"""Between two braille dots; a cell is two of them wide and four high."""
WIDTH, HEIGHT = 2 * DOT, 4 * DOT
FONT = 14
EDGE = 10
_DOTS = ((1, 0, 0), (2, 0, 1), (4, 0, 2), (64, 0, 3), (8, 1, 0), (16, 1, 1), (32, 1, 2), (128, 1, 3))
_ARMS = {
    "─": "lr", "━": "lr", "│": "ud", "┃": "ud", "╭": "rd", "┌": "rd", "╮": "ld", "┐": "ld", "╰": "ru",
    "└": "ru", "╯": "lu", "┘": "lu", "├": "udr", "┤": "udl", "┬": "lrd", "┴": "lru", "┼": "lrud", "╵": "u",
    "╷": "d", "╴": "l", "╶": "r", "╸": "l", "╺": "r",
}  # fmt: skip
_HEAVY = "━┃╸╺"
_EIGHTHS = {
    **{character: (0, 8 - part, 8, part) for part, character in enumerate("▁▂▃▄▅▆▇█", 1)},
    **{character: (0, 0, part, 8) for part, character in zip(range(7, 0, -1), "▉▊▋▌▍▎▏", strict=True)},
    "▀": (0, 0, 8, 4), "▔": (0, 0, 8, 1), "▕": (7, 0, 1, 8), "▐": (4, 0, 4, 8),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """What a letter is drawn with."""

    ink: str
    paper: str
    bold: bool = False
    italic: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of one look."""

    x: int
    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class Frame:
    """What the terminal shows at one moment: runs of cells, row by row."""

    width: int
    height: int
    rows: tuple[tuple[Run, ...], ...]


def frame_of(app: App[Any]) -> Frame:
    """The present frame of an app, modal screens over what is behind them included."""
    width, height = app.size
    console = Console(
        width=width, height=height, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    shown = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    rows: list[list[Run]] = [[]]
    x = 0
    for segment in console.render(shown):  # type: ignore[arg-type]
        if segment.control:
            continue
        for place, text in enumerate(segment.text.split("\n")):
            if place:
                rows.append([])
                x = 0
            if text:
                rows[-1].append(Run(x, text, _look(segment.style)))
                x += cell_len(text)
    return Frame(width, height, tuple(tuple(_joined(row)) for row in rows[:height]))


def _look(style: Style | None) -> Look:
    style = style or Style.null()
    ink, paper = _hex(style.color, "#d8dee6"), _hex(style.bgcolor, "#000000")
    if style.reverse:
        ink, paper = paper, ink
    return Look(ink, paper, bool(style.bold), bool(style.italic), bool(style.underline))


def _hex(color: Any, default: str) -> str:
    return default if color is None or color.is_default else color.get_truecolor().hex.lower()


def _joined(row: Sequence[Run]) -> Iterator[Run]:
    held: Run | None = None
    for run in row:
        if held is not None and held.look == run.look:
            held = Run(held.x, held.text + run.text, held.look)
            continue
        if held is not None:
            yield held
        held = run
    if held is not None:
        yield held


class Sheet:
    """One or several frames as an SVG; looks are shared by all of them."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = frames
        self._classes: dict[str, str] = {}
        self.width = max(frame.width for frame in frames) * WIDTH + 2 * EDGE
        self.height = max(frame.height for frame in frames) * HEIGHT + 2 * EDGE

    def svg(self) -> str:
        """The first frame, still."""
        return self._document(self._drawn(self.frames[0]))

    def animation(self, seconds: Sequence[float]) -> str:
        """Each frame for its seconds, then again from the first; whoever wants no motion sees the last."""
        whole, began, parts, rules = sum(seconds), 0.0, [], []
        for place, (frame, lasts) in enumerate(zip(self.frames, seconds, strict=True)):
            start, end = 100 * began / whole, 100 * (began + lasts) / whole
            last = place == len(self.frames) - 1
            off = "" if last else f"{end:.3f}%,100%{{visibility:hidden}}"
            before = f"0%{{visibility:hidden}}{start:.3f}%" if place else "0%"
            rules.append(f"@keyframes f{place}{{{before}{{visibility:visible}}{off}}}")
            rules.append(f"#f{place}{{animation:f{place} {whole:g}s step-end infinite}}")
            hidden = "" if last else ' visibility="hidden"'
            parts.append(f'<g id="f{place}"{hidden}>{self._drawn(frame)}</g>')
            began += lasts
        still = "@media (prefers-reduced-motion:reduce){g{animation:none!important}}"
        return self._document("".join(parts), "".join(rules) + still)

    def _document(self, body: str, more: str = "") -> str:
        looks = "".join(f".{name}{{{rule}}}" for rule, name in self._classes.items())
        base = (
            f"text{{font:{FONT}px 'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}"
            f".b{{font-weight:700}}.i{{font-style:italic}}.u{{text-decoration:underline}}"
            f".o{{fill:none;stroke-width:.86;stroke-linecap:round}}.n{{fill:none;stroke-width:1.2}}"
            f".h{{fill:none;stroke-width:2.4}}.r{{shape-rendering:crispEdges}}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" xml:space="preserve">'
            f"<style>{base}{looks}{more}</style>{body}</svg>\n"
        )

    def _class(self, rule: str) -> str:
        return self._classes.setdefault(rule, f"c{len(self._classes)}")

    def _drawn(self, frame: Frame) -> str:
        papers: Counter[str] = Counter()
        for row in frame.rows:
            for run in row:
                papers[run.look.paper] += cell_len(run.text)
        paper = papers.most_common(1)[0][0]
        ground = self._class(f"fill:{paper}")
        parts = [f'<rect class="{ground}" width="{self.width:g}" height="{self.height:g}" rx="8"/>']
        parts.append(f'<g transform="translate({EDGE} {EDGE})">')
        parts += self._papers(frame, paper)
        parts += self._shapes(frame)
        parts += [self._words(run, y) for y, row in enumerate(frame.rows) for run in _words_of(row)]
        return "".join(parts) + "</g>"

    def _papers(self, frame: Frame, ground: str) -> Iterator[str]:
        """The grounds of the cells, one path a colour."""
        paths: dict[str, list[str]] = defaultdict(list)
        for y, row in enumerate(frame.rows):
            for run in row:
                if run.look.paper != ground:
                    wide = cell_len(run.text)
                    paths[run.look.paper].append(f"M{run.x} {y}h{wide}v1h-{wide}z")
        for colour, path in paths.items():
            name = self._class(f"fill:{colour}")
            yield f'<path class="r {name}" transform="scale({WIDTH:g} {HEIGHT:g})" d="{"".join(path)}"/>'

    def _shapes(self, frame: Frame) -> Iterator[str]:
        """Dots, lines and bars, one path a colour and kind."""
        dots: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lines: dict[tuple[str, str], list[str]] = defaultdict(list)
        bars: dict[str, list[str]] = defaultdict(list)
        for y, row in enumerate(frame.rows):
            for run in row:
                for x, character in _cells(run):
                    ink = run.look.ink
                    if 0x2800 < ord(character) <= 0x28FF:
                        bits = ord(character) - 0x2800
                        dots[ink] += [(4 * y + j, 2 * x + i) for bit, i, j in _DOTS if bits & bit]
                    elif character in _ARMS:
                        kind = "h" if character in _HEAVY else "n"
                        lines[kind, ink].append(_line(character, x, y))
                    elif character in _EIGHTHS:
                        left, top, wide, high = _EIGHTHS[character]
                        bars[ink].append(f"M{8 * x + left} {8 * y + top}h{wide}v{high}h-{wide}z")
        for ink, path in bars.items():
            name = self._class(f"fill:{ink}")
            scale = f"scale({WIDTH / 8:g} {HEIGHT / 8:g})"
            yield f'<path class="r {name}" transform="{scale}" d="{"".join(path)}"/>'
        for (kind, ink), path in lines.items():
            yield f'<path class="{kind} {self._class(f"stroke:{ink}")}" d="{"".join(path)}"/>'
        for ink, path in dots.items():
            name = self._class(f"stroke:{ink}")
            place = f"translate({DOT / 2:g} {DOT / 2:g}) scale({DOT:g})"
            yield f'<path class="o {name}" transform="{place}" d="{_dotted(path)}"/>'

    def _words(self, run: Run, y: int) -> str:
        look = run.look
        names = [self._class(f"fill:{look.ink}")]
        names += [name for name, on in (("b", look.bold), ("i", look.italic), ("u", look.underline)) if on]
        wide = cell_len(run.text) * WIDTH
        return (
            f'<text class="{" ".join(names)}" x="{run.x * WIDTH:.1f}" y="{(y + 0.75) * HEIGHT:.1f}" '
            f'textLength="{wide:.1f}">{html.escape(run.text, quote=False)}</text>'
        )


def _cells(run: Run) -> Iterator[tuple[int, str]]:
    x = run.x
    for character in run.text:
        yield x, character
        x += cell_len(character)


def _line(character: str, x: int, y: int) -> str:
    """The arms of a box-drawing letter; the round corners are round."""
    left, top = x * WIDTH, y * HEIGHT
    middle, level = left + WIDTH / 2, top + HEIGHT / 2
    turns = {"╭": (1, 1), "╮": (-1, 1), "╰": (1, -1), "╯": (-1, -1)}
    if character in turns:
        across, down = turns[character]
        end_x, end_y = middle + across * WIDTH / 2, level + down * HEIGHT / 2
        return f"M{end_x:.1f} {level:.1f}Q{middle:.1f} {level:.1f} {middle:.1f} {end_y:.1f}"
    ends = {
        "l": f"H{left:.1f}",
        "r": f"H{left + WIDTH:.1f}",
        "u": f"V{top:.1f}",
        "d": f"V{top + HEIGHT:.1f}",
    }
    return "".join(f"M{middle:.1f} {level:.1f}{ends[arm]}" for arm in _ARMS[character])


def _dotted(places: Iterable[tuple[int, int]]) -> str:
    """Dots at (row, column), by steps from one to the next."""
    x, y, made = 0, 0, []
    for down, across in sorted(places):
        made.append(f"m{across - x} {down - y}h0")
        x, y = across, down
    return "".join(made)


def _words_of(row: Sequence[Run]) -> Iterator[Run]:
    """The stretches of a row that are text: without shapes, cut at gaps of two blanks and more."""
    for run in row:
        text = "".join(" " if _is_shape(c) else c for c in run.text)
        for match in re.finditer(r"\S+(?: \S+)*", text):
            yield Run(run.x + cell_len(text[: match.start()]), match[0], run.look)


def _is_shape(character: str) -> bool:
    return 0x2800 <= ord(character) <= 0x28FF or character in _ARMS or character in _EIGHTHS


def png(svg: str, scale: float = 1.0) -> bytes:
    """The picture as PNG, for a look at it. Needs cairosvg."""
    import cairosvg

    plain = svg.replace("'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace", "'DejaVu Sans Mono'")
    made: bytes = cairosvg.svg2png(plain.encode(), scale=scale)
    return made
