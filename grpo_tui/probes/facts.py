"""Finding code -> fact -> diagnosis, in one table.

Facts are ids of the shared vocabulary of observations; a playbook branches on them and never on a
statistic. Diagnoses are what the finding points at, best first; the engine still weighs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Meaning:
    """What one finding code says: the facts it implies and the diagnoses it supports."""

    facts: dict[str, Any] = field(default_factory=dict)
    diagnoses: tuple[str, ...] = ()


_UNEQUAL = {"probe.accumulation.equivalent": "no"}
_MASKED_WRONG = {"probe.mask.right": "no"}
_DIFFERS = {"probe.ratio.engine-agrees": "no"}


def _shape(name: str) -> dict[str, Any]:
    return {**_DIFFERS, "probe.ratio.shape": name}


MEANINGS: dict[str, Meaning] = {
    "RATIO.NOT_DETERMINISTIC": Meaning({"probe.ratio.repeatable": "no"}, ("trainer.not-repeatable",)),
    "RATIO.NOT_BITWISE": Meaning({"probe.ratio.repeatable": "yes"}),
    "RATIO.DROPOUT": Meaning(
        {"probe.ratio.repeatable": "no"}, ("mismatch.dropout", "trainer.not-repeatable")
    ),
    "RATIO.BATCH_VARIANT": Meaning({"probe.ratio.batch-invariant": "no"}, ("trainer.micro-batch-variance",)),
    "RATIO.PADDING_ATTENDED": Meaning({"probe.ratio.batch-invariant": "no"}, ("mismatch.positions",)),
    "RATIO.TEMPERATURE": Meaning(_shape("temperature"), ("mismatch.temperature",)),
    "RATIO.TRUNCATION_RENORM": Meaning(_shape("renormalised"), ("mismatch.sampling-mass",)),
    "RATIO.BF16_LOGSOFTMAX": Meaning({"probe.ratio.shape": "bf16-log-softmax"}, ("mismatch.numerics",)),
    "RATIO.SHIFT": Meaning(_shape("shifted"), ("mismatch.positions",)),
    "RATIO.CONSTANT": Meaning(_shape("constant-shift"), ("mismatch.sampling-mass",)),
    "RATIO.RETOKENISED": Meaning(_shape("zero-then-large"), ("mismatch.tokens",)),
    "RATIO.PROMPT_DIFFERS": Meaning(_shape("starts-large"), ("mismatch.tokens", "mismatch.positions")),
    "RATIO.LOGPROBS_MISSING": Meaning(_DIFFERS, ("mismatch.tokens",)),
    "RATIO.STALE_OR_PARTIAL_SYNC": Meaning(_shape("stale-weights"), ("mismatch.stale-weights",)),
    "RATIO.STALE_PREFIX_CACHE": Meaning(_shape("starts-large"), ("mismatch.stale-cache",)),
    "RATIO.SOME_SEQUENCES": Meaning(_shape("some-sequences"), ("mismatch.tokens", "mismatch.positions")),
    "RATIO.POSITIONS": Meaning({**_DIFFERS, "probe.positions.aligned": "no"}, ("mismatch.positions",)),
    "RATIO.LORA_NOT_MERGED": Meaning(_shape("stale-weights"), ("mismatch.stale-weights",)),
    "RATIO.LORA_INCONCLUSIVE": Meaning(),
    "RATIO.CONFIG_DIFFERS": Meaning({}, ("mismatch.positions", "mismatch.numerics")),
    "RATIO.CANARY_LEFT": Meaning(_DIFFERS, ("mismatch.stale-weights",)),
    "RATIO.QUANTISED_ENGINE": Meaning({}, ("mismatch.quantisation",)),
    "RATIO.PRECISION_MISMATCH": Meaning({}, ("mismatch.numerics",)),
    "RATIO.ENGINE_DIFFERS": Meaning(_DIFFERS, ("mismatch.numerics",)),
    "ACCUM.MICRO_TOKEN_MEAN": Meaning(_UNEQUAL, ("accumulation.wrong",)),
    "ACCUM.MICRO_NORMALISER": Meaning(_UNEQUAL, ("accumulation.wrong",)),
    "ACCUM.SCALE_N": Meaning(_UNEQUAL, ("accumulation.wrong", "config.accumulation-arithmetic")),
    "ACCUM.SCALE_1_OVER_N": Meaning(_UNEQUAL, ("accumulation.wrong", "config.accumulation-arithmetic")),
    "ACCUM.SCALE": Meaning(_UNEQUAL, ("accumulation.wrong", "config.accumulation-arithmetic")),
    "ACCUM.DROPPED": Meaning(_UNEQUAL, ("accumulation.wrong",)),
    "ACCUM.DIFFERS": Meaning(_UNEQUAL, ("accumulation.wrong",)),
    "ACCUM.BATCH_VARIANT": Meaning({}, ("trainer.micro-batch-variance",)),
    "MASK.SHIFTED": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.EOS": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.PROMPT": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.PADDING": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.TOOL": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.MISSING": Meaning(_MASKED_WRONG, ("mask.wrong",)),
    "MASK.ROW_EMPTY": Meaning({}, ("mask.wrong",)),
    "VERIFIER.TIMEOUT": Meaning({}, ("reward.verifier-broken", "system.hang")),
    "VERIFIER.RAISES": Meaning({}, ("reward.verifier-broken",)),
    "VERIFIER.NOT_FINITE": Meaning({}, ("reward.scale", "reward.verifier-broken")),
    "VERIFIER.CONSTANT": Meaning(
        {"verifier.reads-response": "no"}, ("reward.constant", "reward.verifier-broken")
    ),
    "VERIFIER.GOLD_NOT_FULL": Meaning(
        {"verifier.gold-scores-full": "no"}, ("reward.format-mismatch", "reward.gold-unusable")
    ),
    "VERIFIER.PAYS_NOTHING": Meaning({"verifier.empty-scores-zero": "no"}, ("reward.verifier-broken",)),
    "VERIFIER.ILLEGAL_ABOVE_WRONG": Meaning({}, ("reward.hacking", "reward.component-imbalance")),
    "VERIFIER.SCALE": Meaning({}, ("reward.scale",)),
    "VERIFIER.SEVERAL_ANSWERS": Meaning({}, ("reward.hacking",)),
    "VERIFIER.EXPECTED": Meaning({}, ("reward.verifier-broken",)),
    "VERIFIER.NOT_REPEATABLE": Meaning({}, ("reward.verifier-broken",)),
    "VERIFIER.THREAD_DIFFERS": Meaning({"verifier.same-in-worker": "no"}, ("reward.verifier-broken",)),
    "VERIFIER.PROCESS_DIFFERS": Meaning({"verifier.same-in-worker": "no"}, ("reward.verifier-broken",)),
    "VERIFIER.BATCH_DIFFERS": Meaning({}, ("reward.verifier-broken",)),
    "NUM.PARAM": Meaning({}, ("nonfinite.forward",)),
    "NUM.FORWARD": Meaning({}, ("nonfinite.forward",)),
    "NUM.PATH": Meaning({}, ("nonfinite.forward",)),
    "NUM.BACKWARD": Meaning({"probe.nonfinite.first": "gradient"}, ("nonfinite.gradient",)),
    "NUM.OPTIMIZER": Meaning({"probe.nonfinite.first": "optimizer"}, ("nonfinite.gradient",)),
    "NUM.HEADROOM": Meaning({}, ()),
    "UPDATE.NORM_ROUNDED_AWAY": Meaning({"probe.update.norm-moved": "no"}, ("update.rounded-away",)),
    "UPDATE.MATRIX_ROUNDED_AWAY": Meaning({}, ("update.rounded-away",)),
    "UPDATE.NO_MASTER": Meaning({}, ("update.rounded-away",)),
    "UPDATE.BELOW_PREDICTION": Meaning({}, ("update.optimizer", "config.learning-rate-low")),
    "UPDATE.GRAD_ZERO": Meaning({"probe.update.gradient-finite": "no"}, ("update.no-gradient",)),
    "UPDATE.GRAD_NONFINITE": Meaning({"probe.update.gradient-finite": "no"}, ("nonfinite.gradient",)),
    "UPDATE.NOT_IN_OPTIMIZER": Meaning({}, ("update.optimizer",)),
    "UPDATE.GROUP_LR_ZERO": Meaning({}, ("update.optimizer", "config.learning-rate-low")),
    "UPDATE.LORA_B_ZERO": Meaning({}, ("update.optimizer", "update.no-gradient")),
    "UPDATE.WEIGHT_NONFINITE": Meaning({}, ("nonfinite.gradient", "update.optimizer")),
    "UPDATE.LR_ZERO": Meaning({"probe.update.moved": 0.0}, ("config.learning-rate-low",)),
}


def facts_of(codes: list[str]) -> dict[str, Any]:
    """The facts implied by these finding codes; the first code that speaks of a fact decides it."""
    facts: dict[str, Any] = {}
    for code in codes:
        for observation, value in MEANINGS[code].facts.items():
            facts.setdefault(observation, value)
    return facts


def diagnoses_of(codes: list[str]) -> list[str]:
    """Diagnosis ids that these finding codes support, in order and without repeats."""
    return list(dict.fromkeys(diagnosis for code in codes for diagnosis in MEANINGS[code].diagnoses))
