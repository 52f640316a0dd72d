"""Following a file that grows, shrinks, is replaced, or is a pipe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grpo_tui.sources.errors import SourceError
from grpo_tui.sources.tail import Chunk, FileTail, LatestTail, StreamTail


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as handle:
        handle.write(data)


def test_only_new_bytes_are_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    tail = FileTail(path)
    assert tail.poll() == Chunk(b"one\n")
    assert tail.poll() is None
    append(path, b"two")
    append(path, b"\n")
    assert tail.poll() == Chunk(b"two\n")
    assert tail.modified == path.stat().st_mtime


def test_a_huge_file_comes_in_turns(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 10)
    tail = FileTail(path)
    chunks = [tail.poll(4) for _ in range(4)]
    assert [chunk.data if chunk else None for chunk in chunks] == [b"xxxx", b"xxxx", b"xx", None]


def test_truncation_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old content\n")
    tail = FileTail(path)
    tail.poll()
    path.write_bytes(b"new\n")
    assert tail.poll() == Chunk(b"new\n", reset=True)


def test_truncation_to_nothing_is_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old\n")
    tail = FileTail(path)
    tail.poll()
    path.write_bytes(b"")
    assert tail.poll() == Chunk(b"", reset=True)
    assert tail.poll() is None


def test_a_rewrite_that_has_grown_past_us_is_still_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old\n")
    tail = FileTail(path)
    tail.poll()
    path.write_bytes(b"another content that is longer\n")
    chunk = tail.poll()
    assert chunk is not None and chunk.reset
    assert chunk.data.startswith(b"another")


def test_replacement_by_another_file(tmp_path: Path) -> None:
    path, other = tmp_path / "a.log", tmp_path / "b.log"
    path.write_bytes(b"old\n")
    tail = FileTail(path)
    tail.poll()
    other.write_bytes(b"old\nmore\n")
    other.replace(path)
    assert tail.poll() == Chunk(b"old\nmore\n", reset=True)


def test_a_missing_file_is_one_clear_line_and_a_rotated_one_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    tail = FileTail(path)
    with pytest.raises(SourceError) as raised:
        tail.poll()
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)
    path.write_bytes(b"one\n")
    tail.poll()
    path.unlink()
    assert tail.poll() is None
    path.write_bytes(b"two\n")
    assert tail.poll() == Chunk(b"two\n", reset=True)


def test_the_latest_of_several_files(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_bytes(b"a")
    tail = LatestTail(lambda: second if second.exists() else first)
    assert tail.poll() == Chunk(b"a")
    second.write_bytes(b"b")
    assert tail.poll() == Chunk(b"b", reset=True)
    assert tail.path == second
    assert tail.poll() is None


def test_a_pipe() -> None:
    reading, writing = os.pipe()
    tail = StreamTail(reading)
    os.write(writing, b"one\n")
    os.write(writing, b"two")
    os.close(writing)
    tail.wait()
    chunk = tail.poll()
    assert chunk == Chunk(b"one\ntwo")
    assert tail.poll() is None
    os.close(reading)
