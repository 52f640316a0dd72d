"""Stale weights below any log-prob's noise: fingerprints, live values and the canary find them exactly."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, run_inside
from server_stubs import serving, sglang, vllm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from grpo_tui.probes.errors import CannotRun  # noqa: E402
from grpo_tui.probes.subject import fingerprint  # noqa: E402
from grpo_tui.probes.subject.checkpoint import open_checkpoint  # noqa: E402

SMALL = ("--n", "4", "--max-new", "24")


def changed(source: Path, target: Path, names: tuple[str, ...], by: float = 1e-3) -> Path:
    """A copy whose named tensors differ in one element."""
    model = transformers.AutoModelForCausalLM.from_pretrained(source)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if any(word in name for word in names):
                parameter.view(-1)[0] += by
    model.save_pretrained(target)
    return target


def weights_of(done: Inside) -> dict[str, Any]:
    return done.stage("weights")


def test_one_element_in_one_layer_is_found_where_log_probs_agree(tiny_bf16: Path, tmp_path: Path) -> None:
    engine = changed(tiny_bf16, tmp_path / "engine", ("layers.1.mlp.up_proj",), 0.03)
    done = run_inside("ratio", "--model", str(tiny_bf16), "--engine-weights", str(engine), *SMALL)
    stage = weights_of(done)
    assert (done.code, done.codes) == (1, ["RATIO.STALE_OR_PARTIAL_SYNC"])
    assert stage["differ"] == ["model.layers.1.mlp.up_proj.weight"] and stage["by"] == "fingerprint"
    found = done.result["findings"][0]["params"]
    assert found["layers"] == [1] and found["tensors"] == 1 and 0 < found["share"] < 1e-4
    assert done.stage("C")["verdict"] == "pass"


def test_the_same_weights_pass_and_their_fingerprint_too(tiny: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny, tmp_path / "engine"))
    file = tmp_path / "engine.json"
    file.write_text(json.dumps(fingerprint.fingerprint_of(open_checkpoint(tiny))))
    for engine in (copy, file):
        done = run_inside("ratio", "--model", str(tiny), "--engine-weights", str(engine), *SMALL)
        assert (done.code, done.codes, weights_of(done)["differ"]) == (0, [], [])
        assert weights_of(done)["resolution"] == "exact"


def test_another_rope_base_is_named_from_the_configuration(tiny: Path, tmp_path: Path) -> None:
    engine = Path(shutil.copytree(tiny, tmp_path / "engine"))
    config = json.loads((engine / "config.json").read_text())
    config["rope_parameters"] = {"rope_type": "default", "rope_theta": 15000.0}
    (engine / "config.json").write_text(json.dumps(config))
    done = run_inside("ratio", "--model", str(tiny), "--engine-weights", str(engine), *SMALL)
    finding = done.result["findings"][0]
    assert finding["code"] == "RATIO.CONFIG_DIFFERS" and "rope_parameters" in finding["params"]


def test_a_bf16_engine_is_compared_through_its_cast(tiny: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny).bfloat16()
    model.save_pretrained(tmp_path / "engine")
    outcome = fingerprint.compare_weights(open_checkpoint(tiny), tmp_path / "engine")
    assert outcome["differ"] == [] and outcome["resolution"] == "bf16" and outcome["equal"] > 20


def test_fused_tensors_are_joined(tiny: Path, tmp_path: Path) -> None:
    tensors = dict(fingerprint.stream(open_checkpoint(tiny)))
    parts = [tensors.pop(f"model.layers.0.self_attn.{x}_proj.weight") for x in "qkv"]
    tensors["model.layers.0.self_attn.qkv_proj.weight"] = torch.cat(parts)
    (tmp_path / "f.json").write_text(json.dumps(fingerprint.fingerprint(tensors.items())))
    outcome = fingerprint.compare_weights(open_checkpoint(tiny), tmp_path / "f.json")
    assert outcome["differ"] == outcome["only_engine"] == outcome["only_trainer"] == []
    assert outcome["compared"] == len(tensors)


def test_a_fingerprint_that_is_none_is_one_line(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "f.json").write_text("{}")
    with pytest.raises(CannotRun, match="is no fingerprint"):
        fingerprint.compare_weights(open_checkpoint(tiny), tmp_path / "f.json")


def test_agreement_in_bf16_leaves_the_weights_open(tiny_bf16: Path, tiny: Path) -> None:
    low = run_inside("ratio", "--model", str(tiny_bf16), *SMALL)
    assert low.result["verdict"] == "pass" and weights_of(low)["verdict"] == "inconclusive"
    assert any("--canary-sync" in limit for limit in low.result["limits"])
    full = run_inside("ratio", "--model", str(tiny), *SMALL)
    assert weights_of(full)["verdict"] == "pass"


class Engine:
    """A server's process: it holds the weights of the folder that a file names, as a sync leaves it."""

    def __init__(self, folder: Path, holds: Path) -> None:
        self.holds, self._models = holds, {}
        holds.write_text(str(folder))

    def model(self) -> Any:
        folder = self.holds.read_text()
        if folder not in self._models:
            self._models = {folder: transformers.AutoModelForCausalLM.from_pretrained(folder).eval()}
        return self._models[folder]

    def __call__(self, prompt: list[int], temperature: float) -> tuple[list[int], list[float]]:
        model, ids, values = self.model(), list(prompt), []
        torch.manual_seed(len(prompt))
        with torch.no_grad():
            for _ in range(16):
                logps = (model(torch.tensor([ids])).logits[0, -1].float() / temperature).log_softmax(-1)
                ids.append(int(torch.multinomial(logps.exp(), 1)))
                values.append(float(logps[ids[-1]]))
        return ids[len(prompt) :], values


