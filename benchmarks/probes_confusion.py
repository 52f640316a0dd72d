"""Planted faults on real weights: does the ratio probe name each one, and stay silent on clean twins?

    PYTHON benchmarks/probes_confusion.py --model SmolLM2-135M-Instruct --dtype bf16 --out bf16.json
    PYTHON benchmarks/probes_confusion.py --table fp32.json bf16.json > benchmarks/probes_confusion.md

A model with real weights is needed: random ones hide these faults (noise ~20 times smaller, half the
temperature gap). The stages run are the probe's own (A, B, C, scans, weights). Not in CI: minutes on a CPU;
CI takes a fixed sample of the rows on a tiny model.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from probes_bench import Bench, Sampled
from probes_faults import FAULTS, TWINS, Fault, adapter_of, scratch

from grpo_tui.probes.control import Control
from grpo_tui.probes.events import Emitter
from grpo_tui.probes.options import parser
from grpo_tui.probes.ratio.probe import RatioRun, batch_stage, compared, concluded, repeat_stage
from grpo_tui.probes.ratio.weights import compared_weights
from grpo_tui.probes.report import Report, worst
from grpo_tui.probes.subject.model import quiet_libraries, switch_off_dropout

Sides = dict[tuple[str, float], Any]


def run_one(bench: Bench, fault: Fault, sides: Sides) -> dict[str, Any]:
    """Runs the probe's stages on this row; the trainer's own side is measured once per setting."""
    began = time.monotonic()
    run, sampled = _prepared(bench, fault)
    with scratch() as name:
        verdict = _stages(bench, fault, run, sampled, sides, Path(name))
    document = run.report.document
    stage = next((stage for stage in document["stages"] if stage["id"] == "C"), None)
    weights = next((stage for stage in document["stages"] if stage["id"] == "weights"), None)
    return {
        "fault": fault.name,
        "dtype": bench.dtype,
        "verdict": verdict,
        "weights": weights["verdict"] if weights else None,
        "shape": stage["shape"] if stage else None,
        "codes": [finding["code"] for finding in document["findings"]],
        "params": [finding["params"] for finding in document["findings"]],
        "stats": stage["stats"] if stage else None,
        "outcome": _outcome(fault, bench.dtype, verdict, weights, document["findings"]),
        "seconds": round(time.monotonic() - began, 1),
    }


def _prepared(bench: Bench, fault: Fault) -> tuple[RatioRun, Sampled]:
    words = ["ratio", "--model", str(bench.checkpoint.path), "--temperature", str(fault.trainer_t)]
    args = parser().parse_args(words)
    args.engine_dtype = fault.engine_dtype
    sampled = bench.sampled(fault.rollouts)
    run = RatioRun(args, bench.loaded, Report("ratio", Emitter(None), Control(None), None))
    run.rollouts = list(sampled.rollouts)
    if fault.trainer is not None:
        run.loaded = fault.trainer(bench)
    if fault.adapter is not None:
        run.loaded = bench.other(lambda model: None)
        run.adapter = adapter_of(bench, fault.adapter[0])
        run.before_adapter = run.adapter.merge(run.loaded.model)
    return run, sampled


def _stages(bench: Bench, fault: Fault, run: RatioRun, sampled: Sampled, sides: Sides, folder: Path) -> str:
    own = fault.trainer is not None or fault.adapter is not None
    verdicts = []
    if fault.weights is not None:
        run.args.engine_weights = fault.weights(bench, folder)
        verdicts.append(compared_weights(run, bench.checkpoint))
    key = (fault.rollouts, fault.trainer_t)
    if own or key not in sides:
        verdict, first = repeat_stage(run)
        verdicts.append(verdict)
        if first is None or verdict == "fail":
            return worst(verdicts)
        verdicts.append(batch_stage(run, first))
        if not own:
            sides[key] = first, run.batch_noise, verdicts[-1]
        if verdicts[-1] == "fail":
            return worst(verdicts)
    else:
        first, run.batch_noise, verdict = sides[key]
        verdicts.append(verdict)
    engine = _engine(bench, fault, run, sampled)
    run.rollouts = [replace(r, logprobs=tuple(row)) for r, row in zip(sampled.rollouts, engine, strict=True)]
    verdicts.append(compared(run, bench.checkpoint, first))
    return concluded(run, worst(verdicts))


def _engine(bench: Bench, fault: Fault, run: RatioRun, sampled: Sampled) -> Any:
    if fault.adapter is not None:
        return bench.forward(run.loaded if fault.adapter[1] else bench.loaded, sampled.rollouts)
    assert fault.engine is not None, fault.name
    return fault.engine(bench, sampled)


def _outcome(
    fault: Fault, dtype: str, verdict: str, weights: dict[str, Any] | None, findings: list[dict[str, Any]]
) -> str:
    """`named`, `found` (no name or value), `MISSED`; twins `silent` or `FALSE`; `inconclusive`."""
    if not fault.codes:
        return "silent" if verdict == "pass" or (verdict == "warn" and not _accuse(findings)) else "FALSE"
    for finding in findings:
        agree = all(_near(finding["params"].get(key), value) for key, value in fault.params.items())
        if finding["code"] in fault.codes and agree:
            return "named"
    if dtype in fault.hidden and verdict != "fail":
        open_question = verdict == "inconclusive" or (weights or {}).get("verdict") == "inconclusive"
        return "inconclusive" if open_question else "MISSED"
    return "found" if verdict == "fail" else "MISSED"


def _accuse(findings: list[dict[str, Any]]) -> list[str]:
    """Findings that claim a fault; a declared precision is none."""
    return [
        f["code"] for f in findings if f["code"] not in ("RATIO.PRECISION_MISMATCH", "RATIO.BATCH_VARIANT")
    ]


def _near(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(value, (int, float)):
        return abs(value - wanted) <= 0.021
    return bool(value == wanted)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path)
    options.add_argument("--dtype", choices=("fp32", "bf16", "fp16"), default="fp32")
    options.add_argument("--n", type=int, default=8)
    options.add_argument("--max-new", type=int, default=32)
    options.add_argument("--threads", type=int, default=1, help="more only on an idle machine")
    options.add_argument("--only", help="rows whose name holds this text")
    options.add_argument("--out", type=Path, help="JSON, written row by row; what it holds is not run again")
    options.add_argument("--from-end", action="store_true", help="the last rows first")
    options.add_argument("--table", type=Path, nargs="+", help="print the table of these JSON files")
    args = options.parse_args()
    if args.table:
        from probes_table import table

        print(table([json.loads(file.read_text()) for file in args.table]))
        return 0
    quiet_libraries()
    torch.set_num_threads(args.threads)
    bench = Bench(args.model, args.dtype, args.n, args.max_new)
    switch_off_dropout(bench.loaded.model)
    rows: list[dict[str, Any]] = []
    if args.out and args.out.is_file():
        rows = json.loads(args.out.read_text())["rows"]
    done = {row["fault"] for row in rows}
    sides: Sides = {}
    order = (*TWINS, *FAULTS)
    for fault in reversed(order) if args.from_end else order:
        if args.dtype not in fault.dtypes or (args.only and args.only not in fault.name):
            continue
        if fault.name in done:
            continue
        row = run_one(bench, fault, sides)
        rows.append(row)
        print(
            f"{row['fault']:<47}{row['verdict']:<13}{row['shape'] or '-':<18}{row['outcome']:<13}"
            f"{', '.join(row['codes']) or '-'} {row['seconds']} s",
            flush=True,
        )
        if args.out:
            document = {"model": args.model.name, "dtype": args.dtype, "n": args.n, "max_new": args.max_new}
            args.out.write_text(json.dumps({**document, "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
