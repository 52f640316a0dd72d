"""Consoles of frameworks other than verl and TRL: one thin file a dialect, on one base."""

from .areal import ArealConsole
from .base import Dialect
from .mlx_lm_lora import MlxConsole
from .nemo_rl import NemoRlConsole
from .openrlhf import OpenRlhfConsole
from .prime_rl import PrimeRlConsole
from .roll import RollConsole
from .skyrl import SkyRlConsole
from .torchforge import TorchforgeConsole
from .torchtune import TorchtuneConsole

DIALECTS: tuple[type[Dialect], ...] = (
    OpenRlhfConsole,
    SkyRlConsole,
    ArealConsole,
    NemoRlConsole,
    PrimeRlConsole,
    RollConsole,
    MlxConsole,
    TorchforgeConsole,
    TorchtuneConsole,
)

__all__ = ["DIALECTS", "Dialect"]