SYNC = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


@pytest.mark.parametrize(
    ("command", "codes", "arrived"),
    [
        (SYNC, [], True),
        ("pass", ["RATIO.STALE_OR_PARTIAL_SYNC"], False),
        (f"{SYNC} if 'canary-' in sys.argv[2] else None", ["RATIO.CANARY_LEFT"], True),
    ],
)
def test_the_canary(tiny: Path, tmp_path: Path, command: str, codes: list[str], arrived: bool) -> None:
    script = tmp_path / "sync.py"
    script.write_text(
        command if "if 'canary-'" not in command else SYNC.replace("; ", "\nif 'canary-' in sys.argv[2]: ", 1)
    )
    engine = Engine(tiny, tmp_path / "holds")
    sync = f"{sys.executable} {script} {engine.holds} {{model}}"
    before = sorted(path.name for path in tiny.iterdir())
    with serving(vllm(engine)) as stub:
        words = ("--infer", stub.url, "--canary-sync", sync, "--out", str(tmp_path / "out"))
        done = run_inside("ratio", "--model", str(tiny), *words, "--n", "4", "--max-new", "16")
    assert done.codes == codes, done.error
    stage = weights_of(done)
    assert stage["by"] == "canary" and stage["arrived"] is arrived
    assert (done.code == 0) is (not codes)
    assert sorted(path.name for path in tiny.iterdir()) == before


def test_a_sync_command_that_fails_is_one_line(tiny: Path, tmp_path: Path) -> None:
    engine = Engine(tiny, tmp_path / "holds")
    sync = f"{sys.executable} -c 'import sys; sys.exit(\"no such host\")'"
    with serving(vllm(engine)) as stub:
        words = ("--infer", stub.url, "--canary-sync", sync)
        done = run_inside("ratio", "--model", str(tiny), *words, "--n", "2", "--max-new", "8")
    assert done.code == 2 and "no such host" in (done.error or "")


@pytest.mark.parametrize("fresh", [True, False])
def test_values_of_a_live_sglang(tiny: Path, tmp_path: Path, fresh: bool) -> None:
    engine = Engine(tiny, tmp_path / "holds")
    holds = tiny if fresh else changed(tiny, tmp_path / "old", ("layers.2.mlp.down_proj",), 0.05)
    tensors = dict(fingerprint.stream(open_checkpoint(holds)))
    routes = sglang(engine) | {
        "/get_weights_by_name": lambda body: tensors[body["name"]][: body["truncate_size"]].tolist()
    }
    with serving(routes) as stub:
        done = run_inside("ratio", "--model", str(tiny), "--infer", stub.url, "--n", "4", "--max-new", "16")
    assert weights_of(done)["by"] == "live values", done.error
    assert done.codes == ([] if fresh else ["RATIO.STALE_OR_PARTIAL_SYNC"])
