"""Launch profiles: what they wrap, torchrun for real, Slurm by its command line, Ray where it is there."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.launch import PlanError, ProbePlan, plan_probe, run_probe
from grpo_tui.launch import job as job_module
from grpo_tui.launch.job import JobProbe, start_launched
from grpo_tui.launch.profiles import launched, load_profile, profile_names


def tiny_plan(tmp_path: Path, probe: str = "ratio", **more: Any) -> ProbePlan:
    options = {"n": 2, "max_new": 8, "work": str(tmp_path / "models"), "threads": 1, **more}
    return plan_probe(probe, out_dir=tmp_path / "out", python=sys.executable, device="cpu", options=options)


def test_every_shipped_profile_wraps_the_probe(tmp_path: Path) -> None:
    assert profile_names() == ["local", "accelerate", "ray", "sbatch", "srun", "torchrun"]
    plan = tiny_plan(tmp_path)
    for name in profile_names()[1:]:
        wrapped = launched(plan, load_profile(name))
        text = " ".join(wrapped.plan.argv)
        assert "grpo_tui/probes ratio --tiny" in text and "{" not in text.replace("{job}", ""), name
        assert wrapped.profile.summary
    torchrun = launched(plan, load_profile("torchrun"), {"processes": 4}).plan.argv
    assert "--nproc-per-node=4" in torchrun and torchrun[-2:] == ("--events", "-")


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text('command: [nice, -n, "{n}", "{python}", "{script}"]\nvalues: {n: 19}\n')
    argv = launched(tiny_plan(tmp_path), load_profile(str(file))).plan.argv
    assert argv[:4] == ("nice", "-n", "19", sys.executable)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "is a mapping"),
        ("command: [python]", "would not start a probe"),
        ("command: ['{script}']\ncomand: x", "unknown key comand"),
        ("command: ['{script}']\nfollow: file", "follow: file needs"),
        ("command: ['{script}']\nfollow: mail", "stream or file"),
        ("command: ['{script}', '{partition}']", "nothing fills {partition}"),
        ("command: ['{script}'", "cannot be read"),
    ],
)
def test_a_broken_profile_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(PlanError, match=words.replace("{", r"\{")) as caught:
        launched(tiny_plan(tmp_path), load_profile(str(file)))
    assert "\n" not in str(caught.value)
    with pytest.raises(PlanError, match="no launch profile kubernetes"):
        load_profile("kubernetes")


@pytest.fixture(scope="module")
def gloo() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("no gloo in this torch")


def same(one: Any, other: Any) -> bool:
    return bool(one == pytest.approx(other, rel=1e-3, abs=1e-7))


def test_two_ranks_give_the_result_of_one(tmp_path: Path, gloo: None) -> None:
    """torchrun for real: FSDP2 shards on two gloo ranks, with the numbers of one process."""
    alone = run_probe(tiny_plan(tmp_path / "a"))
    running = start_launched(launched(tiny_plan(tmp_path / "b"), load_profile("torchrun")))
    types = [event.type for event in running.events()]
    both = running.result()
    assert (both.status, both.verdict) == ("complete", "pass"), both.stderr
    assert types[0] == "start" and types[-1] == "end" and "progress" in types
    stages = [{s["id"]: s.get("stats") for s in result.result["stages"]} for result in (alone, both)]
    for name in ("A", "B", "C"):
        assert same(stages[0][name]["mean_abs"], stages[1][name]["mean_abs"]), name


def test_a_cancel_stops_every_rank(tmp_path: Path, gloo: None) -> None:
    running = start_launched(launched(tiny_plan(tmp_path, n=8, max_new=256), load_profile("torchrun")))
    asked = 0.0
    for event in running.events():
        if event.type == "progress" and not asked:
            asked = time.monotonic()
            running.cancel()
    assert asked and time.monotonic() - asked < 40
    assert running.result().status == "cancelled"


SBATCH = """#!{python}
import subprocess, sys
words = sys.argv[1:]
assert "--parsable" in words and "--signal=B:TERM@60" in words, words
options = dict(w[2:].partition("=")[::2] for w in words if "=" in w and w.startswith("--"))
assert options["job-name"].startswith("probe-ratio-") and int(options["time"]) > 0, options
wrap = words[words.index("--wrap") + 1]
assert wrap.startswith("exec env -u PYTHONPATH"), wrap
log = open(options["output"], "w")
job = subprocess.Popen(["sh", "-c", wrap], stdout=log, stderr=log, start_new_session=True)
print(f"{{job.pid}};cluster")
"""
SQUEUE = """#!{python}
import os, sys
job = int(dict(w[2:].partition("=")[::2] for w in sys.argv[1:] if "=" in w)["jobs"])
assert "--noheader" in sys.argv
try:
    state = open(f"/proc/{{job}}/stat").read().split()[2]
