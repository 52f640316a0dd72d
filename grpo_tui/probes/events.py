"""What a probe says while it runs: one JSON object a line on the *original* standard output.

Libraries print where they like (progress bars, warnings). So the original stdout is duplicated first
and file descriptor 1 is then pointed at stderr: whatever else is printed cannot corrupt the stream.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from . import PROTOCOL


def finite(value: Any) -> Any:
    """The value with every non-finite float as `"nan"`, `"inf"` or `"-inf"`, so that the JSON is strict."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def take_stdout() -> TextIO:
    """The original stdout as a private stream; afterwards `print` and C libraries write to stderr."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", encoding="utf-8", buffering=1)


class Emitter:
    """Writes `{v, seq, ts, type, ...}`; types start, progress, metric, result, warning, error, end."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._seq = 0

    def emit(self, type_: str, **fields: Any) -> None:
        if self._stream is None:
            return
        event = {
            "v": PROTOCOL,
            "seq": self._seq,
            "ts": round(time.time(), 3),
            "type": type_,
            **finite(fields),
        }
        self._seq += 1
        try:
            self._stream.write(json.dumps(event, ensure_ascii=False) + "\n")
            self._stream.flush()
        except BrokenPipeError:  # the watcher went away; the result file still matters
            self._stream = None


def write_atomic(path: Path, document: dict[str, Any]) -> None:
    """Writes the JSON so that a reader sees the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(finite(document), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
