"""TensorBoard event files: TFRecord frames of `Event` messages, read without TensorBoard.

A frame is `u64 length | u32 checksum of the length | bytes | u32 checksum of the bytes`; an event holds
a wall time, a step and a summary of tagged values. Scalars stand as `simple_value` (torch, tensorboardX)
or as a tensor (TensorFlow 2). Values are 32-bit: 1e-6 reads back as 9.99999997e-07. transformers writes
its arguments and the model's configuration as text summaries, and tags `train/x` and `eval/x` what it
calls `x` and `eval_x` everywhere else.

A frame whose checksum is wrong is passed over; a damaged length ends the file, since nothing says where the
next frame begins.
"""

from __future__ import annotations

import json
from struct import Struct, error

from ..origin.names import LAST_WORDS, bare, origin_of
from ..origin.version import trl_version
from ..reader import FrameReader
from ..records import Ended, Item, Origin, Record, Warn
from ..rows import Parts, Rows
from ..settings.printed import flattened
from .checksum import sound, sound_length
from .wire import BYTES, FIXED32, FIXED64, VARINT, double, fields, signed, single, text, varint

_LENGTH = Struct("<Q").unpack_from
_FLOAT = Struct("<f").unpack_from
_LARGEST = 1 << 28
_SAID = {"args/text_summary": "", "model_config/text_summary": "model_config."}
_DT_FLOAT, _DT_DOUBLE = 1, 2
_WIDTH = {_DT_FLOAT: 4, _DT_DOUBLE: 8}


class TensorBoard(FrameReader):
    name = "tensorboard"
    rank = 30

    def __init__(self) -> None:
        self._step = 0
        self._values: dict[str, float] = {}
        self._names: dict[bytes, str] = {}
        self._transformers = False
        self._named = False
        self._damaged = False

    @classmethod
    def owns(cls, start: bytes) -> bool:
        return len(start) >= 24 and _LENGTH(start)[0] < 4096 and b"brain.Event:" in start[12:64]

    def fresh(self) -> None:
        self._damaged = False

    def frames(self, data: bytes) -> tuple[list[Item | Rows], int]:
        parts = Parts()
        starts: list[int] = []
        ends: list[int] = []
        at, size, gone = 0, len(data), self._damaged
        while at + 12 <= size and not self._damaged:
            length = _LENGTH(data, at)[0]
            if length > _LARGEST or not sound_length(data[at : at + 12]):
                self._damaged = True
                break
            end = at + 12 + length
            if end + 4 > size:
                break
            starts.append(at + 12)
            ends.append(end)
            at = end + 4
        for start, end, good in zip(starts, ends, sound(data, starts, ends), strict=True):
            try:
                if not good:
                    raise ValueError
                self._event(data, start, end, parts)
            except (ValueError, IndexError, error):
                parts.give(Warn("a damaged event was passed over"))
        if self._damaged and not gone:
            parts.give(Warn("an event file is damaged: what follows in it cannot be read"))
        self._close(parts)
        return parts.take(), size if self._damaged else at

    def _event(self, data: bytes, at: int, end: int, parts: Parts) -> None:
        """Put the scalars of an event into the row of its step."""
        step = 0
        for field, kind, start, stop in fields(data, at, end):
            if field == 2 and kind == VARINT:
                step = signed(start)
            elif field == 5 and kind == BYTES:
                if step != self._step:
                    self._close(parts)
                    self._step = step
                while start < stop and data[start] == 0x0A:
                    size, start = varint(data, start + 1)
                    self._value(data, start, start + size, parts)
                    start += size

    def _value(self, data: bytes, at: int, end: int, parts: Parts) -> None:
        """A tagged value. The usual one is a tag and a 32-bit number, in this order."""
        tag_end = at + 2 + data[at + 1]
        if data[at] == 0x0A and data[at + 1] < 0x80 and tag_end + 5 <= end and data[tag_end] == 0x15:
            self._put(data[at + 2 : tag_end], _FLOAT(data, tag_end + 1)[0])
            return
        tag = b""
        value: float | str | None = None
        for field, kind, start, stop in fields(data, at, end):
            if field == 1 and kind == BYTES:
                tag = data[start:stop]
            elif field == 2 and kind == FIXED32:
                value = single(data, start)
            elif field == 8 and kind == BYTES:
                value = _tensor(data, start, stop)
        if isinstance(value, str):
            self._text(tag.decode("utf-8", "replace"), value, parts)
        elif value is not None:
            self._put(tag, value)

    def _put(self, tag: bytes, value: float) -> None:
        name = self._names.get(tag)
        if name is None:
            text = tag.decode("utf-8", "replace")
            name = self._names[tag] = bare(text) if self._transformers else text
        self._values[name] = value

    def _text(self, tag: str, said: str, parts: Parts) -> None:
        prefix = _SAID.get(tag)
        if prefix is None:
            return
        self._transformers = True
        self._names.clear()
        try:
            tree = json.loads(said)
        except ValueError:
            return
        if isinstance(tree, dict):
            for setting in flattened(tree, "the event file", prefix):
                parts.give(setting)

    def _close(self, parts: Parts) -> None:
        """The row of this step is whole, or all of it that was written so far."""
        values, self._values = self._values, {}
        if not values:
            return
        if not self._named:
            self._name(values, parts)
        ended = self._transformers and "train_runtime" in values
        if ended:
            values = {name: value for name, value in values.items() if name not in LAST_WORDS}
        if values and all(name.startswith("eval_") for name in values if name != "epoch"):
            parts.give(Record(self._step, values, 0, "eval"))
        elif values.keys() - {"epoch"}:
            parts.row(self._step, values)
        if ended:
            parts.give(Ended())

    def _name(self, values: dict[str, float], parts: Parts) -> None:
        origin = origin_of(values)
        if origin is None and self._transformers and any("reward" in name for name in values):
            origin = Origin("trl", trl_version(values), "transformers' event file with rewards", 1)
        if origin is not None:
            self._named = True
            parts.give(origin)


def _tensor(data: bytes, at: int, end: int) -> float | str | None:
    """A scalar or a text that stands as a tensor; None for any other."""
    kind = 0
    for field, wire, start, stop in fields(data, at, end):
        if field == 1 and wire == VARINT:
            kind = start
        elif field == 4 and wire == BYTES and stop - start == _WIDTH.get(kind):
            return single(data, start) if kind == _DT_FLOAT else double(data, start)
        elif field == 5 and (wire == FIXED32 or stop - start == 4):
            return single(data, start)
        elif field == 6 and (wire == FIXED64 or stop - start == 8):
            return double(data, start)
        elif field == 8 and wire == BYTES:
            return text(data, start, stop)
    return None
