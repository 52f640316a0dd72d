"""The process the reward function lives in: it reads calls as JSON lines and writes scores as JSON lines.

A process of its own, so that a call that never ends can be ended. `--place thread` scores in a worker
thread, where `signal.alarm` and other main-thread habits fail.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import CannotRun
from ..events import take_stdout
from ..subject.user_code import load_function
from .adapter import Call, Convention, kind_of, score


def serve(argv: list[str]) -> int:
    """Serves until its standard input ends."""
    args = _parser().parse_args(argv)
    sys.path[:0] = args.path
    stream = take_stdout()

    def say(value: dict[str, Any]) -> None:
        stream.write(json.dumps(value) + "\n")
        stream.flush()

    try:
        function = load_function(args.reward)
        convention = Convention(kind_of(function, args.kind), args.chat, args.data_source, args.gold_column)
    except CannotRun as error:
        say({"refused": str(error)})
        return 2
    say({"ready": True, "kind": convention.kind})
    for line in sys.stdin:
        request = json.loads(line)
        calls = [Call(**call) for call in request["calls"]]
        place = _in_thread if args.place == "thread" else _here
        say({"id": request["id"], **place(partial(score, function, convention, calls))})
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="verifier-worker")
    parser.add_argument("--reward", required=True)
    parser.add_argument("--kind", default="auto")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--data-source", default="probe")
    parser.add_argument("--gold-column")
    parser.add_argument("--place", choices=("main", "thread"), default="main")
    parser.add_argument("--path", action="append", default=[])
    return parser


def _here(work: Callable[[], list[float]]) -> dict[str, Any]:
    try:
        return {"scores": [repr(value) for value in work()]}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _in_thread(work: Callable[[], list[float]]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    thread = threading.Thread(target=lambda: answer.update(_here(work)))
    thread.start()
    thread.join()
    return answer
