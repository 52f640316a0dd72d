"""Compressed logs are read once, wherever a plain one would be."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow
import pytest

from grpo_tui.run import Run

TEXT = b"".join(
    b'{"step": %d, "data": {"actor/entropy": 0.5, "critic/score/mean": 1.0}}\n' % i for i in range(500)
)


def packed(path: Path) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(TEXT))
    else:
        path.write_bytes(pyarrow.compress(TEXT, codec="zstd", asbytes=True))
    return path


@pytest.mark.parametrize("name", ["log.jsonl.gz", "log.jsonl.zst"])
def test_a_compressed_log_alone_and_in_a_folder(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / name)
    for place in (path, tmp_path):
        run = Run.open(place)
        run.poll(final=True)
        assert run.framework == "verl" and run.steps() == list(range(500)) and run.poll() == []


def test_a_cut_off_archive_gives_what_it_holds(tmp_path: Path) -> None:
    path = packed(tmp_path / "log.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-12])
    run = Run.open(path)
    run.poll(final=True)
    assert run.steps()[:3] == [0, 1, 2]
