"""The command line of the probes. Standard library only, so that `--help` answers at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from .argument_types import natural, positive
from .registry import BARE_PROBES, PROBES

_EXAMPLE = """examples:
  PYTHON probes ratio --model runs/a/checkpoint-100 --weights-of-run runs/a --out out/
  PYTHON probes ratio --model runs/a/checkpoint-100 --infer file:rollouts.jsonl
  PYTHON probes update --model runs/a/checkpoint-100 --lr 1e-6 --predict-only
  PYTHON probes accumulation --model runs/a/checkpoint-100 --loss bnpo
  PYTHON probes mask --model runs/a/checkpoint-100 --batch batch.jsonl
  PYTHON probes nonfinite --model runs/a/checkpoint-100 --batch failing.jsonl
  PYTHON probes verifier --reward rewards.py:accuracy --cases gold.jsonl
  PYTHON probes ratio --tiny

exit codes: 0 pass or warn, 1 fail, 2 cannot run, 3 inconclusive, 130 cancelled"""


def parser() -> argparse.ArgumentParser:
    """Parser of every probe."""
    top = argparse.ArgumentParser(
        prog="probes",
        description="Small checks of a training run's model, one question each.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    probes = top.add_subparsers(dest="probe", required=True, metavar="PROBE")
    for name, probe in PROBES.items():
        one = _one(probes, name, probe.what)
        _subject(one)
        probe.add_options(one)
    for name, bare in BARE_PROBES.items():
        bare.add_options(_one(probes, name, bare.what))
    return top


def _one(
    probes: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str
) -> argparse.ArgumentParser:
    one = probes.add_parser(
        name,
        help=what,
        description=f"{name}: {what}",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _process(one)
    return one


def _subject(one: argparse.ArgumentParser) -> None:
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
    _sequences(one)


def _sequences(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--prompts",
        type=Path,
        metavar="FILE",
        help="one prompt a line, or .jsonl with 'prompt'; default: built in",
    )
    add(
        "--tokens",
        type=natural,
        metavar="N",
        help="budget of response tokens (sets --n, or how much of a file is read)",
    )
    add(
        "--temperature",
        type=positive,
        default=1.0,
        metavar="T",
        help="sampling temperature of the run (default 1)",
    )
    add(
        "--micro-batch",
        type=natural,
        default=4,
        metavar="N",
        help="sequences per forward (default %(default)s)",
    )
    add("--seed", type=int, default=0)
    add("--threads", type=natural, metavar="N", help="CPU threads (default: torch's)")


def _process(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--timeout",
        type=positive,
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
    add("--events", metavar="-|FILE", help="JSON lines while it runs: - on stdout, or in a file")
