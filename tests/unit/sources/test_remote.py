"""Runs elsewhere: the same tree, only new bytes, rewrites noticed, a lost connection told in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.errors import SeveralRuns, SourceError
from grpo_tui.sources.remote import Mirror, is_remote
from grpo_tui.sources.remote.address import address_of, shown

fsspec = pytest.importorskip("fsspec")


def rows(*steps: int) -> bytes:
    return b"".join(json.dumps({"step": i, "reward": i / 10}).encode() + b"\n" for i in steps)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """fsspec's in-memory file system, emptied, with our own files in a folder of the test."""
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    yield fs
    fs.store.clear()


def read(run: Run) -> list[float]:
    while run.poll():
        pass
    run.poll(final=True)
    return [float(step) for step in run.points("reward_mean").steps]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("sftp://host/run", True),
        ("s3:/bucket/run", True),
        ("memory://run", True),
        ("C:/logs", False),
        ("outputs/run", False),
        ("-", False),
    ],
)
def test_what_is_an_address(text: str, is_one: bool) -> None:
    assert is_remote(text) is is_one


def test_an_address_that_became_a_path_is_one_again() -> None:
    assert address_of(Path("s3://bucket/run")) == "s3://bucket/run"
    assert shown("sftp://me:secret@host/run") == "sftp://me:…@host/run"


def test_a_folder_elsewhere_reads_like_one_here(memory: Any) -> None:
    memory.pipe("/run/metrics.jsonl", rows(1, 2, 3))
    memory.pipe("/run/.hydra/config.yaml", b"actor_rollout_ref:\n  rollout:\n    n: 16\n")
    memory.pipe("/run/rollouts/2.jsonl", b'{"input": "p", "output": "o", "score": 1.0, "step": 2}\n' * 2)
    memory.pipe("/run/checkpoint-3/model.safetensors", b"x" * 1000)
    run = Run.open("memory://run")
    assert read(run) == [1, 2, 3]
    assert run.address == "memory://run" and run.config["group_size"].value == 16
    assert [path.name for path in run.rollout_files()] == ["2.jsonl"]
    assert run.found.mirror is not None and run.found.mirror.fetched < 1000, "weights stay where they are"


def test_only_new_bytes_come_over_the_wire(memory: Any) -> None:
    memory.pipe("/run/metrics.jsonl", rows(*range(1, 1001)))
    run = Run.open("memory://run")
    assert len(read(run)) == 1000
    mirror = run.found.mirror
    assert mirror is not None
    before = mirror.fetched
    memory.pipe("/run/metrics.jsonl", rows(*range(1, 1002)))
    assert read(run)[-1] == 1001
    assert mirror.fetched - before <= len(rows(1001)) + 64
    assert mirror.sync(whole=True) == 0, "nothing new costs no bytes"


def test_the_next_session_goes_on_where_this_one_ended(memory: Any) -> None:
    memory.pipe("/run/metrics.jsonl", rows(*range(1, 1001)))
    first = Run.open("memory://run")
    read(first)
    assert first.found.mirror is not None
    first.found.mirror.release()
    second = Run.open("memory://run")
    assert len(read(second)) == 1000
    assert second.found.mirror is not None and second.found.mirror.fetched <= 128


def test_a_file_written_anew_starts_again(memory: Any) -> None:
    memory.pipe("/run/metrics.jsonl", rows(1, 2, 3))
    run = Run.open("memory://run")
    read(run)
    memory.pipe("/run/metrics.jsonl", rows(7, 8, 9, 10, 11))
    assert read(run) == [7, 8, 9, 10, 11]
    memory.pipe("/run/metrics.jsonl", rows(1))
    assert read(run) == [1]


def test_a_single_file_takes_the_configuration_beside_it(memory: Any) -> None:
    memory.pipe("/run/train.jsonl", rows(1, 2))
    memory.pipe("/run/training_args.json", b'{"num_generations": 4, "beta": 0.0}')
    run = Run.open("memory://run/train.jsonl")
    assert read(run) == [1, 2] and run.config["group_size"].value == 4


