"""Consoles of frameworks other than verl and TRL: one thin file a dialect, on one base."""

from .areal import ArealConsole
from .base import Dialect
from .easyr1 import EasyR1Console
from .mlx_lm_lora import MlxConsole
from .nemo_rl import NemoRlConsole
from .open_instruct import OpenInstructConsole
from .openrlhf import OpenRlhfConsole
from .prime_rl import PrimeRlConsole
from .roll import RollConsole
from .skyrl import SkyRlConsole
from .tinker import TinkerConsole
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
    OpenInstructConsole,
    EasyR1Console,
    TinkerConsole,
)

__all__ = ["DIALECTS", "Dialect"]
