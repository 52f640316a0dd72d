"""A run's settings under canonical keys: what it says, and the framework's default for what it does not.

Settings come from hydra's `.hydra/`, TRL's arguments, the console, or a file that the person gives;
each framework names them its own way. A default depends on the version, so where the version is only
known as a range a default is given only if it is the same in the whole range, and it is marked. Nothing
is unpickled, no interpolation is resolved: `${...}` stays text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ..errors import SourceError
from ..origin.version import parse
from ..records import Origin, Setting
from .defaults import defaults
from .keys import KEYS
from .printed import flattened, overrides, scalar

if TYPE_CHECKING:
    from ..search.detect import Found

_PIN = re.compile(r"^\s*([A-Za-z][\w.-]*)\s*==\s*([\w.+!]+)")
_FRAMEWORKS = ("verl", "trl")
_OFF_BY_NULL = frozenset({"importance_sampling_correction", "rejection_sampling"})
_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "half": "float16", "float": "float32"}


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """A canonical setting. `raw` is the run's own key, `default` whether the run left it unsaid."""

    key: str
    raw: str
    value: Any
    default: bool = False
    origin: str = ""


def settings_of(found: Found, config_file: Path | None = None) -> list[Setting]:
    """Every setting in the run's configuration files, then those of `config_file`; a later one wins.

    Raises `SourceError` if `config_file` cannot be read; a broken file of the run itself is passed over
    with a warning in `found`.
    """
    settings: list[Setting] = []
    for path in sorted(found.config_files, key=_precedence):
        try:
            settings.extend(_read(path))
        except (OSError, ValueError, RecursionError, yaml.YAMLError):
            found.warnings.append(f"{path}: is not readable as configuration and was passed over")
    if config_file is not None:
        settings.extend(given(config_file))
    return settings


def given(path: Path) -> list[Setting]:
    """The settings of a file that a person names (YAML, JSON, TOML): nested or dotted, raw or canonical."""
    if path.exists() and not path.is_file():
        raise SourceError(f"{path}: is no file; give a YAML, JSON or TOML file of settings")
    try:
        return list(_read(path))
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read ({error.strerror}); check the path given as configuration"
        ) from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(
            f"{path}: is neither YAML nor JSON nor TOML ({reason}); give a mapping of settings"
        ) from None


def pinned(paths: list[Path]) -> Origin | None:
    """The framework and exact version that a `requirements.txt` beside the run pins."""
    pins: dict[str, str] = {}
    for path in paths:
        if path.name == "requirements.txt":
            pins.update({setting.key: str(setting.value) for setting in _requirements(path)})
    for framework in _FRAMEWORKS:
        version = pins.get(f"requirements.{framework}")
        if version:
            return Origin(framework, version, f"{framework}=={version} in requirements.txt", 3)
    return None


def resolve(settings: dict[str, Setting], framework: str, version: str | None) -> dict[str, ConfigValue]:
    """Canonical key -> value. A key that is neither set nor has a certain default is left out."""
    usual = defaults(framework, version)
    order = (framework, *(name for name in (*_FRAMEWORKS, "other") if name != framework))
    resolved: dict[str, ConfigValue] = {}
    for key, names in KEYS.items():
        raws = (
            [raw for name in order for raw in names.get(name, ())]
            if framework not in names
            else [*names[framework], *names.get("other", ())]
        )
        value = _said(key, (*raws, key), settings)
        if value is None:
            raw = next((raw for raw in raws if raw in usual), None)
            value = ConfigValue(key, raw, usual[raw], True, f"{framework}'s default") if raw else None
        if value is not None:
            resolved[key] = value
    if framework == "verl":
        _kl_in_reward(resolved, version)
    for derive in _DERIVED:
        derive(resolved, settings, framework)
    return resolved


def _said(key: str, raws: tuple[str, ...], settings: dict[str, Setting]) -> ConfigValue | None:
    for raw in raws:
        setting = settings.get(raw)
        if setting is not None and setting.value is None and key in _OFF_BY_NULL:
            return ConfigValue(key, raw, False, False, setting.origin)
        if setting is not None and setting.value is not None:
            return ConfigValue(key, raw, _typed(key, setting.value), False, setting.origin)
    return None


def _typed(key: str, value: Any) -> Any:
    """One spelling for each dtype; YAML 1.1 reads `1e-6` as text: numbers are numbers; the rest stays."""
    if key.endswith("dtype") and isinstance(value, str):
        name = value.rpartition(".")[2].lower()
        return _DTYPES.get(name, name)
    return (
        scalar(value)
        if isinstance(value, str) and re.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?", value)
        else value
    )


# -- what follows from other settings ---------------------------------------------------------

Resolved = dict[str, ConfigValue]


def _derive(resolved: Resolved, key: str, value: Any, source: ConfigValue | None) -> None:
    if key not in resolved and source is not None:
        resolved[key] = ConfigValue(key, source.raw, value, source.default, source.origin)


def _kl_in_reward(resolved: Resolved, version: str | None) -> None:
    """verl up to 0.3 has no switch: the KL stands in the reward unless it stands in the loss."""
    releases, loss = parse(version), resolved.get("use_kl_loss")
    if releases is not None and releases[1] < (0, 4) and loss is not None:
        _derive(resolved, "use_kl_in_reward", loss.value is not True, loss)


