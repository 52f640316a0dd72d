"""Small pieces of text handling that every console dialect needs."""

from __future__ import annotations

import re
from functools import lru_cache

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_RAY = re.compile(r"\(([A-Za-z_][\w.:<>]*) pid=(\d+)(?:, ip=[^)]*)?\) ?")
_NUMPY = re.compile(r"(?:np\.|numpy\.)?\w+\((-?[^,)]*)[^)]*\)")
_BAR = re.compile(
    r"%\|[^|]{0,400}\|\s*(?P<n>\d{1,12}(?:\.\d+)?[kMG]?)/(?P<total>\d{1,12}(?:\.\d+)?[kMG]?|\?)\s*"
    r"\[(?P<elapsed>[\d:]+|\?)<(?P<left>[^,\]]*)(?:,\s*(?P<rate>[^,\]]*))?[^\]]*\]"
)


CARRIED = (
    r"\d{4}-\d\d-\d\dT\d\d:[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?"
    r"|\d{1,4}: (?!error|line )"
)
"""What containers and Slurm put before each line."""
_CARRIED = re.compile(CARRIED)
_RANK = re.compile(r"\[(?:rank|default)\d+\]: ?")
FARTHEST = 1e12
"""No counter of steps gets here."""


def plain(data: bytes) -> str:
    """Decode a segment: UTF-8 with replacement, no byte order mark, no NUL bytes, no terminal escapes."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\0" in text:
        text = text.replace("\0", "")
    return _ANSI.sub("", text) if "\x1b" in text else text


def undecorated(text: str) -> tuple[str | None, str]:
    """Split Ray's `(Actor pid=…)` prefix off: (actor class, rest); actor is None without a prefix.

    What `docker logs -t`, `kubectl logs --timestamps` and `srun --label` put before a line goes too.
    """
    if text[:1].isdigit() and (carried := _CARRIED.match(text)):
        text = text[carried.end() :]
    if not text.startswith("("):
        return None, text
    match = _RAY.match(text)
    return (match[1], text[match.end() :]) if match else (None, text)


def unranked(text: str) -> tuple[str, str]:
    """Split torchrun's `[rank0]: ` off: (prefix, rest)."""
    match = _RANK.match(text) if text.startswith("[") else None
    return (match[0], text[match.end() :]) if match else ("", text)


def number(text: str) -> float | None:
    """A printed value as a float: plain, `np.float64(…)`, `tensor(…)`, quoted, True/False; else None."""
    bare = text[text.find("(") + 1 : -1] if text.startswith("np.") and text.endswith(")") else text
    try:
        return float(bare)
    except ValueError:
        pass
    text = text.strip().strip("'\"")
    if text in ("True", "False"):
        return float(text == "True")
    match = _NUMPY.fullmatch(text)
    try:
        return float(match[1]) if match else float(text)
    except ValueError:
        return None


def as_float(value: object) -> float | None:
    """A decoded JSON value as a float; None for what is no number, or none that fits."""
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_step(value: object) -> int | None:
    """A decoded value as a step: a whole number that a counter can have reached; else None."""
    number = as_float(value)
    if number is None or not -FARTHEST < number < FARTHEST:
        return None
    return int(number)


class Bar:
    """One state of a tqdm progress bar; `n` and `total` as integers, times in seconds.

    `label` is what stands before it: its description, or other text that it is glued to. `end` is
    where the text goes on behind it.
    """

    __slots__ = ("elapsed", "end", "label", "n", "per_step", "total")

    def __init__(self, before: str, match: re.Match[str]) -> None:
        self.label = before.strip().removesuffix(":")[-200:]
        self.end = match.end()
        self.n = _count(match["n"])
        self.total = None if match["total"] == "?" else _count(match["total"])
        self.elapsed = _clock(match["elapsed"])
        self.per_step = _pace(match["rate"] or "")


@lru_cache(maxsize=8)
def find_bar(text: str) -> Bar | None:
    """The last progress bar in a segment, or None."""
    at = text.rfind("%|")
    while at >= 0:
        digits = at
        while digits and at - digits < 3 and text[digits - 1].isdigit():
            digits -= 1
        match = _BAR.match(text, at) if digits < at else None
        if match is not None:
            return Bar(text[:digits], match)
        at = text.rfind("%|", 0, at)
    return None


def _count(text: str) -> int:
    scale = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}.get(text[-1], 1)
    return int(float(text.rstrip("kMG")) * scale)


def _clock(text: str) -> float | None:
    if not text or text == "?":
        return None
    seconds = 0
    for part in text.split(":"):
        seconds = seconds * 60 + int(part or 0)
    return float(seconds)


def _pace(text: str) -> float | None:
    """Seconds per iteration of `3.25s/it` or `4.2it/s`."""
    match = re.match(r"\s*(\d+(?:\.\d+)?)\s*(s/it|it/s)", text)
    if not match or not float(match[1]):
        return None
    return float(match[1]) if match[2] == "s/it" else 1.0 / float(match[1])
