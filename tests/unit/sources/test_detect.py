"""What is found at a path: files by content, run directories, trees of runs, and clear refusals."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.search.detect import SeveralRuns, SourceError, find_run, find_runs, rollout_files

VERL = "step:1 - actor/lr:1e-06 - critic/score/mean:0.5\nstep:2 - actor/lr:1e-06 - critic/score/mean:0.6\n"
TRL = "{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}\n{'loss': 0.4, 'reward': 1.5, 'epoch': 0.2}\n"
ROLLOUT = '{"input": "1+1", "output": "2", "score": 1.0, "step": 1}\n'


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def state(step: int) -> str:
    rows = [{"step": i, "loss": 0.5, "reward": float(i)} for i in range(1, step + 1)]
    return json.dumps({"global_step": step, "max_steps": 100, "log_history": rows}, indent=1)


def names(path: Path) -> list[str]:
    return [source.reader.name for source in find_run(path).sources]


class TestFiles:
    @pytest.mark.parametrize(
        ("content", "name"),
        [
            (VERL, "verl-console"),
            (TRL, "trl-console"),
            (state(3), "trainer-state"),
            ("step,loss\n1,0.5\n", "csv"),
            ('{"step": 1, "data": {"actor/lr": 1}}\n', "verl-file"),
            ('{"step": 1, "reward": 1}\n', "jsonl"),
            ('[{"step": 1, "reward": 1}]', "json-table"),
            ("nothing known\n", "console"),
        ],
    )
    def test_by_content_whatever_the_name(self, tmp_path: Path, content: str, name: str) -> None:
        assert names(write(tmp_path / "output.dat", content)) == [name]

    def test_metrics_far_below_the_start(self, tmp_path: Path) -> None:
        run = Run.open(write(tmp_path / "a.log", "a long story\n" * 60_000 + VERL))
        run.poll(final=True)
        assert run.steps() == [1, 2] and run.tracks[0].source.reader.name == "verl-console"

    @pytest.mark.parametrize(
        ("name", "content", "word"),
        [
            ("a.log", b"", "empty"),
            ("a.log", b" \n\n", "empty"),
            ("a.bin", b"\x80\x04abc", "pickle"),
            ("training_args.bin", b"PK\x03\x04", "pickle"),
            ("a.db", b"SQLite format 3\0", "trackio"),
            ("a.png", bytes(range(256)) * 20, "binary"),
        ],
    )
    def test_refusals_are_one_clear_line(self, tmp_path: Path, name: str, content: bytes, word: str) -> None:
        path = write(tmp_path / name, content)
        with pytest.raises(SourceError) as raised:
            find_run(path)
        assert word in str(raised.value) and str(path) in str(raised.value) and "\n" not in str(raised.value)

    def test_a_wrong_path_names_a_near_one(self, tmp_path: Path) -> None:
        write(tmp_path / "train.log", VERL)
        with pytest.raises(SourceError, match=r"did you mean .*train\.log"):
            find_run(tmp_path / "train.txt")
        with pytest.raises(SourceError, match="no folder"):
            find_run(tmp_path / "a" / "b" / "c.log")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_an_unreadable_file(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.log", VERL)
        path.chmod(0)
        with pytest.raises(SourceError, match="owner and mode"):
            find_run(path)

    def test_an_empty_file_may_be_about_to_be_written(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.log", "")
        run = Run.open(path, live=True)
        assert run.poll() == []
        write(path, VERL)
        run.poll()
        assert run.steps() == [1, 2] and run.framework == "verl"

    def test_responses_are_rollouts_not_metrics(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", ROLLOUT)
        found = find_run(path)
        assert not found.sources and found.rollouts == [path] and found.warnings

    def test_the_arguments_beside_a_console_give_the_interval(self, tmp_path: Path) -> None:
        write(tmp_path / "training_args.json", '{"logging_steps": 5, "max_steps": 10}')
        run = Run.open(write(tmp_path / "a.log", TRL))
        run.poll(final=True)
        assert run.steps() == [5, 10] and run.total_steps == 10


class TestDirectories:
    def test_a_verl_run(self, tmp_path: Path) -> None:
        write(tmp_path / "train.log", VERL)
        write(tmp_path / "project" / "experiment.jsonl", '{"step": 1, "data": {"actor/lr": 1e-06}}\n')
        write(
            tmp_path / "outputs/2026-01-01/10-00-00/.hydra/overrides.yaml", "- algorithm.adv_estimator=grpo\n"
        )
        write(tmp_path / "outputs/2026-01-01/10-00-00/main_ppo.log", "")
        write(tmp_path / "rollouts/10.jsonl", ROLLOUT)
        write(tmp_path / "rollouts/9.jsonl", ROLLOUT)
        write(tmp_path / "requirements.txt", "verl==0.7.0\ntorch==2.8.0\n")
        found = find_run(tmp_path)
        assert [source.reader.name for source in found.sources] == ["verl-file", "verl-console"]
        assert [path.name for path in found.rollouts] == ["9.jsonl", "10.jsonl"]
        assert found.origin is not None and (found.origin.framework, found.origin.version) == (
            "verl",
            "0.7.0",
        )
        run = Run(found)
        run.poll(final=True)
        assert run.config["adv_estimator"].value == "grpo" and run.framework_version == "0.7.0"

    def test_only_the_newest_checkpoint_counts_and_is_followed(self, tmp_path: Path) -> None:
        for step in (5, 10):
            write(tmp_path / f"checkpoint-{step}/trainer_state.json", state(step))
        run = Run.open(tmp_path)
        run.poll()
        assert len(run.tracks) == 1 and run.steps()[-1] == 10
        write(tmp_path / "checkpoint-15/trainer_state.json", state(15))
        run.poll()
        assert run.steps() == list(range(1, 16)) and len(run.segments) == 1
        assert run.tracks[0].source.path.parent.name == "checkpoint-15"

    def test_old_checkpoints_of_an_earlier_run_are_left(self, tmp_path: Path) -> None:
        old = write(tmp_path / "checkpoint-90/trainer_state.json", state(90))
        write(tmp_path / "checkpoint-5/trainer_state.json", state(5))
        os.utime(old, (1, 1))
        run = Run.open(tmp_path)
        run.poll()
        assert run.steps()[-1] == 5

    def test_a_console_log_beside_the_folder_belongs_to_it(self, tmp_path: Path) -> None:
        write(tmp_path / "mine/checkpoint-2/trainer_state.json", state(2))
        write(tmp_path / "mine/completions/completions_00001.parquet", "")
        log = write(tmp_path / "mine.console.log", TRL)
        assert names(tmp_path / "mine") == ["trainer-state", "trl-console"]
        assert names(tmp_path) == ["trainer-state", "trl-console"]
        assert [path.name for path in find_run(log).rollouts] == ["completions_00001.parquet"]

    def test_several_runs_are_refused_with_their_paths(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            write(tmp_path / name / "train.log", VERL)
        with pytest.raises(SeveralRuns) as raised:
            find_run(tmp_path)
        assert {path.name for path in raised.value.paths} == {"a", "b"}
        assert set(find_runs(tmp_path)) == {tmp_path / "a", tmp_path / "b"}

    def test_two_logs_of_one_dialect_in_a_folder_are_two_runs(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            write(tmp_path / f"{name}.csv", "step,loss,reward\n1,0.5,1\n")
        with pytest.raises(SeveralRuns) as raised:
            find_run(tmp_path)
        assert len(raised.value.paths) == 2

    def test_stores_that_were_only_just_begun_belong_to_the_run(self, tmp_path: Path) -> None:
        write(tmp_path / "train.log", VERL)
        write(tmp_path / "runs/x/events.out.tfevents.1", b"\x18\0")
        write(tmp_path / "wandb/run-1/run-1.wandb", b":W&B")
        found = find_run(tmp_path)
        assert [source.reader.name for source in found.sources] == ["wandb", "tensorboard", "verl-console"]
        assert not found.warnings and all(source.poll() is not None for source in found.sources)

    def test_nothing_to_read(self, tmp_path: Path) -> None:
        write(tmp_path / "notes.md", "hello")
        with pytest.raises(SourceError, match="no log"):
            find_run(tmp_path)
        assert find_runs(tmp_path) == []

    def test_rollouts_that_come_later_are_listed(self, tmp_path: Path) -> None:
        write(tmp_path / "train.log", VERL)
        found = find_run(tmp_path)
        assert rollout_files(found) == []
        path = write(tmp_path / "rollouts/1.jsonl", ROLLOUT)
        assert rollout_files(found) == [path]
