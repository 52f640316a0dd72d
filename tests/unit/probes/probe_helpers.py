"""How the tests run a probe: inside this process for speed, or isolated as a user's interpreter does."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpo_tui.probes

PROBES = Path(grpo_tui.probes.__file__).resolve().parent


@dataclass(frozen=True)
class Done:
    """One run of a probe in a process of its own."""

    code: int
    events: list[dict[str, Any]]
    result: dict[str, Any]
    stderr: str

    def stage(self, name: str) -> dict[str, Any]:
        return next(stage for stage in self.result["stages"] if stage["id"] == name)

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.result["findings"]]


def run_isolated(out: Path, *arguments: str, python: str = sys.executable) -> Done:
    """The probe as a user's interpreter runs it: isolated, from elsewhere, without PYTHONPATH."""
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [python, "-I", str(PROBES), *arguments, *_device(arguments), "--out", str(out), "--events", "-"],
        capture_output=True,
        text=True,
        env=environ,
        cwd=out.parent,
        timeout=240,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    file = out / "result.json"
    return Done(done.returncode, events, json.loads(file.read_text()) if file.exists() else {}, done.stderr)


def _device(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return () if arguments[0] == "verifier" else ("--device", "cpu")


@dataclass(frozen=True)
class Inside:
    """One run of a probe inside this process."""

    status: str
    code: int
    error: str | None
    result: dict[str, Any]

    def stage(self, name: str) -> dict[str, Any]:
        return next(stage for stage in self.result["stages"] if stage["id"] == name)

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.result["findings"]]


def run_inside(*arguments: str) -> Inside:
    """The probe without its process: no signals, no streams."""
    from grpo_tui.probes.cli import guarded_run
    from grpo_tui.probes.control import Control
    from grpo_tui.probes.events import Emitter
    from grpo_tui.probes.options import parser
    from grpo_tui.probes.report import Report

    args = parser().parse_args([*arguments, *_device(arguments)])
    report = Report(args.probe, Emitter(None), Control(args.timeout), args.out)
    status, code, error = guarded_run(args, report)
    return Inside(status, code, error, report.document)


@dataclass(frozen=True)
class Sampled:
    """Rollouts and the model's own logits [n, V] at every response token: what faults are planted in."""

    rollouts: list[Any]
    logits: list[Any]

    def write(self, path: Path, logprobs: Callable[[Any, Any], Any]) -> str:
        """Writes rollouts with `logprobs(logits [n, V], ids [n])`; returns the `--infer` value."""
        import torch

        with path.open("w") as stream:
            for rollout, logits in zip(self.rollouts, self.logits, strict=True):
                values = logprobs(logits, torch.tensor(rollout.response_ids)).tolist()
                record = {"prompt_ids": rollout.prompt_ids, "response_ids": rollout.response_ids}
                stream.write(json.dumps({**record, "logprobs": values}) + "\n")
        return f"file:{path}"


def write_model(folder: Path, values: bytes = b"\0" * 16, cut: int = 0) -> Path:
    """A folder with one fp32 tensor of four elements; `cut` bytes are missing at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"vocab_size": 4}')
    header = {"model.norm.weight": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + values
    (folder / "model.safetensors").write_bytes(data[: len(data) - cut])
    return folder
