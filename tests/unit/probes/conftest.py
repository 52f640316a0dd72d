"""Models for the probe tests: tiny, random, built once a session."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from probe_helpers import Sampled


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def tiny(work: Path) -> Path:
    """Tiny fp32 model with *peaked* logits: near-uniform ones hide truncation and temperature."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from grpo_tui.probes.subject.tiny import tiny_model

    folder = work / "peaked"
    shutil.copytree(tiny_model(work, "fp32", 0), folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.model.norm.weight.mul_(6.0)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bf16(work: Path) -> Path:
    pytest.importorskip("transformers")
    from grpo_tui.probes.subject.tiny import tiny_model

    return tiny_model(work, "bf16", 0)


@pytest.fixture(scope="session")
def sampled(tiny: Path) -> Sampled:
    """Eight responses of 48 tokens, sampled with top_p 0.9 so that truncation can be planted."""
    import torch
    import transformers

    from grpo_tui.probes.compute.forward import response_logits
    from grpo_tui.probes.subject.checkpoint import open_checkpoint
    from grpo_tui.probes.subject.model import Loaded, encode, load_model, load_tokenizer
    from grpo_tui.probes.subject.prompts import Rollout, load_prompts

    checkpoint, device = open_checkpoint(tiny), torch.device("cpu")
    loaded = Loaded(load_model(checkpoint, "fp32", device, None), load_tokenizer(checkpoint), device, "fp32")
    config = transformers.GenerationConfig(
        do_sample=True,
        top_p=0.9,
        top_k=0,
        max_new_tokens=48,
        min_new_tokens=48,
        eos_token_id=1,
        pad_token_id=0,
    )
    rollouts = []
    torch.manual_seed(1)
    for text in load_prompts(None, 8):
        prompt = encode(loaded.tokenizer, text)
        out = loaded.model.generate(input_ids=torch.tensor([prompt]), generation_config=config)
        rollouts.append(Rollout(tuple(prompt), tuple(out[0, len(prompt) :].tolist()), ()))
    with torch.no_grad():
        rows = dict(response_logits(loaded, rollouts, "trainer", 4))
    return Sampled(rollouts, [rows[index] for index in range(len(rollouts))])
