"""A probe as a process in another interpreter: isolation, streams, refusals, exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from probe_helpers import PROBES, Done, run_inside, run_isolated


def without_torch() -> str:
    for version in ("3.12.1", "3.13.0", "3.11.7"):
        path = Path.home() / ".pyenv/versions" / version / "bin/python"
        if path.is_file() and subprocess.run([path, "-Ic", "import torch"], capture_output=True).returncode:
            return str(path)
    pytest.skip("no interpreter without torch on this machine")


def test_no_file_shadows_the_standard_library() -> None:
    assert not {path.stem for path in PROBES.glob("*.py")} & set(sys.stdlib_module_names)


def test_help_needs_no_torch() -> None:
    command = [sys.executable, "-I", "-X", "importtime", str(PROBES), "ratio", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--infer" in done.stdout and "torch" not in done.stderr and "grpo_tui_probes" in done.stderr


def test_the_own_directory_is_off_the_path(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(PROBES), "ratio"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2 and "--model" in done.stderr


def test_missing_torch_is_one_line(tmp_path: Path) -> None:
    from probe_helpers import write_model

    done = run_isolated(
        tmp_path / "out", "ratio", "--model", str(write_model(tmp_path / "m")), python=without_torch()
    )
    assert done.code == 2 and done.stderr.count("\n") == 1 and "torch cannot be imported by" in done.stderr
    assert done.events[-1]["type"] == "end" and done.events[-1]["status"] == "cannot-run"


@pytest.fixture(scope="module")
def whole(work: Path) -> Done:
    pytest.importorskip("transformers")
    return run_isolated(work / "out", "ratio", "--tiny", "--work", str(work), "--n", "2", "--max-new", "16")


def test_events_are_a_clean_stream(whole: Done) -> None:
    assert whole.code == 0, whole.stderr
    types = [event["type"] for event in whole.events]
    assert (
        types[0] == "start"
        and types[-1] == "end"
        and {"progress", "metric", "result", "warning"} <= set(types)
    )
    assert [event["seq"] for event in whole.events] == list(range(len(types)))
    assert all(event["v"] == 1 and event["ts"] > 1e9 for event in whole.events)
    assert whole.events[-1] | {"ts": 0, "seq": 0} == {
        "v": 1,
        "seq": 0,
        "ts": 0,
        "type": "end",
        "status": "complete",
        "verdict": "pass",
        "exit": 0,
        "at": "weights",
        "path": str(Path(whole.events[-1]["path"])),
    }


def test_the_last_result_event_is_the_file(whole: Done) -> None:
    final = [event for event in whole.events if event["type"] == "result"][-1]
    assert final["stage"] == "final" and final["result"] == whole.result
    assert whole.result["rehearsal"] and "tiny random model" in whole.result["rehearsal_reason"]


def test_a_person_reads_eighty_columns(whole: Done) -> None:
    from grpo_tui.probes.summary import summary

    text = summary(whole.result)
    assert "REHEARSAL" in text and "ratio: PASS" in text and max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ratio", "--model", "/no/such"), "no such model folder"),
        (("ratio", "--tiny", "--memory-limit", "1M"), "--n 2 --max-new 16"),
        (("update", "--tiny", "--lr", "1e-6", "--memory-limit", "1M"), "--predict-only"),
        (("ratio", "--tiny", "--memory-limit", "lots"), "give a share"),
        (("ratio", "--tiny", "--infer", "file:/no/such"), "cannot be read"),
        (("ratio", "--tiny", "--prompts", "/no/such"), "cannot be read"),
    ],
)
def test_refusals(work: Path, arguments: tuple[str, ...], words: str) -> None:
    pytest.importorskip("transformers")
    done = run_inside(*arguments, "--work", str(work))
    assert (done.status, done.code) == ("cannot-run", 2)
    assert done.error and words in done.error and "\n" not in done.error


def test_unknown_device(work: Path) -> None:
    pytest.importorskip("transformers")
    from grpo_tui.probes.compute.device import choose_device
    from grpo_tui.probes.errors import CannotRun

    for name, words in (("quantum", "unknown device"), ("cuda", "sees no CUDA"), ("meta", "not supported")):
        with pytest.raises(CannotRun, match=words):
            choose_device(name)


def test_a_model_without_tokenizer_is_refused_and_recorded_rollouts_need_none(
    tiny: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((tiny / name).read_bytes())
    assert "no tokenizer" in (run_inside("ratio", "--model", str(bare)).error or "")
    rollouts = tmp_path / "r.jsonl"
    rollouts.write_text('{"prompt_ids": [1, 2], "response_ids": [3], "logprobs": [-5.0]}\n')
    assert run_inside("ratio", "--model", str(bare), "--infer", f"file:{rollouts}").status == "complete"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"prompt_ids": [1], "response_ids": [999], "logprobs": [-1]}', "outside the vocabulary"),
        ('{"prompt_ids": [1], "response_ids": [], "logprobs": []}', "'response_ids' must be a list"),
        ('{"prompt_ids": [1], "response_ids": [2], "logprobs": ["x"]}', "not a number"),
        ("[1]", "a JSON object is expected"),
        ("{", "not JSON"),
    ],
)
def test_bad_rollouts_name_the_line(tiny: Path, tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n")
    error = run_inside("ratio", "--model", str(tiny), "--infer", f"file:{path}").error or ""
    assert words in error and f"{path}:1" in error


def test_nothing_is_written_into_the_checkpoint(tiny: Path) -> None:
    before = sorted(path.name for path in tiny.iterdir())
    done = run_inside("ratio", "--model", str(tiny), "--out", str(tiny / "out"))
    assert done.code == 2 and "never written to" in (done.error or "")
    assert sorted(path.name for path in tiny.iterdir()) == before


def test_a_timeout_keeps_what_was_finished(tiny: Path) -> None:
    done = run_inside("ratio", "--model", str(tiny), "--timeout", "0.001")
    assert (done.status, done.code, done.result["verdict"]) == ("timed-out", 3, "inconclusive")
