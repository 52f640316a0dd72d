"""The command line of the probes. Standard library only, so that `--help` answers at once."""

from __future__ import annotations

import argparse
from pathlib import Path

_EXAMPLE = """examples:
  PYTHON probes ratio --model runs/a/checkpoint-100 --weights-of-run runs/a --out out/
  PYTHON probes ratio --model runs/a/checkpoint-100 --infer file:rollouts.jsonl
  PYTHON probes update --model runs/a/checkpoint-100 --lr 1e-6 --predict-only
  PYTHON probes ratio --tiny

exit codes: 0 pass or warn, 1 fail, 2 cannot run, 3 inconclusive, 130 cancelled"""


def parser() -> argparse.ArgumentParser:
    """Parser of `ratio` and `update`."""
    top = argparse.ArgumentParser(
        prog="probes",
        description="Small checks of a training run's model, one question each.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    probes = top.add_subparsers(dest="probe", required=True, metavar="PROBE")
    _ratio(_common(probes, "ratio", "do trainer and inference engine give the same probabilities?"))
    _update(_common(probes, "update", "do optimizer steps of this size reach the weights?"))
    return top


def _common(
    probes: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str
) -> argparse.ArgumentParser:
    one = probes.add_parser(
        name,
        help=what,
        description=f"{name}: {what}",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subject = one.add_mutually_exclusive_group(required=True)
    subject.add_argument("--model", type=Path, metavar="DIR", help="folder with config.json and safetensors")
    subject.add_argument(
        "--tiny", action="store_true", help="a tiny random model built here: a rehearsal, no evidence"
    )
    add = one.add_argument
    add(
        "--tiny-dtype",
        choices=("fp32", "bf16"),
        default="fp32",
        help="dtype of the tiny model (default %(default)s)",
    )
    add("--work", type=Path, metavar="DIR", help="where the tiny model is kept (default: the temp folder)")
    add(
        "--weights-of-run",
        metavar="RUN",
        help="these are the weights of this run; without it a result is a rehearsal",
    )
    add("--dtype", choices=("auto", "bf16", "fp16", "fp32"), default="auto", help="default: as stored")
    add("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default %(default)s)")
    add(
        "--attn",
        choices=("sdpa", "eager", "flash_attention_2"),
        help="attention implementation (default: the model's)",
    )
    add(
        "--prompts",
        type=Path,
        metavar="FILE",
        help="one prompt a line, or .jsonl with 'prompt'; default: built in",
    )
    add(
        "--tokens",
        type=_natural,
        metavar="N",
        help="budget of response tokens (sets --n, or how much of a file is read)",
    )
    add(
        "--temperature",
        type=_positive,
        default=1.0,
        metavar="T",
        help="sampling temperature of the run (default 1)",
    )
    add(
        "--micro-batch",
        type=_natural,
        default=4,
        metavar="N",
        help="sequences per forward (default %(default)s)",
    )
    add("--seed", type=int, default=0)
    add("--threads", type=_natural, metavar="N", help="CPU threads (default: torch's)")
    add(
        "--timeout",
        type=_positive,
        metavar="SECONDS",
        help="stop after this long; what is finished stays valid",
    )
    add(
        "--memory-limit",
        default="0.9",
        metavar="X",
        help="share of the free memory, or a size such as 8G (default 0.9)",
    )
    add("--out", type=Path, metavar="DIR", help="write result.json here, anew after each stage")
    add("--json", action="store_true", help="print the result as JSON")
    add("--events", choices=("-",), help="- : JSON lines on stdout while it runs")
    return one


def _ratio(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--infer",
        default="hf",
        type=_infer,
        metavar="hf|file:F",
        help="hf: sample here with a KV cache; file: JSON lines {prompt_ids, response_ids, logprobs}",
    )
    add("--n", type=_natural, default=8, help="sequences to sample (default %(default)s)")
    add("--max-new", type=_natural, default=64, help="longest response in tokens (default %(default)s)")
    add(
        "--trainer-temperature",
        type=_positive,
        metavar="T",
        help="what the trainer divides its logits by (default: --temperature)",
    )
    add("--engine-dtype", choices=("same", "fp32", "fp16", "bf16", "quantised"), default="same")
    add("--eps-low", type=float, default=0.2, help="lower clip of the run (default %(default)s)")
    add("--eps-high", type=float, default=0.28, help="upper clip of the run (default %(default)s)")
    add(
        "--scan",
        choices=("auto", "on", "off"),
        default="auto",
        help="look for a reading that explains a difference",
    )


def _update(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add("--lr", type=_not_negative, required=True, help="learning rate of the run, for example 1e-6")
    add(
        "--predict-only",
        action="store_true",
        help="from float spacing alone: no model is built, any size streams",
    )
    add(
        "--modes",
        type=_modes,
        default=["as-run", "fp32-norms"],
        metavar="M,M",
        help="of as-run, fp32, fp32-norms, fp32-master (default as-run,fp32-norms)",
    )
    add("--master", action="store_true", help="the run keeps fp32 master weights beside its low precision")
    add("--steps", type=_natural, default=3, help="optimizer steps (default %(default)s)")
    add("--n", type=_natural, default=4, help="sequences per step, in groups of two (default %(default)s)")
    add("--max-new", type=_natural, default=24, help="longest response in tokens (default %(default)s)")
    add(
        "--batch",
        type=Path,
        metavar="FILE",
        help="JSON lines {prompt_ids, response_ids, advantage} instead of sampling",
    )
    add("--betas", type=_betas, default=(0.9, 0.999), metavar="B1,B2")
    add("--eps", type=float, default=1e-8)
    add("--weight-decay", type=float, default=0.0)
    add("--max-grad-norm", type=_positive, default=1.0)


def _natural(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _not_negative(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is negative or not finite")
    return value


def _infer(text: str) -> str:
    if text != "hf" and not text.startswith("file:"):
        raise argparse.ArgumentTypeError(f"{text}: hf or file:PATH")
    return text


def _modes(text: str) -> list[str]:
    known = ("as-run", "fp32", "fp32-norms", "fp32-master")
    modes = text.split(",")
    if not set(modes) <= set(known):
        raise argparse.ArgumentTypeError(f"{text}: use {', '.join(known)}")
    return modes


def _betas(text: str) -> tuple[float, float]:
    first, _, second = text.partition(",")
    return float(first), float(second)
