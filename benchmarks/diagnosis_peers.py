"""Side by side with rl-doctor, rlprobe and rlwatch: could it read the run, alarm, name the cause?

    python benchmarks/diagnosis_peers.py [--cases DIR] [--match TEXT] [--venv DIR] [--json]

Runs: the bundled demos, and every case of DIR (a folder of case files with a `render.py` that writes the run
such a case leaves behind). The peers are installed, newest from PyPI, into an environment of their own.
rl-doctor gets the files as the run left them, and a second time as JSON Lines with TRL's names that our
reader made of them; rlprobe and rlwatch read no logs and are fed those rows through their public API, with
default settings. Nobody is told anything but the run: no answers, no probes.

An *alarm* is a finding from warning up (ours: an alert above info, or a claimed fault). The *cause is named*
if a finding stands for one of the diagnoses the case accepts (`STANDS_FOR`, read generously); ours is counted
by the verdict (claim) and, since a ranking is what it offers, by its first three candidates.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grpo_tui.demo import DEMOS
from grpo_tui.diagnose import diagnose
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run

READABLE = (".json", ".jsonl", ".csv")
"""What rl-doctor says it loads (TensorBoard folders and wandb runs apart)."""
PEERS = ("rldoctor", "rlprobe", "rlwatch")
TRL_NAMES = {
    "reward_mean": "reward",
    "group_reward_std": "reward_std",
    "zero_std_group_frac": "frac_reward_zero_std",
    "kl_ref": "kl",
    "entropy": "entropy",
    "clip_frac": "clip_ratio/region_mean",
    "loss": "loss",
    "policy_loss": "loss",
    "lr": "learning_rate",
    "grad_norm": "grad_norm",
    "response_length_mean": "completions/mean_length",
    "response_length_max": "completions/max_length",
    "truncation_ratio": "completions/clipped_ratio",
    "step_time": "step_time",
}
ENTROPY = {"collapse.entropy", "collapse.dead-lock", "config.learning-rate-high", "config.sampling"}
SIGNAL = {
    *("data.too-hard", "data.too-easy", "reward.constant", "collapse.no-signal", "collapse.dead-lock"),
    *("config.group-too-small", "config.sampling", "reward.verifier-broken", "reward.format-mismatch"),
}
DRIFT = {"collapse.reference-drift", "config.no-anchor", "config.learning-rate-high"}
GRADIENT = {
    *("instability.ratio-outliers", "nonfinite.gradient", "nonfinite.forward", "config.learning-rate-high"),
    *("update.no-gradient", "config.accumulation-arithmetic", "mismatch.staleness"),
}
HACKING = {"reward.hacking", "reward.component-imbalance", "reward.shortcut"}
LENGTH = {"collapse.length-drift", "reward.truncation", "config.length-budget", "config.stop-token"}
CLIP = {"config.too-off-policy", "config.learning-rate-high", "trainer.micro-batch-variance"}
SLOW = {"system.slow-generation", "system.slow-update", "system.slow-reward", "system.slow-sync"}
STANDS_FOR: dict[str, set[str]] = {
    "advantage_collapse": SIGNAL,
    "entropy_collapse": ENTROPY | {"collapse.entropy-explosion"},
    "gradient_pathology": GRADIENT,
    "kl_drift": DRIFT,
    "clip_saturation": CLIP,
    "length_pathology": LENGTH | HACKING,
    "plateau": {"collapse.plateau", "config.learning-rate-low", "update.rounded-away"},
    "reward_composition": HACKING | {"config.reward-weights"},
    "reward_hacking": HACKING | {"reward.scale"},
    "KL_BLOWUP": DRIFT,
    "ENTROPY_COLLAPSE": ENTROPY,
    "REWARD_HACK_LENGTH": {"reward.hacking", "collapse.length-drift"},
    "FORMAT_GAMING": HACKING,
    "CLIP_SATURATION": CLIP,
    "DEGENERATE_GROUPS": SIGNAL,
    "ADV_COLLAPSE": SIGNAL,
    "VALUE_DIVERGENCE": set(),
    "GRAD_PATHOLOGY": GRADIENT,
    "TRUNCATION_STARVE": LENGTH,
    "REPETITION_SPIRAL": {"collapse.length-drift", "collapse.entropy-explosion"},
    "REWARD_STD_DEATH": SIGNAL,
    "REF_POLICY_DRIFT_ASYMMETRY": DRIFT | {"mismatch.positions"},
    "THROUGHPUT_ROT": SLOW,
    "kl_explosion": DRIFT,
    "advantage_variance": {"reward.scale"},
    "loss_nan": {"nonfinite.forward", "nonfinite.gradient", "config.accumulation-arithmetic"},
    "gradient_norm_spike": GRADIENT,
    "reward_mean_drift": HACKING,
}
DEMO_CAUSES = {
    "healthy": {"healthy"},
    "constant-reward": {"reward.constant"},
    "lr-too-high": {"config.learning-rate-high", "collapse.dead-lock", "collapse.entropy"},
}
FINE = {"healthy", "metric.expected-zero", "metric.expected-nan"}


@dataclass(frozen=True)
class Subject:
    """A run on disk and what would be right to say about it."""

    name: str
    folder: Path
    causes: frozenset[str]

    @property
    def healthy(self) -> bool:
        return bool(self.causes & FINE)


# -- the runs ----------------------------------------------------------------------------------------


def subjects(cases: Path | None, match: str, out: Path) -> Iterator[Subject]:
    for demo in DEMOS.values():
        if match in demo.name and demo.name in DEMO_CAUSES:
            yield Subject(f"demo {demo.name}", demo.folder, frozenset(DEMO_CAUSES[demo.name]))
    if cases is None:
        return
    sys.path.insert(0, str(cases))
    from render import render  # type: ignore[import-not-found]

    for path in sorted(cases.glob("*.yaml")):
        case = yaml.safe_load(path.read_text("utf-8"))
        if match in case["id"]:
            render(case, out / case["id"])
            causes = case["expect"]["diagnosis"]
            accepted = causes if isinstance(causes, list) else [causes] if causes else []
            yield Subject(case["id"], out / case["id"], frozenset(accepted))


def opened(folder: Path) -> Run:
    run = Run.open(folder)
    while run.poll():
        pass
    run.poll(final=True)
    return run


def rows_of(run: Run) -> list[dict[str, float]]:
    """One row a step, in TRL's names, of what our reader understood."""
    rows: dict[int, dict[str, float]] = {}
    for name in run.names():
        alias = TRL_NAMES.get(name) or (name if name.startswith("rewards/") else None)
        if alias is None:
            continue
        if alias.startswith("rewards/") and not alias.endswith(("/mean", "/std")):
            alias += "/mean"
        points = run.points(name)
        for step, value in zip(points.steps.tolist(), points.values.tolist(), strict=True):
            if not math.isinf(value):
                rows.setdefault(int(step), {"step": int(step)}).setdefault(alias, value)
    return [rows[step] for step in sorted(rows)]


