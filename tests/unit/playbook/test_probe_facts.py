"""What authors are told of the bundled probes is what the probes do."""

from __future__ import annotations

import re
from pathlib import Path

from grpo_tui.playbook.language.names import PROBES
from grpo_tui.playbook.probe_facts import PROBE_FACTS, RESULT_FIELDS
from grpo_tui.playbook.vocabulary import observations
from grpo_tui.probes.control import Control
from grpo_tui.probes.events import Emitter
from grpo_tui.probes.registry import PROBES as REGISTERED
from grpo_tui.probes.report import Report

SOURCES = Path(__file__).resolve().parents[3] / "grpo_tui" / "probes"


def test_every_bundled_probe_is_there_and_its_facts_are_observations() -> None:
    assert tuple(PROBE_FACTS) == PROBES and set(REGISTERED) < set(PROBES)
    named = {id for facts in PROBE_FACTS.values() for id in facts}
    assert named <= set(observations())


def test_the_facts_are_those_that_the_probes_state() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    stated = {id for id in observations() if re.search(f'"{re.escape(id)}"', text)}
    assert stated == {id for facts in PROBE_FACTS.values() for id in facts}


def test_the_fields_are_those_of_a_result() -> None:
    document = Report("ratio", Emitter(None), Control(None), None).document
    plain = {key for key, value in document.items() if isinstance(value, str | bool | float)}
    assert plain >= RESULT_FIELDS
