"""Write the pages of the metrics: what the catalog knows, who reads it, and notes by hand (`notes.yaml`).

    python docs/metrics/make.py          # writes docs/metrics/*.md and both lists (README.md)

A test compares the committed pages with what this would write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from grpo_tui.metrics.catalog import Case, Metric, catalog
from grpo_tui.playbook.format.load import read_file
from grpo_tui.playbook.format.schema import Playbook, conditions_of
from grpo_tui.playbook.library import builtin_dir, files_in
from grpo_tui.playbook.vocabulary import diagnoses

DOCS = Path(__file__).resolve().parents[1]
POLICIES = {
    "behaviour": "the policy that sampled the responses (the weights of the last sync)",
    "old": "the trainer's policy before this step's update",
    "updating": "the policy while this step's mini-batches move it",
    "reference": "the policy compared with the frozen reference model",
    "both": "the sampling and the training side compared",
    "none": "no policy: it counts or times something",
}
CONCERNS = {
    "up": "it rises",
    "down": "it falls",
    "both": "it leaves its range, either way",
    "zero": "it is exactly zero for long",
    "nonfinite": "it is NaN or infinite",
    "info": "you need context for another curve",
}
KINDS = {
    "config": "The run was told something else than its owner thinks",
    "reward": "Reward, verifier, labels, data",
    "collapse": "The policy narrows or drifts",
    "crash": "An engineering or numeric accident",
    "system": "Memory, time, hangs, aborted responses",
    "metric": "The number misleads",
    "healthy": "Nothing to do",
}


def read_by() -> dict[str, dict[str, list[str]]]:
    """Metric -> {"starts": playbooks whose trigger reads it, "weighs": those that read it later}."""
    found: dict[str, dict[str, list[str]]] = {}
    for book in bundled():
        places = [(place[0], name) for place, condition in conditions_of(book) for name in condition.metrics]
        for part, names in (
            ("starts", {name for head, name in places if head == "trigger"}),
            ("weighs", {name for head, name in places if head == "steps"}),
        ):
            for name in names:
                found.setdefault(name, {"starts": [], "weighs": []})[part].append(book.id)
    return found


def bundled() -> list[Playbook]:
    """The bundled playbooks alone; a person's own do not belong into the documentation."""
    loaded = [read_file(path).playbook for path in files_in(builtin_dir())]
    return [book for book in loaded if book is not None]


def metric_page(metric: Metric, readers: dict[str, list[str]], notes: dict[str, Any]) -> str:
    """One metric's page."""
    return "\n".join(_page(metric, readers, notes)).rstrip() + "\n"


def _page(metric: Metric, readers: dict[str, list[str]], notes: dict[str, Any]) -> Iterator[str]:
    yield f"# {metric.name}: {metric.meaning.rstrip('.')}"
    yield ""
    yield f"Unit: {metric.unit or 'none'}. Stage: {metric.stage or 'none'}. [S0-7]"
    yield f"It describes {POLICIES[metric.policy or 'none']}."
    if metric.family:
        yield f"A family: {metric.family}; each member keeps its own name."
    if metric.formula:
        yield f"Where it is not logged it is worked out: {metric.formula}. A derived curve is marked."
    yield from ("", "## How to read it", "")
    yield f"Look at it when {CONCERNS[metric.concern or 'info']}."
    if notes.get("reading"):
        yield notes["reading"].strip()
    yield from ("", "## What it is mistaken for", "")
    alike = [text for text in (metric.is_not, metric.traps, metric.zero, notes.get("alike", "")) if text]
    yield " ".join(text.strip() for text in alike) or "Nothing known."
    if metric.cases:
        yield ""
        yield from (f"- {_where(case)}: {case.trap}" for case in metric.cases)
    yield from ("", "## Names in the logs", "", "| framework | names |", "|---|---|")
    if not metric.names:
        yield "| none | it is always worked out |"
    for framework, raws in metric.names.items():
        yield f"| {framework} | {', '.join(f'`{raw}`' for raw in raws)} |"
    yield from ("", "## Playbooks that read it", "")
    yield from _readers(readers)
    if notes.get("diagnoses"):
        yield from ("", "## What it may point at", "")
        for id in notes["diagnoses"]:
            yield f"- [{id}](../diagnoses/{id}.md): {diagnoses()[id].means}"
    if notes.get("rules"):
        yield from ("", "## Sources", "", ", ".join(notes["rules"]))


def _where(case: Case) -> str:
    """Where a trap waits: framework, raw name, releases."""
    parts = [case.framework, f"`{case.raw}`" if case.raw else ""]
    parts += [f"from {case.since}" if case.since else "", f"up to {case.until}" if case.until else ""]
    return " ".join(part for part in parts if part)


def _readers(readers: dict[str, list[str]]) -> Iterator[str]:
    starts, weighs = readers.get("starts", []), readers.get("weighs", [])
    if starts:
        yield f"- starts an alarm in {', '.join(f'`{book}`' for book in starts)}"
    if weighs:
        yield f"- is weighed in {', '.join(f'`{book}`' for book in weighs)}"
    if not starts and not weighs:
        yield "- none; it is drawn and kept for you to look at"


def metric_index() -> str:
    """The list of the metrics, in the order of the signal chain."""
    lines = [
        "# Metrics",
        "",
        "In the order of the loop that produces them [S0-7]. `grpo-tui explain NAME` takes any",
    ]
    lines += ["name a framework uses.", "", "| metric | what it is | stage |", "|---|---|---|"]
    lines += [f"| [{m.name}]({m.name}.md) | {m.meaning} | {m.stage} |" for m in catalog().metrics.values()]
    return "\n".join(lines) + "\n"


def diagnosis_index() -> str:
    """The list of the diagnoses, by kind, in the order of the vocabulary."""
    lines = [
        "# Diagnoses",
        "",
        "What a verdict can say. A verdict is *suspected* from curves and *confirmed* by a fact.",
    ]
    for kind, title in KINDS.items():
        lines += ["", f"## {title}", ""]
        lines += [f"- [{d.id}]({d.id}.md): {d.means}" for d in diagnoses().values() if d.kind == kind]
    return "\n".join(lines) + "\n"


def documents() -> dict[Path, str]:
    """Every file this writes, with its text."""
    readers = read_by()
    notes = yaml.safe_load((DOCS / "metrics" / "notes.yaml").read_text(encoding="utf-8")) or {}
    pages = {
        DOCS / "metrics" / f"{name}.md": metric_page(metric, readers.get(name, {}), notes.get(name, {}))
        for name, metric in catalog().metrics.items()
    }
    return {
        **pages,
        DOCS / "metrics" / "README.md": metric_index(),
        DOCS / "diagnoses" / "README.md": diagnosis_index(),
    }


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
