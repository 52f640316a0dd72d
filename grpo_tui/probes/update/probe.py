"""The parameter-update probe `[S3-2]`: do optimizer steps of this size reach the weights at all?

First a prediction from float spacing, streamed from the files without a model. Then K real AdamW steps, in
the run's own precision and in others for comparison, counting the elements that changed. growth =
share(K) / share(1) tells a master copy (changes add up) from lost updates without looking inside the
optimizer.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..compute.device import LOW_PRECISION, describe_env, set_deterministic
from ..compute.sampling import generate_rollouts
from ..errors import CannotRun
from ..job import Job
from ..report import Report
from ..subject.adapter import open_adapter
from ..subject.checkpoint import Checkpoint
from ..subject.model import (
    Loaded,
    dtypes_by_kind,
    encode,
    load_model,
    load_tokenizer,
    subject_of,
    switch_off_dropout,
)
from ..subject.prompts import Rollout, load_prompts, load_rollouts
from ..subject.user_code import describe
from .lora import attach_lora
from .optimizer import Optim, choose_trainable, upcast_norms
from .spacing import predict, threshold, total_share
from .train import Trained, train
from .verdict import facts_of_mode, facts_of_prediction, judge, judge_prediction

STAGES = ("predict", "rollout", "train")
_GROUP = 2


def run_update(job: Job) -> str:
    """Runs prediction and steps; returns the verdict of the as-run mode."""
    args, checkpoint, dtype, device, report = job.args, job.checkpoint, job.dtype, job.device, job.report
    report.document["env"] = describe_env(device, dtype, job.emulated)
    report.document["subject"] = subject_of(checkpoint, None, args.weights_of_run)
    report.document |= {
        "lr": args.lr,
        "dtype": dtype,
        "optimizer": {
            "class": "AdamW",
            "betas": list(args.betas),
            "eps": args.eps,
            "weight_decay": args.weight_decay,
        },
    }
    if args.optimizer:
        described = describe(args.optimizer)
        report.document["code"] = described.as_dict()
        report.emitter.emit("warning", message=described.text())
    predictions = {dtype: _predict(args, checkpoint, dtype, report)}
    if args.predict_only or checkpoint.adapter_only:
        if checkpoint.adapter_only:
            report.warn(
                "only an adapter is here: its float spacing is predicted, steps need the merged or base model"
            )
        verdict, findings = judge_prediction(predictions[dtype], args.lr)
        report.add_findings(findings)
        report.document["basis"] = "predicted"
        report.set_facts(facts_of_prediction(predictions[dtype]))
        return verdict
    report.document["basis"] = "measured"
    if dtype in LOW_PRECISION and not args.master:
        report.warn(
            f"the steps were taken in pure {dtype}, as the weights are stored; a run that keeps fp32 "
            "parameters or master weights (FSDP, DeepSpeed, Megatron) needs --dtype fp32 or --master"
        )
    report.document["env"]["flags"] = set_deterministic(device)
    return _train_modes(args, checkpoint, dtype, device, predictions, report)


def _predict(args: Namespace, checkpoint: Checkpoint, dtype: str, report: Report) -> list[dict[str, Any]]:
    kinds = predict(checkpoint, args.lr, dtype, report)
    report.document["predicted_total"] = total_share(kinds, "predicted")
    report.metric("predict", "predicted_total", report.document["predicted_total"])
    report.add_stage(
        {
            "id": "predict",
            "verdict": None,
            "dtype": dtype,
            "lr": args.lr,
            "kinds": kinds,
            "predicted_total": report.document["predicted_total"],
            "moves_below": threshold(args.lr, dtype),
        }
    )
    return kinds


def _train_modes(
    args: Namespace,
    checkpoint: Checkpoint,
    dtype: str,
    device: Any,
    predictions: dict[str, list[dict[str, Any]]],
    report: Report,
) -> str:
    modes = _modes(args, dtype)
    report.document["modes"] = []
    batches: list[list[Rollout]] = []
    verdict = "inconclusive"
    for mode in modes:
        stored = "fp32" if mode == "fp32" else dtype
        with report.control.immediate():
            model = load_model(checkpoint, stored, device, args.attn)
        tokenizer = None if args.batch else load_tokenizer(checkpoint)
        loaded = Loaded(model, tokenizer, device, stored)
        switch_off_dropout(model)
        _trainable(args, model)
        if not batches:
            batches = _batches(args, loaded, report)
        if mode == "fp32-norms":
            upcast_norms(model)
        if stored not in predictions:
            predictions[stored] = predict(checkpoint, args.lr, stored, report)
        entry = _train_one(args, loaded, mode, batches, predictions[stored], report)
        if mode == "as-run":
            verdict = _settle(args, entry, batches, report)
    return verdict


def _trainable(args: Namespace, model: Any) -> None:
    """Freezes what the run freezes, and puts its adapter on where it trains one."""
    if args.lora or args.adapter:
        adapter = open_adapter(args.adapter) if args.adapter else None
        rank = args.lora or 8
        attach_lora(model, rank, args.lora_alpha or 2.0 * rank, args.lora_targets, adapter)
    elif args.train_only or args.freeze:
        choose_trainable(model, args.train_only, args.freeze)


def _modes(args: Namespace, dtype: str) -> list[str]:
    """as-run first, always; modes that mean nothing for an fp32 model are left out."""
    asked = [mode for mode in args.modes if mode != "as-run"]
    if args.lora or args.adapter or args.optimizer:
        return ["as-run"]
    return ["as-run", *(asked if dtype in LOW_PRECISION else [])]


def _train_one(
    args: Namespace,
    loaded: Loaded,
    mode: str,
    batches: list[list[Rollout]],
    predicted: list[dict[str, Any]],
    report: Report,
) -> dict[str, Any]:
    optim = Optim(args.lr, args.betas, args.eps, args.weight_decay, args.max_grad_norm, args.optimizer)
    dtypes = dtypes_by_kind(loaded.model)
    stage = f"train.{mode}"
    master = loaded.dtype in LOW_PRECISION and (mode == "fp32-master" or (mode == "as-run" and args.master))
    if master and args.optimizer:
        raise CannotRun("--master copies the weights for AdamW: with --optimizer let your function do so")
    trained = train(
        loaded,
        master,
        batches,
        optim,
        args.micro_batch,
        lambda done, total: report.progress(stage, done, total),
    )
    entry = _entry(mode, loaded, dtypes, trained, {kind["kind"]: kind for kind in predicted})
    entry |= {"master": master, "low_precision": loaded.dtype in LOW_PRECISION and not master}
    report.document["modes"].append(entry)
    report.metric(stage, "total_changed", entry["total_changed"], predicted=entry["predicted_total"])
    report.add_stage(
        {"id": stage, "verdict": None, "total_changed": entry["total_changed"], "growth": entry["growth"]}
    )
    return entry


def _entry(
    mode: str, loaded: Loaded, dtypes: dict[str, str], trained: Trained, predicted: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    last = max(trained.shares)
    first_shares, shares = trained.shares[1], trained.shares[last]
    kinds = [
        {
            **predicted.get(
                kind, {"median_abs": 0.0, "half_ulp": 0.0, "predicted": 0.0, "min_lr_to_move": 0.0}
            ),
            "kind": kind,
            **share,
            "changed_step1": first_shares[kind]["changed"],
            "changed_bf16_step1": first_shares[kind]["changed_bf16"],
            "dtype": dtypes[kind],
            "grad": trained.gradients[kind],
            "live": _live(trained.live.get(kind)),
        }
        for kind, share in shares.items()
    ]
    visible_1, visible_k = total_share(kinds, "changed_bf16_step1"), total_share(kinds, "changed_bf16")
    parameters = list(loaded.model.parameters())
    return {
        "mode": mode,
        "dtype": loaded.dtype,
        "param_dtypes": dtypes,
        "steps": trained.steps,
        "kinds": kinds,
        "total_changed": total_share(kinds, "changed"),
        "total_changed_step1": total_share(kinds, "changed_step1"),
        "total_changed_bf16": visible_k,
        "predicted_total": total_share(kinds, "predicted"),
        "growth": visible_k / visible_1 if last > 1 and visible_1 > 0 else None,
        "prediction": _held_against(trained),
        "groups": trained.groups,
        "not_in_optimizer": trained.outside,
        "optimizer_state": trained.state_dtypes,
        "lora_b_zero": list(trained.zero_b),
        "nonfinite_after": trained.broken,
        "trainable": sum(p.numel() for p in parameters if p.requires_grad),
        "frozen": sum(p.numel() for p in parameters if not p.requires_grad),
    }


def _live(counts: dict[str, float] | None) -> dict[str, float] | None:
    """Shares of one kind's live elements: how many there are, predicted to move, and moved in step 1."""
    if not counts or not counts["live"]:
        return None
    live = counts["live"]
    return {
        "share": live / counts["numel"],
        "predicted": counts["predicted"] / live,
        "changed": counts["changed"] / live,
    }


