"""`grpo-tui calc`: the arithmetic that settles arguments, with the rule beside each number."""

from __future__ import annotations

from argparse import Namespace

from .output import complain, print_json


def run(options: Namespace) -> int:
    from ..calculators.forms import CALCULATORS

    calculator = CALCULATORS[options.calculator]
    inputs = {field.name: getattr(options, field.name) for field in calculator.fields}
    try:
        answer = calculator.answer(**inputs)
    except ValueError as error:
        return complain(str(error))
    if options.json:
        named = {"schema": 1, "calculator": calculator.name, "warnings": list(answer.warnings)}
        print_json({**named, **answer.numbers})
    else:
        print("\n".join([*answer.lines, *(f"! {warning}" for warning in answer.warnings)]))
    return 0
