"""The ratio probe `[S0-14]`: unmoved weights, the same token ids, read three ways.

A: the trainer's forward twice. B: the same ids in other batches, which measures this model's own noise
floor. C: the trainer against the inference side. A differs: the training framework is not repeatable.
A agrees and C differs: the two sides use different conventions, and the importance ratio will read that as
a change of the policy. A later stage means nothing if an earlier one fails, so the probe stops there.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from ..compute.device import describe_env, set_deterministic
from ..compute.forward import LAYOUTS
from ..compute.sampling import generate_rollouts
from ..findings import Finding
from ..job import Job
from ..report import worst
from ..servers.dialect import Wish
from ..servers.rollouts import collect, connect
from ..subject.adapter import open_adapter
from ..subject.checkpoint import Checkpoint
from ..subject.model import (
    Loaded,
    dropouts,
    encode,
    load_model,
    load_tokenizer,
    static_check,
    subject_of,
    switch_off_dropout,
)
from ..subject.prompts import load_prompts, load_rollouts
from . import thresholds
from .canary import canary_stage
from .engine import engine_stage
from .findings import findings_a, findings_b, findings_static, missing_finding, prompt_finding
from .run import RatioRun, add_comparison
from .stats import Comparison, Rows
from .weights import compared_weights, live_weights, weights_by_logprobs

STAGES = ("static", "rollout", "A", "B", "C", "scan", "weights")
FEW_TOKENS, FEW_SEQUENCES = 400, 8


def run_ratio(job: Job) -> str:
    """Runs the stages in order and returns the verdict; the report holds the document."""
    args, checkpoint, report = job.args, job.checkpoint, job.report
    with report.control.immediate():
        tokenizer = None if args.infer.startswith("file:") else load_tokenizer(checkpoint)
        loaded = Loaded(
            load_model(checkpoint, job.dtype, job.device, args.attn), tokenizer, job.device, job.dtype
        )
    report.document["env"] = describe_env(loaded.device, loaded.dtype, job.emulated)
    report.document["subject"] = subject_of(checkpoint, loaded.tokenizer, args.weights_of_run)
    run = RatioRun(args, loaded, report)
    if args.adapter:
        run.adapter = open_adapter(args.adapter)
        run.before_adapter = run.adapter.merge(loaded.model)
        report.document["subject"]["adapter"] = str(args.adapter)
    verdict = _stages(run, checkpoint)
    report.set_facts(run.facts)
    return verdict


def _stages(run: RatioRun, checkpoint: Checkpoint) -> str:
    verdicts = [_static(run, checkpoint)]
    if verdicts[-1] == "fail":
        return _stopped(run, verdicts, "static")
    if run.args.engine_weights:
        verdicts.append(compared_weights(run, checkpoint))
    verdicts.append(_rollout(run))
    if not run.rollouts:
        return _stopped(run, verdicts, "rollout")
    verdict, first = repeat_stage(run)
    verdicts.append(verdict)
    if first is None:
        return _stopped(run, verdicts, "A")
    verdicts.append(batch_stage(run, first))
    if verdicts[-1] == "fail":
        return _stopped(run, verdicts, "B")
    return concluded(run, worst([*verdicts, compared(run, checkpoint, first)]))


def compared(run: RatioRun, checkpoint: Checkpoint, first: Rows) -> str:
    """C, the canary where asked for, and what was seen of the weights; `first` is the trainer's A1."""
    run.first = first
    verdicts = [engine_stage(run, first)]
    if run.args.canary_sync and run.dialect is not None:
        verdicts.append(canary_stage(run, checkpoint, run.dialect))
    live = live_weights(run, checkpoint)
    verdicts += [live] if live else []
    if run.weights_seen is None:
        weights_by_logprobs(run)
    return worst(verdicts)


def concluded(run: RatioRun, verdict: str) -> str:
    """Where the adapter could not be seen, agreement proves nothing: inconclusive unless failed."""
    codes = [finding["code"] for finding in run.report.document["findings"]]
    if "RATIO.LORA_INCONCLUSIVE" not in codes or verdict == "fail":
        return verdict
    run.facts["probe.ratio.engine-agrees"] = "unknown"
    return "inconclusive"


def _stopped(run: RatioRun, verdicts: list[str], stage: str) -> str:
    run.report.warn(f"stopped after {stage}, which failed: later stages mean nothing before it is repaired")
    return worst(verdicts)


def _static(run: RatioRun, checkpoint: Checkpoint) -> str:
    facts = static_check(checkpoint, run.loaded.model, run.loaded.tokenizer)
    run.report.document["subject"]["param_dtypes"] = facts["param_dtypes"]
    run.report.document["env"]["attn"] = facts["attn"]
    findings = findings_static(facts)
    run.report.add_findings(findings)
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    run.report.add_stage({"id": "static", "verdict": verdict, "facts": facts})
    return verdict


def _rollout(run: RatioRun) -> str:
    """Gets ids and engine log-probs: sampled here or by a live server, or read from a file."""
    args = run.args
    run.report.document["sampling"] = {
        "infer": args.infer,
        "temperature": args.temperature,
        "trainer_temperature": run.trainer_t,
        "eps_low": args.eps_low,
        "eps_high": args.eps_high,
        "seed": args.seed,
    }
    findings = _collect(run)
    tokens = sum(len(rollout.response_ids) for rollout in run.rollouts)
    run.report.document["data"] = {
        "sequences": len(run.rollouts),
        "tokens": tokens,
        "lengths": [len(r.response_ids) for r in run.rollouts],
        "logprob_len_unequal": run.unequal,
    }
    _say_limits(run, tokens)
    if run.unequal:
        findings.append(missing_finding(run.unequal))
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    if verdict == "fail":
        run.facts["probe.ratio.engine-agrees"] = "no"
    run.report.add_findings(findings)
    run.report.add_stage({"id": "rollout", "verdict": verdict, **run.report.document["data"]})
    return verdict


