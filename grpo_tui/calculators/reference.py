"""Numbers that are quoted everywhere, with the conditions under which they were found.

A threshold is a default with a source; a baseline run of your own replaces it [S0-18].
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A small table: what it is about, its columns and rows, and when it holds."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    conditions: str
    rules: tuple[str, ...]


KL = Table(
    "kl",
    "KL to the reference, nats per token",
    ("from", "reading", "do"),
    (
        ("0", "normal", "nothing"),
        ("0.5", "drifting, still controllable", "watch reward gained per KL spent"),
        ("5", "danger, hacking is likely", "read the highest-paid rollouts; adaptive coefficient"),
        ("10", "stop", "update the reference or go back, then restart"),
        ("20", "almost surely broken", "go back to a checkpoint"),
    ),
    "One source's bands; +0.1 of reward for +5 of KL is hacking. A level in the first row is no drift.",
    ("S1-12", "S1-13", "S0-18"),
)
RECIPES = Table(
    "recipes",
    "Two papers' settings: two recipes, not one table",
    ("setting", "DAPO", "DeepSeekMath"),
    (
        ("model", "Qwen2.5-32B", "DeepSeekMath 7B"),
        ("task and reward", "long chain-of-thought maths, rule", "maths, reward model"),
        ("responses per prompt", "16", "64"),
        ("KL to the reference", "none", "0.04"),
        ("clip below / above", "0.2 / 0.28", "not given"),
        ("updates per rollout batch", "16", "1"),
        ("batch", "512 prompts", "1,024"),
        ("longest response", "20,480 tokens", "1,024 tokens"),
    ),
    "They belong to their model, data and reward. DAPO's table adds techniques one after another (30 to 50): "
    "a row is what came on top in that order, not an effect of its own.",
    ("S0-19", "S0-15", "S0-16"),
)
DYNAMIC = Table(
    "dynamic-sampling",
    "Filtered share under dynamic sampling",
    ("share", "reading"),
    (
        ("20 to 40 %", "usual"),
        ("over 50 %", "look at the reward's design; the real batch shrinks"),
    ),
    "It costs generation and needs a way to refill; 'no slower in total' was reported for synchronous, "
    "long-tail-bound generation only.",
    ("S2-8", "S0-11"),
)
RANGES = Table(
    "ranges",
    "Where to start, full fine-tuning",
    ("setting", "range", "note"),
    (
        ("learning rate", "1e-6 to 5e-6", "2e-6 first; flat for 200 steps: double, oscillating: halve"),
        ("learning rate, first 500 steps", "1e-6", "another source: never 5e-6 or more there"),
        ("responses per prompt", "8 to 16", ""),
        ("prompts per update", "32 to 64", "256 to 512 responses"),
        ("temperature", "0.8 to 1.0", ""),
        ("KL coefficient", "0.01 to 0.05", "where one is used"),
        ("entropy term", "0.001 to 0.01", "where entropy falls with a flat reward"),
        ("clip", "0.2, above 0.28", "scan 0.15, 0.2, 0.25, 0.3; take the smoothest reward"),
        ("length penalty", "0.01 to 0.05", "shaping under a tenth of the main reward"),
    ),
    "Defaults of the sources; LoRA bears about ten times the rate.",
    ("S2-13", "S1-25", "S2-12", "S2-17", "S2-1"),
)
UPDATES = Table(
    "updates",
    "Elements changed by three optimizer steps, pure bfloat16 weights",
    ("learning rate", "query projections", "norm weights"),
    (
        ("1e-5", "12.2 % and 9.9 %", "0 %"),
        ("3e-5", "24.4 % and 20.4 %", "0 %"),
        ("1e-5, float32 norms", "", "100 %"),
    ),
    "Two slices of a 0.6B model; compare with `grpo-tui probe update` on yours.",
    ("S3-2", "S3-3"),
)
TABLES = {table.name: table for table in (KL, RECIPES, DYNAMIC, RANGES, UPDATES)}
