"""Every probe: its question, its options, its stages, its memory, and the function that runs it.

Standard library only at import: the rooms import torch inside their functions.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass

from .accumulation import options as accumulation_options
from .accumulation import probe as accumulation
from .compute.memory import gradient_bytes, one_step_bytes, predict_bytes, ratio_bytes, update_bytes
from .errors import CannotRun
from .job import Job
from .mask import options as mask_options
from .mask import probe as mask
from .nonfinite import options as nonfinite_options
from .nonfinite import probe as nonfinite
from .ratio import options as ratio_options
from .ratio import probe as ratio
from .report import Report
from .subject.checkpoint import Checkpoint
from .update import options as update_options
from .update import probe as update
from .verifier import options as verifier_options
from .verifier import probe as verifier

_SHORTER = "use fewer sequences and shorter ones: --n 2 --max-new 16 --micro-batch 1"


@dataclass(frozen=True)
class Probe:
    """One probe of a model. `needs` estimates bytes before loading; `smaller` says how to need less."""

    what: str
    add_options: Callable[[argparse.ArgumentParser], None]
    stages: tuple[str, ...]
    run: Callable[[Job], str]
    needs: Callable[[Namespace, Checkpoint, str], int]
    smaller: Callable[[Namespace], str] = lambda _args: _SHORTER


def _whole_model(checkpoint: Checkpoint) -> None:
    if checkpoint.adapter_only:
        raise CannotRun(
            f"{checkpoint.path} holds only an adapter: merge it first (a fresh adapter changes "
            "nothing, so comparing without it would prove nothing)"
        )


def _ratio_needs(args: Namespace, checkpoint: Checkpoint, dtype: str) -> int:
    _whole_model(checkpoint)
    return ratio_bytes(checkpoint, dtype, args.n, args.max_new, args.micro_batch)


def _update_needs(args: Namespace, checkpoint: Checkpoint, dtype: str) -> int:
    if args.predict_only or checkpoint.adapter_only:
        return predict_bytes(checkpoint)
    modes = [*args.modes, "fp32-master"] if args.master else args.modes
    return update_bytes(checkpoint, dtype, modes, args.micro_batch, args.max_new)


def _update_smaller(args: Namespace) -> str:
    return (
        _SHORTER if args.predict_only else "--predict-only streams the weights and needs one tensor at a time"
    )


def _accumulation_needs(args: Namespace, checkpoint: Checkpoint, dtype: str) -> int:
    _whole_model(checkpoint)
    return gradient_bytes(checkpoint, dtype, args.n, args.max_new, kept=2)


def _mask_needs(args: Namespace, checkpoint: Checkpoint, dtype: str) -> int:
    return ratio_bytes(checkpoint, dtype, 1, args.max_new, 1) if args.loss else predict_bytes(checkpoint)


def _nonfinite_needs(args: Namespace, checkpoint: Checkpoint, dtype: str) -> int:
    _whole_model(checkpoint)
    return one_step_bytes(checkpoint, dtype, args.micro_batch, args.max_new)


PROBES: dict[str, Probe] = {
    "ratio": Probe(
        "do trainer and inference engine give the same probabilities?",
        ratio_options.add_options,
        ratio.STAGES,
        ratio.run_ratio,
        _ratio_needs,
    ),
    "update": Probe(
        "do optimizer steps of this size reach the weights?",
        update_options.add_options,
        update.STAGES,
        update.run_update,
        _update_needs,
        _update_smaller,
    ),
    "accumulation": Probe(
        "does one batch of N give the gradient of N accumulated ones?",
        accumulation_options.add_options,
        accumulation.STAGES,
        accumulation.run_accumulation,
        _accumulation_needs,
    ),
    "mask": Probe(
        "does the loss touch exactly the generated tokens?",
        mask_options.add_options,
        mask.STAGES,
        mask.run_mask,
        _mask_needs,
    ),
    "nonfinite": Probe(
        "where does the first NaN or Inf appear?",
        nonfinite_options.add_options,
        nonfinite.STAGES,
        nonfinite.run_nonfinite,
        _nonfinite_needs,
    ),
}


@dataclass(frozen=True)
class BareProbe:
    """A probe of code and not of weights: no model, no torch."""

    what: str
    add_options: Callable[[argparse.ArgumentParser], None]
    stages: tuple[str, ...]
    run: Callable[[Namespace, Report], str]


BARE_PROBES: dict[str, BareProbe] = {
    "verifier": BareProbe(
        "does the reward function score what it should, wherever it is called?",
        verifier_options.add_options,
        verifier.STAGES,
        verifier.run_verifier,
    ),
}
