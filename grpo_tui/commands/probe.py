"""`grpo-tui probe`: plan, show, ask, run; the same probe as in the app."""

from __future__ import annotations

import sys
from argparse import Namespace
from datetime import datetime
from pathlib import Path
from typing import Any

from .output import complain, plain, print_json

EXIT = {"pass": 0, "warn": 0, "fail": 1, "inconclusive": 3}


def run(options: Namespace) -> int:
    if options.probe in ("history", "compare"):
        from . import probe_history

        return (
            probe_history.history(options) if options.probe == "history" else probe_history.compare(options)
        )
    from ..launch import PlanError
    from ..sources.source import SourceError

    try:
        plan = _plan(options)
        from ..launch.profiles import launched, load_profile

        job = None if options.launch == "local" else launched(plan, load_profile(options.launch))
        plan = job.plan if job else plan
    except (PlanError, SourceError, ValueError) as error:
        return complain(str(error))
    if options.targets:
        return complain(f"{options.targets[0]}: options of the probe come after `--`, the run after --run")
    if not plan.ready:
        return complain(f"which Python trains? {plan.interpreter_why}; for a rehearsal: --tiny")
    if not options.json:
        _show(plan)
    if plan.origin is not None and not _may_run(plan.origin, options):
        return 2
    if not options.yes and not _agreed(plan):
        return 2
    return _start(plan, job, options.json)


def _plan(options: Namespace) -> Any:
    from ..home import run_home, state_root
    from ..launch import plan_probe
    from ..run import Run
    from ..subject import find_model, probe_options
    from .show import drain

    opened, alive = None, False
    if options.run:
        opened = Run.open(options.run)
        drain(opened)
        alive = opened.state() == "running"
    if options.probe == "verifier":
        model, why, own = None, "", opened is not None
    else:
        model, why, own = _model(options, find_model(opened, options.model) if opened else None)
    home = run_home(opened.path) if opened else state_root()
    stamp = f"{datetime.now():%Y%m%d-%H%M%S}-{options.probe}"
    return plan_probe(
        options.probe,
        out_dir=options.out or home / "probes" / stamp,
        model=model,
        model_why=why,
        run=opened.path if opened and own else None,
        python=options.python,
        device=None if options.device == "auto" else options.device,
        options=probe_options(opened, options.probe) | _extra(options.extra),
        run_alive=alive,
        timeout_s=options.timeout,
    )


def _model(options: Namespace, found: Any) -> tuple[Path | None, str, bool]:
    """(folder, how it was chosen, whether these are the run's weights)."""
    if options.tiny:
        return None, "asked for with --tiny", False
    if found is not None and found.path is not None:
        return found.path, found.how, found.own_weights
    if options.model:
        return Path(options.model), "given with --model", False
    reason = found.how if found is not None else "no run and no model given"
    raise ValueError(f"which model? {reason}; give --model DIR, or rehearse with --tiny")


def _extra(words: list[str]) -> dict[str, Any]:
    """Options after `--`, as a mapping. Raises ValueError for a stray word."""
    extra: dict[str, Any] = {}
    name = None
    for word in words:
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            extra[name] = value if value else True
        elif name is not None:
            extra[name], name = word, None
        else:
            raise ValueError(f"{word!r}: options of the probe come after `--`, as in: -- --n 4")
    return extra


def _show(plan: Any) -> None:
    print(
        f"probe        {plan.probe}" + ("   REHEARSAL: no evidence about the run" if plan.rehearsal else "")
    )
    if plan.probe == "verifier":
        print(f"code         {plain(plan.model_why)}")
    else:
        without = "a tiny random model" if plan.origin is None else "none"
        print(f"model        {plan.model or without}   ({plain(plan.model_why)})")
    if plan.rehearsal_reason:
        print(f"             {plain(plan.rehearsal_reason)}")
    if plan.origin is not None:
        print(f"code         {plain(str(plan.origin))}")
    print(f"interpreter  {plan.interpreter}   ({plan.interpreter_why})")
    print(f"device       {plan.device}   ({plan.device_why})")
    print(f"cost         {plan.cost.text}")
    print(f"result       {plan.out_dir}/result.json")
    print(f"command      {plan.shell()}\n")


def _may_run(origin: Any, options: Namespace) -> bool:
    """Whether a person agrees to the code of this package in this version, now or before."""
    from ..launch import agreed_to, remember

    if agreed_to(origin):
        return True
    if options.trust != origin.package:
        if not sys.stdin.isatty():
            complain(
                f"not started: {origin} has not run here before; add --trust {origin.package} to agree to it"
            )
            return False
        if input(f"run {plain(str(origin))} for the first time? [y/N] ").strip().lower() not in {"y", "yes"}:
            return False
    try:
        remember(origin)
    except OSError as error:
        complain(f"that you agreed cannot be kept ({error.strerror}): it will be asked again")
    return True


def _agreed(plan: Any) -> bool:
    if not sys.stdin.isatty():
        complain("not started: nobody to ask; add --yes to start without asking")
        return False
    question = "start? [y/N] "
    if plan.needs_device_confirmation:
        question = f"the run beside us may be using {plan.device}; start there all the same? [y/N] "
    return input(question).strip().lower() in {"y", "yes"}


def _start(plan: Any, job: Any, as_json: bool) -> int:
    from ..launch import LocalProbe
    from ..launch.job import start_launched

    probe = start_launched(job) if job else LocalProbe(plan)
    try:
        for event in probe.events():
            if not as_json and event.type in ("progress", "warning"):
                share = "" if event.share is None else f" {event.share:4.0%}"
                print(f"  {event.type} {event.stage or ''}{share} {plain(event.message or '')}".rstrip())
    except KeyboardInterrupt:
        probe.cancel()
        for _ in probe.events():
            pass
    result = probe.result()
    if as_json:
        print_json(dict(result.result) or {"status": result.status, "error": result.error})
    else:
        _print(result)
    if result.status == "cancelled":
        return 130
    if result.status in ("cannot-run", "crashed"):
        last = f": {result.stderr[-1]}" if result.status == "crashed" and result.stderr else ""
        complain(f"{result.error or result.status}{last}")
        return 2
    return EXIT.get(result.verdict, 3)


def _print(result: Any) -> None:
    label = "  (rehearsal: no evidence)" if result.rehearsal else ""
    print(f"\n{result.status}: {result.verdict.upper()}{label}")
    for finding in result.result.get("findings", []):
        title = plain(str(finding.get("title", "")))
        print(f"  {finding.get('severity', ''):<5} {finding.get('code', '')}: {title}")
    for fact, value in result.facts.items():
        print(f"  {fact} = {value}")
    if result.path:
        print(f"  result: {result.path}")
