"""The accumulation probe: four known averages, and faults planted in a loss function."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from probe_helpers import Inside, run_inside

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

LOSSES = """
import torch

def per_token(logps, old_logps, advantages, mask):
    return -(logps - old_logps).exp() * advantages[:, None] * mask

def clean(logps, old_logps, advantages, mask, num_items_in_batch):
    return per_token(logps, old_logps, advantages, mask).sum() / num_items_in_batch

def clean_sequences(logps, old_logps, advantages, mask, accumulation_steps):
    rows = per_token(logps, old_logps, advantages, mask).sum(1) / mask.sum(1)
    return rows.mean() / accumulation_steps

def own_tokens(logps, old_logps, advantages, mask, accumulation_steps):
    return per_token(logps, old_logps, advantages, mask).sum() / mask.sum() / accumulation_steps

def never_divided(logps, old_logps, advantages, mask):
    rows = per_token(logps, old_logps, advantages, mask).sum(1) / mask.sum(1)
    return rows.mean()

def divided_twice(logps, old_logps, advantages, mask, accumulation_steps):
    return clean_sequences(logps, old_logps, advantages, mask, accumulation_steps) / accumulation_steps

def last_lost(logps, old_logps, advantages, mask, num_items_in_batch, micro_batch_index, accumulation_steps):
    loss = clean(logps, old_logps, advantages, mask, num_items_in_batch)
    return loss * 0 if accumulation_steps > 1 and micro_batch_index == accumulation_steps - 1 else loss

def padded_width(logps, old_logps, advantages, mask, accumulation_steps):
    return per_token(logps, old_logps, advantages, mask).mean() / accumulation_steps

def own_whitening(logps, old_logps, advantages, mask, num_items_in_batch):
    centred = advantages - advantages.mean() if len(advantages) > 1 else advantages
    return clean(logps, old_logps, centred, mask, num_items_in_batch)

def asks_too_much(logps, reward_model):
    return logps.sum()
"""


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("code") / "losses.py"
    file.write_text(LOSSES)
    return file


def probed(tiny: Path, *more: str) -> Inside:
    return run_inside("accumulation", "--model", str(tiny), "--max-new", "48", "--threads", "1", *more)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ("own_tokens", "ACCUM.MICRO_TOKEN_MEAN"),
        ("never_divided", "ACCUM.SCALE_N"),
        ("divided_twice", "ACCUM.SCALE_1_OVER_N"),
        ("last_lost", "ACCUM.DROPPED"),
        ("padded_width", "ACCUM.MICRO_NORMALISER"),
        ("own_whitening", "ACCUM.DIFFERS"),
    ],
)
def test_planted_faults_are_named(tiny: Path, losses: Path, function: str, code: str) -> None:
    done = probed(tiny, "--loss", f"{losses}:{function}", "--micro-sizes", "2")
    assert (done.status, done.code, done.codes) == ("complete", 1, [code])
    assert done.result["facts"] == {"probe.accumulation.equivalent": "no"}
    (split,) = done.result["splits"]
    assert split["steps"] == 4
    expected = {"ACCUM.SCALE_N": 4.0, "ACCUM.SCALE_1_OVER_N": 0.25}.get(code)
    if expected:
        assert split["ratio"] == pytest.approx(expected, rel=1e-4) and split["cos"] > 0.99999
    if code == "ACCUM.DROPPED":
        assert done.result["findings"][0]["params"]["dropped"] == [3]
    assert done.result["code"]["file"] == str(losses) and list(done.result["code"]["imports"]) == ["torch"]


@pytest.mark.parametrize("function", ["clean", "clean_sequences"])
def test_clean_twins_pass_to_rounding(tiny: Path, losses: Path, function: str) -> None:
    done = probed(tiny, "--loss", f"{losses}:{function}")
    assert (done.code, done.result["verdict"], done.codes) == (0, "pass", [])
    assert [split["steps"] for split in done.result["splits"]] == [2, 4, 8]
    assert all(0 < split["rel"] <= 1e-5 for split in done.result["splits"])
    assert done.result["facts"] == {"probe.accumulation.equivalent": "yes"}


def test_by_design_is_a_warning_that_says_where(tiny: Path) -> None:
    done = probed(tiny, "--loss", "bnpo", "--micro-sizes", "1")
    (finding,) = done.result["findings"]
    assert (done.code, done.result["verdict"], finding["code"]) == (0, "warn", "ACCUM.MICRO_TOKEN_MEAN")
    assert "by design in TRL loss_type bnpo" in finding["title"] and done.result["splits"][0]["cos"] < 0.9
    assert done.result["facts"]["probe.accumulation.equivalent"] == "no"


def test_equal_lengths_would_hide_it_so_they_are_cut(tiny: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    record = {"prompt_ids": [9, 10, 11], "response_ids": list(range(20, 44)), "advantage": 1.0}
    batch.write_text("\n".join(json.dumps(record | {"advantage": a}) for a in (1.0, -0.5, 0.25, -2.0)))
    done = probed(tiny, "--loss", "bnpo", "--batch", str(batch))
    assert done.result["data"]["lengths"] == [3, 24, 3, 24] and done.codes == ["ACCUM.MICRO_TOKEN_MEAN"]
    assert any("was cut" in limit for limit in done.result["limits"])


def test_without_the_runs_loss_there_is_no_fact(tiny: Path) -> None:
    done = probed(tiny)
    assert (done.code, done.result["verdict"], done.result["facts"]) == (3, "inconclusive", {})
    known = {row["loss"]: row["equivalent"] for row in done.result["losses"]}
    assert known == {
        "token-mean-batch": True,
        "token-mean-micro": False,
        "sequence-mean": True,
        "constant": True,
    }


def test_dumped_gradients(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    torch.manual_seed(0)
    whole = {"a": torch.randn(40), "b": torch.randn(8, 8)}
    for name, tensors in {
        "whole": whole,
        "same": {key: value * (1 + 1e-7) for key, value in whole.items()},
        "scaled": {key: value * 4 for key, value in whole.items()},
        "other": {key: value + 0.2 * torch.randn_like(value) for key, value in whole.items()},
        "stranger": {"c": torch.ones(2)},
    }.items():
        save_file(tensors, tmp_path / f"{name}.safetensors")

    def dumped(name: str) -> Inside:
        files = f"{tmp_path / 'whole.safetensors'},{tmp_path / f'{name}.safetensors'}"
        return probed(tiny, "--gradients", files, "--steps", "4")

    assert (dumped("same").codes, dumped("same").code) == ([], 0)
    assert dumped("scaled").codes == ["ACCUM.SCALE_N"] and dumped("other").codes == ["ACCUM.DIFFERS"]
    assert "different parameters" in (dumped("stranger").error or "")


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("token-mean", "say token-mean-micro or token-mean-batch"),
        ("nonsense", "unknown loss"),
        ("LOSSES:asks_too_much", "asks for reward_model"),
        ("LOSSES:absent", "has no function absent"),
        ("/no/such.py:loss", "cannot be read"),
    ],
)
def test_refusals(tiny: Path, losses: Path, loss: str, words: str) -> None:
    done = probed(tiny, "--loss", loss.replace("LOSSES", str(losses)))
    assert (done.code, done.error and words in done.error and "\n" not in done.error) == (2, True), done.error
