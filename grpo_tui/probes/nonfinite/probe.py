"""The non-finite probe `[S0-9]` `[S0-23]`: the first NaN or Inf, from the weights to the optimizer step.

Order: weights and buffers, the forward module by module, log-prob to loss, gradients, one AdamW step. The
first place with finite inputs is the cause; everything after it is only downstream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..compute.device import describe_env, set_deterministic
from ..compute.forward import forward_logits, layout_batch, pad_id, token_logps
from ..findings import Finding
from ..job import Job
from ..subject.batches import made_batch, vocabulary_of
from ..subject.model import Loaded, subject_of
from ..subject.user_code import bound, describe, load_function
from . import findings as words
from .path import OFFERED, Example, load_examples, tensors_of, walk_path
from .places import fact_of_module, fact_of_parameter
from .watch import FP16_MAX, Seen, Watcher, first_bad, look_closer

STAGES = ("weights", "forward", "path", "gradient", "optimizer")


@dataclass
class _Run:
    job: Job
    loaded: Loaded
    examples: list[Example]
    own: Any
    watcher: Watcher
    peaks: dict[str, float] = field(default_factory=dict)


def run_nonfinite(job: Job) -> str:
    """Runs the probe; returns its verdict."""
    args, report = job.args, job.report
    report.document["env"] = describe_env(job.device, job.dtype, job.emulated)
    report.document["subject"] = subject_of(job.checkpoint, None, args.weights_of_run)
    report.document["env"]["flags"] = set_deterministic(job.device)
    loaded = job.load()
    own = _own_loss(job)
    examples = _examples(job, loaded)
    run = _Run(job, loaded, examples, own, Watcher(loaded.model, job.device))
    try:
        found = _weights(run) or _batches(run) or _optimizer(run)
    finally:
        run.watcher.remove()
    return _settle(run, found)


def _own_loss(job: Job) -> Any:
    if not job.args.loss:
        return None
    described = describe(job.args.loss)
    job.report.document["code"] = described.as_dict()
    job.report.emitter.emit("warning", message=described.text())
    with job.report.control.immediate():
        return bound(load_function(job.args.loss), OFFERED)


def _examples(job: Job, loaded: Loaded) -> list[Example]:
    args = job.args
    if args.batch:
        examples = load_examples(args.batch, vocabulary_of(loaded), args.tokens or 4096)
    else:
        made = made_batch(loaded, args.prompts, args.n, args.max_new, args.seed)
        examples = [Example(rollout, None, None, float(rollout.advantage or 1.0)) for rollout in made]
        job.report.warn("a made batch: a NaN that needs the failing batch is not seen (--batch FILE)")
    job.report.document["data"] = {
        "sequences": len(examples),
        "tokens": sum(len(example.rollout.response_ids) for example in examples),
    }
    job.report.warn("fused kernels, torch.compile, loss scaling and all-reduce of the run are not run here")
    return examples


Found = tuple[str, Finding]


def _weights(run: _Run) -> Found | None:
    """Parameters and buffers. A bad one is named, and nothing after it means anything."""
    bad = []
    named = [*run.loaded.model.named_parameters(), *run.loaded.model.named_buffers()]
    for name, tensor in named:
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            where = (~tensor.isfinite()).nonzero()
            bad.append(
                {"name": name, "count": len(where), "total": tensor.numel(), "index": where[0].tolist()}
            )
    run.job.report.progress("weights", 1, 1)
    run.job.report.add_stage({"id": "weights", "verdict": "fail" if bad else "pass", "nonfinite": bad[:20]})
    if not bad:
        return None
    run.job.report.document["first"] = {"phase": "weights", **bad[0]}
    return fact_of_parameter(bad[0]["name"]), words.weights(bad)


def _batches(run: _Run) -> Found | None:
    """Forward, path and gradient, micro-batch by micro-batch; gradients stay for the optimizer."""
    micro = run.job.args.micro_batch
    parts = [run.examples[begin : begin + micro] for begin in range(0, len(run.examples), micro)]
    run.loaded.model.train().zero_grad(set_to_none=True)
    for number, part in enumerate(parts):
        found = _one_batch(run, part, number, len(parts))
        if found:
            return found
        run.job.report.progress("gradient", number + 1, len(parts))
    for stage in ("forward", "path"):
        run.job.report.add_stage({"id": stage, "verdict": "pass"})
    return _parameter_gradients(run)


def _one_batch(run: _Run, part: Sequence[Example], number: int, parts: int) -> Found | None:
    run.watcher.restart()
    logps = _logps(run, part)
    seen = run.watcher.forward()
    for one in seen:
        run.peaks[one.name] = max(run.peaks.get(one.name, 0.0), one.peak_out)
    bad = first_bad(seen)
    if bad:
        return _in_forward(run, bad, part, number)
    loss, steps = walk_path(tensors_of(part, logps), run.job.args, run.own)
    broken = [step for step in steps if step.first is not None]
    if broken:
        run.job.report.document["first"] = {"phase": "path", "where": broken[0].name, **asdict(broken[0])}
        run.job.report.document["path"] = [step.name for step in broken]
        run.job.report.add_stage({"id": "path", "verdict": "fail", "steps": [asdict(step) for step in steps]})
        return words.path(broken, number)
    (loss / parts).backward()
    arrived = [one for one in run.watcher.backward() if one.outputs_bad]
    return _in_backward(run, arrived[0]) if arrived else None


def _logps(run: _Run, part: Sequence[Example]) -> list[Any]:
    rollouts = [example.rollout for example in part]
    ids, mask, starts = layout_batch(rollouts, "trainer", pad_id(run.loaded))
    first = min(starts) - 1
    device = run.loaded.device
    logits = forward_logits(run.loaded.model, ids.to(device), mask.to(device), first)
    return [
        token_logps(logits[row, begin : begin + len(rollout.response_ids)], rollout.response_ids, 1.0)
        for row, rollout in enumerate(rollouts)
        for begin in [starts[row] - 1 - first]
    ]


def _in_forward(run: _Run, bad: Seen, part: Sequence[Example], number: int) -> Found:
    detail = look_closer(run.loaded.model, bad.name, lambda: _logps(run, part))
    first = {
        "phase": "forward",
        "where": bad.name,
        "inputs_finite": not bad.inputs_bad,
        "max_in": bad.peak_in,
        "micro_batch": number,
        **asdict(detail),
    }
    run.job.report.document["first"] = first
    run.job.report.add_stage({"id": "forward", "verdict": "fail", "first": first})
    return fact_of_module(bad.name, detail.module_class), words.forward(first)


def _in_backward(run: _Run, bad: Seen) -> Found:
    head = run.loaded.model.get_output_embeddings()
    names = {name or "(model)": module for name, module in run.loaded.model.named_modules()}
    in_loss = names.get(bad.name) is head or bad.name == "(model)"
    run.job.report.document["first"] = {"phase": "gradient", "where": bad.name, "in_loss_graph": in_loss}
    run.job.report.add_stage({"id": "gradient", "verdict": "fail", "first": run.job.report.document["first"]})
    return "gradient", words.backward(bad.name, in_loss)


def _parameter_gradients(run: _Run) -> Found | None:
    import torch

    named = [(name, p) for name, p in run.loaded.model.named_parameters() if p.grad is not None]
    bad = [name for name, p in named if not bool(p.grad.isfinite().all())]
    if not bad:
        norm = float(torch.nn.utils.clip_grad_norm_([p for _, p in named], run.job.args.max_grad_norm))
        run.job.report.add_stage({"id": "gradient", "verdict": "pass", "grad_norm": norm})
        if norm == norm and norm != float("inf"):
            return None
        bad = ["(gradient norm)"]
    run.job.report.document["first"] = {"phase": "gradient", "where": bad[0], "in_loss_graph": False}
    run.job.report.add_stage({"id": "gradient", "verdict": "fail", "parameters": bad[:20]})
    return "gradient", words.backward(bad[0], False)


def _optimizer(run: _Run) -> Found | None:
    import torch

    args = run.job.args
    parameters = [p for p in run.loaded.model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters, lr=args.lr, betas=args.betas, eps=args.eps, weight_decay=args.weight_decay
    )
    optimizer.step()
    bad = [name for name, p in run.loaded.model.named_parameters() if not bool(p.isfinite().all())]
    run.job.report.progress("optimizer", 1, 1)
    run.job.report.add_stage(
        {"id": "optimizer", "verdict": "fail" if bad else "pass", "parameters": bad[:20]}
    )
    if not bad:
        return None
    run.job.report.document["first"] = {"phase": "optimizer", "where": bad[0], "parameters": len(bad)}
    return "optimizer", words.optimizer(bad, args.eps)


def _settle(run: _Run, found: Found | None) -> str:
    report = run.job.report
    top = sorted(run.peaks.items(), key=lambda item: -item[1])[:10]
    report.document["peaks"] = [
        {"module": name, "peak": peak, "fp16_headroom": FP16_MAX / peak if peak else None}
        for name, peak in top
    ]
    if found is not None:
        report.add_findings([found[1]])
        report.set_facts({"probe.nonfinite.first": found[0]})
        return "fail"
    near = words.headroom(top, run.job.dtype)
    report.add_findings(near)
    if run.job.args.batch:
        report.set_facts({"probe.nonfinite.first": "none"})
    return "warn" if near else "pass"
