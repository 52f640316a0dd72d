"""mlx-lm-lora on Apple silicon: a block between rules, headed `Iter 10:`.

`grpo_trainer.py` of release 5.10.2. Three decimals: a loss or a clip ratio of 0.000 means "below 0.0005".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item, Record
from .base import NUMBER, Dialect, value

_STEP = re.compile(r"^Iter (\d{1,11}):\s*$")
_VALIDATION = re.compile(rf"^Iter (\d{{1,11}}): Val loss ({NUMBER})")
_SPREAD = re.compile(rf"^\s*(?:• )?([\w ]+):\s+μ=({NUMBER}), σ=({NUMBER})")
_PAIR = re.compile(rf"^\s*(?:• )?([A-Z][\w ]+):\s+({NUMBER})(%?)")
_CLIPPING = re.compile(rf"^Clipping:\s+low=({NUMBER}), high=({NUMBER}), total=({NUMBER})")
_SPEED = re.compile(rf"({NUMBER}) tok/s")
_NAMES = {
    "Loss": "train_loss",
    "KL Divergence": "train_kl",
    "Avg tokens": "train_average_generated_tokens",
    "Min tokens": "train_min_generated_tokens",
    "Max tokens": "train_max_generated_tokens",
    "Hit limit": "train_hit_max_tokens_ratio",
    "Learning Rate": "learning_rate",
    "Memory": "peak_memory",
    "KL saturation": "train_kl_clip_ratio",
}
_SPREADS = {"Total Rewards": "train_total_rewards", "Group Rewards": "train_grouped_rewards"}


class MlxConsole(Dialect):
    name = "mlx-lm-lora-console"
    framework = "mlx-lm-lora"
    mark = re.compile(r"Total Rewards:\s+μ=|Group Rewards:\s+μ=")
    resolution = 5e-4

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _STEP.match(text):
            yield from self.open(int(match[1]), number)
        elif match := _VALIDATION.match(text):
            yield Record(int(match[1]), {"val_loss": value(match[2])}, number, "eval")
        elif self._step is not None:
            if text.startswith("===="):
                yield from self.close()
            else:
                self._held(text)

    def _held(self, text: str) -> None:
        if match := _SPREAD.match(text):
            name = _SPREADS.get(match[1], f"rewards/{match[1]}")
            joint = "_" if match[1] in _SPREADS else "/"
            self._values |= {f"{name}{joint}mean": value(match[2]), f"{name}{joint}std": value(match[3])}
        elif match := _CLIPPING.match(text):
            for end, printed in zip(("low", "high", "total"), match.groups(), strict=True):
                self._values[f"train_clip_ratio_{end}"] = value(printed)
        elif text.startswith("Speed:"):
            if match := _SPEED.search(text):
                self._values["tokens_per_second"] = value(match[1])
        elif match := _PAIR.match(text):
            name = _NAMES.get(match[1], match[1])
            self._values[name] = value(match[2]) / (100 if match[3] else 1)