def _held_against(trained: Trained) -> dict[str, Any] | None:
    """The prediction against the first step, over the elements whose gradient is well above eps."""
    total = {
        key: sum(counts[key] for counts in trained.live.values())
        for key in ("numel", "live", "predicted", "changed")
    }
    shares = _live(total)
    return shares and {**shares, "gap": shares["changed"] - shares["predicted"]}


def _settle(args: Namespace, entry: dict[str, Any], batches: list[list[Rollout]], report: Report) -> str:
    if not any(rollout.advantage for batch in batches for rollout in batch):
        report.warn(
            "all advantages are 0 (zero-variance groups): no update is due, and precision is not to blame"
        )
        return "inconclusive"
    verdict, findings = judge(entry, args.lr)
    report.add_findings(findings)
    report.set_facts(facts_of_mode(entry))
    return verdict


def _batches(args: Namespace, loaded: Loaded, report: Report) -> list[list[Rollout]]:
    """One distinct batch per step, advantages ±1 inside groups of two, or the person's own rollouts."""
    if args.batch:
        return _recorded(args, loaded)
    size = max(_GROUP, args.n - args.n % _GROUP)
    prompts = [
        encode(loaded.tokenizer, text) for text in load_prompts(args.prompts, args.steps * size // _GROUP)
    ]
    twice = [prompt for prompt in prompts for _ in range(_GROUP)]
    rollouts = generate_rollouts(
        loaded,
        twice,
        max_new=args.max_new,
        temperature=args.temperature,
        seed=args.seed,
        micro=8,
        tick=lambda done, total: report.progress("rollout", done, total),
    )
    signed = [
        Rollout(r.prompt_ids, r.response_ids, r.logprobs, None, 1.0 if index % _GROUP == 0 else -1.0)
        for index, r in enumerate(rollouts)
    ]
    return [signed[begin : begin + size] for begin in range(0, len(signed), size)]


def _recorded(args: Namespace, loaded: Loaded) -> list[list[Rollout]]:
    vocabulary = loaded.model.get_input_embeddings().weight.shape[0]
    rollouts, _ = load_rollouts(args.batch, vocabulary, args.tokens or 4096, need_logprobs=False)
    if any(rollout.advantage is None for rollout in rollouts):
        raise CannotRun(f"{args.batch}: every record needs an 'advantage' beside prompt_ids and response_ids")
    size = len(rollouts) // args.steps
    if size == 0:
        raise CannotRun(f"{args.batch} holds {len(rollouts)} rollouts, fewer than the {args.steps} steps")
    return [rollouts[begin : begin + size] for begin in range(0, size * args.steps, size)]
