"""The update probe on a tiny model: rounding shows in bf16, vanishes in fp32, and matches the prediction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, run_inside

pytest.importorskip("torch")
pytest.importorskip("transformers")

SMALL = ("--n", "4", "--max-new", "16")


def kinds(mode: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {kind["kind"]: kind for kind in mode["kinds"]}


@pytest.fixture(scope="module")
def bf16(tiny_bf16: Path) -> Inside:
    modes = "as-run,fp32,fp32-norms,fp32-master"
    return run_inside("update", "--model", str(tiny_bf16), "--lr", "1e-6", "--modes", modes, *SMALL)


def test_norms_stand_still_in_bf16(bf16: Inside) -> None:
    assert (bf16.status, bf16.code, bf16.result["verdict"]) == ("complete", 0, "warn")
    assert bf16.codes == ["UPDATE.NORM_ROUNDED_AWAY", "UPDATE.NO_MASTER"]
    by_kind = kinds(bf16.result["modes"][0])
    for kind in ("input_layernorm", "post_attention_layernorm", "final_norm", "q_norm", "k_norm"):
        assert by_kind[kind]["changed"] == 0 and by_kind[kind]["grad"]["nonzero"] > 0.9
        assert by_kind[kind]["min_lr_to_move"] == pytest.approx(1.953e-3, rel=1e-3)
    facts = bf16.result["facts"]
    assert facts["probe.update.norm-moved"] == "no" and facts["probe.update.gradient-finite"] == "yes"
    assert 0.01 < facts["probe.update.moved"] < 0.03


def test_prediction_agrees_with_the_measurement(bf16: Inside) -> None:
    mode = bf16.result["modes"][0]
    assert mode["total_changed_step1"] == pytest.approx(mode["predicted_total"], rel=0.1)
    assert kinds(mode)["q_proj"]["changed"] == pytest.approx(kinds(mode)["q_proj"]["predicted"], rel=0.15)


def test_growth_tells_a_master_copy_from_lost_updates(bf16: Inside) -> None:
    modes = {mode["mode"]: mode for mode in bf16.result["modes"]}
    assert modes["as-run"]["growth"] <= 1.05 and modes["fp32-master"]["growth"] >= 1.2


def test_a_run_with_master_weights_says_so_and_passes(tiny_bf16: Path) -> None:
    arguments = ("--lr", "1e-6", "--master", "--modes", "as-run", *SMALL)
    done = run_inside("update", "--model", str(tiny_bf16), *arguments)
    assert (done.result["verdict"], done.codes) == ("pass", [])
    assert done.result["facts"]["probe.update.norm-moved"] == "yes"
    mode = done.result["modes"][0]
    assert mode["total_changed"] > 0.99 and mode["total_changed_bf16"] < 0.1


def test_what_would_help_is_shown(bf16: Inside) -> None:
    modes = {mode["mode"]: mode for mode in bf16.result["modes"]}
    assert modes["fp32"]["total_changed"] > 0.99
    assert kinds(modes["fp32-norms"])["input_layernorm"]["changed"] > 0.95
    assert kinds(modes["fp32-norms"])["input_layernorm"]["dtype"] == "fp32"
    assert kinds(modes["fp32-norms"])["q_proj"]["dtype"] == "bf16"


def test_fp32_moves_everything(tiny: Path) -> None:
    done = run_inside("update", "--model", str(tiny), "--lr", "1e-6", "--weights-of-run", "runs/a", *SMALL)
    assert (done.code, done.result["verdict"], done.codes) == (0, "pass", [])
    assert done.result["facts"]["probe.update.moved"] > 0.99
    assert done.result["facts"]["probe.update.norm-moved"] == "yes"
    assert [mode["mode"] for mode in done.result["modes"]] == ["as-run"]


def test_prediction_alone_builds_no_model(tiny_bf16: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grpo_tui.probes.update.probe.load_model", None)
    done = run_inside("update", "--model", str(tiny_bf16), "--lr", "1e-6", "--predict-only")
    assert done.result["basis"] == "predicted" and done.codes == ["UPDATE.NORM_ROUNDED_AWAY"]
    assert set(done.result["facts"]) == {"probe.update.moved", "probe.update.norm-moved"}
    assert done.stage("predict")["moves_below"] == pytest.approx(4.9e-4, rel=0.01)


def test_a_learning_rate_no_matrix_can_hold(tiny_bf16: Path) -> None:
    done = run_inside("update", "--model", str(tiny_bf16), "--lr", "1e-12", "--predict-only")
    assert (done.code, done.codes[0]) == (1, "UPDATE.MATRIX_ROUNDED_AWAY")


def test_a_learning_rate_of_zero(tiny: Path) -> None:
    done = run_inside("update", "--model", str(tiny), "--lr", "0", *SMALL)
    assert (done.code, done.codes) == (1, ["UPDATE.LR_ZERO"])


def recorded(path: Path, advantage: float) -> Path:
    rows = [
        {"prompt_ids": [5, 6, 7 + i], "response_ids": [20 + i, 30, 40 + i], "advantage": advantage}
        for i in range(6)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_zero_variance_groups_are_inconclusive(tiny: Path, tmp_path: Path) -> None:
    batch = recorded(tmp_path / "b.jsonl", 0.0)
    done = run_inside("update", "--model", str(tiny), "--lr", "1e-6", "--batch", str(batch))
    assert (done.code, done.result["verdict"]) == (3, "inconclusive") and "facts" in done.result


def test_own_rollouts_are_used(tiny: Path, tmp_path: Path) -> None:
    batch = recorded(tmp_path / "b.jsonl", 1.0)
    done = run_inside("update", "--model", str(tiny), "--lr", "1e-6", "--batch", str(batch))
    assert done.result["verdict"] == "pass" and len(done.result["modes"][0]["steps"]) == 3
