"""Parameter name -> layer kind. Float spacing depends on magnitude, and magnitude on the kind (`[S3-3]`)."""

from __future__ import annotations

import re

_RULES = (
    ("lora_A", r"lora_A|lora_embedding_A"),
    ("lora_B", r"lora_B|lora_embedding_B"),
    ("bias", r"\.bias$|_bias$"),
    ("router", r"router|\.gate\.weight$"),
    ("q_norm", r"\bq_norm\b|q_layernorm"),
    ("k_norm", r"\bk_norm\b|k_layernorm"),
    ("input_layernorm", r"input_layernorm|\bln_1\b|attention_norm"),
    ("post_attention_layernorm", r"post_attention_layernorm|\bln_2\b|ffn_norm"),
    ("final_norm", r"(^|model\.|transformer\.)(norm|ln_f|final_layernorm)\.weight$"),
    ("norm", r"norm|\bln_"),
    ("lm_head", r"lm_head|embed_out"),
    ("embed", r"embed|\bwte\b|\bwpe\b"),
    ("q_proj", r"q_proj"),
    ("k_proj", r"k_proj"),
    ("v_proj", r"v_proj"),
    ("o_proj", r"o_proj|out_proj|\battn\.c_proj"),
    ("qkv_proj", r"qkv_proj|\bc_attn\b|query_key_value"),
    ("gate_proj", r"gate_proj|\bw1\b"),
    ("up_proj", r"up_proj|\bw3\b|\bc_fc\b"),
    ("down_proj", r"down_proj|\bw2\b|\bc_proj"),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)

SPARSE_KINDS = frozenset({"embed", "lm_head", "router", "bias", "lora_A", "lora_B"})
"""Kinds whose gradient may rightly be mostly zero: unused rows, unused experts, a fresh adapter."""


def kind_of(name: str) -> str:
    """The layer kind of a parameter, `other` where no rule fits."""
    return next((kind for kind, pattern in _COMPILED if pattern.search(name)), "other")


def is_norm(kind: str) -> bool:
    return kind.endswith("norm")
