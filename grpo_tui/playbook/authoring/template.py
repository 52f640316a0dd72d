"""A new playbook that already passes `check` and `test`, so that an author only ever changes what works."""

from __future__ import annotations

import re

from ..format.schema import Playbook

NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")

_NEW = """\
# yaml-language-server: $schema=./playbook.schema.json
playbook: {name}
format: 1
title: "The reward fell: new data, or the policy?"     # the question this file answers
summary: The reward lost a third of its height within the window.
params: {{window: 300, fell_by: 0.3}}                   # numbers a team may change without a copy
trigger:                                              # when to ask for attention; it convicts nobody
  when: drop(reward_mean, within=window) >= fell_by
  for: 10                                             # rows it must hold
  warmup: 20                                          # rows at the start that are not judged
  severity: warning
hypotheses:                                           # ids of the vocabulary, or your own under x.
  healthy: The fall has healed
  x.new-data: Harder data came in
steps:
  - id: still-low
    check: drop(reward_mean, within=window) >= fell_by
    why: A fall that has healed needs no cure.
    show: [reward_mean]
    if_true: {{evidence: {{x.new-data: +1}}}}
    if_false: {{evidence: {{healthy: +1}}, goto: end}}
    if_unknown: {{note: The log holds no mean reward}}
  - id: changed
    ask: run.changed-recently
    open: config
    why: Most falls have a human cause.
    cases:
      - {{when: answer == "data", evidence: {{x.new-data: +2}}}}
      - {{when: answer == "nothing", evidence: {{x.new-data: -2}}}}
      - {{otherwise: true, note: Ask who started the run}}
tests:                                                # curves: 0.6x100 is a hundred rows of 0.6
  - name: a fall after new data
    series: {{reward_mean: "0.6x100 0.3x60"}}
    answers: {{run.changed-recently: data}}
    expect: {{triggered: true, severity: warning, verdict: confirmed x.new-data, path: [still-low, changed]}}
  - name: a fall that nobody caused
    series: {{reward_mean: "0.6x100 0.3x60"}}
    answers: {{run.changed-recently: nothing}}
    expect: {{triggered: true, verdict: undetermined}}
  - name: a steady reward is left alone
    series: {{reward_mean: "0.6x160"}}
    expect: {{triggered: false, verdict: suspected healthy}}
"""

_OVERLAY = """\
# yaml-language-server: $schema=./playbook.schema.json
extends: {base}              # steps stay as they are; what stands here comes on top
format: 1
{params}# fixes:                     # added to those of the playbook
#   - for: {hypothesis}
#     title: What your team does about it
# tests:                     # run with the parameters above
#   - name: what must stay silent for us
#     series: {{reward_mean: "0.6x160"}}
#     expect: {{triggered: false}}
"""


def new_playbook(name: str) -> str:
    """The text of a playbook of this name, with a trigger, two steps and tests."""
    return _NEW.format(name=name)


def new_overlay(base: Playbook) -> str:
    """The text of an overlay that changes nothing yet."""
    lines = [f"  {key}: {_scalar(value)}\n" for key, value in base.params.items()]
    params = "params:\n" + "".join(lines) if lines else "# this playbook has no parameters\n"
    return _OVERLAY.format(base=base.id, params=params, hypothesis=next(iter(base.hypotheses)))


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "null" if value is None else repr(value)
