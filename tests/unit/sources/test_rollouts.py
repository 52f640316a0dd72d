"""Sampled responses: grouping, pure facts, and files that are broken or dangerous."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from grpo_tui.sources.errors import SourceError
from grpo_tui.sources.records import Group, Response
from grpo_tui.sources.rollouts.facts import facts, near_identical
from grpo_tui.sources.rollouts.groups import Skipped, index, looks_like_rollouts, read_groups


def dump(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def group(*scored: tuple[float | None, str]) -> Group:
    return Group(1, "prompt", tuple(Response(text, reward) for reward, text in scored))


class TestReading:
    def test_groups_by_prompt(self, tmp_path: Path) -> None:
        rows = [
            {
                "input": prompt,
                "output": f"{prompt}{i}",
                "gts": "2",
                "score": float(i),
                "step": 7,
                "acc": i,
                "pred": "x",
            }
            for i in range(2)
            for prompt in ("a", "b")
        ]
        first, second = read_groups(dump(tmp_path / "7.jsonl", rows))
        assert (first.step, first.prompt, first.gold) == (7, "a", "2")
        assert [response.reward for response in second.responses] == [0.0, 1.0]
        assert first.responses[1].parts == {"acc": 1.0} and first.responses[0].extra["pred"] == "x"

    def test_groups_by_uid_where_prompts_repeat(self, tmp_path: Path) -> None:
        rows = [
            {"input": "same", "output": "o", "score": 1.0, "step": 1, "uid": f"u{i % 2}-x_{i}_0"}
            for i in range(4)
        ]
        assert [len(group.responses) for group in read_groups(dump(tmp_path / "1.jsonl", rows))] == [2, 2]

    def test_conversations_and_reward_parts_of_trl(self, tmp_path: Path) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet as parquet

        rows = [
            {
                "step": 5,
                "prompt": [{"role": "user", "content": "2+2"}],
                "completion": [{"role": "assistant", "content": t}],
                "accuracy": a,
                "format": f,
                "advantage": 0.0,
            }
            for t, a, f in (("4", 1.0, 0.5), ("5", 0.0, None))
        ]
        path = tmp_path / "completions_00005.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        (found,) = read_groups(path)
        assert (found.step, found.prompt) == (5, "2+2")
        assert [(response.text, response.reward) for response in found.responses] == [("4", 1.5), ("5", 0.0)]

    def test_a_line_of_columns(self, tmp_path: Path) -> None:
        path = dump(
            tmp_path / "3.jsonl", [{"prompt": ["a", "a"], "response": ["x", "y"], "score": [1, 0], "step": 3}]
        )
        (found,) = read_groups(path)
        assert [response.text for response in found.responses] == ["x", "y"]

    def test_broken_lines_are_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "1.jsonl"
        path.write_bytes(
            b'{"input": "a", "output": "b", "score": NaN, "step": 1}\n{"input": "a", "outp\n7\n\xff\n'
        )
        skipped = Skipped()
        (found,) = read_groups(path, skipped)
        assert len(found.responses) == 1 and skipped.lines == 3

    def test_a_pickle_is_refused_with_a_way_out(self, tmp_path: Path) -> None:
        path = tmp_path / "rollout_1.pt"
        path.write_bytes(pickle.dumps([1]))
        with pytest.raises(SourceError, match="JSON Lines"):
            list(read_groups(path))

    def test_a_table_that_is_still_written(self, tmp_path: Path) -> None:
        path = tmp_path / "completions_00001.parquet"
        path.write_bytes(b"PAR1")
        with pytest.raises(SourceError, match="still be written"):
            list(read_groups(path))
        assert index([path]) == ([], 0)

    def test_what_looks_like_rollouts(self, tmp_path: Path) -> None:
        assert looks_like_rollouts(dump(tmp_path / "a", [{"prompt": "a", "completion": "b"}]))
        assert not looks_like_rollouts(dump(tmp_path / "b", [{"step": 1, "reward": 0.5}]))


class TestFacts:
    def test_zero_variance_is_split_by_where_it_is(self) -> None:
        groups = [
            group((1.0, "a"), (1.0, "b")),
            group((0.0, "a"), (0.0, "b")),
            group((0.5, "a"), (0.5, "b")),
            group((0.0, "a"), (1.0, "b")),
        ]
        found = facts(groups)
        assert (found.zero_variance, found.all_right, found.all_wrong, found.other_equal) == (
            0.75,
            0.25,
            0.25,
            0.25,
        )
        assert (found.groups, found.responses, found.distinct_texts) == (4, 8, 2)

    @pytest.mark.parametrize(
        ("reward", "right", "wrong"), [(1.0, 1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 1.0)]
    )
    def test_a_batch_without_any_spread(self, reward: float, right: float, wrong: float) -> None:
        found = facts([group((reward, "a"), (reward, "b"))] * 3)
        assert (found.all_right, found.all_wrong) == (right, wrong)

    def test_groups_of_one_and_unscored_responses_share_nothing(self) -> None:
        found = facts([group((1.0, "a")), group((None, ""), (None, "b"))])
        assert found.zero_variance is None and found.empty_texts == 1

    def test_nothing(self) -> None:
        assert facts([]).groups == 0 and facts([]).near_identical is None

    def test_near_identical_responses(self) -> None:
        words = " ".join(f"word{i}" for i in range(200))
        assert near_identical(group((1, "The answer is 4"), (0, "the  answer is 4\n"))) == 1.0
        assert near_identical(group((1, words), (0, words + " end"))) == 1.0
        assert near_identical(group((1, words), (0, words[::-1]))) == 0.0
        assert facts([group((1, "a b"), (0, "a b")), group((1, "x"), (0, "y"))]).near_identical == 0.5
