"""The command line. Parsing only: every command lives in `commands`, and nothing heavy loads here."""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import sys
from pathlib import Path

from . import __version__

COMMANDS = {
    "watch": "the app on a log file, a run directory, or `-` for standard input",
    "demo": "replay a run that ships with the package",
    "show": "what was read: framework, steps, metrics, configuration, incidents",
    "runs": "every run under a folder",
    "diagnose": "alerts and ranked diagnoses, without a person",
    "playbook": "write, check, test, replay and draw playbooks",
    "probe": "run a probe without the app",
    "explain": "the page of a metric or a diagnosis: what it means, what looks alike, what to do",
    "calc": "group odds, budgets, float spacing, advantages, reference tables",
    "report": "a run's incident report, or one triage session, as Markdown or HTML",
    "export": "metrics as CSV, curves as SVG",
    "serve": "the app in a browser on this machine, behind a token",
    "vscode": "editor files: tasks, problem matcher, schema for playbooks",
    "tour": "the demo with somebody beside you: what you see and which key is next",
    "doctor": "which interpreter, torch, device and terminal; what is missing and how to get it",
}
SEVERITIES = ("info", "warning", "critical")


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line."""
    parser = argparse.ArgumentParser(
        prog="grpo-tui",
        description="Beside your GRPO run: curves, alarms, guided triage, probes; from the logs as they are.",
        epilog="example: grpo-tui train.log      (the same as: grpo-tui watch train.log); "
        "alone it looks for runs where it stands",
    )
    parser.add_argument("--version", action="version", version=f"grpo-tui {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for add in (
        _watch,
        _demo,
        _show,
        _runs,
        _diagnose,
        _playbook,
        _probe,
        _explain,
        _calc,
        _report,
        _export,
        _serve,
        _vscode,
        _tour,
        _doctor,
    ):
        add(commands)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, example: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name, help=COMMANDS[name], description=COMMANDS[name].capitalize() + ".", epilog=f"example: {example}"
    )


def _watch(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "watch", "grpo-tui watch outputs/run-1 --baseline outputs/clean-run")
    parser.add_argument("path", help="log file, run directory, or -")
    _run_options(parser)
    parser.add_argument("--python", help="the training interpreter, for probes")
    parser.add_argument("--wait", action="store_true", help="open an empty log and wait for its first row")
    alone = parser.add_argument_group("without a screen")
    alone.add_argument("--headless", action="store_true", help="a line for every change of an alarm")
    alone.add_argument(
        "--outlet",
        action="append",
        default=[],
        metavar="KIND[=TARGET]",
        help="send alarms: slack=URL, discord=URL, webhook=URL, command=ARGV, desktop, wandb[=PROJECT]",
    )
    alone.add_argument("--outlets", type=Path, metavar="FILE", help="the same from a YAML file")
    alone.add_argument("--fail-on", choices=SEVERITIES, help="exit 1 if such an alarm is open at the end")
    alone.add_argument("--until-stalled", action="store_true", help="leave when the log stops growing")
    alone.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="how often to look (2)")
    alone.add_argument("--json", action="store_true", help="one JSON object a line")


def _demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "demo", "grpo-tui demo lr-too-high --speed 20")
    parser.add_argument("name", nargs="?", default="lr-too-high", help="which run (default: lr-too-high)")
    parser.add_argument("--speed", type=float, default=10.0, help="times the run's own speed (default: 10)")
    parser.add_argument("--list", action="store_true", help="list the bundled runs")
    parser.add_argument("--python", help="the interpreter for the probe's rehearsal")


def _show(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "show", "grpo-tui show train.log --json")
    parser.add_argument("path")
    parser.add_argument("--config", type=Path, help="the run's configuration (YAML or JSON)")
    parser.add_argument(
        "--metric", metavar="NAME", help="explain one metric of this run, by any of its names"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)


def _runs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "runs", "grpo-tui runs outputs/")
    parser.add_argument("path", metavar="ROOT")
    parser.add_argument("--json", action="store_true")


def _diagnose(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "diagnose", "grpo-tui diagnose train.log --answers answers.yaml --json")
    parser.add_argument("path")
    _run_options(parser)
    parser.add_argument("--answers", help="a file of {observation id: value}")
    parser.add_argument("--fail-on", choices=SEVERITIES, help="exit 1 from this severity on")
    parser.add_argument(
        "--explain",
        nargs="?",
        const="",
        metavar="DIAGNOSIS",
        help="how it got its score, step by step, and what would change it (default: the first candidate)",
    )
    parser.add_argument("--json", action="store_true")


def _playbook(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from .commands.playbook.grammar import add_actions

    add_actions(_command(commands, "playbook", "grpo-tui playbook check my-playbooks/"))


PROBES = ("ratio", "update", "accumulation", "mask", "nonfinite", "verifier")


def _probe_name(name: str) -> str:
    if name in (*PROBES, "history", "compare") or (name.startswith("x.") and len(name) > 2):
        return name
    import difflib

    near = difflib.get_close_matches(name, PROBES, 1)
    meant = f" - did you mean {near[0]!r}?" if near else ""
    raise argparse.ArgumentTypeError(
        f"no probe {name!r}{meant}; there are {', '.join(PROBES)}, and x.NAME of packages"
    )


def _probe(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "probe", "grpo-tui probe ratio --run outputs/run-1 --python .venv/bin/python")
    probes = PROBES
    named = ", ".join((*probes, "x.NAME of a package"))
    parser.add_argument("probe", type=_probe_name, help=f"{named}; or history, compare")
    parser.add_argument("targets", nargs="*", help="history: a run; compare: two results")
    parser.add_argument("--run", metavar="PATH", help="the run whose model to probe")
    parser.add_argument("--launch", default="local", help="a launch profile: its name or a YAML file")
    parser.add_argument("--model", help="the model directory (default: found from the run)")
    parser.add_argument("--tiny", action="store_true", help="rehearse on a tiny local model; no evidence")
    parser.add_argument("--python", help="the training interpreter (default: VIRTUAL_ENV)")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "mps", "cpu"))
    parser.add_argument("--out", type=Path, help="folder for the result (default: the run's state folder)")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds (default: 1800)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--yes", action="store_true", help="start without asking")
    parser.add_argument(
        "--trust", metavar="PACKAGE", help="agree to the probe of this package the first time"
    )
    parser.usage = f"{parser.format_usage().removeprefix('usage: ').rstrip()} [-- OPTIONS OF THE PROBE]"
    parser.set_defaults(extra=[])


def _explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "explain", "grpo-tui explain actor/ppo_kl")
    parser.add_argument("name", nargs="?", help="a metric, a diagnosis or a guide (default: list them)")
    parser.add_argument("--json", action="store_true")


def _calc(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "calc", "grpo-tui calc groups --success 0.9 --size 16 --prompts 512")
    kinds = parser.add_subparsers(dest="calculator", metavar="WHAT", required=True)
    groups = kinds.add_parser("groups", help="shares of all-right, all-wrong, mixed; the inverse")
    groups.add_argument("--success", type=float, help="success rate of one response")
    groups.add_argument("--share", type=float, help="observed share of equal groups: which rate explains it")
    groups.add_argument("--size", type=int, default=8, help="responses per prompt (default: 8)")
    groups.add_argument("--prompts", type=int, help="prompts in a batch")
    groups.add_argument("--wanted", type=float, help="share that should have a signal: which size gives it")
    budget = kinds.add_parser("budget", help="completions and prompts per update, prompts seen, epochs")
    for name in ("batch", "accumulation", "size"):
        budget.add_argument(f"--{name}", type=int, required=True)
    for name in ("devices", "steps"):
        budget.add_argument(f"--{name}", type=int, default=1)
    budget.add_argument("--dataset", type=int, help="prompts in the data")
    split = kinds.add_parser("split", help="how verl splits a rollout batch; optimizer steps on it")
    for name in ("train-batch", "mini-batch", "size"):
        split.add_argument(f"--{name}", type=int, required=True)
    split.add_argument("--micro-batch", type=int, help="sequences per device and forward")
    for name in ("devices", "epochs"):
        split.add_argument(f"--{name}", type=int, default=1)
    spacing = kinds.add_parser("spacing", help="the next number of a format; which weights an update moves")
    spacing.add_argument("value", type=float, nargs="?", help="a weight (default: a table)")
    spacing.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    spacing.add_argument("--update", type=float, help="size of an update, about one learning rate")
    spacing.add_argument("--spread", type=float, default=0.02, help="standard deviation of the weights")
    advantage = kinds.add_parser("advantage", help="advantages of one group's rewards, per scaling")
    advantage.add_argument("rewards", type=float, nargs="+")
    advantage.add_argument("--epsilon", type=float, default=1e-4)
    reference = kinds.add_parser("reference", help="KL bands, papers' settings, starting ranges")
    tables = ("kl", "recipes", "dynamic-sampling", "ranges", "updates")
    reference.add_argument("table", nargs="?", choices=tables, help="which (default: all)")
    for kind in (groups, budget, split, spacing, advantage, reference):
        kind.add_argument("--json", action="store_true")


def _report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "report", "grpo-tui report outputs/run-1 --out incident.html --mask")
    parser.add_argument("session", metavar="PATH", help="a run (its newest walk included), or a session file")
    parser.add_argument("--out", type=Path, help="write here instead of standard output (.html: as HTML)")
    parser.add_argument("--html", action="store_true", help="one self-contained HTML file")
    parser.add_argument("--mask", action="store_true", help="without paths, hosts, people and credentials")
    parser.add_argument("--baseline", help="a clean run to draw beside it")
    parser.add_argument("--json", action="store_true")


def _export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "export", "grpo-tui export train.log reward_mean entropy --svg figures/")
    parser.add_argument("path")
    parser.add_argument("metric", nargs="*", help="canonical or raw names (default: every metric)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", type=Path, help="a file, or - for standard output (the default)")
    form.add_argument("--svg", type=Path, help="a file for one metric, a folder for several")
    parser.add_argument("--baseline", help="a run to draw beside it")


def _serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "serve", "grpo-tui serve outputs/run-1 --port 8765")
    parser.add_argument("path", help="log file or run directory")
    _run_options(parser)
    parser.add_argument("--python", help="the training interpreter, for probes")
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8765)


def _vscode(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "vscode", "grpo-tui vscode init")
    parser.add_argument("action", choices=("init",))
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="the workspace (default: here)")
    parser.add_argument("--print", action="store_true", help="show the files and write nothing")


def _tour(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "tour", "grpo-tui tour")
    parser.add_argument("--speed", type=float, default=20.0, help="times the run's own speed (default: 20)")
    parser.add_argument("--python", help="the interpreter for the probe's rehearsal")


def _doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "doctor", "grpo-tui doctor --python .venv/bin/python")
    parser.add_argument("--python", help="the training interpreter")
    parser.add_argument("--json", action="store_true")


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="the run's configuration (YAML or JSON)")
    parser.add_argument("--baseline", help="a clean run to compare with")
    parser.add_argument("--playbooks", action="append", default=[], metavar="DIR", help="more playbooks")


_COLLECT = (20_000, 20, 20)
"""When to look for garbage: what is loaded and read stays, and looking through it is a tenth of the start."""


def main(argv: list[str] | None = None) -> int:
    """Entry point. Never a traceback for bad input; a broken pipe is no error."""
    gc.set_threshold(*_COLLECT)
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] not in COMMANDS and (words[0] == "-" or not words[0].startswith("-")):
        words.insert(0, "watch")
    extra: list[str] = []
    if words[:1] == ["probe"] and "--" in words:
        words, extra = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = build_parser()
    options = parser.parse_args(words)
    if extra:
        options.extra = extra
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    module = importlib.import_module(f".commands.{options.command or 'start'}", __package__)
    try:
        return int(module.run(options))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
