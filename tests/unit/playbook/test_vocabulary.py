"""The vocabulary: complete, consistent, and the same as what the other rooms use."""

from __future__ import annotations

import pytest

from grpo_tui.metrics.catalog import catalog
from grpo_tui.playbook.language.names import (
    CONFIG_KEYS,
    DERIVED_METRICS,
    PROBES,
    default_names,
    did_you_mean,
    near,
)
from grpo_tui.playbook.vocabulary import diagnoses, is_own, observations


def test_every_diagnosis_has_a_kind_and_a_meaning() -> None:
    kinds = {"crash", "collapse", "config", "reward", "system", "metric", "healthy"}
    assert len(diagnoses()) > 60
    assert {entry.kind for entry in diagnoses().values()} == kinds
    assert all(entry.means and entry.id == id for id, entry in diagnoses().items())


def test_observations_know_their_answers() -> None:
    assert observations()["rollouts.readable"].values == ("yes", "no", "unknown")
    assert observations()["probe.update.moved"].numeric
    assert "temperature" in observations()["probe.ratio.shape"].values
    assert all(isinstance(value, str) for entry in observations().values() for value in entry.values)


def test_probe_facts_speak_the_vocabulary() -> None:
    facts = pytest.importorskip("grpo_tui.probes.facts")
    for code, meaning in facts.MEANINGS.items():
        for id, value in meaning.facts.items():
            observation = observations()[id]
            assert observation.numeric or value in observation.values, (code, id, value)
        assert set(meaning.diagnoses) <= set(diagnoses()), code


def test_configuration_keys_are_those_of_the_sources() -> None:
    """The list here is a copy, because this room must not know configuration files; it may not drift."""
    keys = pytest.importorskip("grpo_tui.sources.settings.keys")
    assert set(keys.KEYS) - {"kl_beta", "use_vllm"} <= CONFIG_KEYS


def test_default_names_hold_everything() -> None:
    names = default_names()
    assert names.has_metric("entropy") and not names.has_metric("entrop")
    assert names.metrics == {*catalog().metrics, *DERIVED_METRICS}
    assert names.has_probe("ratio") and names.has_probe("x.ours") and PROBES
    assert names.has_observation("x.ours") and names.has_diagnosis("x.ours")
    assert not names.has_diagnosis("x.") and not is_own("y.a")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("entrpy", "entropy"),
        ("rewrad_mean", "reward_mean"),
        ("grad-norm", "grad_norm"),
        ("KL", "kl"),
        ("warn", "warning"),
        ("aks", "ask"),
        ("xyz", None),
        ("", None),
        ("k", None),
    ],
)
def test_near_names(typed: str, meant: str | None) -> None:
    known = ["entropy", "reward_mean", "grad_norm", "kl", "warning", "ask", "loss"]
    assert near(typed, known) == meant
    assert did_you_mean(typed, known) == ("" if meant is None else f" - did you mean {meant!r}?")
