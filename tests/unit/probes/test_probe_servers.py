"""The ratio probe against live servers: documented answer shapes from a stub, and a real llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, run_inside
from server_stubs import Sampler, llamacpp, serving, sglang, vllm

from grpo_tui.probes.errors import CannotRun
from grpo_tui.probes.servers.http import Endpoint
from grpo_tui.probes.servers.llamacpp import matched

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

LENGTH = 24


@pytest.fixture(scope="module")
def sampler(tiny: Path) -> Sampler:
    """The tiny model as an engine: samples at a temperature and reports processed log-probs."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(tiny).eval()

    def sample(prompt: list[int], temperature: float) -> tuple[list[int], list[float]]:
        torch.manual_seed(len(prompt))
        ids, values = list(prompt), []
        with torch.no_grad():
            for _ in range(LENGTH):
                logps = (model(torch.tensor([ids])).logits[0, -1].float() / temperature).log_softmax(-1)
                ids.append(int(torch.multinomial(logps.exp(), 1)))
                values.append(float(logps[ids[-1]]))
        return ids[len(prompt) :], values

    return sample


def probed(tiny: Path, url: str, *more: str) -> Inside:
    return run_inside(
        "ratio", "--model", str(tiny), "--infer", url, "--n", "4", "--max-new", str(LENGTH), *more
    )


@pytest.mark.parametrize("routes", [vllm, sglang, llamacpp])
def test_each_dialect_agrees_with_its_trainer(tiny: Path, sampler: Sampler, routes: Any) -> None:
    with serving(routes(sampler)) as stub:
        done = probed(tiny, stub.url)
    assert (done.code, done.result["verdict"], done.codes) == (0, "pass", []), done.error
    assert done.result["data"]["tokens"] == 4 * LENGTH and done.stage("C")["stats"]["mean_abs"] < 1e-5
    server = done.result["sampling"]["server"]
    assert server["kind"] == routes.__name__ and server["url"] == stub.url and server["info"]
    said = next(
        i for i, text in enumerate(done.result["limits"]) if server["kind"] in text.lower() or "cache" in text
    )
    assert said < 4, "what the server cannot do is said before the tokens are counted"


def test_every_sampler_of_the_server_is_switched_off(tiny: Path, sampler: Sampler) -> None:
    with serving(vllm(sampler)) as stub:
        probed(tiny, stub.url, "--temperature", "0.7")
        sent = next(body for path, body in stub.asked if path == "/v1/completions")
    assert sent["temperature"] == 0.7 and sent["top_p"] == 1.0 and sent["top_k"] == -1 and sent["min_p"] == 0
    assert all(isinstance(token, int) for token in sent["prompt"]), "ids, never text"


def test_log_probs_before_temperature_are_found(tiny: Path, sampler: Sampler) -> None:
    with serving(vllm(lambda prompt, _t: sampler(prompt, 1.0))) as stub:
        done = probed(tiny, stub.url, "--temperature", "0.7", "--n", "8")
    assert done.codes == ["RATIO.TEMPERATURE"] and done.result["findings"][0]["params"]["T"] == 1.0


def test_dropped_entries_fail_and_the_rest_is_compared(tiny: Path, sampler: Sampler) -> None:
    with serving(llamacpp(sampler, drop=2)) as stub:
        done = probed(tiny, stub.url)
    assert (
        done.code == 1
        and done.codes == ["RATIO.LOGPROBS_MISSING"]
        and done.result["data"]["lengths"] == [LENGTH - 2] * 4
    )


def test_another_prompt_than_was_sent(tiny: Path, sampler: Sampler) -> None:
    routes = llamacpp(sampler)
    honest = routes["/completion"]
    routes["/completion"] = lambda body: honest(body) | {"tokens_evaluated": len(body["prompt"]) + 1}
    with serving(routes) as stub:
        done = probed(tiny, stub.url)
    assert done.code == 1 and "RATIO.PROMPT_DIFFERS" in done.codes
    assert done.result["facts"]["probe.ratio.engine-agrees"] == "no"


def test_a_server_that_hides_ids_is_refused(tiny: Path, sampler: Sampler) -> None:
    with serving(vllm(sampler, ids=False, strict=True)) as stub:
        done = probed(tiny, stub.url)
        tries = [body for path, body in stub.asked if path == "/v1/completions"]
    assert done.code == 2 and "gives no token ids" in (done.error or "")
    assert "return_token_ids" in tries[0] and "return_token_ids" not in tries[1]


def test_ids_written_as_tokens(sampler: Sampler) -> None:
    from grpo_tui.probes.servers.openai import _read

    logprobs = {"tokens": ["token_id:7", "token_id:9"], "token_logprobs": [-0.5, -1.0]}
    answer = _read({"choices": [{"logprobs": logprobs}], "usage": {"prompt_tokens": 3}})
    assert (answer.ids, answer.logprobs, answer.prompt_tokens) == ((7, 9), (-0.5, -1.0), 3)


