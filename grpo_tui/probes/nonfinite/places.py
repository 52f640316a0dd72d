"""A module or parameter name -> the value of `probe.nonfinite.first` it belongs to."""

from __future__ import annotations

import re

_RULES = (
    ("norm", r"norm|\bln_"),
    ("embedding", r"embed_tokens|\bwte\b|\bwpe\b|word_embeddings|tok_embeddings"),
    ("logits", r"lm_head|embed_out"),
    ("attention", r"attn|attention|rotary|[qkvo]_proj|query_key_value"),
    ("mlp", r"mlp|feed_forward|ffn|experts|router|gate_proj|up_proj|down_proj"),
)
_COMPILED = tuple((value, re.compile(pattern, re.IGNORECASE)) for value, pattern in _RULES)


def fact_of_parameter(name: str) -> str:
    return next((value for value, pattern in _COMPILED if pattern.search(name)), "unknown")


def fact_of_module(name: str, module_class: str) -> str:
    """By the last parts of the path first: `layers.0.self_attn.q_norm` is a norm, `layers.0` is unknown."""
    value = fact_of_parameter(name)
    return value if value != "unknown" else fact_of_parameter(module_class)
