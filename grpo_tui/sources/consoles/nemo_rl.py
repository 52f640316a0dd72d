"""NeMo-RL: `===== Step 12/500 =====`, then bullets under "Training Results", "Timing" and others.

The print statements of `grpo.py` (NVIDIA-NeMo/RL, releases 0.2 to 0.5 and 7ea279a, 2026). With dynamic
sampling "Avg Filtered Reward" stands beside "Avg Total Reward"; throughputs stand indented behind dashes.
Rows are rounded to four decimals; rewards and lengths of every sample stand in `train_data_step<N>.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Progress
from .base import NUMBER, Dialect, value

_STEP = re.compile(r"=+ Step (\d{1,11})/(\d{1,11}) =+")
_BULLET = re.compile(rf"^\s*[•-]\s*([^:•]+):\s*({NUMBER})(s?)\b")
_NAMES = {
    "Loss": "loss",
    "Generation KL Error": "gen_kl_error",
    "Avg Reward": "reward",
    "Avg Filtered Reward": "filtered_reward",
    "Avg Total Reward": "reward",
    "Draft Loss": "draft_loss",
    "Mean Generation Length": "mean_gen_tokens_per_sample",
    "Total step time": "timing/train/total_step_time",
    "Avg Trajectory Age": "avg_trajectory_age",
    "Buffer Size": "buffer_size",
    "Accuracy": "validation/accuracy",
    "Average response length": "validation/avg_length",
    "Total validation time": "timing/validation/total_validation_time",
    "Mean Total Tokens per Sample": "mean_total_tokens_per_sample",
    "E2E (Samples/sec)": "performance/samples_per_sec",
    "E2E (Tokens/sec)": "performance/tokens_per_sec",
    "E2E (Samples/sec/gpu)": "performance/samples_per_sec_per_gpu",
    "E2E (Tokens/sec/gpu)": "performance/tokens_per_sec_per_gpu",
    "Policy Training (Tokens/sec/gpu)": "performance/policy_training_tokens_per_sec_per_gpu",
    "Generation Worker Group (Tokens/sec/gpu)": "performance/generation_tokens_per_sec_per_gpu",
}


class NemoRlConsole(Dialect):
    name = "nemo-rl-console"
    framework = "nemo-rl"
    mark = re.compile(r"={5,} Step \d+/\d+ ={5,}|📊 Training Results:")
    resolution = 5e-5

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.search(text):
            yield from self.open(int(match[1]), number)
            yield Progress(int(match[1]), int(match[2]))
        elif self._step is not None and (match := _BULLET.match(text)):
            label = match[1].strip()
            name = _NAMES.get(label, f"timing/train/{label}" if match[3] else label)
            self._values[name] = value(match[2])
