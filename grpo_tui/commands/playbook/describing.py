"""`grpo-tui playbook schema` and `reference`: the format, for editors and for people."""

from __future__ import annotations

from argparse import Namespace

from ..output import print_json


def run(options: Namespace) -> int:
    if options.action == "schema":
        from ...playbook.format.json_schema import json_schema

        print_json(json_schema())
        return 0
    from ...playbook.authoring.reference import reference

    print(reference(), end="")
    return 0
