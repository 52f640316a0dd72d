"""Loading the model of the run as the trainer would, and what can be said of it before any forward.

`trust_remote_code=False`, offline, safetensors only. The trainer's mode is `model.train()`; what is
random in it (dropout) is reported first and switched off afterwards, on the modules and not only in the
configuration.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..compute.device import dtype_name, import_torch, import_transformers, torch_dtype
from ..compute.distributed import shard
from ..errors import CannotRun
from .checkpoint import Checkpoint, sha_of, weights_fingerprint
from .layers import kind_of

SAMPLING_KEYS = ("do_sample", "temperature", "top_k", "top_p", "min_p", "repetition_penalty")


@dataclass(frozen=True)
class Loaded:
    """A model on its device in its dtype, with its tokenizer."""

    model: Any
    tokenizer: Any
    device: Any
    dtype: str


def quiet_libraries() -> None:
    """Offline and without progress bars, unless the person's environment says otherwise."""
    for name, value in {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TQDM_DISABLE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TOKENIZERS_PARALLELISM": "false",
    }.items():
        os.environ.setdefault(name, value)


def load_model(checkpoint: Checkpoint, dtype: str, device: Any, attn: str | None) -> Any:
    """The causal LM in `dtype` (`bf16`, `fp16`, `fp32`) on `device`; `CannotRun` if it does not load."""
    transformers = import_transformers()
    key = "dtype" if _version(transformers) >= (4, 56) else "torch_dtype"
    options: dict[str, Any] = {key: torch_dtype(dtype)}
    if attn:
        options["attn_implementation"] = attn
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(checkpoint.path),
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            **options,
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, TypeError) as error:
        raise CannotRun(f"{checkpoint.path} cannot be loaded: {_first_line(error)}") from None
    return shard(model.to(device), device)


def has_tokenizer(checkpoint: Checkpoint) -> bool:
    """True if a tokenizer was saved beside the model."""
    names = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json")
    return any((checkpoint.path / name).is_file() for name in names)


def load_tokenizer(checkpoint: Checkpoint) -> Any:
    """The tokenizer saved beside the model, with a pad token."""
    transformers = import_transformers()
    if not has_tokenizer(checkpoint):
        raise CannotRun(
            f"{checkpoint.path} holds no tokenizer: save it there, or use --infer file:rollouts.jsonl"
        )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(checkpoint.path), trust_remote_code=False, local_files_only=True
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, TypeError) as error:
        raise CannotRun(
            f"the tokenizer in {checkpoint.path} cannot be loaded: {_first_line(error)}"
        ) from None
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _version(module: Any) -> tuple[int, int]:
    major, minor = module.__version__.split(".")[:2]
    return int(major), int(minor)


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]


def encode(tokenizer: Any, prompt: str) -> list[int]:
    """Ids of the prompt as a person's turn, through the chat template where there is one."""
    if getattr(tokenizer, "chat_template", None):
        messages = [{"role": "user", "content": prompt}]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    return list(tokenizer(prompt)["input_ids"])


def dropouts(model: Any) -> dict[str, float]:
    """Every dropout probability above 0: `{module path: p}`, from modules and from the configuration."""
    torch = import_torch()
    found = {}
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd) and module.p > 0:
            found[path] = float(module.p)
        for name, value in vars(module).items():
            if "drop" in name and isinstance(value, float) and value > 0:
                found[f"{path}.{name}"] = value
    for name, value in model.config.to_dict().items():
        if "drop" in name and isinstance(value, float) and value > 0:
            found[f"config.{name}"] = value
    return found


def switch_off_dropout(model: Any) -> None:
    """Sets every dropout probability to 0 where the forward reads it."""
    torch = import_torch()
    for module in model.modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            module.p = 0.0
        for name, value in list(vars(module).items()):
            if "drop" in name and isinstance(value, float):
                setattr(module, name, 0.0)
    for name, value in model.config.to_dict().items():
        if "drop" in name and isinstance(value, float):
            setattr(model.config, name, 0.0)


def dtypes_by_kind(model: Any) -> dict[str, str]:
    """The parameters' real dtypes by layer kind (`bf16=True` in a trainer config is not one, `[S3-4]`)."""
    kinds: dict[str, set[str]] = {}
    for name, parameter in model.named_parameters():
        kinds.setdefault(kind_of(name), set()).add(dtype_name(parameter.dtype))
    return {kind: "+".join(sorted(names)) for kind, names in kinds.items()}


def nonfinite_tensors(model: Any) -> list[str]:
    """Names of parameters and buffers that hold a NaN or an Inf."""
    named = list(model.named_parameters()) + list(model.named_buffers())
    return [
        name for name, tensor in named if tensor.is_floating_point() and not bool(tensor.isfinite().all())
    ]


def static_check(checkpoint: Checkpoint, model: Any, tokenizer: Any) -> dict[str, Any]:
    """What is known without a forward. Sampling defaults matter because servers apply them in silence."""
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    defaults = model.generation_config.to_dict()
    return {
        "param_dtypes": dtypes_by_kind(model),
        "nonfinite": nonfinite_tensors(model),
        "dropout": dropouts(model),
        "tied_embeddings": head is not None and embedding.weight is head.weight,
        "attn": getattr(model.config, "_attn_implementation", None),
        "special_ids": {
            name: {"tokenizer": getattr(tokenizer, name, None), "config": getattr(model.config, name, None)}
            for name in ("pad_token_id", "eos_token_id", "bos_token_id")
        },
        "generation_defaults": {key: defaults[key] for key in SAMPLING_KEYS if defaults.get(key) is not None},
        "adapter_beside": (checkpoint.path / "adapter_config.json").is_file(),
    }


def subject_of(checkpoint: Checkpoint, tokenizer: Any, run: str | None) -> dict[str, Any]:
    """Which weights this is about: path, fingerprint, hashes; `run` is what the caller claims."""
    template = getattr(tokenizer, "chat_template", None)
    return {
        "model": str(checkpoint.path),
        "run": run,
        "weights_fingerprint": weights_fingerprint(checkpoint),
        "config_sha": sha_of(checkpoint.path / "config.json"),
        "tokenizer_sha": sha_of(checkpoint.path / "tokenizer.json"),
        "chat_template_sha": _short_sha(template) if template else None,
        "adapter": str(checkpoint.path) if checkpoint.adapter_only else None,
        "architecture": (checkpoint.config.get("architectures") or [None])[0],
        "parameters": checkpoint.parameters,
        "stored_dtype": checkpoint.dtype,
    }


def _short_sha(text: object) -> str:
    import hashlib

    return hashlib.sha256(str(text).encode()).hexdigest()[:16]
