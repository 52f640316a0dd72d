"""The accumulation probe `[S0-13]`: does one batch of N give the gradient of N accumulated micro-batches?

First the weights that the loss gives each token, exact and without noise; then the parameter gradients
themselves, which show the size of the effect and what rounding adds. Without the run's own loss only the
known ways of averaging are shown, and no fact is claimed.
"""

from __future__ import annotations

from typing import Any

from ..compute.device import describe_env, set_deterministic
from ..compute.forward import trainer_logps
from ..errors import CannotRun
from ..findings import Finding
from ..job import Job
from ..report import worst
from ..subject.batches import made_batch, own_batch, padded, spread_lengths
from ..subject.model import Loaded, subject_of
from ..subject.prompts import Rollout
from ..subject.user_code import describe
from .findings import dumped_finding, finding_of, noise_finding
from .gradients import LIMITS, Distance, distance, gradient_of, read_gradients, relation_of
from .losses import NAMED, Named, find_loss
from .weights import Batch, Relation, relate, split_weights

STAGES = ("batch", "weights", "gradients")
_UNSEEN = (
    "the loop around the loss (zero_grad, gradient scaling, all-reduce over ranks) is not run here: "
    "compare two "
    "dumped gradients with --gradients to see it",
    "data-parallel ranks are not cut here; a token mean per rank has the same fault",
)


def run_accumulation(job: Job) -> str:
    """Runs the probe; returns its verdict."""
    args, report = job.args, job.report
    report.document["env"] = describe_env(job.device, job.dtype, job.emulated)
    report.document["subject"] = subject_of(job.checkpoint, None, args.weights_of_run)
    report.document["splits"] = []
    if args.gradients:
        return _dumped(job)
    named = _loss(job)
    report.document["env"]["flags"] = set_deterministic(job.device)
    loaded = job.load()
    rollouts = _batch(job, loaded)
    batch = _tensors(job, loaded, rollouts)
    for text in _UNSEEN:
        report.warn(text)
    if named is None:
        return _survey(job, batch)
    return _one_loss(job, loaded, rollouts, batch, named)


def _loss(job: Job) -> Named | None:
    spec = job.args.loss
    if spec is None:
        return None
    if ":" in spec:
        described = describe(spec)
        job.report.document["code"] = described.as_dict()
        job.report.emitter.emit("warning", message=described.text())
    with job.report.control.immediate():
        return find_loss(spec)


def _batch(job: Job, loaded: Loaded) -> list[Rollout]:
    args, report = job.args, job.report
    if args.batch:
        rollouts, cut = spread_lengths(own_batch(args.batch, loaded, args.tokens or 4096)[: args.n])
        if cut:
            report.warn(
                "every second response was cut: with lengths that differ less than 8x a wrong mean is unseen"
            )
    else:
        rollouts = made_batch(loaded, args.prompts, args.n, args.max_new, args.seed)
    lengths = [len(rollout.response_ids) for rollout in rollouts]
    if len(rollouts) < 2:
        raise CannotRun("one sequence cannot be cut into micro-batches: give at least 2")
    report.document["data"] = {"sequences": len(rollouts), "tokens": sum(lengths), "lengths": lengths}
    report.add_stage({"id": "batch", "verdict": None, **report.document["data"]})
    return rollouts


def _tensors(job: Job, loaded: Loaded, rollouts: list[Rollout]) -> Batch:
    rows = trainer_logps(loaded, rollouts, "trainer", 1.0, job.args.micro_batch, job.tick("weights"))
    width = max(map(len, rows))
    import torch

    mask = padded([[1.0] * len(row) for row in rows], width)
    advantages = torch.tensor([float(rollout.advantage or 0.0) for rollout in rollouts])
    return Batch(padded(rows, width), mask, advantages)


def _sizes(job: Job, n: int) -> list[int]:
    if job.args.micro_sizes:
        return [size for size in job.args.micro_sizes if size < n] or [1]
    sizes, size = [], n // 2
    while size >= 1:
        sizes.append(size)
        size //= 2
    return sizes


def _relations(job: Job, batch: Batch, named: Named) -> list[tuple[Any, Relation]]:
    whole = split_weights(named.loss, batch, len(batch.lengths))
    found = [(whole, Relation("same"))]
    for size in _sizes(job, len(batch.lengths)):
        split = split_weights(named.loss, batch, size)
        found.append((split, relate(whole, split, batch)))
        job.report.progress("weights", len(found), len(_sizes(job, len(batch.lengths))) + 1)
    return found


