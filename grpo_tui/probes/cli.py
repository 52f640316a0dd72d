"""Runs one probe: signals, streams, the order of refusals, and the exit code.

What can be refused without torch is refused first: a missing folder, a cut-off file, too little memory.
"""

from __future__ import annotations

import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from .compute.device import (
    choose_device,
    emulate_low_precision,
    free_bytes,
    import_torch,
    import_transformers,
    memory_budget,
    require_memory,
)
from .compute.distributed import agreed, leave_group, rank, start_group, world_size
from .control import Control
from .errors import (
    EXIT_CANCELLED,
    EXIT_INCONCLUSIVE,
    EXIT_OF_VERDICT,
    EXIT_USAGE,
    Cancelled,
    CannotRun,
    TimedOut,
)
from .events import Emitter, finite, take_stdout
from .job import Job
from .options import parser
from .registry import BARE_PROBES, PROBES
from .report import Report
from .subject.checkpoint import Checkpoint, open_checkpoint
from .subject.model import quiet_libraries

SHARDED = frozenset({"ratio", "update"})


def main(argv: Sequence[str] | None = None) -> int:
    """Parses `argv`, runs the probe, returns its exit code. Owns its stdout, stderr and signals."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["verifier-worker"]:
        from .verifier.worker import serve

        return serve(words[1:])
    args = parser().parse_args(words)
    stream = take_stdout()
    control = Control(args.timeout, attached=getattr(args, "events", None) == "-")
    control.install()
    first = rank() == 0
    emitter = Emitter(_events(args.events, stream))
    report = Report(args.probe, emitter, control, args.out if first else None)
    status, code, message = guarded_run(args, report)
    leave_group()
    if message:
        report.document["error"] = message
        emitter.emit("error", message=message)
        print(f"probes {args.probe}: {message}", file=sys.stderr)
    verdict = report.document["verdict"]
    emitter.emit("end", status=status, verdict=verdict, exit=code, at=report.at, path=report.path)
    if first and args.events != "-" and (status != "cannot-run" or args.json):
        stream.write(_rendered(args, report.document))
        stream.flush()
    return code


def _events(where: str | None, stream: TextIO) -> TextIO | None:
    """Where events go: rank 0 speaks on stdout or in the file, the others in `FILE.rankK` or not at all."""
    if where is None or where == "-":
        return stream if where == "-" and rank() == 0 else None
    path = Path(where) if rank() == 0 else Path(f"{where}.rank{rank()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", buffering=1)


def _rendered(args: Namespace, document: dict[str, Any]) -> str:
    if args.json:
        import json

        return json.dumps(finite(document), indent=1, ensure_ascii=False) + "\n"
    from .summary import summary

    return summary(document)


def guarded_run(args: Namespace, report: Report) -> tuple[str, int, str | None]:
    """Status, exit code and the error line. The document on disk is whole whatever happens."""
    try:
        verdict = _run(args, report)
        report.finish("complete", verdict)
        return "complete", EXIT_OF_VERDICT[verdict], None
    except Cancelled:
        report.finish("cancelled", "inconclusive")
        return "cancelled", EXIT_CANCELLED, None
    except TimedOut:
        report.finish("timed-out", "inconclusive")
        return "timed-out", EXIT_INCONCLUSIVE, f"--timeout of {args.timeout:g} s ran out during {report.at}"
    except CannotRun as error:
        return _failed(report, "cannot-run", str(error))
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "out of memory" not in str(error):
            return _crashed(report, error)
        return _failed(
            report, "cannot-run", f"out of memory during {report.at}: use fewer or shorter sequences"
        )
    except Exception as error:
        return _crashed(report, error)


def _failed(report: Report, status: str, message: str) -> tuple[str, int, str]:
    report.document["error"] = message
    report.finish(status, "inconclusive")
    return status, EXIT_USAGE, message


def _crashed(report: Report, error: BaseException) -> tuple[str, int, str]:
    traceback.print_exception(error)
    report.document["traceback"] = traceback.format_exc()
    report.finish("crashed", "inconclusive")
    return "crashed", EXIT_USAGE, f"crashed during {report.at}: {type(error).__name__}: {error}"


def _run(args: Namespace, report: Report) -> str:
    quiet_libraries()
    _say_start(args, report)
    if args.probe in BARE_PROBES:
        return BARE_PROBES[args.probe].run(args, report)
    checkpoint = _checkpoint(args, report)
    dtype = checkpoint.dtype if args.dtype == "auto" else args.dtype
    if dtype not in ("fp32", "bf16", "fp16"):
        raise CannotRun(f"weights are stored as {dtype}: give --dtype bf16, fp16 or fp32")
    _refuse_out_inside(report, checkpoint)
    with report.control.immediate():
        import_torch(), import_transformers()
    device = _device(args, report.control)
    probe = PROBES[args.probe]
    require_memory(
        probe.needs(args, checkpoint, dtype),
        memory_budget(args.memory_limit, free_bytes(device)),
        probe.smaller(args),
    )
    emulated = emulate_low_precision(device, dtype)
    report.at = "load"
    return probe.run(Job(args, checkpoint, dtype, device, emulated, report))


def _say_start(args: Namespace, report: Report) -> None:
    import os

    reason = None
    if args.probe in BARE_PROBES:
        if not args.reward_of_run:
            reason = "nobody said that a run trains on this reward function (--reward-of-run RUN)"
    elif args.tiny:
        reason = "a tiny random model built here: worth nothing as evidence"
    elif not args.weights_of_run:
        reason = "nobody said that these are the run's weights (--weights-of-run RUN)"
    report.document["rehearsal"], report.document["rehearsal_reason"] = reason is not None, reason
    report.emitter.emit(
        "start",
        probe=args.probe,
        pid=os.getpid(),
        python=sys.executable,
        stages=list((PROBES.get(args.probe) or BARE_PROBES[args.probe]).stages),
        rehearsal=reason is not None,
        rehearsal_reason=reason,
        model=str(args.reward if args.probe in BARE_PROBES else args.model or "tiny"),
    )


def _checkpoint(args: Namespace, report: Report) -> Checkpoint:
    if not args.tiny:
        return open_checkpoint(args.model)
    with report.control.immediate():
        from .subject.tiny import tiny_model

        return open_checkpoint(tiny_model(args.work, args.tiny_dtype, args.seed))


def _refuse_out_inside(report: Report, checkpoint: Checkpoint) -> None:
    if report.out is None:
        return
    out, model = report.out.resolve(), checkpoint.path.resolve()
    if out == model or model in out.parents:
        report.out = None
        raise CannotRun(f"--out {out} lies in the checkpoint folder, which is never written to")


def _device(args: Namespace, control: Control) -> Any:
    device = choose_device(args.device)
    if world_size() > 1:
        if args.probe not in SHARDED:
            raise CannotRun(
                f"{args.probe} runs in one process ({', '.join(sorted(SHARDED))} in several): --launch local"
            )
        start_group(device)
        control.agree = agreed
    if args.threads:
        import_torch().set_num_threads(args.threads)
    return device
