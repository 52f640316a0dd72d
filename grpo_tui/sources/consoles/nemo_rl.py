"""NeMo-RL: `===== Step 12/500 =====`, then bullets under "Training Results" and "Timing".

Rows are rounded to four decimals; rewards and lengths of every sample stand in `train_data_step<N>.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Progress
from .base import NUMBER, Dialect, value

_STEP = re.compile(r"=+ Step (\d{1,11})/(\d{1,11}) =+")
_BULLET = re.compile(rf"^\s*•\s*([^:•]+):\s*({NUMBER})(s?)\b")
_NAMES = {
    "Loss": "loss",
    "Generation KL Error": "gen_kl_error",
    "Avg Reward": "reward",
    "Avg Filtered Reward": "filtered_reward",
    "Mean Generation Length": "mean_gen_tokens_per_sample",
    "Total step time": "timing/train/total_step_time",
    "Avg Trajectory Age": "avg_trajectory_age",
    "Buffer Size": "buffer_size",
    "Accuracy": "validation/accuracy",
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
