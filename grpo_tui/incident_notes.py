"""What follows from an incident by arithmetic alone: bytes as tokens, one skipped step or several in a row.

An out-of-memory names bytes; the update's largest tensor is logits of tokens x vocabulary, so the bytes say
how many tokens were in one piece [S4-11, S4-14]. A skipped step is an accident, several in a row are a state
[S0-9].
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .run import Run
from .sources.records import Incident

_TRIED = re.compile(r"Tried to allocate ([\d.]+) (GiB|MiB|GB|MB|TiB)")
_SIZES = {"MB": 1e6, "GB": 1e9, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_VOCABULARIES = (
    ("qwen3", 151_936), ("qwen2", 151_936), ("qwen", 151_936), ("llama-3", 128_256), ("llama3", 128_256),
    ("gemma-3", 262_144), ("gemma", 256_000), ("mistral", 32_768), ("llama-2", 32_000), ("smollm", 49_152),
    ("deepseek-r1-distill-qwen", 151_936), ("deepseek", 129_280), ("phi-4", 100_352), ("phi", 51_200),
)  # fmt: skip
"""The rows of the output layer by the model's name, most telling first; they differ by size within a family
only by padding."""
_FLOAT32 = 4


def notes(run: Run) -> list[str]:
    """A note for each of `run.incidents`, in their order; "" where there is nothing to add."""
    incidents = run.incidents
    rows = _in_a_row(incidents)
    vocabulary = _vocabulary(run)
    return [
        _memory(incident, vocabulary) if incident.kind == "oom" else rows.get(at, "")
        for at, incident in enumerate(incidents)
    ]


def _memory(incident: Incident, vocabulary: tuple[int, str] | None) -> str:
    match = _TRIED.search(incident.text)
    phase = f"; in the {incident.stage}" if incident.stage in ("rollout", "update", "reward") else ""
    if match is None or incident.stage == "rollout":
        return phase.removeprefix("; ")
    count = float(match[1]) * _SIZES[match[2]]
    if vocabulary is None:
        tokens = count / (_FLOAT32 * 151_936)
        said = f"about {tokens:,.0f} tokens of float32 logits, if the vocabulary has 151,936 entries (Qwen)"
    else:
        size, origin = vocabulary
        tokens = count / (_FLOAT32 * size)
        said = f"{tokens:,.0f} tokens of float32 logits (vocabulary {size:,}, {origin})"
    return f"{match[1]} {match[2]} = {said}{phase}"


def _vocabulary(run: Run) -> tuple[int, str] | None:
    """The size of the vocabulary and how it is known."""
    model: Any = None
    for key, held in run.config.items():
        if key == "vocab_size" and isinstance(held.value, int):
            return held.value, "from the configuration"
        if key in ("model", "model_path", "model_name") and isinstance(held.value, str):
            model = held.value
    if model is None:
        return None
    bare = model.rsplit("/", 1)[-1].casefold()
    return next(
        ((size, f"of {model.rsplit('/', 1)[-1]}") for name, size in _VOCABULARIES if name in bare), None
    )


def _in_a_row(incidents: Sequence[Incident]) -> dict[int, str]:
    """Which skipped steps stand alone and which follow one another; ranks of one step count once."""
    skipped = [(at, one.step) for at, one in enumerate(incidents) if one.kind == "nonfinite-gradient"]
    steps = sorted({step for _, step in skipped if step is not None})
    runs: list[list[int]] = []
    for step in steps:
        if runs and step - runs[-1][-1] <= 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    found: dict[int, str] = {}
    for at, skip in skipped:
        held = next((run for run in runs if skip in run), None)
        if held is None:
            continue
        alone = f"a single one of {len(runs)}" if len(runs) > 1 else "a single one"
        found[at] = alone if len(held) == 1 else f"{len(held)} steps in a row ({held[0]}–{held[-1]})"
    return found