def _kl(resolved: Resolved, _: dict[str, Setting], framework: str) -> None:
    """`beta`: the weight of the KL to the reference that is in force, 0 where there is none."""
    beta = resolved.pop("kl_beta", None)
    if beta is not None:
        _derive(resolved, "beta", beta.value, beta)
        _derive(resolved, "use_kl_loss", bool(beta.value), beta)
        return
    loss, reward = resolved.get("use_kl_loss"), resolved.get("use_kl_in_reward")
    if loss is not None and loss.value is True:
        coefficient = resolved.get("kl_loss_coef")
    elif reward is not None and reward.value is True:
        coefficient = resolved.get("kl_coef")
    else:
        known = loss is not None and reward is not None
        _derive(resolved, "beta", 0.0, loss if known else None)
        return
    _derive(resolved, "beta", coefficient.value if coefficient else None, coefficient)


def _clip(resolved: Resolved, settings: dict[str, Setting], framework: str) -> None:
    """An upper clip that is not set equals the lower one."""
    both = resolved.get("clip_ratio")
    _derive(resolved, "clip_ratio_low", both.value if both else None, both)
    _derive(resolved, "clip_ratio_high", both.value if both else None, both)


def _scaling(resolved: Resolved, _: dict[str, Setting], framework: str) -> None:
    scale = resolved.get("scale_rewards")
    _derive(resolved, "norm_adv_by_std", scale.value not in (False, "none") if scale else None, scale)
    if framework == "trl" and "adv_estimator" not in resolved:
        resolved["adv_estimator"] = ConfigValue(
            "adv_estimator", "GRPOTrainer", "grpo", True, "TRL's GRPO trainer"
        )


def _model(resolved: Resolved, settings: dict[str, Setting], framework: str) -> None:
    rank = resolved.get("lora_rank")
    if rank is not None and isinstance(rank.value, int | float):
        _derive(resolved, "use_lora", rank.value > 0, rank)
    for raw in ("use_peft", "use_lora"):
        if raw in settings:
            _derive(resolved, "use_lora", bool(settings[raw].value), ConfigValue(raw, raw, 0))
    vllm = resolved.get("use_vllm")
    if vllm is not None:
        _derive(resolved, "rollout_engine", "vllm" if vllm.value else "transformers", vllm)
    for flag, dtype in (("bf16", "bfloat16"), ("fp16", "float16")):
        if flag in resolved and resolved[flag].value is True:
            _derive(resolved, "dtype", dtype, resolved[flag])
    _derive(resolved, "dtype", "float32", resolved.get("bf16"))
    param = resolved.get("param_dtype")
    _derive(resolved, "dtype", param.value if param else None, param)


def _plan(resolved: Resolved, _: dict[str, Setting], framework: str) -> None:
    for key in ("max_steps", "warmup_steps"):
        value = resolved.get(key)
        if value is not None and isinstance(value.value, int | float) and value.value < 0:
            del resolved[key]
    for key in ("warmup_steps", "warmup_ratio"):
        value = resolved.get(key)
        if value is not None and value.value:
            _derive(resolved, "warmup", value.value, value)


_DERIVED: tuple[Callable[[Resolved, dict[str, Setting], str], None], ...] = (
    _kl,
    _clip,
    _scaling,
    _model,
    _plan,
)


# -- files ------------------------------------------------------------------------------------


def _precedence(path: Path) -> tuple[int, str]:
    """Weakest first: pinned versions, whole configurations, then what the person typed."""
    order = {"requirements.txt": 0, "adapter_config.json": 1, "overrides.yaml": 3}
    return order.get(path.name, 2), str(path)


def _read(path: Path) -> Iterator[Setting]:
    if path.name == "requirements.txt":
        yield from _requirements(path)
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tree: Any
    if path.suffix == ".toml":
        tree = tomllib.loads(text)
    else:
        tree = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=loader)
    if tree is None:
        return
    if isinstance(tree, list):
        yield from overrides([str(word) for word in tree], path.name)
        return
    if not isinstance(tree, Mapping):
        raise ValueError("it holds no mapping of settings")
    if path.name == "adapter_config.json":
        yield Setting("use_peft", True, path.name)
        yield from flattened(
            {"adapter": {k: tree[k] for k in ("r", "lora_alpha", "target_modules") if k in tree}}, path.name
        )
        return
    yield from flattened(_unwrapped(tree), path.name)


def _unwrapped(tree: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """wandb's config.yaml wraps each setting as `key: {desc, value}`."""
    entries = [entry for key, entry in tree.items() if key not in ("wandb_version", "_wandb")]
    if entries and all(isinstance(entry, Mapping) and "value" in entry for entry in entries):
        return {k: v["value"] for k, v in tree.items() if isinstance(v, Mapping) and k != "_wandb"}
    return tree


def _requirements(path: Path) -> Iterator[Setting]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        if match := _PIN.match(line):
            yield Setting(f"requirements.{match[1].lower().replace('_', '-')}", match[2], path.name)


LEAKED = frozenset(
    {"max_steps", "total_epochs", "logging_steps", "save_steps", "eval_steps", "learning_rate"}
)
"""Keys that a bar, a trainer state or the log gives away where no configuration was read."""


def with_logged_rate(config: dict[str, ConfigValue], raw: str, highest: float) -> dict[str, ConfigValue]:
    """The configuration, with a learning rate that was logged (its highest) in place of a mere default."""
    held = config.get("learning_rate")
    if highest <= 0 or (held is not None and not held.default):
        return config
    return {**config, "learning_rate": ConfigValue("learning_rate", raw, highest, False, "the log")}


def was_read(config: dict[str, ConfigValue]) -> bool:
    """Whether any configuration was read, beyond what a log gives away by itself."""
    return any(not held.default and key not in LEAKED for key, held in config.items())
