"""What the bundled probes answer, as a playbook's author needs to know it; a test holds it to the probes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PROBE_FACTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ratio": (
            "probe.ratio.repeatable",
            "probe.ratio.engine-agrees",
            "probe.ratio.outside-clip",
            "probe.ratio.shape",
            "probe.ratio.batch-invariant",
            "probe.positions.aligned",
        ),
        "update": ("probe.update.moved", "probe.update.norm-moved", "probe.update.gradient-finite"),
        "accumulation": ("probe.accumulation.equivalent",),
        "mask": ("probe.mask.right",),
        "nonfinite": ("probe.nonfinite.first",),
        "verifier": (
            "verifier.gold-scores-full",
            "verifier.empty-scores-zero",
            "verifier.same-in-worker",
            "verifier.reads-response",
        ),
    }
)
"""Probe -> the observations that it can settle; they hold in every later condition too."""

RESULT_FIELDS = frozenset({"verdict", "status", "rehearsal", "seconds"})
"""Fields of every result that are one value; the rest of the document is for people."""