def test_people_see_addresses_never_the_mirror(memory: Any, tmp_path: Path) -> None:
    from grpo_tui.explain import explain
    from grpo_tui.summary import show_report

    memory.pipe("/run/metrics.jsonl", rows(1, 2))
    memory.pipe("/run/broken/training_args.json", b"{")
    run = Run.open("memory://run")
    read(run)
    said = json.dumps(show_report(run)) + str(explain(run, "reward_mean"))
    assert "memory://run/metrics.jsonl" in said and str(tmp_path) not in said


def test_several_runs_are_named_by_their_addresses(memory: Any) -> None:
    memory.pipe("/all/a/metrics.jsonl", rows(1, 2))
    memory.pipe("/all/b/metrics.jsonl", rows(1, 2))
    with pytest.raises(SeveralRuns, match="memory://all/a") as several:
        Run.open("memory://all")
    assert read(Run.open(several.value.paths[0])) == [1, 2]


def test_a_lost_connection_is_one_line_and_is_tried_again(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/run/metrics.jsonl", rows(1, 2))
    run = Run.open("memory://run")
    read(run)

    def lost(*_: object, **__: object) -> None:
        raise ConnectionResetError("reset by peer")

    with monkeypatch.context() as patched:
        patched.setattr(type(memory), "ls", lost)
        patched.setattr(type(memory), "info", lost)
        assert read(run) == [1, 2], "what was read stays"
        assert sum("connection lost (reset by peer)" in text for text in run.warnings) == 1
    memory.pipe("/run/metrics.jsonl", rows(1, 2, 3))
    assert read(run) == [1, 2, 3]
    assert not any("connection lost" in text for text in run.warnings)


def test_a_live_run_is_followed_in_a_thread(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    from grpo_tui.sources.remote import mirror as module

    monkeypatch.setattr(module, "SOONEST", 0.02)
    memory.pipe("/run/metrics.jsonl", rows(1))
    run = Run.open("memory://run")
    run.poll()
    memory.pipe("/run/metrics.jsonl", rows(1, 2))
    until = time.monotonic() + 5
    while len(run.points("reward_mean")) < 2 and time.monotonic() < until:
        run.poll()
        time.sleep(0.01)
    assert len(run.points("reward_mean")) == 2
    assert run.found.mirror is not None
    run.found.mirror.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory://nowhere", "no such file or folder"),
        ("nosuchthing://host/run", "is no address that fsspec knows"),
        ("memory://empty", "no such file or folder"),
    ],
)
def test_one_line_for_what_cannot_be_read(memory: Any, address: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as error:
        Run.open(address)
    assert "\n" not in str(error.value) and str(error.value).startswith(address)


def test_a_missing_package_is_named(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(SourceError, match=r"pip install 'grpo-tui\[remote\]'"):
        Mirror("sftp://host/run")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "fsspec.implementations.sftp", None)
    with pytest.raises(SourceError, match="pip install paramiko"):
        Mirror("sftp://host/run")


def test_a_file_address_is_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(rows(1, 2))
    run = Run.open(f"file://{tmp_path}")
    assert read(run) == [1, 2] and run.found.mirror is None


def test_the_runs_of_a_tree_elsewhere(
    memory: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from grpo_tui.cli import main

    memory.pipe("/all/a/metrics.jsonl", rows(*range(1, 400)))
    memory.pipe("/all/deep/b/metrics.jsonl", rows(1, 2))
    assert main(["runs", "memory://all/"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == ["memory://all/a", "memory://all/deep/b"]
    assert "step 399" in said and str(tmp_path) not in said
    assert main(["runs", "memory://nothing"]) == 2
    assert "memory://nothing: no such file or folder there" in capsys.readouterr().err


def test_a_report_names_the_address(memory: Any, tmp_path: Path) -> None:
    from grpo_tui.cli import main

    memory.pipe("/run/metrics.jsonl", rows(*range(1, 30)))
    out = tmp_path / "i.md"
    assert main(["report", "memory://run", "--out", str(out)]) == 0
    assert "memory://run" in out.read_text() and str(tmp_path / "state") not in out.read_text()