except FileNotFoundError:
    state = "Z"
if state != "Z":
    print(job, "main", "R")
"""
SCANCEL = """#!{python}
import os, signal, sys
assert "--signal=TERM" in sys.argv and "--batch" in sys.argv, sys.argv
os.kill(int(sys.argv[-1]), signal.SIGTERM)
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """sbatch, squeue and scancel that hold the caller to their command lines and run the job here."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)):
        (bin_ / name).write_text(text.format(python=sys.executable))
        (bin_ / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setattr(job_module, "POLL_S", 0.05)
    monkeypatch.setattr(job_module, "ALIVE_EVERY_S", 0.5)
    return bin_


def test_a_slurm_job_from_submission_to_facts(tmp_path: Path, slurm: Path, gloo: None) -> None:
    running = start_launched(launched(tiny_plan(tmp_path), load_profile("sbatch")))
    assert isinstance(running, JobProbe)
    types = [event.type for event in running.events()]
    result = running.result()
    assert (result.status, result.verdict) == ("complete", "pass"), (result.error, result.stderr)
    assert types[0] == "start" and types[-1] == "end" and "progress" in types
    assert result.facts["probe.ratio.repeatable"] == "yes" and running.job


def test_a_slurm_job_is_cancelled_by_its_id(tmp_path: Path, slurm: Path, gloo: None) -> None:
    running = start_launched(launched(tiny_plan(tmp_path, n=8, max_new=256), load_profile("sbatch")))
    for event in running.events():
        if event.type == "progress":
            running.cancel()
    assert running.result().status == "cancelled"


def test_a_job_that_is_gone_is_a_crash_report(tmp_path: Path, slurm: Path) -> None:
    plan = tiny_plan(tmp_path)
    wrapped = launched(plan, load_profile("sbatch"))
    broken = [word.replace("exec env", "exec env NOTHING=1 false #") for word in wrapped.plan.argv]
    (slurm / "sbatch").write_text((slurm / "sbatch").read_text().replace("assert wrap", "# "))
    running = JobProbe(replace(wrapped, plan=replace(plan, argv=tuple(broken))))
    assert list(running.events()) == []
    result = running.result()
    assert result.status == "crashed" and "said no last word" in (result.error or "")


def test_a_refused_submission_is_one_line(tmp_path: Path, slurm: Path) -> None:
    (slurm / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n")
    running = start_launched(launched(tiny_plan(tmp_path), load_profile("sbatch")))
    assert list(running.events()) == []
    result = running.result()
    assert result.status == "cannot-run" and "invalid partition" in (result.error or "")


@pytest.mark.skipif(shutil.which("ray") is None, reason="ray is not installed")
def test_a_ray_job(tmp_path: Path, gloo: None) -> None:
    """Against a local Ray head that this test starts and stops."""
    import subprocess

    address = "http://127.0.0.1:8265"
    subprocess.run(
        ["ray", "start", "--head", "--num-cpus=1", "--include-dashboard=true", "--dashboard-port=8265"],
        check=True,
        capture_output=True,
        timeout=180,
    )
    try:
        wrapped = launched(tiny_plan(tmp_path), load_profile("ray"), {"address": address})
        running = start_launched(wrapped)
        types = [event.type for event in running.events()]
        result = running.result()
        assert (result.status, result.verdict) == ("complete", "pass"), (result.error, result.stderr[-5:])
        assert "progress" in types and types[-1] == "end"
        slow = tiny_plan(tmp_path / "slow", n=8, max_new=512)
        running = start_launched(launched(slow, load_profile("ray"), {"address": address}))
        for event in running.events():
            if event.type == "progress":
                running.cancel()
        assert running.result().status == "cancelled"
    finally:
        subprocess.run(["ray", "stop", "--force"], check=False, capture_output=True, timeout=120)
