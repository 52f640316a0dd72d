"""Where in the step a traceback came from, told by its frames."""

from __future__ import annotations

import pytest

from grpo_tui.sources.incidents.finder import Incidents
from grpo_tui.sources.incidents.stages import stage_of_frame, stage_of_message


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("update", '  File "verl/utils/torch_functional.py", line 142, in entropy_from_logits'),
        ("update", '  File "trl/trainer/grpo_trainer.py", line 861, in _get_per_token_logps'),
        ("update", '  File "torch/_tensor.py", line 581, in backward'),
        ("rollout", '  File "vllm/worker/model_runner.py", line 5, in forward'),
        ("rollout", '  File "transformers/generation/utils.py", line 9, in generate'),
        ("rollout", '  File "site-packages/sglang/srt/managers/scheduler.py", line 3, in run_batch'),
        ("reward", '  File "verl/workers/reward_manager/naive.py", line 86, in __call__'),
        ("reward", '  File "train.py", line 12, in accuracy_reward'),
        ("", '  File "train.py", line 3, in <module>'),
        ("", "    loss = compute_loss(batch)"),
    ],
)
def test_frames(stage: str, line: str) -> None:
    assert stage_of_frame(line) == stage


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("rollout", "ValueError: No available memory for the cache blocks."),
        ("nonfinite", "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0"),
        ("arithmetic", "ValueError: generation_batch_size (6) must be divisible by num_generations (4)"),
        ("arithmetic", "AssertionError: micro_batch_size 8 is not divisible"),
        ("", "KeyError: 'uid'"),
    ],
)
def test_messages(stage: str, text: str) -> None:
    assert stage_of_message(text) == stage


def incidents(text: str) -> list[tuple[str, str]]:
    reader = Incidents()
    found = [i for n, line in enumerate(text.splitlines(), 1) for i in reader.line(n, line)]
    return [(incident.kind, incident.stage) for incident in [*found, *reader.finish()]]


def test_the_innermost_known_frame_names_the_stage() -> None:
    text = """Traceback (most recent call last):
  File "trl/trainer/grpo_trainer.py", line 900, in _generate_and_score_completions
    logps = self._get_per_token_logps(model)
  File "trl/trainer/grpo_trainer.py", line 861, in _get_per_token_logps
    logits = model(ids).logits
  File "torch/nn/modules/module.py", line 12, in _call_impl
    return forward_call(*args)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.35 GiB."""
    assert incidents(text) == [("oom", "update")]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("resumed", "Resuming from checkpoints/run_a/global_step_100"),
        ("state-missing", "Warning: No dataloader state found at x, will start from scratch"),
        ("state-missing", "optimizer_path=None"),
        ("state-missing", "Failed to load optimizer state, starting with a new one"),
    ],
)
def test_what_a_resume_says(kind: str, line: str) -> None:
    assert incidents(line) == [(kind, "")]
