"""Rollout dumps of other dialects, written as their frameworks write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.rollouts.facts import facts
from grpo_tui.sources.rollouts.groups import looks_like_rollouts, newest_groups, read_groups, step_of
from grpo_tui.sources.search.detect import SourceError, find_run


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def nemo(prompt: str, answer: str, reward: float, ids: list[int]) -> dict[str, Any]:
    """`log_batched_dict_as_jsonl` walks micro-batches of one: every value is a list of one."""
    text = f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>"
    return {
        "content": [text],
        "rewards": [reward],
        "input_lengths": [len(ids) + 3],
        "token_ids": [[*ids, 7, 8, 9]],
        "token_loss_mask": [[0] * len(ids) + [1, 1, 1]],
        "sample_loss_mask": [1.0],
        "advantages": [[0.0] * (len(ids) + 3)],
        "generation_logprobs": [[-0.5] * (len(ids) + 3)],
        "prev_logprobs": [[-0.4] * (len(ids) + 3)],
        "idx": 0,
    }


def test_nemo_rl(tmp_path: Path) -> None:
    rows = [nemo("2+2", text, reward, [1, 2]) for text, reward in ((r"\boxed{4}", 1.0), (r"\boxed{5}", 0.0))]
    rows += [nemo("3+3", r"It is \boxed{6}", 1.0, [1, 3])] * 2
    path = lines(tmp_path / "exp_001" / "train_data_step12.jsonl", rows)
    first, second = read_groups(path)
    assert (first.step, first.prompt.endswith("assistant\n")) == (12, True) and "2+2" in first.prompt
    assert [(one.text, one.reward) for one in first.responses] == [
        (r"\boxed{4}<|im_end|>", 1.0),
        (r"\boxed{5}<|im_end|>", 0.0),
    ]
    assert first.responses[0].parts == {} and len(second.responses) == 2
    assert first.responses[0].extra["generation_logprobs"] == [-0.5] * 5
    found = facts([first, second])
    assert (found.zero_variance, found.all_right, found.near_identical) == (0.5, 0.5, 0.5)
    assert found.tokens is not None and found.tokens.median == 3 and found.truncated is None
    assert found.answers[0] == ("6", 0.5)


def episode(group: str, answer: str, score: float, stop: str | None = None) -> dict[str, Any]:
    nodes = [
        {"message": {"role": "user", "content": [{"type": "text", "text": "2+2"}]}, "mask": [False, False]},
        {
            "message": {"role": "assistant", "content": answer, "reasoning_content": "hm"},
            "sampled": True,
            "mask": [False, True, True],
        },
    ]
    trace = {
        "id": "t", "agent": {"name": "solver"}, "task": {"type": "T", "data": {"answer": "4"}, "key": "k"},
        "nodes": nodes, "calls": [{"finish_reason": "stop"}],
        "rewards": {
            "correct": {"score": score, "weight": 1.0}, "style": {"score": 1.0, "weight": 0.5}, "none": None,
        },
        "metrics": {"turns": 1.0}, "info": {"advantage": 0.5}, "stop_condition": stop, "errors": [],
    }  # fmt: skip
    return {
        "id": "e",
        "env": {"id": "math"},
        "task": {"type": "T", "data": {}},
        "group": {"id": group},
        "traces": [trace],
    }


def test_prime_rl(tmp_path: Path) -> None:
    for step in (2, 10):
        for kind, subset in (("train", "all"), ("train", "effective"), ("eval", "all")):
            rows = [
                episode("g1", "4", 1.0),
                episode("g1", "5", 0.0, "max_output_tokens"),
                episode("g2", "4", 1.0),
            ]
            lines(tmp_path / "rollouts" / f"step_{step}" / kind / subset / "traces.jsonl", rows)
    lines(
        tmp_path / "metrics.jsonl", [{"step": 1, "time": 1.0, "optim/lr": 1e-6, "mismatch_kl/all/mean": 0.1}]
    )
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert [step_of(path) for path in run.rollout_files()] == [2, 10, 2, 10]
    assert "train" in run.rollout_files()[-1].parts and run.framework == "prime-rl"
    groups = newest_groups(run.rollout_files())
    assert [len(group.responses) for group in groups] == [2, 1] and {group.step for group in groups} == {10}
    first = groups[0].responses[0]
    assert (groups[0].prompt, groups[0].gold) == ("2+2", "4")
    assert (first.text, first.reward, first.parts) == ("hm\n4", 1.5, {"correct": 1.0, "style": 0.5})
    found = facts(groups)
    assert found.truncated == pytest.approx(1 / 3) and found.tokens is not None and found.tokens.most == 2
    assert found.parts == {"correct": pytest.approx(2 / 3), "style": 0.5}


def test_skyrl_evaluations(tmp_path: Path) -> None:
    rows = [
        {"input_prompt": "2+2", "output_response": text, "score": score, "stop_reason": stop,
         "env_class": "gsm8k", "env_extras": {"reward_spec": {}}, "data_source": "gsm8k"}
        for text, score, stop in (("#### 4", 1.0, "stop"), ("#### 5", 0.0, "length"))
    ]  # fmt: skip
    folder = tmp_path / "dumped_evals" / "global_step_5_evals"
    lines(folder / "gsm8k.jsonl", rows)
    lines(folder / "aggregated_results.jsonl", [{"eval/gsm8k/avg_score": 0.5, "eval/gsm8k/pass_at_1": 0.5}])
    found = find_run(tmp_path)
    assert not found.sources and [path.name for path in found.rollouts] == ["gsm8k.jsonl"]
    (group,) = read_groups(found.rollouts[0])
    assert group.step == 5 and facts([group]).truncated == 0.5 and facts([group]).answers[0][0] == "4"


def test_art_tables_and_lines(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    def message(role: str, text: str, own: bool) -> dict[str, Any]:
        return {"role": role, "content": text, "tool_calls": None, "tool_call_id": None, "trainable": own}

    rows = [
        {
            "group_index": group, "group_metadata": None, "reward": reward,
            "metrics": json.dumps({"correct": reward}), "metadata": json.dumps({"task": "t"}),
            "messages": [message("user", "2+2", False), message("assistant", text, True)],
        }
        for group, text, reward in ((0, "4", 1.0), (0, "5", 0.0), (1, "4", 1.0))
    ]  # fmt: skip
    path = tmp_path / "trajectories" / "train" / "0012.parquet"
    path.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    old = lines(
        tmp_path / "trajectories" / "train" / "0011.jsonl",
        [{"trajectories": [
            {"reward": reward, "metrics": {"correct": reward}, "metadata": {}, "messages_and_choices": [
                {"role": "user", "content": "2+2"},
                {"finish_reason": end, "index": 0, "message": {"role": "assistant", "content": text}},
            ]} for text, reward, end in (("4", 1.0, "stop"), ("5", 0.0, "length"))
        ]}],
    )  # fmt: skip
    assert find_run(tmp_path).rollouts == [old, path]
    first, second = read_groups(path)
    assert (first.step, first.prompt, len(first.responses), len(second.responses)) == (12, "2+2", 2, 1)
    assert first.responses[0].parts == {"correct": 1.0} and first.responses[0].text == "4"
    (group,) = read_groups(old)
    assert group.step == 11 and [one.reward for one in group.responses] == [1.0, 0.0]
    assert facts([group]).truncated == 0.5


def test_easyr1_and_open_instruct(tmp_path: Path) -> None:
    path = tmp_path / "generations.log"
    path.write_text(
        "[prompt] 2+2\n[output] it is\n4\n[ground_truth] 4\n[score] 1.0\n\n[prompt] 2+2\n[output] 5\n"
    )
    assert looks_like_rollouts(path)
    (group,) = read_groups(path)
    assert (group.prompt, group.gold, group.responses[0].text, group.responses[0].reward) == (
        "2+2",
        "4",
        "it is\n4",
        1.0,
    )
    rows = [
        {"step": 3, "sample_idx": i, "prompt_idx": 0, "prompt_tokens": [1, 2], "response_tokens": [5, 6 + i],
         "reward": float(i), "advantage": 0.1, "finish_reason": "stop", "dataset": "gsm", "ground_truth": "4"}
        for i in range(2)
    ]  # fmt: skip
    (group,) = read_groups(lines(tmp_path / "run_rollouts_000001.jsonl", rows))
    found = facts([group])
    assert (group.step, found.truncated, found.distinct_texts, found.tokens and found.tokens.most) == (
        3,
        0.0,
        2,
        2,
    )


def test_pickles_are_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "rollout_data").mkdir()
    (tmp_path / "rollout_data" / "12.pt").write_bytes(b"PK\x03\x04")
    lines(tmp_path / "log.jsonl", [{"step": 1, "reward": 0.5, "loss": 0.1}])
    (warning,) = [said for said in find_run(tmp_path).warnings if "pickle" in said]
    assert "12.pt" in warning and "torch.load" in warning
    with pytest.raises(SourceError, match=r"pickle\.load"):
        list(read_groups(tmp_path / "global_step_3_training_input.pkl"))
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5" / "optimizer.pt").write_bytes(b"PK\x03\x04")
    assert not any("optimizer" in said for said in find_run(tmp_path).warnings)


@pytest.mark.parametrize(
    "broken",
    [
        {"traces": [None, {}]},
        {"trajectories": [None, {}]},
        {"content": [], "rewards": []},
        {"messages": [None], "group_index": 1},
        {"prompt_tokens": None, "response_tokens": None},
    ],
)
def test_a_row_that_is_not_whole_raises_nothing(tmp_path: Path, broken: dict[str, Any]) -> None:
    for group in read_groups(lines(tmp_path / "1.jsonl", [broken])):
        assert facts([group]).groups == 1
