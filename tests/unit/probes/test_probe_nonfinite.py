"""The non-finite probe: a NaN planted in each part of a step is found there and nowhere else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, run_inside

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

LOSS = """
def root(logps, old_logps, advantages, mask):
    policy = -((logps - old_logps).exp() * advantages[:, None] * mask).sum() / mask.sum()
    return policy + ((logps - logps.detach()) * mask).abs().sum(1).sqrt().sum()

def empty_mean(logps, mask):
    return (logps * mask).sum() / (mask.sum() - mask.sum())

def clean(logps, old_logps, advantages, mask):
    return -((logps - old_logps).exp() * advantages[:, None] * mask).sum() / mask.sum()
"""


def probed(model: Path, *more: str) -> Inside:
    return run_inside("nonfinite", "--model", str(model), "--n", "2", "--max-new", "12", *more)


def planted(tiny: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    from safetensors.torch import load_file, save_file

    shutil.copytree(tiny, folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def batch(path: Path, **more: Any) -> str:
    record = {"prompt_ids": [9, 10, 11], "response_ids": [20, 21, 22, 23], "advantage": 1.0}
    path.write_text(json.dumps(record) + "\n" + json.dumps(record | more))
    return str(path)


def test_a_clean_model_passes_and_names_its_peaks(tiny: Path, tmp_path: Path) -> None:
    done = probed(tiny)
    assert (done.code, done.result["verdict"], done.codes) == (0, "pass", [])
    assert [stage["id"] for stage in done.result["stages"]] == [
        "weights",
        "forward",
        "path",
        "gradient",
        "optimizer",
    ]
    assert done.result["facts"] == {}, "a made batch proves nothing about the failing one"
    assert done.result["peaks"][0]["fp16_headroom"] > 1
    own = probed(tiny, "--batch", batch(tmp_path / "b.jsonl"))
    assert own.result["facts"] == {"probe.nonfinite.first": "none"} and own.code == 0


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("model.layers.1.self_attn.k_proj.weight", [0, 3], "attention"),
        ("model.norm.weight", [5], "norm"),
        ("model.embed_tokens.weight", [7, 2], "embedding"),
        ("model.layers.2.mlp.up_proj.weight", [1, 1], "mlp"),
    ],
)
def test_weights(tiny: Path, tmp_path: Path, name: str, index: list[int], value: str) -> None:
    def change(weights: dict[str, Any]) -> None:
        weights[name][tuple(index)] = float("nan")

    done = probed(planted(tiny, tmp_path / "m", change))
    first = done.result["first"]
    assert (done.code, done.codes, first["name"], first["index"]) == (1, ["NUM.PARAM"], name, index)
    assert first["count"] == 1 and done.result["facts"] == {"probe.nonfinite.first": value}


def test_fp16_overflow_names_the_layer_and_bf16_is_clean(tiny: Path, tmp_path: Path) -> None:
    def change(weights: dict[str, Any]) -> None:
        weights["model.layers.1.mlp.down_proj.weight"] *= 6e5
        weights["model.layers.1.mlp.up_proj.weight"] *= 50

    model = planted(tiny, tmp_path / "m", change)
    done = probed(model, "--dtype", "fp16")
    first = done.result["first"]
    assert done.codes == ["NUM.FORWARD"] and first["where"] == "model.layers.1.mlp.down_proj"
    assert (
        first["inputs_finite"] and first["params_finite"] and first["inf"] > 0 and first["dtype"] == "float16"
    )
    assert done.result["facts"] == {"probe.nonfinite.first": "mlp"}
    assert "overflow" in done.result["findings"][0]["title"]
    assert probed(model, "--dtype", "bf16").codes == []


def test_attention_that_sees_nothing(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from grpo_tui.probes import job as module

    load = module.load_model

    def loaded(*arguments: Any) -> Any:
        model = load(*arguments)

        def blind(_module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
            return args, kwargs | {"attention_mask": torch.full((1, 1, 1, 1), float("-inf"))}

        model.model.layers[0].self_attn.register_forward_pre_hook(blind, with_kwargs=True)
        return model

    monkeypatch.setattr(module, "load_model", loaded)
    done = probed(tiny, "--attn", "eager")
    assert done.codes == ["NUM.FORWARD"] and "layers.0.self_attn" in done.result["first"]["where"]
    assert done.result["first"]["params_finite"] and done.result["facts"] == {
        "probe.nonfinite.first": "attention"
    }


@pytest.mark.parametrize(
    ("more", "where", "path", "value"),
    [
        ({"advantage": float("nan")}, "advantage", ["advantage", "loss"], "loss"),
        ({"logprobs": [-130.0, -3.0, -3.0, -3.0]}, "ratio", ["ratio", "loss"], "ratio"),
        ({"ref_logprobs": [None, -3.0, -3.0, -3.0]}, "reference", ["reference", "k3", "loss"], "reference"),
        (
            {"logprobs": [-3.0, float("-inf"), -3.0, -3.0]},
            "old log-prob",
            ["old log-prob", "ratio", "loss"],
            "log-prob",
        ),
    ],
)
def test_the_path_from_log_prob_to_loss(
    tiny: Path, tmp_path: Path, more: dict[str, Any], where: str, path: list[str], value: str
) -> None:
    more = {**more, "advantage": more.get("advantage", -1.0)}
    done = probed(tiny, "--batch", batch(tmp_path / "b.jsonl", **more))
    assert (done.code, done.codes) == (1, ["NUM.PATH"])
    assert done.result["first"]["where"] == where and done.result["path"] == path
    assert done.result["first"]["first"][0] == 1, "the second sequence"
    assert done.result["facts"] == {"probe.nonfinite.first": value}


@pytest.mark.parametrize(
    ("function", "codes", "fact"),
    [("root", ["NUM.BACKWARD"], "gradient"), ("empty_mean", ["NUM.PATH"], "loss"), ("clean", [], None)],
)
def test_an_own_loss(tiny: Path, tmp_path: Path, function: str, codes: list[str], fact: str | None) -> None:
    (tmp_path / "loss.py").write_text(LOSS)
    done = probed(tiny, "--loss", f"{tmp_path / 'loss.py'}:{function}")
    assert done.codes == codes and done.result["facts"].get("probe.nonfinite.first") == fact, done.error
    if function == "root":
        assert done.result["first"]["in_loss_graph"] and "loss itself" in done.result["findings"][0]["title"]


def test_the_optimizer_step(tiny: Path) -> None:
    done = probed(tiny, "--lr", "3e37", "--weight-decay", "9")
    assert done.codes == ["NUM.OPTIMIZER"] and done.result["facts"] == {"probe.nonfinite.first": "optimizer"}