def _collect(run: RatioRun) -> list[Finding]:
    args = run.args
    vocabulary = int(run.loaded.model.get_input_embeddings().weight.shape[0])
    if args.infer.startswith("file:"):
        path = Path(args.infer.removeprefix("file:"))
        run.rollouts, run.unequal = load_rollouts(path, vocabulary, args.tokens or 4096)
        return []
    prompts = [encode(run.loaded.tokenizer, text) for text in load_prompts(args.prompts, _count(args))]
    if args.infer != "hf":
        return _from_server(run, prompts, vocabulary)
    run.rollouts = generate_rollouts(
        run.loaded,
        prompts,
        max_new=args.max_new,
        temperature=args.temperature,
        seed=args.seed,
        micro=args.micro_batch,
        tick=run.tick("rollout"),
    )
    return []


def _from_server(run: RatioRun, prompts: list[list[int]], vocabulary: int) -> list[Finding]:
    """What the server cannot do is said first; then it samples, and the trainer scores what it sampled."""
    args = run.args
    dialect = run.dialect = connect(args)
    for text in dialect.cannot:
        run.report.warn(text)
    run.report.document["sampling"]["server"] = {
        "kind": dialect.kind,
        "url": args.infer,
        "info": dialect.describe(),
    }
    wish = Wish(args.max_new, args.temperature, args.seed)
    collected = collect(dialect, prompts, wish, vocabulary, run.tick("rollout"))
    run.rollouts, run.unequal = collected.rollouts, collected.incomplete
    run.report.document["sampling"]["server"]["empty"] = collected.empty
    return [prompt_finding(collected.prompts_differ)] if collected.prompts_differ else []


def _count(args: Namespace) -> int:
    return int(max(1, -(-args.tokens // args.max_new)) if args.tokens else args.n)


def _say_limits(run: RatioRun, tokens: int) -> None:
    if tokens < FEW_TOKENS or len(run.rollouts) < FEW_SEQUENCES:
        run.report.warn(
            f"{tokens} tokens in {len(run.rollouts)} sequences: "
            f"below {FEW_TOKENS} in {FEW_SEQUENCES} the numbers jump"
        )
    if run.args.infer == "hf":
        run.report.warn(
            "the inference side is HF generate in this process, not the run's own engine; use "
            "--infer file:rollouts.jsonl with ids and log-probs the engine gave"
        )


def repeat_stage(run: RatioRun) -> tuple[str, Rows | None]:
    """A: in the run's own mode, then without dropout. Returns the verdict and A1 (None if A fails)."""
    active = dropouts(run.loaded.model)
    as_run = "pass"
    if active or run.loaded.device.type != "cpu":
        as_run = _repeat_once(run, "A.as-run", active)[0]
        switch_off_dropout(run.loaded.model)
        run.report.document["env"]["flags"] = set_deterministic(run.loaded.device)
    verdict, first = _repeat_once(run, "A", {})
    run.facts["probe.ratio.repeatable"] = "no" if "fail" in (as_run, verdict) else "yes"
    return worst([as_run, verdict]), first if verdict != "fail" else None


def _repeat_once(run: RatioRun, stage: str, active: dict[str, float]) -> tuple[str, Rows]:
    first, second = run.logps("trainer", stage), run.logps("trainer", stage)
    stats = run.compare(first, second)
    verdict, used = thresholds.verdict_a(stats, run.loaded.dtype)
    run.report.add_findings(findings_a(stage, stats, verdict, active))
    add_comparison(run, stage, verdict, stats, used, first, second, {"dropout": active})
    return verdict, first


def batch_stage(run: RatioRun, first: Rows) -> str:
    """B: the same ids alone, padded on the other side, and in reversed order with extra padding."""
    read: dict[str, Comparison] = {}
    verdicts: dict[str, str] = {}
    used: dict[str, Any] = {}
    rows: dict[str, Rows] = {}
    for layout in LAYOUTS:
        rows[layout] = run.logps(layout, "B")
        read[layout] = run.compare(first, rows[layout])
        verdicts[layout], used = thresholds.verdict_b(read[layout], run.loaded.dtype, run.trainer_t)
        run.report.metric("B", f"mean_abs.{layout}", read[layout].mean_abs)
    noisiest = max(read, key=lambda name: (read[name].nonfinite, read[name].mean_abs))
    run.batch_noise, verdict = read[noisiest], worst(list(verdicts.values()))
    run.facts["probe.ratio.batch-invariant"] = "yes" if verdict == "pass" else "no"
    run.report.add_findings(findings_b(read, verdict, run.compare(rows["single"], rows["right"]).mean_abs))
    run.report.add_stage(
        {
            "id": "B",
            "verdict": verdict,
            "stats": read[noisiest].as_dict(),
            "variants": {name: {"verdict": verdicts[name], **read[name].as_dict()} for name in read},
            "thresholds": used,
            "worst_layout": noisiest,
        }
    )
    return verdict
