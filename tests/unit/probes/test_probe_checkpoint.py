"""Reading a checkpoint folder without torch: what is refused, in which words, and the fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_helpers import write_model

from grpo_tui.probes.errors import CannotRun
from grpo_tui.probes.subject.checkpoint import open_checkpoint, weights_fingerprint
from grpo_tui.probes.subject.layers import kind_of


def refused(folder: Path) -> str:
    with pytest.raises(CannotRun) as caught:
        open_checkpoint(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_reads_headers(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(write_model(tmp_path / "m"))
    assert (checkpoint.parameters, checkpoint.bytes, checkpoint.dtype) == (4, 16, "fp32")
    assert not checkpoint.adapter_only


def test_refusals_say_what_to_do(tmp_path: Path) -> None:
    assert "no such model folder" in refused(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    assert "no config.json" in refused(tmp_path / "empty")
    assert "cut off" in refused(write_model(tmp_path / "short", cut=3))
    pickled = write_model(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert "is a pickle" in refused(pickled)
    broken = write_model(tmp_path / "broken")
    (broken / "config.json").write_text("{")
    assert "cannot be read" in refused(broken)
    garbage = write_model(tmp_path / "garbage")
    (garbage / "model.safetensors").write_bytes(b"\xff" * 40)
    assert "not a whole safetensors file" in refused(garbage)


def test_fingerprint_follows_the_weights_and_not_the_folder(tmp_path: Path) -> None:
    one, same = write_model(tmp_path / "one"), write_model(tmp_path / "same")
    other = write_model(tmp_path / "other", b"\0" * 15 + b"\1")
    prints = [weights_fingerprint(open_checkpoint(folder)) for folder in (one, same, other)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("model.layers.3.self_attn.q_proj.weight", "q_proj"),
        ("model.layers.3.self_attn.q_norm.weight", "q_norm"),
        ("model.layers.0.input_layernorm.weight", "input_layernorm"),
        ("model.norm.weight", "final_norm"),
        ("model.embed_tokens.weight", "embed"),
        ("lm_head.weight", "lm_head"),
        ("model.layers.0.mlp.gate.weight", "router"),
        ("model.layers.0.mlp.gate_proj.weight", "gate_proj"),
        ("model.layers.0.self_attn.q_proj.bias", "bias"),
        ("base.layers.0.q_proj.lora_B.default.weight", "lora_B"),
        ("transformer.h.0.ln_1.weight", "input_layernorm"),
        ("something.else", "other"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind
