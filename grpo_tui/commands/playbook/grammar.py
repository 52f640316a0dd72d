"""The words after `grpo-tui playbook`. Imports nothing but argparse, so that help stays quick."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

FORMATS = ("text", "json", "sarif", "problems")
LEVELS = ("info", "warning", "bug", "fatal")


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Every action of `grpo-tui playbook`, each with an example."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, what: str, example: str) -> argparse.ArgumentParser:
        return actions.add_parser(
            name,
            help=what,
            description=f"{what.capitalize()}.",
            epilog=f"example: grpo-tui playbook {example}",
        )

    for add in (_list, _show, _new, _check, _test, _replay, _graph, _reference, _schema):
        add(action)


Add = Callable[[str, str, str], argparse.ArgumentParser]


def _list(action: Add) -> None:
    parser = action("list", "the playbooks that would be used, and where each comes from", "list")
    _more(parser)
    parser.add_argument("--json", action="store_true")


def _show(action: Add) -> None:
    parser = action("show", "one playbook, step by step", "show entropy-collapse")
    parser.add_argument("name")
    _more(parser)


def _new(action: Add) -> None:
    parser = action("new", "begin a playbook that already passes check and test", "new kl-jump")
    parser.add_argument("name", help="its id: small letters, digits, - and .")
    parser.add_argument(
        "--dir", type=Path, default=Path("playbooks"), help="where to write it (default: ./playbooks)"
    )
    parser.add_argument(
        "--extends", metavar="ID", help="an overlay: other parameters, fixes and tests for a playbook"
    )
    _more(parser)


def _check(action: Add) -> None:
    parser = action("check", "find mistakes", "check my-playbooks/ --format problems")
    _files(parser)
    parser.add_argument(
        "--format", choices=FORMATS, help="problems: one line each, for editors; sarif: for code hosting"
    )
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--least", choices=LEVELS, default="info", help="show from this severity on")
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="bug",
        dest="fail_on",
        help="exit 1 from this severity on (default: bug; what cannot be loaded exits 2)",
    )
    parser.add_argument(
        "--matcher", action="store_true", help="print the problem matcher for VS Code's tasks.json"
    )
    _more(parser)


def _test(action: Add) -> None:
    parser = action("test", "run the playbooks' own tests", "test my-playbooks/ --diff --coverage")
    _files(parser)
    parser.add_argument("--run", metavar="NAME", help="only tests whose `playbook: name` has this text")
    parser.add_argument("--diff", action="store_true", help="expected and got, line by line")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    parser.add_argument("--coverage", action="store_true", help="branches that the tests take")
    parser.add_argument("--json", action="store_true")
    _more(parser)


def _replay(action: Add) -> None:
    parser = action(
        "replay", "what the triggers would have said on past runs", "replay outputs/ --playbook kl-jump"
    )
    parser.add_argument("paths", nargs="+", metavar="RUNS", help="runs, or folders of runs")
    parser.add_argument("--playbook", action="append", default=[], metavar="ID", help="only this one")
    parser.add_argument(
        "--verbose", "-v", action="store_true", help="also the runs on which all stayed silent"
    )
    parser.add_argument("--json", action="store_true")
    _more(parser)


def _graph(action: Add) -> None:
    parser = action("graph", "a playbook as a picture of its branches", "graph entropy-collapse --mermaid")
    parser.add_argument("name", metavar="ID", help="a playbook's id, or a file")
    parser.add_argument("--mermaid", action="store_true", help="as Mermaid, for Markdown")
    _more(parser)


def _reference(action: Add) -> None:
    action("reference", "every key of the format, from the models, as Markdown", "reference > reference.md")


def _schema(action: Add) -> None:
    action("schema", "the JSON Schema for editors", "schema > playbook.schema.json")


def _files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", help="files or folders (default: the bundled playbooks)")


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--playbooks", action="append", default=[], metavar="DIR", help="more playbooks")
