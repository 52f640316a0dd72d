"""What `diagnosis_peers.py` runs inside the peers' own environment: each peer on each run, by its public API.

    PYTHON diagnosis_peers_worker.py JOBS.json

prints {"peer": {"run": {"read", "found": [[id, severity]]}}}.

A job is {"run", "files": [paths as the run left them], "rows": a JSONL of TRL-named rows}. rl-doctor reads
files; rlprobe and rlwatch read nothing and are fed row by row, as their TRL callbacks would.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

WORTH_SAYING = {"WARNING", "CRITICAL", "WARN"}


def rl_doctor(job: dict[str, Any], files: list[str]) -> dict[str, Any]:
    """The first of the files that it can load and that gives it a metric."""
    from rl_doctor import diagnose, load_run

    for path in files:
        try:
            run = load_run(path)
        except Exception:
            continue
        if run.n_steps and run.available_fields:
            found = [(f.detector, f.severity.name) for f in diagnose(run).findings]
            return {"read": True, "found": found}
    return {"read": False, "found": []}


def rlprobe(job: dict[str, Any], rows: list[dict[str, float]]) -> dict[str, Any]:
    from rlprobe.doctor import diagnose
    from rlprobe.recorder import Recorder

    names = {
        "reward": "reward_mean",
        "reward_std": "reward_std",
        "frac_reward_zero_std": "zero_variance_group_frac",
        "kl": "kl_mean",
        "entropy": "entropy_mean",
        "clip_ratio/region_mean": "clip_fraction",
        "loss": "loss",
        "learning_rate": "lr",
        "grad_norm": "grad_norm",
        "completions/mean_length": "completion_len_mean",
        "completions/max_length": "completion_len_max",
        "completions/clipped_ratio": "truncation_rate",
        "step_time": "step_time_s",
    }
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "run", algorithm="grpo", capture_env=False, install_handlers=False)
        for row in rows:
            values: dict[str, Any] = {names[k]: v for k, v in row.items() if k in names and math.isfinite(v)}
            parts = {
                k.removeprefix("rewards/").removesuffix("/mean"): v
                for k, v in row.items()
                if k.startswith("rewards/") and k.endswith("/mean") and math.isfinite(v)
            }
            if parts:
                values["reward_components"] = parts
            recorder.log_step(int(row["step"]), **values)
        recorder.close()
        found = [(f.signature_id, f.severity.upper()) for f in diagnose(Path(folder) / "run")]
    return {"read": True, "found": found}


def rlwatch(job: dict[str, Any], rows: list[dict[str, float]]) -> dict[str, Any]:
    from rlwatch.config import RLWatchConfig
    from rlwatch.detectors import DetectorSuite

    names = {
        "entropy": "entropy",
        "kl": "kl_divergence",
        "reward": "reward_mean",
        "reward_std": "reward_std",
        "loss": "loss",
        "grad_norm": "grad_norm",
    }
    suite, found = DetectorSuite(RLWatchConfig()), []
    for row in rows:
        values = {names[key]: value for key, value in row.items() if key in names}
        found += [
            (alert.detector, alert.severity.upper()) for alert in suite.check_step(int(row["step"]), **values)
        ]
    return {"read": True, "found": sorted(set(found))}


def attempt(peer: Any, *arguments: Any) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = peer(*arguments)
    except Exception as error:
        return {"read": False, "found": [], "error": f"{type(error).__name__}: {error}"[:200]}
    answer["found"] = [held for held in answer["found"] if held[1] in WORTH_SAYING]
    return answer


def main() -> None:
    logging.disable(logging.CRITICAL)
    out: dict[str, dict[str, Any]] = {
        "rl-doctor, as it is": {},
        "rl-doctor": {},
        "rlprobe": {},
        "rlwatch": {},
    }
    for job in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        rows = [json.loads(line) for line in Path(job["rows"]).read_text("utf-8").splitlines()]
        out["rl-doctor, as it is"][job["run"]] = attempt(rl_doctor, job, job["files"])
        out["rl-doctor"][job["run"]] = attempt(rl_doctor, job, [job["rows"]])
        out["rlprobe"][job["run"]] = attempt(rlprobe, job, rows)
        out["rlwatch"][job["run"]] = attempt(rlwatch, job, rows)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