# -- the tools ---------------------------------------------------------------------------------------


def peers_python(folder: Path) -> Path:
    """An interpreter that has the peers; they are installed where they are not there yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--upgrade", *PEERS], check=True)
    return python


def versions(python: Path) -> dict[str, str]:
    code = f"import importlib.metadata as m; print(*[m.version(p) for p in {PEERS!r}])"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return dict(zip(PEERS, done.stdout.split(), strict=True))


def ours(run: Run, library: Any) -> dict[str, Any]:
    report = diagnose(run, library)
    claimed = report.status in ("confirmed", "suspected")
    loud = [alarm for alarm in report.alarms if alarm.severity != "info"]
    return {
        "read": bool(run.names()) or bool(run.incidents),
        "alarm": bool(loud) or (claimed and report.diagnosis not in FINE),
        "claim": report.diagnosis if claimed else None,
        "first": [candidate.diagnosis for candidate in report.candidates[:3]],
    }


def peers(python: Path, jobs: list[dict[str, Any]], folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "jobs.json"
    path.write_text(json.dumps(jobs), "utf-8")
    worker = Path(__file__).resolve().with_name("diagnosis_peers_worker.py")
    done = subprocess.run([python, worker, path], check=True, capture_output=True, text=True, cwd=folder)
    answers: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return answers


# -- the table ---------------------------------------------------------------------------------------


def share(flags: list[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"


def line(name: str, *columns: list[bool]) -> str:
    return f"| {name} | {' | '.join(share(column) for column in columns)} |"


def table(
    held: list[Subject], mine: dict[str, dict[str, Any]], theirs: dict[str, dict[str, Any]]
) -> Iterator[str]:
    yield "| tool | could read | alarm on broken | alarm on healthy | named the cause |"
    yield "|---|---|---|---|---|"
    sick = [s for s in held if not s.healthy]
    well = [s for s in held if s.healthy]
    for title, hit in (
        ("grpo-tui, by its verdict", lambda a, s: a["claim"] in s.causes),
        ("grpo-tui, in its first three", lambda a, s: bool(s.causes & {a["claim"], *a["first"]})),
    ):
        read = [mine[s.name]["read"] for s in held]
        broken, healthy = ([mine[s.name]["alarm"] for s in group] for group in (sick, well))
        yield line(title, read, broken, healthy, [hit(mine[s.name], s) for s in sick])
    for peer, answers in theirs.items():
        found = {run: {id for id, _ in answer["found"]} for run, answer in answers.items()}
        named = [any(STANDS_FOR.get(id, set()) & s.causes for id in found[s.name]) for s in sick]
        read = [answers[s.name]["read"] for s in held]
        broken, healthy = ([bool(found[s.name]) for s in group] for group in (sick, well))
        label = peer if peer.endswith("as it is") else f"{peer}, fed by our reader"
        yield line(label, read, broken, healthy, named)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=Path, help="folder of case files with a render.py")
    parser.add_argument("--match", default="", help="only runs whose name contains this")
    parser.add_argument("--venv", type=Path, help="the peers' environment (default: a temporary one)")
    parser.add_argument("--json", action="store_true", help="every answer, not the table")
    options = parser.parse_args()
    library = load_library()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        python = peers_python(options.venv or folder / "venv").absolute()
        held, mine, jobs = [], {}, []
        for subject in subjects(options.cases, options.match, folder / "runs"):
            run = opened(subject.folder)
            rows = folder / f"{len(held)}.jsonl"
            rows.write_text("".join(json.dumps(row) + "\n" for row in rows_of(run)), "utf-8")
            files = [str(path) for path in sorted(subject.folder.rglob("*")) if path.suffix in READABLE]
            held.append(subject)
            mine[subject.name] = ours(run, library)
            jobs.append({"run": subject.name, "files": files, "rows": str(rows)})
        theirs = peers(python, jobs, folder)
        if options.json:
            print(json.dumps({"grpo-tui": mine, **theirs}, indent=2))
            return
        print(", ".join(f"{name} {version}" for name, version in versions(python).items()))
        print("\n".join(table(held, mine, theirs)))


if __name__ == "__main__":
    main()
