"""Every check by its stable name: how serious it is and what it says, in one sentence.

The names are a contract: comments that ignore a check, SARIF results and the pages under `docs/checks`
are kept by them. `fatal` keeps a playbook from being used; `bug` means it cannot do what it says.
"""

from __future__ import annotations

from .problems import Level

CHECKS: dict[str, tuple[Level, str]] = {
    "file/read": ("fatal", "The file or folder cannot be read."),
    "yaml/alias": ("fatal", "Anchors and aliases are refused."),
    "yaml/character": ("fatal", "A character that YAML does not allow."),
    "yaml/comma": ("fatal", "A comma inside braces cuts a condition in two."),
    "yaml/depth": ("fatal", "The file is nested too deep."),
    "yaml/documents": ("fatal", "One playbook a file."),
    "yaml/duplicate-key": ("fatal", "A key is given twice."),
    "yaml/empty": ("fatal", "The file holds nothing."),
    "yaml/encoding": ("fatal", "The file is not UTF-8 text."),
    "yaml/key": ("fatal", "A key must be text."),
    "yaml/merge": ("fatal", "Merge keys are refused."),
    "yaml/size": ("fatal", "The file is too large."),
    "yaml/syntax": ("fatal", "The text is not YAML."),
    "yaml/tag": ("fatal", "Tags are refused."),
    "yaml/cut": ("warning", "A # in unquoted text cuts the rest off."),
    "schema/key": ("fatal", "A key that the format does not know."),
    "schema/missing": ("fatal", "A key that must be given is missing."),
    "schema/step": ("fatal", "A step is exactly one thing."),
    "schema/value": ("fatal", "A value of the wrong kind or outside its range."),
    "expression/syntax": ("fatal", "A condition that cannot be read."),
    "names/alias": ("fatal", "An alias takes a name that is in use."),
    "names/answer": ("fatal", "An answer that the observation does not have."),
    "names/config-key": ("warning", "A configuration key we do not know."),
    "names/diagnosis": ("fatal", "A diagnosis outside the vocabulary."),
    "names/hypothesis": ("fatal", "A hypothesis that the playbook does not declare."),
    "names/metric": ("fatal", "A metric nobody logs under this name."),
    "names/observation": ("fatal", "An observation outside the vocabulary."),
    "names/param": ("fatal", "A parameter's name cannot be used, or is not there."),
    "names/playbook": ("fatal", "An overlay extends a playbook that is not there."),
    "names/probe": ("fatal", "A probe that is not registered."),
    "names/reserved": ("fatal", "A name that is a word of the language."),
    "names/result": ("fatal", "A probe's record must name a field of its result."),
    "names/step": ("fatal", "A step that is not there."),
    "flow/case": ("fatal", "A case that can never be taken, or always and never."),
    "flow/duplicate-id": ("fatal", "Two files of one folder give the same playbook."),
    "flow/goto": ("fatal", "A goto jumps only forward."),
    "flow/otherwise": ("fatal", "The last case must be `otherwise: true`."),
    "flow/step-id": ("fatal", "A step's id is taken."),
    "flow/use": ("fatal", "A playbook that is used is not there, or goes round in a circle."),
    "flow/same-branches": ("bug", "True and false lead to the same."),
    "flow/unknown-branch": ("warning", "Nothing is said for the case that it cannot be told."),
    "flow/unreachable": ("bug", "No way leads to a step."),
    "trigger/hold": ("warning", "A trigger without `for` flaps."),
    "trigger/raw-sample": ("warning", "One noisy row alone makes the trigger fire."),
    "trigger/warmup": ("warning", "A trigger without `warmup` judges the first rows."),
    "condition/constant": ("bug", "A condition that is always the same."),
    "condition/range": ("bug", "A comparison that a window can never, or always, meet."),
    "condition/unknown": ("bug", "A part of a condition that can never be known."),
    "condition/threshold": ("warning", "A level in a metric's own unit without a source."),
    "step/open": ("info", "A question without the screen that shows what to look at."),
    "step/why": ("info", "A step that does not say why."),
    "probe/cost": ("warning", "A probe without its cost."),
    "probe/field": ("bug", "A field that a bundled probe's result does not have."),
    "probe/timeout": ("warning", "A probe without a limit of time."),
    "probe/unregistered": ("bug", "No installed package registers this probe."),
    "verdict/unconfirmable": ("info", "A hypothesis that can only be suspected."),
    "verdict/unsupported": ("bug", "A hypothesis that nothing speaks for."),
    "tests/curve": ("fatal", "Text that is no curve."),
    "tests/file": ("fatal", "The recorded run of a test cannot be read."),
    "tests/none": ("warning", "Nothing shows that the playbook works."),
    "tests/silence": ("info", "No test keeps the trigger silent."),
    "tests/uncovered": ("info", "A branch that no test takes."),
    "ignore/over": ("info", "A snooze that has ended."),
    "ignore/unknown": ("warning", "A comment ignores a check that is not there."),
    "ignore/unreadable": ("warning", "A comment that cannot be read."),
}
ORDER: tuple[Level, ...] = ("info", "warning", "bug", "fatal")
"""Severities, the mildest first."""


def page_of(check: str) -> str:
    """The page of a check, from the root of the project."""
    return f"docs/checks/{check}.md"
