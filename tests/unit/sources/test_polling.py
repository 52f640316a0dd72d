"""Following without being told: polling alone, several sources at once, archives that are only read."""

from __future__ import annotations

import gzip
import os
import random
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from grpo_tui.run import Run

ROW = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.{:03} - actor/grad_norm:0.2 - actor/lr:1e-06\n"


def rows(first: int, last: int) -> str:
    return "".join(ROW.format(step, step) for step in range(first, last + 1))


def test_polling_alone_sees_what_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on NFS: nobody wakes us, the size of an open file is all there is, and mtimes may not move."""
    path = tmp_path / "train.log"
    path.write_text(rows(1, 3))
    os.utime(path, (1e9, 1e9))
    run = Run.open(path)
    run.poll()
    for step in range(4, 9):
        with path.open("a") as handle:
            handle.write(rows(step, step))
        os.utime(path, (1e9, 1e9))
        assert run.poll() and run.steps()[-1] == step
    assert not run.poll()


def test_a_restart_that_truncates_and_one_that_replaces(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(rows(1, 9))
    run = Run.open(path)
    run.poll()
    path.write_text(rows(1, 2))
    run.poll()
    assert run.steps() == [1, 2]
    other = tmp_path / "new"
    other.write_text(rows(5, 9))
    other.replace(path)
    run.poll()
    assert run.steps() == [5, 6, 7, 8, 9]


def test_many_files_at_once(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"run{i}").mkdir()
        (tmp_path / f"run{i}" / "train.log").write_text(rows(1, 2))
    runs = [Run.open(tmp_path / f"run{i}") for i in range(20)]
    for step in range(3, 8):
        for i, run in enumerate(runs):
            run.poll()
            with (tmp_path / f"run{i}" / "train.log").open("a") as handle:
                handle.write(rows(step, step))
    for run in runs:
        run.poll(final=True)
        assert run.steps() == list(range(1, 8))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=some.integers(0, 2**32 - 1))
def test_writers_that_interleave_give_what_reading_once_gives(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Two files of one run grow a few bytes at a time, with polls between; the order does not matter."""
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp("run")
    table = "".join(f'{{"step": {step}, "reward": 0.{step:03}, "kl": 0.5}}\n' for step in range(1, 30))
    pieces = {"train.log": rows(1, 30).encode(), "metrics.jsonl": table.encode()}
    sent = dict.fromkeys(pieces, 0)
    for name, data in pieces.items():
        sent[name] = chance.randrange(300, 500)
        (folder / name).write_bytes(data[: sent[name]])
    run = Run.open(folder)
    while any(sent[name] < len(data) for name, data in pieces.items()):
        name = chance.choice(list(pieces))
        size = chance.choice([1, 7, 50, 400])
        with (folder / name).open("ab") as handle:
            handle.write(pieces[name][sent[name] : sent[name] + size])
        sent[name] += size
        if chance.random() < 0.5:
            run.poll()
    run.poll(final=True)
    whole = Run.open(folder)
    whole.poll(final=True)
    assert run.steps() == whole.steps() == list(range(1, 31))
    assert {name: run.points(name).values.tolist() for name in run.names()} == {
        name: whole.points(name).values.tolist() for name in whole.names()
    }


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_an_archive_is_only_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"train.log.{kind}"
    if kind == "gz":
        path.write_bytes(gzip.compress(rows(1, 9).encode()))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        path.write_bytes(pyarrow.compress(rows(1, 9).encode(), codec="zstd", asbytes=True))
    path.chmod(stat.S_IRUSR)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    try:
        for given_path in (path, tmp_path):
            run = Run.open(given_path)
            run.poll(final=True)
            assert run.steps() == list(range(1, 10)), given_path
    finally:
        tmp_path.chmod(stat.S_IRWXU)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
