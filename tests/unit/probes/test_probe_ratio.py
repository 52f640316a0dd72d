"""The ratio probe on a tiny model: clean, and with faults planted in the engine's file or the saved model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, Sampled, run_inside

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def logps(logits: Any, ids: Any, temperature: float = 1.0) -> Any:
    return (logits / temperature).log_softmax(-1).gather(1, ids[:, None])[:, 0]


def top_p(logits: Any, ids: Any, p: float = 0.9) -> Any:
    ordered, order = logits.sort(-1, descending=True)
    mass = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
    kept = ordered.masked_fill(mass >= p, -1e30).log_softmax(-1)
    return torch.empty_like(logits).scatter(1, order, kept).gather(1, ids[:, None])[:, 0]


def compared(tiny: Path, infer: str, *more: str) -> Inside:
    return run_inside("ratio", "--model", str(tiny), "--weights-of-run", "runs/a", "--infer", infer, *more)


@pytest.fixture(scope="module")
def clean(tiny: Path) -> Inside:
    return run_inside("ratio", "--model", str(tiny), "--n", "8", "--max-new", "48")


def test_a_clean_model_passes(clean: Inside) -> None:
    assert (clean.status, clean.code, clean.result["verdict"], clean.codes) == ("complete", 0, "pass", [])
    assert clean.stage("A")["stats"]["bit_equal"] == 1.0
    assert 0 < clean.stage("C")["stats"]["mean_abs"] <= 1e-4
    assert clean.stage("B")["stats"]["mean_abs"] <= 1e-5
    facts = clean.result["facts"]
    assert facts == {
        "probe.ratio.repeatable": "yes",
        "probe.ratio.batch-invariant": "yes",
        "probe.ratio.engine-agrees": "yes",
        "probe.ratio.outside-clip": 0.0,
        "probe.ratio.shape": "noise",
    }


def test_the_result_names_its_weights_and_is_a_rehearsal_until_a_run_is_named(
    clean: Inside, tiny: Path
) -> None:
    assert clean.result["schema"] == "probe.ratio/1"
    assert clean.result["rehearsal"] and "weights-of-run" in clean.result["rehearsal_reason"]
    subject = clean.result["subject"]
    assert subject["model"] == str(tiny) and subject["weights_fingerprint"].startswith("sampled-sha256:")
    assert subject["param_dtypes"]["q_proj"] == "fp32" and subject["chat_template_sha"]
    assert clean.stage("static")["facts"]["tied_embeddings"] is True
    json.dumps(clean.result, allow_nan=False)


def test_temperature_one_side(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", lambda x, i: logps(x, i, 0.7)))
    assert done.code == 1 and done.result["rehearsal"] is False
    assert done.codes == ["RATIO.TEMPERATURE"] and done.result["findings"][0]["params"]["T"] == 0.7
    assert done.result["facts"]["probe.ratio.shape"] == "temperature"
    assert done.result["facts"]["probe.ratio.engine-agrees"] == "no"


def test_temperature_the_other_side(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", logps), "--temperature", "0.7")
    assert done.codes == ["RATIO.TEMPERATURE"] and done.result["findings"][0]["params"]["T"] == 1.0


def test_one_convention_at_another_temperature_passes(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    infer = sampled.write(tmp_path / "r.jsonl", lambda x, i: logps(x, i, 0.7))
    assert compared(tiny, infer, "--temperature", "0.7").result["verdict"] == "pass"


def test_top_p_renormalised(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", top_p))
    assert done.codes == ["RATIO.TRUNCATION_RENORM"] and done.result["findings"][0]["params"]["p"] == 0.9
    stats = done.stage("C")["stats"]
    assert stats["one_sided"] == 1.0 and stats["min_delta"] >= -0.1054 and stats["out_clip"] == 0
    assert done.result["facts"]["probe.ratio.shape"] == "renormalised"


def test_shifted_list(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", lambda x, i: logps(x, i).roll(1)))
    assert done.codes == ["RATIO.SHIFT"] and done.result["facts"]["probe.ratio.shape"] == "shifted"


def test_log_softmax_in_bf16(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    def planted(logits: Any, ids: Any) -> Any:
        return logps(logits.bfloat16(), ids).float()

    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", planted))
    assert done.codes == ["RATIO.BF16_LOGSOFTMAX"] and done.stage("C")["stats"]["grid_infer"] == 1.0


def test_retokenised(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    def planted(logits: Any, ids: Any) -> Any:
        torch.manual_seed(0)
        values = logps(logits, ids)
        values[20:] -= 2 * torch.rand(len(ids) - 20)
        return values

    done = compared(tiny, sampled.write(tmp_path / "r.jsonl", planted))
    assert done.codes == ["RATIO.RETOKENISED"]


def test_dropped_logprobs_fail_and_are_not_compared(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    infer = sampled.write(tmp_path / "r.jsonl", logps)
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    record = json.loads(lines[0])
    lines[0] = json.dumps({**record, "logprobs": record["logprobs"][:-2]})
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    done = compared(tiny, infer)
    assert done.code == 1 and done.codes == ["RATIO.LOGPROBS_MISSING"]
    assert done.result["facts"]["probe.ratio.engine-agrees"] == "no" and done.result["data"]["sequences"] == 7


def test_missing_numbers_are_counted(tiny: Path, sampled: Sampled, tmp_path: Path) -> None:
    infer = sampled.write(tmp_path / "r.jsonl", logps)
    path = tmp_path / "r.jsonl"
    record = json.loads(path.read_text().splitlines()[0])
    record["logprobs"][3] = None
    path.write_text(json.dumps(record) + "\n" + "\n".join(path.read_text().splitlines()[1:]))
    done = compared(tiny, infer)
    assert done.code == 1 and done.stage("C")["stats"]["nonfinite"] == 1


def test_dropout_in_the_configuration_is_found_and_named(tiny: Path, tmp_path: Path) -> None:
    planted = tmp_path / "dropout"
    shutil.copytree(tiny, planted)
    config = json.loads((planted / "config.json").read_text())
    (planted / "config.json").write_text(json.dumps({**config, "attention_dropout": 0.1}))
    done = run_inside("ratio", "--model", str(planted), "--n", "2", "--max-new", "24")
    assert done.code == 1 and done.codes[:2] == ["RATIO.DROPOUT", "RATIO.NOT_DETERMINISTIC"]
    assert done.stage("A.as-run")["verdict"] == "fail" and done.stage("A")["stats"]["bit_equal"] == 1.0
    assert done.result["facts"]["probe.ratio.repeatable"] == "no"
    assert done.result["facts"]["probe.ratio.engine-agrees"] == "yes"


def test_nonfinite_weights_end_the_probe(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    planted = tmp_path / "nan"
    shutil.copytree(tiny, planted)
    weights = load_file(planted / "model.safetensors")
    weights["model.norm.weight"][0] = float("nan")
    save_file(weights, planted / "model.safetensors", metadata={"format": "pt"})
    done = run_inside("ratio", "--model", str(planted))
    assert (done.code, done.codes) == (1, ["NUM.PARAM"])
    assert [stage["id"] for stage in done.result["stages"]] == ["static"]


def test_low_precision_can_be_emulated() -> None:
    from grpo_tui.probes.compute import device

    original = torch.nn.functional.linear
    try:
        device.install_emulated_linear()
        x, weight = torch.randn(4, 16).bfloat16(), torch.randn(8, 16).bfloat16().requires_grad_()
        y = torch.nn.functional.linear(x, weight)
        assert y.dtype == torch.bfloat16 and torch.equal(y, original(x.float(), weight.float()).bfloat16())
        y.sum().backward()
        assert weight.grad.dtype == torch.bfloat16
    finally:
        torch.nn.functional.linear = original
