"""A tiny random model with its own tokenizer, built here: to rehearse a probe, never to learn about a run.

Random weights hide faults (their log-probs are near −ln V and their rounding noise is ~20x smaller), so a
result on it is labelled a rehearsal.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..compute.device import import_torch, import_transformers, torch_dtype
from .prompts import BUILTIN

_VOCABULARY = 512
_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tiny_model(work: Path | None, dtype: str, seed: int) -> Path:
    """Folder of the tiny Qwen3 of this seed and dtype; built on first use, by default in the temp folder."""
    root = (
        work or Path(tempfile.gettempdir()) / f"grpo-tui-probes-{os.getuid() if hasattr(os, 'getuid') else 0}"
    )
    folder = root / f"tiny-qwen3-{dtype}-seed{seed}"
    if (folder / "config.json").is_file():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".tiny-", dir=root))
    try:
        _build(building, dtype, seed)
        building.chmod(0o755)
        building.rename(folder)
    except OSError:  # another probe built it meanwhile
        if not (folder / "config.json").is_file():
            raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return folder


def _build(folder: Path, dtype: str, seed: int) -> None:
    torch, transformers = import_torch(), import_transformers()
    tokenizer = _tokenizer(transformers)
    config = transformers.Qwen3Config(
        vocab_size=_VOCABULARY,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    torch.manual_seed(seed)
    model = transformers.Qwen3ForCausalLM(config).to(torch_dtype(dtype))
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)


def _tokenizer(transformers: Any) -> Any:
    """A byte-level BPE learnt from the built-in prompts: every string has ids, none is unknown."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(BUILTIN, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|pad|>", eos_token="<|end|>", padding_side="left"
    )
    tokenizer.chat_template = _TEMPLATE
    return tokenizer
