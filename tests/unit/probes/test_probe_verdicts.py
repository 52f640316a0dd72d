"""Thresholds, shapes and the table from finding to fact, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grpo_tui.probes import facts
from grpo_tui.probes.ratio import shape, thresholds
from grpo_tui.probes.ratio.stats import Comparison

CLEAN = Comparison(
    n=428,
    sequences=8,
    bit_equal=0.02,
    mean_abs=0.030,
    p99=0.156,
    max_abs=0.22,
    sd=0.04,
    k3=1.2e-3,
    ess=0.998,
    coherence=0.2,
    coherence_scaled=1.5,
    one_sided=0.52,
    first8_ratio=0.52,
    q4_q1=1.6,
)


def test_a_passes_only_bit_for_bit() -> None:
    assert thresholds.verdict_a(Comparison(n=9), "fp32")[0] == "pass"
    rounding = Comparison(n=9, bit_equal=0.9, max_abs=1e-6)
    assert thresholds.verdict_a(rounding, "fp32")[0] == "warn"
    assert thresholds.verdict_a(replace(rounding, max_abs=0.01), "fp32")[0] == "fail"
    assert thresholds.verdict_a(replace(rounding, max_abs=0.01), "bf16")[0] == "warn"


def test_b_warns_before_it_fails() -> None:
    verdicts = [
        thresholds.verdict_b(Comparison(n=9, mean_abs=value), "bf16")[0] for value in (0.01, 0.15, 0.17)
    ]
    assert verdicts == ["pass", "warn", "fail"]
    assert thresholds.verdict_b(Comparison(n=9, mean_abs=0.1), "bf16", 0.7)[0] == "pass"


def test_c_passes_the_measured_bf16_floor_and_fails_it_in_fp32() -> None:
    assert (
        thresholds.verdict_c(CLEAN, "bf16", thresholds.own_floor(Comparison(mean_abs=0.003), "bf16"))[0]
        == "pass"
    )
    assert (
        thresholds.verdict_c(CLEAN, "fp32", thresholds.own_floor(Comparison(mean_abs=1e-7), "fp32"))[0]
        == "fail"
    )


def test_own_noise_raises_the_limit() -> None:
    noisy = replace(CLEAN, mean_abs=0.12)
    assert (
        thresholds.verdict_c(noisy, "bf16", thresholds.own_floor(Comparison(mean_abs=0.003), "bf16"))[2][
            "mean_abs"
        ]
        == "fail"
    )
    assert (
        thresholds.verdict_c(noisy, "bf16", thresholds.own_floor(Comparison(mean_abs=0.10), "bf16"))[2][
            "mean_abs"
        ]
        == "pass"
    )


def test_own_tails_raise_their_limits_too() -> None:
    tail = replace(CLEAN, out_clip=0.014, p99=0.32)
    own = Comparison(mean_abs=0.043, p99=0.25, out_clip=0.012)
    assert thresholds.verdict_c(tail, "bf16", thresholds.own_floor(Comparison(), "bf16"))[0] == "warn"
    assert thresholds.verdict_c(tail, "bf16", thresholds.own_floor(own, "bf16"))[0] == "pass"


def test_small_one_sided_difference_fails_below_every_size_limit() -> None:
    """top-k 20, top-p .95, T .6 renormalised: mean |Δ| .027 is below the floor, but never positive."""
    hidden = replace(
        CLEAN, mean_abs=0.027, one_sided=1.0, coherence=0.99, coherence_scaled=7.0, max_delta=0.0
    )
    verdict, _, checks = thresholds.verdict_c(hidden, "bf16", thresholds.Floor(0.03))
    assert verdict == "fail" and checks["mean_abs"] == "pass" and checks["one_sided"] == "fail"


def test_grid_on_one_side_only_fails() -> None:
    assert (
        thresholds.verdict_c(replace(CLEAN, grid_infer=1.0), "bf16", thresholds.Floor(0.03))[2]["grid"]
        == "fail"
    )
    assert (
        "grid"
        not in thresholds.verdict_c(
            replace(CLEAN, grid_infer=1.0, grid_train=1.0), "bf16", thresholds.Floor(0.03)
        )[2]
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "noise"),
        ({"bit_equal": 1.0, "mean_abs": 0.0}, "none"),
        ({"grid_infer": 1.0}, "bf16-log-softmax"),
        ({"one_sided": 1.0, "max_delta": 0.0, "min_delta": -0.105, "coherence": 0.9}, "renormalised"),
        ({"mean": 0.3, "mean_abs": 0.3, "sd": 0.01}, "constant-shift"),
        ({"mean_abs": 0.34, "ess": 0.016, "first8_ratio": 0.06}, "zero-then-large"),
        (
            {"mean_abs": 0.29, "ess": 0.6, "first8_ratio": 1.55, "q4_q1": 0.36, "coherence": 0.41},
            "starts-large",
        ),
        ({"mean_abs": 0.12, "ess": 0.9, "coherence": 1.0, "q4_q1": 1.8}, "stale-weights"),
        ({"mean_abs": 0.2, "outlier_sequences": 0.25, "quiet_sequences": 0.03}, "some-sequences"),
        ({"mean_abs": 0.2, "outlier_sequences": 0.25, "quiet_sequences": 0.06}, "unknown"),
        (
            {"mean_abs": 0.2, "outlier_sequences": 0.4, "quiet_sequences": 0.06, "coherence_scaled": 3.2},
            "stale-weights",
        ),
        ({"mean_abs": 0.2, "q4_q1": 4.0}, "grows-with-position"),
        ({"mean_abs": 0.2}, "unknown"),
    ],
)
def test_shapes(change: dict[str, float], expected: str) -> None:
    stats = replace(CLEAN, **change)
    verdict = (
        "pass" if stats.mean_abs <= 0.05 and stats.one_sided < 0.9 and stats.grid_infer < 0.99 else "fail"
    )
    assert shape.read_shape(stats, verdict, [], 1.0, 0.05).shape == expected


def test_a_stale_prefix_cache_is_coherent_and_a_foreign_prompt_is_not() -> None:
    start = replace(CLEAN, mean_abs=0.226, first8_ratio=1.89, q4_q1=0.40, ess=0.9)
    codes = [
        shape.read_shape(replace(start, coherence=c), "fail", [], 1.0, 0.05).finding for c in (0.95, 0.34)
    ]
    assert [finding.code for finding in codes if finding] == [
        "RATIO.STALE_PREFIX_CACHE",
        "RATIO.PROMPT_DIFFERS",
    ]


def test_every_fact_and_diagnosis_of_the_table_exists(shared: Path) -> None:
    yaml = pytest.importorskip("yaml")
    observations = yaml.safe_load((shared / "spec/observations.yaml").read_text())["observations"]
    diagnoses = yaml.safe_load((shared / "spec/diagnoses.yaml").read_text())["diagnoses"]
    for code, meaning in facts.MEANINGS.items():
        assert set(meaning.diagnoses) <= set(diagnoses), code
        for observation, value in meaning.facts.items():
            allowed = observations[observation].get("values", ["yes", "no", "unknown"])
            assert allowed == "number" or value in [str(item) for item in allowed], (code, observation, value)


def test_facts_of_the_first_code_win() -> None:
    both = ["RATIO.DROPOUT", "RATIO.NOT_DETERMINISTIC"]
    assert facts.facts_of(both) == {"probe.ratio.repeatable": "no"}
    assert facts.diagnoses_of(both) == ["mismatch.dropout", "trainer.not-repeatable"]
