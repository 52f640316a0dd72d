"""Snippets that an editor offers while a playbook is written (`defaultSnippets` of VS Code's YAML support).

`${1:text}` is a place the cursor jumps to, with what stands there first. Numbers and conditions are such
that a snippet accepted without a change gives a playbook that loads; a test puts one together from them.
"""

from __future__ import annotations

from typing import Any

Snippet = dict[str, Any]

_BRANCHES = {
    "if_true": {"evidence": {"${3:healthy}": "^${4:1}"}},
    "if_false": {"evidence": {"${3:healthy}": "^${5:-1}"}},
    "if_unknown": {"note": "${6:Not logged}"},
}
_CASES = [
    {"when": '${3:answer == "yes"}', "evidence": {"${4:healthy}": "^${5:1}"}},
    {"otherwise": True},
]

STEPS: tuple[Snippet, ...] = (
    {
        "label": "check",
        "description": "A step that the curves decide",
        "body": {
            "id": "${1:level}",
            "check": "${2:median(reward_mean, last=100) < 0.1}",
            "why": "${7:Why this is looked at}",
            **_BRANCHES,
        },
    },
    {
        "label": "ask",
        "description": "A question to the person on call",
        "body": {
            "id": "${1:read}",
            "ask": "${2:rollouts.readable}",
            "open": "rollouts",
            "why": "${6:Why this is asked}",
            "cases": _CASES,
        },
    },
    {
        "label": "config",
        "description": "A step that the configuration decides",
        "body": {
            "id": "${1:sampling}",
            "config": "${2:temperature}",
            "why": "${6:Why this is looked at}",
            "cases": [
                {"when": "${3:answer < 0.8}", "evidence": {"${4:healthy}": "^${5:1}"}},
                {"otherwise": True},
            ],
        },
    },
    {
        "label": "probe",
        "description": "An experiment; nothing runs before a person says yes",
        "body": {
            "id": "${1:measured}",
            "probe": "${2:ratio}",
            "cost": {"gpu_minutes": "^${7:3}"},
            "timeout": "${8:10m}",
            "why": "${6:Why this is measured}",
            "cases": [
                {
                    "when": '${3:obs["probe.ratio.engine-agrees"] == "no"}',
                    "evidence": {"${4:healthy}": "^${5:-1}"},
                },
                {"otherwise": True},
            ],
        },
    },
    {
        "label": "use",
        "description": "Another playbook as a part of this one",
        "body": {"id": "${1:chain}", "use": "${2:probability-consistency}", "why": "${3:Why}"},
    },
    {
        "label": "note",
        "description": "Something to read",
        "body": {"id": "${1:mind}", "note": "${2:What to mind}", "why": "${3:Why}"},
    },
)
CASES: tuple[Snippet, ...] = (
    {"label": "case", "description": "A branch with a condition", "body": _CASES[0]},
    {"label": "otherwise", "description": "The last branch, for unknown too", "body": {"otherwise": True}},
)
TRIGGER: tuple[Snippet, ...] = (
    {
        "label": "trigger",
        "description": "When to prompt: a smoothed window that holds for some rows",
        "body": {
            "when": "${1:drop(reward_mean, within=300) >= 0.3}",
            "for": "^${2:10}",
            "warmup": "^${3:20}",
            "severity": "${4|info,warning,critical|}",
        },
    },
)
FIXES: tuple[Snippet, ...] = (
    {
        "label": "fix",
        "description": "A change worth trying, with how to see whether it worked",
        "body": {
            "for": "${1:healthy}",
            "title": "${2:Halve the learning rate}",
            "set": {"trl": {"${3:learning_rate}": "${4:half of the present value}"}},
            "expect": {"check": "${5:drop(reward_mean, within=100) < 0.1}", "after": "^${6:100}"},
        },
    },
)
TESTS: tuple[Snippet, ...] = (
    {
        "label": "fires",
        "description": "A curve on which the trigger fires, and its verdict",
        "body": {
            "name": "${1:what happens}",
            "series": {"${2:reward_mean}": "${3:0.6x100 0.3x60}"},
            "expect": {"triggered": True, "verdict": "${4:undetermined}"},
        },
    },
    {
        "label": "silent",
        "description": "A healthy curve on which it must stay silent",
        "body": {
            "name": "${1:a steady curve}",
            "series": {"${2:reward_mean}": "${3:0.6x160}"},
            "expect": {"triggered": False},
        },
    },
)


def filled(body: Any) -> Any:
    """A snippet's body as it stands when every place is left as it is."""
    import re

    if isinstance(body, dict):
        return {filled(key): filled(value) for key, value in body.items()}
    if isinstance(body, list | tuple):
        return [filled(item) for item in body]
    if not isinstance(body, str):
        return body
    text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\|\}", r"\1", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", body))
    return int(text[1:]) if text.startswith("^") else text
