"""`lag`: one curve follows another by so many steps, or nothing is said."""

from __future__ import annotations

import numpy as np
import pytest

from grpo_tui.metrics.series import Points
from grpo_tui.metrics.windows import lag


def noise(seed: int, rows: int = 200) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, rows)


def points(values: np.ndarray, every: int = 1) -> Points:
    return Points((np.arange(len(values)) * every).astype(np.int64), values)


@pytest.mark.parametrize("behind", [-12, -1, 0, 3, 20])
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_echo_is_found_with_its_sign(behind: int, every: int, sign: int) -> None:
    base = noise(0)
    echo = sign * np.roll(base, behind) + 0.3 * noise(1)
    assert lag(points(echo, every), points(base, every), within=None) == behind * every


def test_two_trends_and_two_noises_are_no_echo() -> None:
    up = np.linspace(0, 1, 200)
    assert lag(points(up + 0.1 * noise(2)), points(2 * up + 0.1 * noise(3)), within=None) is None
    assert lag(points(noise(4)), points(noise(5)), within=None) is None


def test_too_few_rows_or_a_constant_is_unknown() -> None:
    assert lag(points(noise(0, 30)), points(noise(0, 30)), within=None) is None
    assert lag(points(np.ones(200)), points(noise(0)), within=None) is None
