"""`grpo-tui show`: what was read of a path, for people or as JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .output import compact, complain, duration, plain, print_json


def run(options: Namespace) -> int:
    from ..run import Run
    from ..sources.search.detect import SeveralRuns
    from ..sources.source import SourceError
    from ..summary import SCHEMA, show_report

    try:
        opened = [Run.open(options.path, config_file=options.config)]
    except SeveralRuns as several:
        opened = _open_all(several.paths)
        if not opened:
            return complain(str(several))
    except SourceError as error:
        return complain(str(error))
    for one in opened:
        drain(one)
    if options.metric is not None:
        return _explain(opened, options.metric, as_json=options.json)
    reports = [show_report(one)["run"] | {"derived": _derived(one)} for one in opened]
    if options.json:
        several_runs = len(reports) > 1
        print_json(
            {"schema": SCHEMA, "runs": reports} if several_runs else {"schema": SCHEMA, "run": reports[0]}
        )
        return 0
    for i, report in enumerate(reports):
        if i:
            print()
        _print(report, opened[i].seconds_per_step())
    return 0


def drain(run: Any) -> None:
    """Read everything that is there now, an unfinished last line included."""
    while run.poll():
        pass
    run.poll(final=True)


_HEADINGS = {
    "what": "what it is",
    "stage": "stage",
    "policy": "policy",
    "not": "what it is not",
    "trap": "careful",
    "here": "in this run",
    "from": "where from",
    "last": "last value",
    "watch": "watch for",
}


def _explain(runs: Sequence[Any], name: str, *, as_json: bool) -> int:
    """`show PATH --metric NAME`: one metric of the run at the path (of several: the newest that has it)."""
    from dataclasses import asdict

    from ..explain import explain, known, resolve, suggest
    from ..summary import SCHEMA

    run = next((held for held in reversed(runs) if len(held.points(resolve(held, name)))), runs[-1])
    if not known(run, name):
        near = suggest(run, name)
        hint = f"did you mean {' or '.join(near)}?" if near else "grpo-tui show PATH lists them"
        return complain(f"{name[:80]}: neither {run.path} nor the catalog has such a metric; {hint}")
    explanation = explain(run, name)
    if as_json:
        print_json({"schema": SCHEMA, "metric": asdict(explanation)})
        return 0
    print(plain(explanation.name) + (" (derived)" if explanation.derived else ""))
    label = ""
    for part in explanation.parts:
        heading = _HEADINGS[part.label] if part.label != label else ""
        label = part.label
        print(f"  {heading:<15} {plain(part.text)}")
    return 0


def _derived(run: Any) -> dict[str, Any]:
    """Metrics that the run does not log but that follow from what it logs, with how."""
    from ..metrics.series import summarise
    from ..summary import number

    held = {}
    for name in run.derived:
        summary = summarise(run.points(name))
        held[name] = {
            "formula": run.derivation(name).formula,
            "count": summary.count,
            "last": number(summary.last),
            "min": summary.min,
            "max": summary.max,
        }
    return held


def _open_all(paths: Sequence[Path]) -> list[Any]:
    from ..run import Run
    from ..sources.source import SourceError

    opened = []
    for path in paths:
        try:
            opened.append(Run.open(path))
        except SourceError:
            continue
    return opened


def _print(report: dict[str, Any], pace: float | None) -> None:
    steps = report["steps"]
    version = f" {report['framework_version']}" if report["framework_version"] else ""
    version += f" ({report['fork']})" if report["fork"] else ""
    print(plain(report["path"]))
    print(
        f"  {report['framework']}{version} · {report['state']} · {_span(steps, report['total_steps'])}",
        end="",
    )
    print(f" · {duration(pace)} a step" if pace else "")
    if report["segments"] > 1:
        print(f"  {report['segments']} segments (steps went back); the newest is shown")
    for source in report["sources"]:
        print(f"  read {plain(source['path'])} as {source['reader']}: {source['records']} rows")
    if report["metrics"]:
        width = max(len(name) for name in report["metrics"])
        print(f"\n  {'metric':<{width}}  {'last':>11}  {'min':>11}  {'max':>11}  {'rows':>6}")
        for name, m in report["metrics"].items():
            odd = f"  {m['nonfinite']} not finite" if m["nonfinite"] else ""
            row = (
                f"{compact(m['last']):>11}  {compact(m['min']):>11}  {compact(m['max']):>11}  {m['count']:>6}"
            )
            print(f"  {plain(name):<{width}}  {row}{odd}")
    for name, m in report["derived"].items():
        span = f"{compact(m['last'])}, {compact(m['min'])} to {compact(m['max'])}"
        print(f"  {name} (derived) {span}: {m['formula']}")
    stated = {key: v for key, v in report["config"].items() if not v["default"]}
    if stated:
        print(
            "\n  configuration: " + ", ".join(f"{key}={plain(str(v['value']))}" for key, v in stated.items())
        )
    for incident in report["incidents"]:
        print(f"  line {incident['line']}: {incident['kind']}: {plain(incident['text'])[:160]}")
        beside = " · ".join(plain(part) for part in (incident["note"], incident["frame"]) if part)
        if beside:
            print(f"    {beside}")
    for warning in report["warnings"]:
        print(f"  note: {plain(warning)}")


def _span(steps: dict[str, Any], total: int | None) -> str:
    if not steps["count"]:
        return "no rows yet"
    planned = f" of {total}" if total else ""
    return f"steps {steps['first']}–{steps['last']}{planned}, {steps['count']} rows"