def _survey(job: Job, batch: Batch) -> str:
    """Every known way of averaging on these lengths; nothing is said of the run, whose own is not named."""
    rows = []
    for named in NAMED.values():
        relations = [relation.kind for _, relation in _relations(job, batch, named)[1:]]
        rows.append({"loss": named.name, "used_by": named.used_by, "equivalent": set(relations) == {"same"}})
    job.report.document["losses"] = rows
    job.report.add_stage({"id": "weights", "verdict": None, "losses": rows})
    job.report.warn(
        "the run's own averaging was not named (--loss NAME, or --loss FILE.py:FUNCTION): no fact"
    )
    return "inconclusive"


def _one_loss(job: Job, loaded: Loaded, rollouts: list[Rollout], batch: Batch, named: Named) -> str:
    relations = _relations(job, batch, named)
    whole, splits = relations[0][0], relations[1:]
    if any(relation.kind == "no-gradient" for _, relation in splits):
        job.report.warn(
            "the loss gives no token a gradient (advantages 0, or a detach): nothing can be compared"
        )
        return "inconclusive"
    job.report.add_stage(
        {
            "id": "weights",
            "verdict": worst(["pass" if r.kind == "same" else "fail" for _, r in splits]),
            "loss": named.name,
            "used_by": named.used_by,
            "kinds": {str(split.size): relation.kind for split, relation in splits},
        }
    )
    n = len(rollouts)
    reference = gradient_of(loaded, rollouts, whole.weights, n, job.tick("gradients"))
    findings: list[Finding] = []
    for split, relation in splits:
        measured = gradient_of(loaded, rollouts, split.weights, split.size, job.tick("gradients"))
        gap, steps = distance(reference, measured), -(-n // split.size)
        findings += _judge(job, relation, gap, steps, named)
        _record(job, relation, gap, steps, split.size, (whole.loss, split.loss))
    return _finish(job, findings)


def _judge(job: Job, relation: Relation, gap: Distance, steps: int, named: Named) -> list[Finding]:
    limits = LIMITS[job.dtype]
    finding = finding_of(relation, steps, gap, named.by_design, named.used_by)
    if finding is None:
        finding = noise_finding(gap, steps, limits)
    return [finding] if finding else []


def _record(
    job: Job, relation: Relation, gap: Distance, steps: int, size: int, losses: tuple[float, float]
) -> None:
    job.report.document["splits"].append(
        {
            "steps": steps,
            "size": size,
            "kind": relation.kind,
            "factors": list(relation.factors),
            **gap.as_dict(),
            "loss_whole": losses[0],
            "loss_split": losses[1],
        }
    )
    job.report.metric("gradients", f"rel.{steps}x{size}", gap.rel, cos=gap.cos, ratio=gap.ratio)


def _finish(job: Job, findings: list[Finding]) -> str:
    """Of several splits with one finding the one with the most steps is kept: its effect is the largest."""
    kept = {finding.code: finding for finding in findings}
    job.report.add_findings(list(kept.values()))
    verdict = worst(["pass", *(finding.severity for finding in kept.values())])
    same = not any(code != "ACCUM.BATCH_VARIANT" or f.severity == "fail" for code, f in kept.items())
    job.report.add_stage(
        {
            "id": "gradients",
            "verdict": verdict,
            "splits": job.report.document["splits"],
            "thresholds": {"rel": list(LIMITS[job.dtype])},
        }
    )
    job.report.set_facts({"probe.accumulation.equivalent": "yes" if same else "no"})
    return verdict


def _dumped(job: Job) -> str:
    """Two gradients that the person's own trainer saved: the loop is in them, the cause less so."""
    whole, accumulated = (read_gradients(path) for path in job.args.gradients)
    gap = distance(whole, accumulated)
    kind = relation_of(gap, job.dtype, job.args.steps)
    finding = dumped_finding(kind, gap, job.args.steps)
    job.report.warn("of two gradients alone, a wrong normaliser and a lost micro-batch look alike")
    _record(job, Relation(kind), gap, job.args.steps or 0, 0, (0.0, 0.0))
    return _finish(job, [finding] if finding else [])
