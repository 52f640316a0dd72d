"""Float spacing against the closed table, and against torch's own rounding."""

from __future__ import annotations

import pytest

from grpo_tui.probes.update import spacing


def test_a_weight_of_one_needs_two_thousandths_to_go_down() -> None:
    assert spacing.half_ulp_down(1.0, "bf16") == pytest.approx(1.953125e-3)
    assert spacing.ulp(1.0, "bf16") / 2 == pytest.approx(3.90625e-3)
    assert spacing.half_ulp_down(1.5, "bf16") == pytest.approx(3.90625e-3)
    assert spacing.half_ulp_down(0.0, "bf16") == 0.0


@pytest.mark.parametrize(
    ("lr", "below"), [(1e-6, 4.9e-4), (3e-6, 9.8e-4), (1e-5, 3.9e-3), (3e-5, 7.8e-3), (1e-4, 3.1e-2)]
)
def test_bf16_thresholds(lr: float, below: float) -> None:
    assert spacing.threshold(lr, "bf16") == pytest.approx(below, rel=0.02)


def test_rounding_agrees_with_torch() -> None:
    torch = pytest.importorskip("torch")
    one = torch.ones(1)
    assert spacing.moving_elements(one, 1.9e-3, "bf16") == 0
    assert spacing.moving_elements(one, 2.0e-3, "bf16") == 0.5
    assert spacing.moving_elements(one, 4.0e-3, "bf16") == 1
    for lr in (1e-6, 3e-6, 1e-5, 3e-5, 1e-4):
        edge = spacing.threshold(lr, "bf16")
        weights = torch.tensor([edge * 0.45, edge * 1.05])
        assert spacing.moving_elements(weights, lr, "bf16") == 1.0


def test_sigma_of_the_article_gives_its_shares() -> None:
    """q_proj with σ ≈ .0255 moves 12.2 % at lr 1e-5 and 24 % at 3e-5 (`[S3-2]` measured 12.2 and 24.4)."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    weights = torch.randn(400_000) * 0.0255
    shares = [spacing.moving_elements(weights, lr, "bf16") / weights.numel() for lr in (1e-5, 3e-5)]
    assert shares == pytest.approx([0.122, 0.240], abs=0.004)


def test_fp32_moves_everywhere() -> None:
    torch = pytest.importorskip("torch")
    assert spacing.moving_elements(torch.ones(10), 1e-6, "fp32") == 10
