"""The mask probe `[S0-13]`: prompt, padding and tool output get no gradient, every generated token gets one.

With the trainer's batch the mask itself is compared, which is exact and needs no forward. With the run's
loss function the gradient on the logits is, which also sees an index that is off by one.
"""

from __future__ import annotations

from typing import Any

from ..compute.device import describe_env
from ..job import Job
from ..report import worst
from ..subject.batches import made_batch
from ..subject.model import subject_of
from ..subject.user_code import describe
from .gradient import Touching
from .judge import Totals, Wrong, compare_row, findings_of
from .rows import Row, load_rows, rows_of, special_of

STAGES = ("batch", "mask")
_ROWS_KEPT = 50


def run_mask(job: Job) -> str:
    """Runs the probe; returns its verdict."""
    args, report = job.args, job.report
    report.document["env"] = describe_env(job.device, job.dtype, job.emulated)
    report.document["subject"] = subject_of(job.checkpoint, None, args.weights_of_run)
    if args.batch is None and args.loss is None:
        report.warn(
            "nothing of the run was given: --batch FILE with its token ids and loss masks, or "
            "--loss FILE.py:FUNCTION"
        )
        report.document["basis"] = "none"
        return "inconclusive"
    special = special_of(job.checkpoint)
    touching = _touching(job) if args.loss else None
    rows = load_rows(args.batch, special, args.tokens) if args.batch else _made(job, touching)
    report.document["basis"] = "gradient" if touching else "mask"
    report.document["data"] = {
        "sequences": len(rows),
        "positions": sum(len(row.ids) for row in rows),
        "generated": sum(len(row.expected) for row in rows),
        "eos": sorted(special.eos),
        "pad": sorted(special.pad),
    }
    report.add_stage({"id": "batch", "verdict": None, **report.document["data"]})
    _limits(job, touching is not None, rows)
    return _compare(job, rows, touching)


def _touching(job: Job) -> Any:
    described = describe(job.args.loss)
    job.report.document["code"] = described.as_dict()
    job.report.emitter.emit("warning", message=described.text())
    loaded = job.load()
    with job.report.control.immediate():
        return loaded, Touching(loaded, job.args.loss)


def _made(job: Job, touching: Any) -> list[Row]:
    rollouts = made_batch(touching[0], job.args.prompts, job.args.n, job.args.max_new, job.args.seed)
    return rows_of(rollouts, special_of(job.checkpoint))


def _limits(job: Job, by_gradient: bool, rows: list[Row]) -> None:
    if not by_gradient:
        job.report.warn(
            "the mask is right or wrong as data; whether the loss uses it rightly: --loss FILE.py:FUNCTION"
        )
    if job.args.batch is None:
        job.report.warn(
            "a made batch with a right mask: how the run builds its masks is not seen (--batch FILE)"
        )
    if not any(row.tool for row in rows):
        job.report.warn("no tool_spans were given: tool or environment tokens would pass as generated ones")
    if not any(row.finished for row in rows):
        job.report.warn("no response ends in an end token: a lost end token cannot be seen here")


def _compare(job: Job, rows: list[Row], touching: Any) -> str:
    found: list[Wrong] = []
    totals = Totals()
    for seq, row in enumerate(rows):
        touched = touching[1].touched(row) if touching else [p for p, on in enumerate(row.mask) if on]
        found.append(compare_row(seq, row, touched, job.args.truncated_masked))
        totals.add(found[-1])
        job.report.progress("mask", seq + 1, len(rows))
    findings = findings_of(rows, found)
    job.report.add_findings(findings)
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    faulty = [one.as_dict() for one in found if one.prompt or one.missing or one.pad or one.tool or one.empty]
    job.report.document |= {"totals": totals.counts, "rows": faulty[:_ROWS_KEPT], "faulty_rows": len(faulty)}
    for name, count in totals.counts.items():
        job.report.metric("mask", name, count)
    job.report.add_stage(
        {"id": "mask", "verdict": verdict, "totals": totals.counts, "faulty_rows": len(faulty)}
    )
    job.report.set_facts({"probe.mask.right": "no" if verdict == "fail" else "yes"})
    return verdict
