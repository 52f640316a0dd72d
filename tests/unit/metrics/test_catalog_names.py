"""The catalog: every name leads somewhere, no two metrics fight over one, families keep their members."""

from __future__ import annotations

import pytest

from grpo_tui.metrics.catalog import catalog

STAGES = [
    "rollout",
    "old_log_prob",
    "ref_log_prob",
    "reward",
    "advantage",
    "update_critic",
    "update_actor",
    "update_weights",
    "validation",
    "system",
]
POLICIES = {"behaviour", "old", "updating", "reference", "both", "none"}
CONCERNS = {"up", "down", "both", "zero", "nonfinite", "info"}


NAMES = {
    "entropy": "actor/entropy actor/entropy_loss actor_entropy policy/entropy entropy train/entropy",
    "reward_mean": "reward critic/rewards/mean mean_reward reward/mean",
    "score_mean": "critic/score/mean critic_score_mean",
    "kl_ref": "actor/kl_loss kl kl_div critic/kl",
    "ppo_kl": "actor/ppo_kl approx_kl",
    "response_length_mean": "response_length/mean completion_length completions/mean_length",
    "truncation_ratio": "response_length/clip_ratio response_length_clip_ratio completions/clipped_ratio",
    "clip_frac": "actor/pg_clipfrac clip_ratio clip_ratio/region_mean",
    "clip_frac_dual": "actor/pg_clipfrac_lower",
    "all_wrong_group_frac": "group_reward_all_zero_rate",
    "zero_std_group_frac": "frac_reward_zero_std",
    "lr": "learning_rate optim/lr actor_lr actor/lr",
    "rollout_prob_diff_mean": "training/rollout_probs_diff_mean",
    "policy_loss": "actor/pg_loss",
    "loss": "loss actor/loss",
    "aborted_ratio": "response/aborted_ratio",
    None: "policy_kl nonsense",
}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        *((raw, name) for name, raws in NAMES.items() for raw in raws.split()),
        ("completions / mean_length", "response_length_mean"),
    ],
)
def test_raw_names(raw: str, name: str | None) -> None:
    found = catalog().lookup(raw)
    assert (found[0] if found else None) == name


def test_the_policy_loss_may_stand_for_the_loss() -> None:
    assert [name for name, _ in catalog().claims("actor/pg_loss")] == ["policy_loss", "loss"]


@pytest.mark.parametrize(
    ("raw", "family"),
    [
        ("rewards/format/mean", "reward_component_mean"),
        ("rewards/accuracy", "reward_component_mean"),
        ("rewards/format/std", "reward_component_std"),
        ("val-core/openai/gsm8k/acc/mean@1", "val_score"),
        ("val/test_score/math", "val_score"),
        ("val-core/x/acc/best@8/mean", "val_score_best"),
    ],
)
def test_family_members_keep_their_names_and_get_a_meaning(raw: str, family: str) -> None:
    assert catalog().lookup(raw) is None
    metric = catalog().metric(raw)
    assert metric is not None and metric.name == family
    assert raw in catalog().members(family, [raw, "loss"])


def test_every_entry_is_complete() -> None:
    for metric in catalog().metrics.values():
        assert metric.meaning.endswith("."), metric.name
        assert metric.stage in STAGES and metric.policy in POLICIES and metric.concern in CONCERNS, (
            metric.name
        )


def test_a_raw_name_is_the_first_choice_of_one_metric_only() -> None:
    first: dict[str, str] = {}
    for metric in catalog().metrics.values():
        for names in metric.names.values():
            if names and "{" not in names[0]:
                assert first.setdefault(names[0], metric.name) == metric.name, names[0]


def test_canonical_names_are_never_taken_by_another() -> None:
    for name in catalog().metrics:
        found = catalog().lookup(name)
        assert found is not None and found[0] == name


@pytest.mark.parametrize("field", ["meaning", "unit", "stage", "policy", "concern", "traps"])
def test_no_entry_lacks_a_field(field: str) -> None:
    assert [name for name, metric in catalog().metrics.items() if not getattr(metric, field)] == []


def test_cases_name_frameworks_and_their_own_raw_names() -> None:
    for metric in catalog().metrics.values():
        raws = {raw for names in metric.names.values() for raw in names}
        for case in metric.cases:
            assert case.trap.endswith(".") and (case.since or case.until or case.framework), metric.name
            assert not case.raw or case.raw in raws, (metric.name, case.raw)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("train/agg/effective/solver/reward/mean", "reward_mean"),
        ("train/agg/all/solver/solved_none", "all_wrong_group_frac"),
        ("actor/train_infer_diff_token_mean", "rollout_prob_diff_mean"),
        ("batch/solver/fractions/effective", "effective_group_frac"),
    ],
)
def test_a_placeholder_without_a_family_leads_to_the_metric(raw: str, name: str) -> None:
    assert catalog().claims(raw)[0][0] == name


def test_neighbours_in_name_stay_apart() -> None:
    """Names that read alike and mean different things."""
    for raw, name in {
        "policy/policy_kl": "kl_ref",
        "actor/ppo_kl": "ppo_kl",
        "rollout_corr/kl": "rollout_kl",
        "response_length/clip_ratio": "truncation_ratio",
        "clip_ratio": "clip_frac",
        "actor/pg_clipfrac_lower": "clip_frac_dual",
        "val/rho_clipfrac": "is_clip_frac",
        "baseline_reward/pct_0": "all_wrong_group_percent",
    }.items():
        found = catalog().lookup(raw)
        assert found is not None and found[0] == name


def test_a_second_name_of_a_metric_is_known_where_a_better_one_took_its_place() -> None:
    for raw, name in {
        "response_length_non_aborted/mean": "response_length_mean",
        "clip_ratio/high_max": "clip_frac_high",
        "train/kl": "kl_ref",
        "timing_s_agent_loop_tool_calls_max": "time_other",
        "rollout_corr/log_ppl_diff_max": "rollout_corr_other",
    }.items():
        metric = catalog().metric(raw)
        assert metric is not None and metric.name == name


def test_a_family_binds_none_of_its_members() -> None:
    """Members keep their own names; only a data source's usual score is the score."""
    for metric in catalog().metrics.values():
        exact = [raw for raws in metric.names.values() for raw in raws if "{" not in raw]
        assert not (metric.family and exact) or metric.name.startswith("val_"), (metric.name, exact)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("val/test_score/gsm8k", "val_score"),
        ("val/format/gsm8k", "val_other"),
        ("critic/format_score/max", "reward_component_extreme"),
        ("critic/length_score/mean", "reward_component_mean"),
        ("env/number_of_actions/mean", "env_other"),
        ("env/all/by_group/frac_mixed", "mixed_group_frac"),
        ("state_tokens/total", "env_tokens"),
        ("verl_tool/success/mean", "tool_other"),
        ("agent_loop/tool_calls/max", "agent_loop_other"),
        ("rollout/in_group_max", "group_reward_other"),
        ("batch/solve_partial", "mixed_group_frac"),
        ("objective/kl_avg", "kl_ref"),
        ("val/ratio_var", "ratio_var"),
        ("draft_loss", "draft_loss"),
        ("validation/avg_length", "val_response_length"),
        ("perf/mfu", "mfu"),
    ],
)
def test_what_forks_and_trainers_add_has_a_meaning(raw: str, name: str) -> None:
    metric = catalog().metric(raw)
    assert metric is not None and metric.name == name
