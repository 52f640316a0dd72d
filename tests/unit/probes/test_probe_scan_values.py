"""The hypothesis scan on synthetic logits: top-p off the usual values, gaps in the log-probs, clean twins."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grpo_tui.probes.control import Control  # noqa: E402
from grpo_tui.probes.ratio.scan import scan  # noqa: E402
from grpo_tui.probes.ratio.shape import read_shape  # noqa: E402
from grpo_tui.probes.ratio.stats import compare  # noqa: E402

TOKENS, WORDS = 96, 400


def _sides(p: float, t: float = 1.0, tokens: int = TOKENS, spread: float = 2.5) -> tuple[Any, Any, Any]:
    """Logits, ids sampled inside top-p at `t`, and the engine's renormalised log-probs of them."""
    generator = torch.Generator().manual_seed(5)
    logits = spread * torch.randn(tokens, WORDS, generator=generator)
    ordered, order = (logits / t).sort(-1, descending=True)
    mass = ordered.softmax(-1)
    kept = ordered.masked_fill(mass.cumsum(-1) - mass >= p, -torch.inf).log_softmax(-1)
    place = torch.multinomial(kept.exp(), 1, generator=generator)
    return logits, order.gather(1, place)[:, 0], kept.gather(1, place)[:, 0]


def _scan(logits: Any, ids: Any, infer: Any, t: float = 1.0) -> dict[str, Any]:
    half = len(ids) // 2
    return scan(logits, ids, infer, t, [half, len(ids) - half], 0.05, Control(None))


@pytest.mark.parametrize(("p", "t"), [(0.5, 1.0), (0.63, 1.0), (0.9, 1.0), (0.86, 0.7)])
def test_top_p_is_found_to_a_hundredth_also_between_the_usual_values(p: float, t: float) -> None:
    best = _scan(*_sides(p, t), t)["hypotheses"][0]
    assert best["params"]["T"] == t and best["params"]["p"] == pytest.approx(p, abs=0.011)
    assert best["residual"] < 1e-5 < best["identity"]


def test_tokens_without_a_number_do_not_hide_the_value() -> None:
    logits, ids, infer = _sides(0.5)
    infer[::9] = -torch.inf
    infer[4] = torch.nan
    outcome = _scan(logits, ids, infer)
    assert outcome["left_out"] == len(infer[::9]) + 1
    assert outcome["hypotheses"][0]["params"]["p"] == pytest.approx(0.5, abs=0.011)


def test_a_gap_does_not_hide_a_shift() -> None:
    logits, ids, _ = _sides(1.0)
    infer = logits.log_softmax(-1).gather(1, ids[:, None])[:, 0].roll(1)
    infer[30] = torch.nan
    assert _scan(logits, ids, infer)["hypotheses"][0]["params"] == {"by": 1}


def test_few_tokens_leave_a_range_and_the_finding_says_it() -> None:
    logits, ids, infer = _sides(0.7, tokens=6, spread=5.0)
    best = _scan(logits, ids, infer)["hypotheses"][0]
    low, high = best["params"]["p_range"]
    assert low <= 0.7 <= high and low <= best["params"]["p"] <= high and high - low >= 0.02
    plain = logits.log_softmax(-1).gather(1, ids[:, None])[:, 0]
    reading = read_shape(compare([plain.tolist()], [infer.tolist()]), "fail", [best], 1.0, 1e-4)
    assert reading.finding is not None and f"from {low:g} to {high:g} fits" in reading.finding.title


def test_without_a_reading_the_kept_mass_bounds_top_p() -> None:
    logits, ids, infer = _sides(0.6, tokens=120, spread=5.0)
    plain = logits.log_softmax(-1).gather(1, ids[:, None])[:, 0]
    reading = read_shape(compare([plain.tolist()], [infer.tolist()]), "fail", [], 1.0, 1e-4)
    assert reading.shape == "renormalised" and reading.finding is not None
    assert 0.6 <= reading.finding.params["p_at_most"] < 0.66


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_clean_engine_is_not_explained(noise: float) -> None:
    logits, ids, _ = _sides(1.0)
    infer = logits.log_softmax(-1).gather(1, ids[:, None])[:, 0]
    infer = infer + noise * torch.randn(len(ids), generator=torch.Generator().manual_seed(1))
    assert _scan(logits, ids, infer)["hypotheses"] == []
