"""What follows from an incident by arithmetic: bytes as tokens, a single skipped step or several in a row."""

from __future__ import annotations

from pathlib import Path

from grpo_tui.incident_notes import notes
from grpo_tui.run import Run

ROW = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2 - actor/lr:1e-06\n"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB. GPU 0 has 79 GiB"
FRAMES = 'Traceback (most recent call last):\n  File "/x/verl/workers/actor.py", line 3, in update_policy\n'


def noted(folder: Path, text: str) -> list[str]:
    (folder / "train.log").write_text(text)
    run = Run.open(folder / "train.log")
    run.poll(final=True)
    return notes(run)


def test_bytes_as_tokens(tmp_path: Path) -> None:
    (said,) = noted(tmp_path, f"{ROW.format(1)}{FRAMES}{OOM}\n")
    assert said.startswith("2.84 GiB = about 5,018 tokens") and said.endswith("in the update")
    config = "{'actor_rollout_ref': {'model': {'path': 'meta-llama/Llama-3.2-1B'}}}\n"
    (said,) = noted(tmp_path, f"{config}{ROW.format(1)}{OOM}\n")
    assert "5,944 tokens of float32 logits (vocabulary 128,256, of Llama-3.2-1B)" in said


def test_skipped_steps_alone_and_in_a_row(tmp_path: Path) -> None:
    skip = "WARN: rank {} grad_norm is not finite: nan\n"
    text = ROW.format(1) + skip.format(0) + skip.format(1) + "".join(ROW.format(step) for step in range(2, 6))
    text += skip.format(0) + ROW.format(6) + skip.format(0) + ROW.format(7) + skip.format(0) + ROW.format(8)
    assert noted(tmp_path, text) == ["a single one of 2"] * 2 + ["3 steps in a row (5–7)"] * 3
    assert noted(tmp_path, ROW.format(1) + skip.format(0) + ROW.format(2)) == ["a single one"]


def test_what_has_no_arithmetic_has_no_note(tmp_path: Path) -> None:
    assert noted(tmp_path, f"{ROW.format(1)}KeyError: 'uid'\nKilled\n") == [""]
