"""The confusion table as Markdown, from the JSON that `probes_confusion.py` wrote."""

from __future__ import annotations

from typing import Any

from probes_faults import FAULTS, TWINS, Fault

_HEAD = """# What the probes find of planted faults

## The ratio probe

`{model}`, {n} sequences of {new} tokens under a system turn; the stages are the probe's own. Made by
`benchmarks/probes_confusion.py`, which takes half a minute to four minutes a row on a busy core and resumes
where it stopped. CI takes {ci} rows on a tiny model (`tests/unit/probes/test_probe_confusion_sample.py`).

**named**: the right finding, with its value where it has one. **found**: the probe fails, under another name.
**inconclusive**: no log-prob can show it in this dtype; the result says so and names the limit. **silent**: a
clean twin without a finding. MISSED and FALSE are what must not be. `·` not measured yet, `–` means nothing.
"""
_OTHERS = """
## The other probes

Held by tests on a tiny model; every fault is located exactly, every clean twin has no finding.

| probe | faults | planted | clean twins |
|---|---|---|---|
| accumulation | 6 | token mean per micro-batch, never divided, divided twice, last micro-batch \
lost, padded width, advantages after the cut | 2 |
| mask | 11 | prompt, padding, late, early, no end token, one missing, empty row, tool output; \
through a loss: two shifts, no mask | 3 |
| nonfinite | 13 | four weights, fp16 overflow, attention that sees nothing, advantage, ratio, \
reference, old log-prob, two own losses, optimizer step | 3 |
| verifier | 13 | strict gold, pays empty, constant, thread, process, raises, illegal above wrong, \
cliff, guesses, drifts, neighbours, kills, never ends | 4 |
| update | 9 | norms and matrices rounded away, no master, lr 0, fp16 Adam, tensors outside the \
optimizer, a group at lr 0, LoRA B at 0, zero-variance groups | 6 |
"""


def table(documents: list[dict[str, Any]]) -> str:
    """One line a row, one column a dtype, and the counts above them."""
    first = documents[0]
    rows = {(d["dtype"], row["fault"]): row for d in documents for row in d["rows"]}
    dtypes = [d["dtype"] for d in documents]
    lines = [_HEAD.format(model="SmolLM2-135M-Instruct", n=first["n"], new=first["max_new"], ci=20)]
    lines += [_counts(dtype, rows) for dtype in dtypes]
    for title, faults in (("Faults", FAULTS), ("Clean twins", TWINS)):
        lines += ["", f"### {title}", "", f"| {title.lower()} | {' | '.join(dtypes)} |"]
        lines.append("|---|" + "---|" * len(dtypes))
        lines += [
            f"| {fault.name} | {' | '.join(_cell(fault, dtype, rows) for dtype in dtypes)} |"
            for fault in faults
        ]
    return "\n".join(lines) + "\n" + _OTHERS.replace("\\\n", "").rstrip()


def _cell(fault: Fault, dtype: str, rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    if dtype not in fault.dtypes:
        return "–"
    row = rows.get((dtype, fault.name))
    if row is None:
        return "·"
    mean = f", {row['stats']['mean_abs']:.2g} nats" if row["stats"] else ""
    codes = ", ".join(code.removeprefix("RATIO.") for code in row["codes"])
    told = f" {codes}{_params(fault, row)}" if codes else ""
    return f"**{_outcome(fault, dtype, row)}**{told}{mean}"


def _outcome(fault: Fault, dtype: str, row: dict[str, Any]) -> str:
    """What the row says, held against what can be seen in this dtype as it is known now."""
    open_question = dtype in fault.hidden and row["weights"] == "inconclusive"
    return "inconclusive" if row["outcome"] == "MISSED" and open_question else str(row["outcome"])


def _params(fault: Fault, row: dict[str, Any]) -> str:
    for params in row["params"]:
        shown = {key: params[key] for key in fault.params if key in params}
        if shown:
            texts = [f"{key} {value}" for key, value in shown.items()]
            if "p_range" in params:
                texts.append("{}–{} fit".format(*params["p_range"]))
            return " (" + ", ".join(texts) + ")"
    return ""


def _counts(dtype: str, rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    def tally(faults: tuple[Fault, ...]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for fault in faults:
            row = rows.get((dtype, fault.name))
            if row is not None:
                outcome = _outcome(fault, dtype, row)
                counts[outcome] = counts.get(outcome, 0) + 1
        return counts

    def text(counts: dict[str, int]) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none measured"

    planned = sum(dtype in fault.dtypes for fault in FAULTS)
    faults = tally(FAULTS)
    return (
        f"\n{dtype}: {sum(faults.values())} of {planned} faults measured: {text(faults)}; "
        f"clean twins: {text(tally(TWINS))}."
    )
