"""The language of conditions: text in, a whitelisted tree out; nothing is ever run as Python.

Python's own parser does the reading, because its syntax is what authors know, but only what this
module names becomes part of an `Expression`; attributes, comprehensions, lambdas, powers and calls of
anything but the window functions cannot be written. The tree is interpreted by `evaluation`.

    drop(entropy, within=1000) >= 0.5 and rise(reward_mean, within=300) < 0.02
    config.num_generations == 1                  obs["rollouts.readable"] == "no"
    answer in ["bf16", "fp16"]                   result.engine_agrees == "no"
    metric("rewards/format/mean") > 0.9          incidents("oom", "killed") >= 1
    abs(ppo_kl) > limit                          score["collapse.entropy"] >= 1
    step > 0.1 * total_steps                     steps_logged >= 30
    framework == "trl"                           state in ["died", "stalled"]

A bare metric is its newest value. Windows count training steps; `within=10m` is turned into steps by
the run's pace. `true`, `false` and `unknown` are constants.
"""

from __future__ import annotations

import ast
import re
import warnings

from ..language import hints
from .evaluation import evaluate, truth_of
from .kinds import check_kinds, is_condition
from .names import Names
from .nodes import Expression, ExpressionError
from .outcomes import Comparison, Outcome, Scope
from .reader import RESERVED, Reader

__all__ = [
    "RESERVED",
    "Comparison",
    "Expression",
    "ExpressionError",
    "Names",
    "Outcome",
    "Scope",
    "evaluate",
    "parse",
    "parse_condition",
    "truth_of",
]

LONGEST = 500
DEEPEST = 32
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([smhd])\b")


def parse(text: str, *, known: Names | None = None) -> Expression:
    """Read an expression. With `known`, every metric, parameter, observation and score id is checked.

    Raises ExpressionError, and nothing else, for any text.
    """
    if not text.strip():
        raise ExpressionError("an empty condition", hint="remove the key or write a comparison")
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters", LONGEST, "split it over two steps")
    tree, durations = _python_tree(text)
    _check_depth(tree)
    node = Reader(text, durations, known).read(tree)
    problem = check_kinds(node, text, known)
    if problem is not None:
        raise ExpressionError(problem.message, problem.offset, problem.hint)
    return Expression(text, node)


def parse_condition(text: str, *, known: Names | None = None) -> Expression:
    """Read an expression that must be true or false; a bare number or text is refused."""
    expression = parse(text, known=known)
    if not is_condition(expression.tree, known):
        raise ExpressionError("a value, not a condition", 0, "compare it with something: `… > 0.5`")
    return expression


def _python_tree(text: str) -> tuple[ast.expr, dict[int, float]]:
    """Python's tree of the text and the durations by offset; lengths are kept, so offsets hold."""
    plain = re.sub(r"[\r\n\t\f\v]", " ", text)
    bare = hints.without_strings(plain)
    if "#" in bare:
        raise ExpressionError("`#` is not part of the language", bare.index("#"), "say it in `why`")
    durations: dict[int, float] = {}
    for found in _DURATION.finditer(bare):
        durations[found.start()] = float(found[1]) * SECONDS[found[2]]
        name = "_" + found[0][1:].replace(".", "_")
        plain = plain[: found.start()] + name + plain[found.end() :]
    indent = len(plain) - len(plain.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(plain.strip(), mode="eval").body
    except SyntaxError as error:
        found_hint = hints.for_syntax(bare)
        offset = (error.offset or len(plain.strip())) - 1 + indent
        if found_hint is not None:
            offset, hint = found_hint
            raise ExpressionError("not a condition", offset, hint) from None
        raise ExpressionError(hints.syntax_message(error.msg), max(0, min(offset, len(text) - 1))) from None
    except (ValueError, MemoryError, RecursionError, OverflowError):
        raise ExpressionError("cannot be read", indent, "simplify it") from None
    return tree, durations


def _check_depth(tree: ast.expr) -> None:
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ExpressionError(f"nested deeper than {DEEPEST}", hint="split it over two steps")
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
