"""A playbook with something of everything, for tests to break."""

GOOD = """\
playbook: entropy-small
format: 1
title: "Policy entropy fell: what now?"
params: {window: 200, drop_at_least: 0.5}
metrics: {fmt: [rewards/format/mean, format_reward]}
trigger:
  when: drop(entropy, within=window) >= drop_at_least
  for: 20
  warmup: 5
  severity: info
  raise: {warning: "rise(reward_mean, within=300) < 0.02"}
  rules: [S1-1]
hypotheses:
  healthy: Ordinary sharpening
  collapse.entropy: Exploration has collapsed
steps:
  - id: learning
    check: rise(reward_mean, within=300) >= 0.05
    rules: [S2-1]
    show: [entropy, fmt]
    if_true:    {evidence: {healthy: +2, collapse.entropy: -1}, goto: end}
    if_false:   {evidence: {collapse.entropy: +1}}
    if_unknown: {goto: near_identical}
  - id: near_identical
    ask: rollouts.near-identical
    open: rollouts
    cases:
      - {when: answer == "yes", evidence: {collapse.entropy: +2}}
      - {when: answer == "no",  evidence: {collapse.entropy: -2}}
      - {otherwise: true, note: nobody looked}
  - id: sampling
    config: temperature
    cases:
      - {when: answer < 0.8, evidence: {collapse.entropy: +1}}
      - {otherwise: true}
  - id: same_probabilities
    probe: ratio
    with: {tokens: 2048}
    cost: {gpu_minutes: 3}
    timeout: 10m
    records: {probe.ratio.engine-agrees: result.engine_agrees}
    cases:
      - {when: 'result.engine_agrees == "no"', evidence: {healthy: -1}}
      - {otherwise: true}
fixes:
  - for: collapse.entropy
    title: Raise only the upper clip
    set: {trl: {epsilon_high: 0.28}}
    unless: max(clip_frac_high, last=200) == 0
    expect: {check: "drop(entropy, within=200) < 0.1", after: 200}
tests:
  - name: early sharpening is not called collapse
    series: {entropy: "0.9~0.25x200 0.25~0.2x100", reward_mean: "0.2~0.5x200 0.5~0.55x100"}
    config: {temperature: 1.0}
    answers: {rollouts.near-identical: "no"}
    expect: {triggered: true, verdict: suspected healthy, path: [learning]}
"""
