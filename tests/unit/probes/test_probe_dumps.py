"""Dumps of verl and TRL: read as rollouts where ids and log-probs are in them, refused in one line else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.probes.errors import CannotRun
from grpo_tui.probes.subject.prompts import load_rollouts

torch = pytest.importorskip("torch")


def batch(kind: str) -> dict[str, Any]:
    """Two sequences: prompts 2 and 3 long (left-padded), responses 3 and 1 long (right-padded)."""
    prompts, responses = torch.tensor([[0, 5, 6], [7, 8, 9]]), torch.tensor([[20, 21, 22], [30, 0, 0]])
    seen = torch.tensor([[0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    logprobs = torch.tensor([[-0.5, -1.0, -1.5], [-2.0, 0.0, 0.0]])
    if kind == "verl":
        return {
            "prompts": prompts,
            "responses": responses,
            "attention_mask": seen,
            "rollout_log_probs": logprobs,
        }
    return {
        "prompt_ids": prompts,
        "prompt_mask": seen[:, :3],
        "completion_ids": responses,
        "completion_mask": seen[:, 3:],
        "sampling_per_token_logps": logprobs,
    }


@pytest.mark.parametrize("kind", ["verl", "trl"])
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_saved_tensors(tmp_path: Path, kind: str, suffix: str) -> None:
    from safetensors.torch import save_file

    path = tmp_path / f"batch{suffix}"
    tensors = batch(kind)
    if suffix == ".pt":
        torch.save(tensors, path)
    else:
        save_file({name: value.contiguous() for name, value in tensors.items()}, path)
    rollouts, unequal = load_rollouts(path, 512, 100)
    assert unequal == 0 and [r.prompt_ids for r in rollouts] == [(5, 6), (7, 8, 9)]
    assert [r.response_ids for r in rollouts] == [(20, 21, 22), (30,)]
    assert [r.logprobs for r in rollouts] == [(-0.5, -1.0, -1.5), (-2.0,)]


def test_other_names_in_json_lines(tmp_path: Path) -> None:
    record = {"prompt_token_ids": [1], "completion_ids": [2, 3], "rollout_log_probs": [-1, -2], "text": "x"}
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    ((rollout,), unequal) = load_rollouts(tmp_path / "r.jsonl", 9, 100)
    assert (rollout.prompt_ids, rollout.response_ids, rollout.logprobs, unequal) == (
        (1,),
        (2, 3),
        (-1, -2),
        0,
    )


class Code:
    """Something a pickle would run."""

    def __reduce__(self) -> Any:
        return print, ("run",)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "1.jsonl",
            {"input": "q", "output": "a", "gts": "4", "score": 1.0, "step": 1},
            "verl's rollout dump",
        ),
        ("c.jsonl", {"prompt": "q", "completion": "a", "advantage": 0.1}, "TRL's completions table"),
        ("c.parquet", None, "TRL's completions table"),
        ("b.pt", {"prompts": torch.ones(1, 2)}, "has none of responses"),
        ("o.pt", Code(), "is not opened further"),
        ("l.pt", [torch.ones(1)], "a dict of tensors is expected"),
    ],
)
def test_what_cannot_be_read_says_what_to_save(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: Any, words: str
) -> None:
    path = tmp_path / name
    if path.suffix == ".pt":
        torch.save(content, path)
    else:
        path.write_text(json.dumps(content))
    with pytest.raises(CannotRun, match=words) as caught:
        load_rollouts(path, 512, 100)
    assert "\n" not in str(caught.value) and capsys.readouterr().out == ""
