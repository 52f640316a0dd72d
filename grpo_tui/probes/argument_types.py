"""Words on the command line -> checked values. Standard library only."""

from __future__ import annotations

import argparse


def natural(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def not_negative(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is negative or not finite")
    return value


def betas(text: str) -> tuple[float, float]:
    first, _, second = text.partition(",")
    return float(first), float(second)
