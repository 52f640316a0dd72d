"""What a person acts on: the quoted line, a fix as a number, no screen in a pipe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grpo_tui.demo import DEMOS
from grpo_tui.diagnose import diagnose
from grpo_tui.playbook.library import load_library
from grpo_tui.playbook.verdict.remedies import _proposed
from grpo_tui.run import Run

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB."


def test_an_incident_is_quoted_with_its_line(tmp_path: Path) -> None:
    rows = [
        f"step:{n} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2" for n in range(1, 9)
    ]
    log = tmp_path / "train.log"
    log.write_text("\n".join([*rows, "Traceback (most recent call last):", OOM]) + "\n", encoding="utf-8")
    run = Run.open(log)
    run.poll(final=True)
    said = [
        line.text for candidate in diagnose(run, load_library()).candidates for line in candidate.evidence
    ]
    assert any(text.startswith("line ") and "says: " in text and "2.84 GiB" in text for text in said), said


@pytest.mark.parametrize(
    ("value", "now", "shown"),
    [
        ("a tenth of the present value", 0.03, "0.003 (a tenth of the present value)"),
        ("twice the present value", 512, "1024 (twice the present value)"),
        ("half of the present value", None, "half of the present value"),
        ("half of the present value", True, "half of the present value"),
        (0.28, 0.2, 0.28),
    ],
)
def test_a_relative_fix_is_a_number_where_the_present_one_is_known(
    value: object, now: object, shown: object
) -> None:
    proposed = _proposed(value, now)
    assert (proposed.replace(",", "") if isinstance(proposed, str) else proposed) == shown


def test_without_a_terminal_the_diagnosis_is_printed() -> None:
    command = [sys.executable, "-m", "grpo_tui.cli", str(DEMOS["healthy"].folder)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0 and "no terminal" in done.stderr
    assert "UNDETERMINED" in done.stdout and "\x1b" not in done.stdout
