"""Curves counted in rollout files: what they say, in helpings, never before the metrics, never twice."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.records import Group, Response
from grpo_tui.sources.rollouts import curves as rollout_curves
from grpo_tui.sources.rollouts.curves import RolloutCurves, facts_of, spread


def group(*rewards: float | None, **extra: Any) -> Group:
    return Group(1, "p", tuple(Response(f"text {i}", reward, {}, extra) for i, reward in enumerate(rewards)))


def dump(path: Path, *groups: Sequence[float], **extra: Any) -> None:
    rows = [
        {"input": f"prompt {i}", "output": f"answer {j}", "score": score, "step": int(path.stem)} | extra
        for i, scores in enumerate(groups)
        for j, score in enumerate(scores)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (time.time() - 60, time.time() - 60))


def verl_run(folder: Path, steps: int) -> Run:
    lines = [
        f"step:{i} - actor/pg_loss:0.1 - critic/score/mean:0.5 - training/global_step:{i}"
        for i in range(1, steps + 1)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    return Run.open(folder)


class TestOneStep:
    def test_equal_groups_are_split_in_three(self) -> None:
        found = facts_of([group(1, 1), group(0, 0), group(0.5, 0.5), group(0, 1)])
        assert found["zero_std_group_frac"] == 0.75 and found["group_size"] == 2
        shares = [found[f"{which}_group_frac"] for which in ("all_right", "all_wrong", "other_equal")]
        assert shares == [0.25, 0.25, 0.25]

    def test_advantages_suffice_for_the_share_but_not_for_the_split(self) -> None:
        flat = Group(1, "p", tuple(Response("t", None, {}, {"advantage": 0.0}) for _ in range(4)))
        live = Group(1, "q", tuple(Response("t", None, {}, {"advantage": a}) for a in (1.0, -1.0)))
        found = facts_of([flat, live])
        assert found["zero_std_group_frac"] == 0.5 and "all_right_group_frac" not in found

    def test_spreads_of_the_batch_and_within_groups_differ(self) -> None:
        found = facts_of([group(1, 1), group(0, 0)])
        assert found["reward_std"] == pytest.approx(0.57735, abs=1e-5) and found["group_reward_std"] == 0

    def test_truncation_only_where_responses_say_why_they_ended(self) -> None:
        assert "truncation_ratio_true" not in facts_of([group(1, 0, 1, 0)])
        assert facts_of([group(1, 0, 1, 0, finish_reason="length")])["truncation_ratio_true"] == 1
        assert facts_of([group(1, 0, 1, 0, is_truncated=False)])["truncation_ratio_true"] == 0

    def test_lengths_against_the_limit_where_the_dump_counts_tokens(self) -> None:
        held = [group(1, response_tokens=n) for n in (512, 512, 100, 300)]
        assert facts_of(held, 512)["truncation_ratio_true"] == 0.5
        assert facts_of(held)["response_length_max"] == 512 and "truncation_ratio_true" not in facts_of(held)

    def test_own_log_probabilities_and_their_distance_to_the_engine(self) -> None:
        held = group(
            1,
            prev_logprobs=[-1.0, -2.0, -9.0],
            generation_logprobs=[-1.0, -1.0, 0.0],
            token_loss_mask=[1, 1, 0],
        )
        found = facts_of([held])
        assert found["neg_logp_mean"] == 1.5 and found["is_ratio_max"] == 1
        assert found["is_ratio_min"] == pytest.approx(0.367879, abs=1e-6)

    def test_nothing_is_said_of_nothing(self) -> None:
        assert facts_of([group(None, None)]).keys() == {"responses", "group_size"}
        assert "zero_std_group_frac" not in facts_of([group(1.0)]), "a group of one has no spread to lack"


class TestRuns:
    def test_they_are_derived_and_marked(self, tmp_path: Path) -> None:
        run = verl_run(tmp_path / "run", 3)
        for step in (1, 2, 3):
            dump(tmp_path / "run" / "rollouts" / f"{step}.jsonl", [1, 1], [0, 1], [0, 0], [1, 0])
        run = Run.open(tmp_path / "run")
        run.poll(final=True)
        assert run.points("zero_std_group_frac").values.tolist() == [0.5, 0.5, 0.5]
        assert run.points("effective_group_frac").values.tolist() == [0.5, 0.5, 0.5]
        assert {"zero_std_group_frac", "all_wrong_group_frac", "group_size", "reward_std"} <= set(run.derived)
        assert "zero_std_group_frac" not in run.names()
        assert (
            run.derivation("group_size").formula == "counted in the rollouts of the step (3 of 3 files read)"
        )

    def test_a_logged_curve_stays(self, tmp_path: Path) -> None:
        (tmp_path / "m.jsonl").write_text('{"step": 1, "reward": 1, "frac_reward_zero_std": 0.1}\n')
        dump(tmp_path / "rollouts" / "1.jsonl", [1, 1], [0, 0])
        run = Run.open(tmp_path)
        run.poll(final=True)
        assert run.points("zero_std_group_frac").values.tolist() == [0.1]

    def test_steps_that_the_newest_segment_has_not_reached_are_left_out(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        verl_run(folder, 2)
        for step in (1, 2, 9):
            dump(folder / "rollouts" / f"{step}.jsonl", [1, 1], [0, 1])
        run = Run.open(folder)
        run.poll(final=True)
        assert run.points("group_size").steps.tolist() == [1, 2]

    def test_the_first_rows_do_not_wait_for_rollouts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "run"
        verl_run(folder, 2)
        dump(folder / "rollouts" / "1.jsonl", [1, 1])
        read: list[Path] = []
        real = rollout_curves.read_groups
        monkeypatch.setattr(rollout_curves, "read_groups", lambda path: read.append(path) or real(path))
        run = Run.open(folder)
        assert run.poll() and read == []
        assert not run.poll() and len(read) == 1, "an idle poll takes a helping"
        run.poll()
        assert len(read) == 1, "and none twice"

    def test_dumps_that_appear_later_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rollout_curves, "LOOK_AGAIN", 0.0)
        folder = tmp_path / "run"
        verl_run(folder, 5)
        dump(folder / "rollouts" / "1.jsonl", [1, 1], [0, 0])
        run = Run.open(folder)
        while run.poll():
            pass
        run._derivations.curves._pause = 0.0
        dump(folder / "rollouts" / "2.jsonl", [1, 0], [0, 0])
        revision = run.revision
        run.poll()
        assert run.points("zero_std_group_frac").values.tolist() == [1.0, 0.5] and run.revision > revision

    @pytest.mark.parametrize("name", ["validation", "val_rollouts", "rollouts-eval", "test"])
    def test_validation_dumps_do_not_count(self, tmp_path: Path, name: str) -> None:
        folder = tmp_path / "run"
        verl_run(folder, 2)
        dump(folder / name / "1.jsonl", [1, 1])
        run = Run.open(folder)
        run.poll(final=True)
        assert len(run.points("group_size")) == 0


class TestHelpings:
    @pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 33])
    def test_the_order_covers_the_run_evenly(self, count: int) -> None:
        order = spread(count)
        assert sorted(order) == list(range(count))
        assert order[:1] == ([count - 1] if count else [])

    def test_a_reading_at_once_is_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rollout_curves, "MOST_AT_ONCE", 8)
        files = [tmp_path / "rollouts" / f"{step}.jsonl" for step in range(1, 101)]
        for file in files:
            dump(file, [1, 0])
        curves = RolloutCurves(lambda: files)
        assert curves.read(final=True) and curves.coverage == (8, 100)
        steps = curves.points("group_size").steps.tolist()
        assert steps[0] == 1 and steps[-1] == 100 and any(40 < step < 60 for step in steps)

    def test_a_file_that_is_still_written_waits(self, tmp_path: Path) -> None:
        file = tmp_path / "rollouts" / "1.jsonl"
        dump(file, [1, 0])
        os.utime(file)
        curves = RolloutCurves(lambda: [file])
        assert not curves.read() and curves.read(final=True)

    def test_a_broken_file_is_passed_over(self, tmp_path: Path) -> None:
        good, bad = tmp_path / "1.jsonl", tmp_path / "2.parquet"
        dump(good, [1, 0])
        bad.write_bytes(b"PAR1 no")
        curves = RolloutCurves(lambda: [good, bad])
        curves.read(final=True)
        assert curves.points("group_size").steps.tolist() == [1]