def test_entries_are_matched_by_id_and_not_by_place() -> None:
    entries = [(1, -0.1), (3, -0.3), (4, -0.4)]
    assert matched([1, 2, 3, 4], entries) == (-0.1, None, -0.3, -0.4)
    assert matched([1, 3, 4], entries) == (-0.1, -0.3, -0.4) and matched([5], []) == (None,)


def test_unreachable_slow_and_strange_servers(tiny: Path, sampler: Sampler) -> None:
    import time

    refused = probed(tiny, "http://127.0.0.1:9")
    assert refused.code == 2 and "cannot be reached" in (refused.error or "")
    slow: dict[str, Any] = {"/v1/models": lambda _: time.sleep(1) or {}}
    with serving(slow) as stub, pytest.raises(CannotRun, match="no answer within"):
        Endpoint(stub.url, 0.2).get("/v1/models")
    strange: dict[str, Any] = {
        "/a": lambda _: b"<html>",
        "/b": lambda _: (302, {}),
        "/c": lambda _: (500, {"x": 1}),
    }
    with serving(strange) as stub:
        for path, words in (("/a", "not answer with JSON"), ("/b", "answers 302"), ("/c", "answers 500")):
            with pytest.raises(CannotRun, match=words):
                Endpoint(stub.url, 2).get(path)
    with serving({"/v1/models": lambda _: {"data": []}}) as stub:
        assert "--server-kind" in (probed(tiny, stub.url).error or "")
    with pytest.raises(CannotRun, match="not an address"):
        Endpoint("http://", 1)


@pytest.fixture(scope="module")
def llama(tiny_llama: Path) -> Any:
    """A real llama.cpp server on the tiny model."""
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(tiny_llama / "model.gguf")
    params.n_ctx, params.n_parallel, params.port, params.warmup = 512, 1, 0, False
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server


@pytest.fixture(scope="module")
def tiny_llama(work: Path) -> Path:
    """A tiny Llama as safetensors and as fp32 GGUF, with the tokenizer of the other tiny model."""
    gguf = pytest.importorskip("gguf")
    import json
    import shutil

    import transformers

    from grpo_tui.probes.subject.tiny import tiny_model

    folder = work / "llama"
    source = tiny_model(work, "fp32", 0)
    shutil.copytree(source, folder)
    config = transformers.LlamaConfig(
        vocab_size=512,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        **{k: json.loads((source / "config.json").read_text())[k] for k in ("eos_token_id", "pad_token_id")},
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.norm.weight.mul_(6.0)
    model.save_pretrained(folder)
    write_gguf(gguf, model, folder)
    return folder


def write_gguf(gguf: Any, model: Any, folder: Path) -> None:
    """Weights in llama.cpp's order: q and k rows interleaved for its rotary embedding."""
    import json

    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]
    config = model.config
    writer = gguf.GGUFWriter(str(folder / "model.gguf"), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    tokens = [None] * config.vocab_size
    for text, index in vocabulary["vocab"].items():
        tokens[index] = text
    writer.add_token_list([text or f"[unused{i}]" for i, text in enumerate(tokens)])
    writer.add_token_types([3 if i < 8 else 1 for i in range(config.vocab_size)])
    merges = [m if isinstance(m, str) else " ".join(m) for m in vocabulary["merges"]]
    writer.add_token_merges(merges or ["a b"])
    writer.add_eos_token_id(config.eos_token_id)
    writer.add_add_bos_token(False)
    heads = config.num_attention_heads
    for name, tensor in model.state_dict().items():
        weights = tensor.float().numpy()
        if "q_proj" in name or "k_proj" in name:
            rows = weights.shape[0]
            weights = weights.reshape(heads, 2, rows // heads // 2, -1).swapaxes(1, 2).reshape(rows, -1)
        writer.add_tensor(gguf_name(name), weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_name(name: str) -> str:
    for ours, theirs in (
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers", "blk"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("post_attention_layernorm", "ffn_norm"),
        ("input_layernorm", "attn_norm"),
    ):
        name = name.replace(ours, theirs)
    return name


def test_a_real_llama_cpp_agrees_to_its_cache_precision(tiny_llama: Path, llama: str) -> None:
    """Entries of split characters can be missing; those sequences are left out and said."""
    done = run_inside(
        "ratio",
        "--model",
        str(tiny_llama),
        "--infer",
        llama,
        "--n",
        "40",
        "--max-new",
        "24",
        "--engine-dtype",
        "fp16",
    )
    assert done.result["sampling"]["server"]["kind"] == "llamacpp", done.error
    assert set(done.codes) <= {"RATIO.LOGPROBS_MISSING"}, done.result["findings"]
    assert 0 < done.stage("C")["stats"]["mean_abs"] < 0.01


def test_a_real_llama_cpp_gives_raw_log_probs_at_any_temperature(tiny_llama: Path, llama: str) -> None:
    more = ("--n", "40", "--max-new", "32", "--temperature", "0.7", "--engine-dtype", "fp16")
    done = run_inside("ratio", "--model", str(tiny_llama), "--infer", llama, *more)
    assert "RATIO.TEMPERATURE" in done.codes
    found = next(f for f in done.result["findings"] if f["code"] == "RATIO.TEMPERATURE")
    assert found["params"]["T"] == pytest.approx(1.0, abs=0.02)
