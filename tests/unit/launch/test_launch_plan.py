"""The plan of a probe: interpreter, device, command, cost, and what is refused before anything runs."""

from __future__ import annotations

import json
import shlex
import struct
import sys
from pathlib import Path

import pytest

from grpo_tui.launch import PlanError, choose_interpreter, plan_probe, probe_interpreter
from grpo_tui.launch import interpreter as interpreter_module


def model_of(folder: Path, parameters: int, dtype: str = "BF16") -> Path:
    """A folder whose safetensors header declares that many parameters; the data is a hole in the file."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(
        json.dumps({"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2})
    )
    size = parameters * (2 if dtype == "BF16" else 4)
    header = json.dumps({"w": {"dtype": dtype, "shape": [parameters], "data_offsets": [0, size]}}).encode()
    with (folder / "model.safetensors").open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(8 + len(header) + size)
    return folder


def python_in(prefix: Path) -> Path:
    python = prefix / "bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    return python


def test_interpreter_order(tmp_path: Path) -> None:
    venv, conda = python_in(tmp_path / "venv"), python_in(tmp_path / "conda")
    both = {"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")}
    assert choose_interpreter("/x/python", both).path == Path("/x/python")
    assert choose_interpreter(None, both).path == venv
    assert choose_interpreter(None, {"CONDA_PREFIX": str(tmp_path / "conda")}).path == conda
    nothing = choose_interpreter(None, {"VIRTUAL_ENV": str(tmp_path / "gone")})
    assert nothing.path is None and "--python" in nothing.why


def test_without_an_interpreter_the_plan_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    plan = plan_probe("ratio", out_dir=tmp_path, model=model_of(tmp_path / "m", 1000))
    assert not plan.ready and plan.argv[0] == "PYTHON"
    own = interpreter_module.InterpreterChoice(Path(sys.executable), "own")
    monkeypatch.setattr("grpo_tui.launch.command.own_interpreter", lambda: own)
    assert plan_probe("ratio", out_dir=tmp_path).interpreter == Path(sys.executable)


def test_the_command_is_shown_as_it_runs(tmp_path: Path) -> None:
    model = model_of(tmp_path / "check point", 1000)
    options = {"lr": 1e-6, "predict_only": True, "modes": ["as-run", "fp32"], "batch": None}
    plan = plan_probe(
        "update",
        out_dir=tmp_path / "out",
        model=model,
        run=Path("runs/a"),
        python="/venv/bin/python",
        device="cpu",
        options=options,
    )
    assert plan.argv[0] == "/venv/bin/python" and plan.argv[1].endswith("grpo_tui/probes")
    shown = shlex.split(plan.shell())
    assert tuple(shown[-len(plan.argv) :]) == plan.argv and shown[:3] == ["env", "-u", "PYTHONPATH"]
    assert "CUDA_VISIBLE_DEVICES=" in shown
    joined = " ".join(plan.argv)
    assert (
        "--lr 1e-06 --predict-only --modes as-run,fp32 --timeout 1800" in joined and "--batch" not in joined
    )
    assert "--weights-of-run runs/a" in joined and not plan.rehearsal


def test_other_weights_make_a_rehearsal(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m", 1000)
    assert plan_probe("ratio", out_dir=tmp_path, model=model, python="p").rehearsal
    tiny = plan_probe("ratio", out_dir=tmp_path, python="p")
    assert tiny.rehearsal and "--tiny" in tiny.argv and "tiny random model" in (tiny.rehearsal_reason or "")


@pytest.mark.parametrize(
    ("device", "alive", "expected", "confirm"),
    [
        (None, True, "cpu", False),
        ("auto", True, "cpu", False),
        (None, False, "auto", False),
        ("cuda", True, "cuda", True),
        ("cuda", False, "cuda", False),
        ("cpu", True, "cpu", False),
    ],
)
def test_a_living_run_comes_first(
    tmp_path: Path, device: str | None, alive: bool, expected: str, confirm: bool
) -> None:
    plan = plan_probe("ratio", out_dir=tmp_path, python="p", device=device, run_alive=alive)
    assert (plan.device, plan.needs_device_confirmation) == (expected, confirm) and plan.device_why


def test_the_canary_is_refused_beside_a_living_run(tmp_path: Path) -> None:
    options = {"infer": "http://127.0.0.1:1", "canary-sync": "sync {model}"}
    assert plan_probe("ratio", out_dir=tmp_path, python="p", options=options).argv
    with pytest.raises(PlanError, match="pause the run first"):
        plan_probe("ratio", out_dir=tmp_path, python="p", options=options, run_alive=True)


def test_refusals_are_one_line(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m", 1000)
    for options, words in (
        ({"tokns": 3}, "unrecognized arguments"),
        ({"tokens": 0}, "not a positive number"),
        ({"dtype": "int8"}, "invalid choice"),
    ):
        with pytest.raises(PlanError, match=words) as caught:
            plan_probe("ratio", out_dir=tmp_path, model=model, python="p", options=options)
        assert "\n" not in str(caught.value)
    with pytest.raises(PlanError, match="required: --lr"):
        plan_probe("update", out_dir=tmp_path, model=model, python="p")
    with pytest.raises(PlanError, match="no such model folder"):
        plan_probe("ratio", out_dir=tmp_path, model=tmp_path / "absent", python="p")


def test_cost_grows_with_the_model_and_says_it_is_an_estimate(tmp_path: Path) -> None:
    costs = [
        plan_probe(
            "ratio", out_dir=tmp_path, model=model_of(tmp_path / str(size), size), python="p", device="cpu"
        ).cost
        for size in (100_000_000, 600_000_000)
    ]
    assert costs[0].seconds[0] < costs[0].seconds[1] < costs[1].seconds[1]
    assert costs[1].memory_bytes > 1.2e9 and "an estimate for 600.0M parameters" in costs[1].text
    low, high = costs[1].seconds
    assert low < 90 < high  # eight sequences of 96 tokens were measured at about 90 s


def test_interpreter_answers() -> None:
    info = probe_interpreter(Path(sys.executable))
    assert info.error is None and info.version == ".".join(map(str, sys.version_info[:3]))


def test_interpreters_that_do_not_answer(tmp_path: Path) -> None:
    assert "no such interpreter" in (probe_interpreter(tmp_path / "no").error or "")
    text = tmp_path / "text"
    text.write_text("not a program")
    assert "not executable" in (probe_interpreter(text).error or "")
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    shell.chmod(0o755)
    assert "broken" in (probe_interpreter(shell).error or "")
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    assert "did not answer" in (probe_interpreter(slow, timeout_s=0.2).error or "")


def test_mps_hidden_from_a_subprocess_is_no_hardware_fact(tmp_path: Path) -> None:
    """`[S3-9]`"""
    facts = {"version": "3.12.1", "torch": "2.9.0", "transformers": "4.57.0", "mps": False, "mps_built": True}
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\necho '{json.dumps(facts)}'\n")
    fake.chmod(0o755)
    info = probe_interpreter(fake)
    assert info.can_probe and not info.mps and "no fact about the hardware" in info.notes[0]


def test_every_probe_can_be_planned_with_the_options_of_a_playbook_step(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m", 1_000_000)
    for probe, options in (
        ("accumulation", {"loss": "bnpo"}),
        ("mask", {"batch": "b.jsonl"}),
        ("nonfinite", {"max_new": 16}),
    ):
        plan = plan_probe(probe, out_dir=tmp_path, model=model, python="p", device="cpu", options=options)
        assert plan.argv[2] == probe and plan.cost.memory_bytes > 3.7e8 and plan.cost.seconds[1] < 600


def test_a_verifier_needs_no_model_and_says_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text("import re\nprint('hello')\n\ndef f(completions): return []\n")
    reward = {"reward": f"{tmp_path / 'r.py'}:f"}
    plan = plan_probe("verifier", out_dir=tmp_path, run=Path("runs/a"), python="p", options=reward)
    assert plan.ready and plan.model is None and not plan.rehearsal and plan.device == "cpu"
    assert "which imports re; runs at import: print()" in plan.model_why
    assert "--reward-of-run runs/a" in " ".join(plan.argv) and "--device" not in plan.argv
    assert plan_probe("verifier", out_dir=tmp_path, options=reward).rehearsal
    for options, words in (({}, "--reward FILE.py:FUNCTION"), ({"reward": "/no.py:f"}, "cannot be read")):
        with pytest.raises(PlanError, match=words):
            plan_probe("verifier", out_dir=tmp_path, options=options)
