"""Test results as JUnit XML, the form that every CI shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from .testing import Result

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(results: Mapping[str, Sequence[Result]]) -> str:
    """One suite for each playbook (or overlay) by its name, one case for each test."""
    root = ElementTree.Element("testsuites", name="grpo-tui playbooks")
    for name, cases in results.items():
        suite = ElementTree.SubElement(root, "testsuite", _counts(name, cases))
        for result in cases:
            at = {"classname": name, "name": _clean(result.name), "time": f"{result.seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", at)
            if not result.passed:
                said = [_clean(text) for text in result.differences]
                failure = ElementTree.SubElement(case, "failure", message=said[0], type="difference")
                failure.text = "\n".join([*said, *map(_clean, result.told)])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(name: str, cases: Sequence[Result]) -> dict[str, str]:
    failed = sum(not result.passed for result in cases)
    seconds = sum(result.seconds for result in cases)
    return {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(failed),
        "errors": "0",
        "time": f"{seconds:.3f}",
    }


def _clean(text: str) -> str:
    return _NOT_XML.sub(" ", text)
