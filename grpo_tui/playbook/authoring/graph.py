"""A playbook as a graph of steps and branches: Mermaid for Markdown, lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..format.schema import Branch, Case, NoteStep, Place, Playbook, Step, branches_of, kind_of_step

END = "end"
_SHAPES = {
    "check": ("{{", "}}"),
    "ask": ("[/", "/]"),
    "config": ("{{", "}}"),
    "probe": ("[(", ")]"),
    "use": ("[[", "]]"),
    "note": ("[", "]"),
}


@dataclass(frozen=True, slots=True)
class Edge:
    """A branch from one step to where it leads (`end` included), with what it says."""

    source: int
    target: int
    label: str
    points: tuple[str, ...]


def edges_of(playbook: Playbook) -> list[Edge]:
    """Every branch, in the order of the file. `target` is a step's index; one past the last is the end."""
    places = {step.id: index for index, step in enumerate(playbook.steps)}
    last = len(playbook.steps)
    found: list[Edge] = []
    for index, step in enumerate(playbook.steps):
        branches = list(branches_of(step))
        for at, branch in branches:
            target = index + 1
            if branch.goto is not None:
                target = last if branch.goto == END else places[branch.goto]
            points = tuple(f"{id} {value:+d}" for id, value in branch.evidence.items())
            found.append(Edge(index, target, _label(step, at, branch), points))
        if not branches:
            found.append(Edge(index, index + 1, "", ()))
    return found


def _label(step: Step, place: Place, branch: Branch) -> str:
    if isinstance(step, NoteStep):
        return ""
    if isinstance(branch, Case):
        return "otherwise" if branch.when is None else branch.when.text
    return str(place[0]).removeprefix("if_")


def subject_of(step: Step) -> str:
    """What a step looks at: `check: entropy < 0.1`."""
    kind = kind_of_step(step)
    return f"{kind}: {getattr(step, kind)}"


# -- Mermaid -------------------------------------------------------------------------------------


def mermaid(playbook: Playbook) -> str:
    """A flowchart; every text is escaped, so that a condition is never taken for markup."""
    lines = ["flowchart TD"]
    if playbook.trigger is not None:
        lines.append(f'  trigger(["{_safe("alarm when " + playbook.trigger.when.text)}"]) --> s0')
    for index, step in enumerate(playbook.steps):
        left, right = _SHAPES[kind_of_step(step)]
        lines.append(f'  s{index}{left}"{_safe(step.id)}<br/>{_safe(_short(subject_of(step)))}"{right}')
    lines.append(f'  s{len(playbook.steps)}(["verdict"])')
    for edge in edges_of(playbook):
        said = "<br/>".join(_safe(part) for part in (_short(edge.label), *edge.points) if part)
        arrow = f'-- "{said}" -->' if said else "-->"
        lines.append(f"  s{edge.source} {arrow} s{edge.target}")
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    escapes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(escapes.get(c, c if c.isprintable() else " ") for c in text)


def _short(text: str, most: int = 70) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


# -- a terminal ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Row:
    text: str
    step: int | None = None
    jump: int | None = None


def drawn(playbook: Playbook, width: int = 100) -> list[str]:
    """Steps from top to bottom; a jump over other steps is a line at the left from branch to step."""
    rows = list(_rows(playbook))
    landing = {row.step: number for number, row in enumerate(rows) if row.step is not None}
    jumps = [(number, landing[row.jump]) for number, row in enumerate(rows) if row.jump is not None]
    lanes = _lanes(jumps)
    depth = max(lanes.values(), default=-1) + 1
    lines = []
    for number, row in enumerate(rows):
        rail = _rail(number, jumps, lanes, depth)
        lines.append(_short_right(f"{rail}{row.text}", width))
    return lines


def _rows(playbook: Playbook) -> Iterator[_Row]:
    if playbook.trigger is not None:
        yield _Row(f" ▲ alarm when {playbook.trigger.when.text}")
        yield _Row(" │")
    edges = edges_of(playbook)
    last = len(playbook.steps)
    for index, step in enumerate(playbook.steps):
        yield _Row(f" ● {step.id}  {subject_of(step)}", step=index)
        if step.skip_if is not None:
            yield _Row(f" │   left out if {step.skip_if.text}")
        for edge in (edge for edge in edges if edge.source == index):
            if not edge.label and edge.target == index + 1:
                continue
            points = f"  ({', '.join(edge.points)})" if edge.points else ""
            where = " → end" if edge.target == last and index + 1 < last else ""
            over = index + 1 < edge.target < last
            arrow = f" → {playbook.steps[edge.target].id}" if over else where
            yield _Row(f" │   {edge.label}{points}{arrow}", jump=edge.target if over else None)
        yield _Row(" │")
    yield _Row(" ■ verdict")


def _lanes(jumps: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """A lane for each jump, the short ones nearest the text; two jumps in one lane never overlap."""
    lanes: dict[tuple[int, int], int] = {}
    for start, end in sorted(jumps, key=lambda jump: jump[1] - jump[0]):
        taken = {lane for (a, b), lane in lanes.items() if a <= end and start <= b}
        lanes[start, end] = next(lane for lane in range(len(jumps) + 1) if lane not in taken)
    return lanes


def _rail(number: int, jumps: list[tuple[int, int]], lanes: dict[tuple[int, int], int], depth: int) -> str:
    """The lanes of one row, the outermost first."""
    cells = [" "] * depth
    for jump in jumps:
        start, end = jump
        lane = depth - 1 - lanes[jump]
        if start < number < end:
            cells[lane] = "┼" if cells[lane] == "─" else "│"
        elif number in (start, end):
            cells[lane] = "╭" if number == start else "╰"
            for right in range(lane + 1, depth):
                cells[right] = "┼" if cells[right] == "│" else cells[right] if cells[right] in "╭╰" else "─"
    tail = "─" if any(c in "╭╰" for c in cells) else " "
    return "".join(cells) + (tail if depth else "")


def _short_right(text: str, width: int) -> str:
    text = "".join(c if c.isprintable() else " " for c in text).rstrip()
    return text if len(text) <= width else text[: width - 1] + "…"
