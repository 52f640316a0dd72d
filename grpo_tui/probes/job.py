"""What every probe of a model is handed: the options, the checkpoint, where to compute, and the report."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .report import Report
from .subject.checkpoint import Checkpoint
from .subject.model import Loaded, has_tokenizer, load_model, load_tokenizer, switch_off_dropout


@dataclass(frozen=True)
class Job:
    """One probe of one checkpoint in `dtype` on `device`; `emulated` where the CPU lacks that precision."""

    args: Namespace
    checkpoint: Checkpoint
    dtype: str
    device: Any
    emulated: bool
    report: Report

    def load(self) -> Loaded:
        """The model with dropout off, and its tokenizer where the folder holds one."""
        with self.report.control.immediate():
            tokenizer = load_tokenizer(self.checkpoint) if has_tokenizer(self.checkpoint) else None
            model = load_model(self.checkpoint, self.dtype, self.device, self.args.attn)
        switch_off_dropout(model)
        return Loaded(model, tokenizer, self.device, self.dtype)

    def tick(self, stage: str) -> Callable[[int, int], None]:
        return lambda done, total: self.report.progress(stage, done, total)
