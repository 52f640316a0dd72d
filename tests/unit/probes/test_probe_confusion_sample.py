"""A fixed sample of the confusion table on the tiny model: the rows that do not need real weights.

The whole table, on SmolLM2-135M in fp32 and bf16, is `benchmarks/probes_confusion.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
NAMED = (
    "attention dropout 0.1 left on",
    "padding attended by the trainer",
    "T=0.7 by the engine only",
    "T=1.5 by the trainer only",
    "top_p=0.5 renormalised",
    "log_softmax in bf16",
    "logits one row late",
    "list rolled by -1",
    "first prompt token missing",
    "last prompt token missing",
    "prompt cut to 24 tokens",
    "padding attended by the engine",
    "positions restart at the response",
    "8 steps at lr 1e-6 behind",
    "one layer not synced, fingerprint",
    "LoRA not merged, B std .01",
)
SILENT = ("clean: KV-cache decode", "clean: T=0.7 on both sides", "clean: LoRA merged")
OPEN = ("LoRA not merged, B = 0",)


@pytest.fixture(scope="module")
def rows(tiny: Path) -> Iterator[dict[str, dict[str, Any]]]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from probes_bench import Bench
        from probes_confusion import run_one
        from probes_faults import FAULTS, TWINS

        bench, sides = Bench(tiny, "fp32", 8, 24), {}
        wanted = {*NAMED, *SILENT, *OPEN}
        yield {f.name: run_one(bench, f, sides) for f in (*TWINS, *FAULTS) if f.name in wanted}
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", NAMED)
def test_a_planted_fault_is_named_with_its_value(rows: dict[str, dict[str, Any]], name: str) -> None:
    assert rows[name]["outcome"] == "named", rows[name]
    assert rows[name]["verdict"] == "fail"


@pytest.mark.parametrize("name", SILENT)
def test_a_clean_twin_passes(rows: dict[str, dict[str, Any]], name: str) -> None:
    assert (rows[name]["verdict"], rows[name]["codes"]) == ("pass", []), rows[name]


@pytest.mark.parametrize("name", OPEN)
def test_what_cannot_be_seen_is_inconclusive(rows: dict[str, dict[str, Any]], name: str) -> None:
    assert rows[name]["verdict"] == "inconclusive" and rows[name]["codes"] == ["RATIO.LORA_INCONCLUSIVE"]
