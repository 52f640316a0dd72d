"""What a run answers by itself: counted, labelled with where it comes from, never over a person."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grpo_tui.calculators import natural_zero_variance
from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.facts.curves import CURVES
from grpo_tui.playbook.facts.gather import automatic_facts, values_at
from grpo_tui.playbook.facts.groups import facts_of_groups
from grpo_tui.playbook.facts.settings import DERIVED, derived_setting
from grpo_tui.playbook.facts.texts import ends_in_loop, final_answer, is_empty, is_garbled, says_gold
from grpo_tui.playbook.format.load import read_text
from grpo_tui.playbook.language.names import DERIVED_METRICS, DERIVED_SETTINGS
from grpo_tui.playbook.scope import RunScope
from grpo_tui.playbook.walk.walk import Walk
from grpo_tui.sources.records import Group, Response

PROSE = "First I move the three to the other side, then I divide both sides by four and read off "


def group(*scored: tuple[float | None, str], gold: str | None = None, step: int = 7) -> Group:
    return Group(step, "prompt", tuple(Response(text, reward) for reward, text in scored), gold)


def values(groups: Sequence[Group]) -> dict[str, str | float]:
    return {fact.observation: fact.value for fact in facts_of_groups(groups)}


class TestGroups:
    def test_direction_needs_two_equal_groups(self) -> None:
        mixed = group((1.0, "a"), (0.0, "b"))
        assert "data.direction" not in values([group((0.0, "a"), (0.0, "b")), mixed])
        assert values([group((0.0, "a"), (0.0, "b"))] * 2 + [mixed])["data.direction"] == "all-wrong"
        assert values([group((1.0, "a"), (1.0, "b"))] * 4 + [mixed])["data.direction"] == "all-right"
        both = [group((1.0, "a"), (1.0, "b")), group((0.0, "a"), (0.0, "b"))]
        assert values(both)["data.direction"] == "mixed"

    def test_a_distance_reward_of_zero_is_the_best_there_is(self) -> None:
        groups = [group((0.0, "5"), (0.0, "5"))] * 2 + [group((-0.4, "5"), (-0.3, "4"))]
        assert values(groups)["data.direction"] == "all-right"

    def test_copies(self) -> None:
        same = group((0.0, PROSE + "4"), (0.0, PROSE + "4"), (1.0, PROSE + "4"))
        other = group((0.0, "one way to see it"), (1.0, "a different text altogether"))
        assert values([same, same])["rollouts.near-identical"] == "yes"
        assert values([other, other])["rollouts.near-identical"] == "no"
        assert "rollouts.near-identical" not in values([same])

    def test_paying_for_nothing(self) -> None:
        empty = group((1.0, "<think></think><answer></answer>"), (1.0, ""), (0.0, "a cat"))
        assert values([empty])["verifier.empty-scores-zero"] == "no"
        fair = group((0.0, ""), (0.0, "."), (1.0, "a cat"))
        assert values([fair])["verifier.empty-scores-zero"] == "yes"

    def test_right_answers_at_the_bottom(self) -> None:
        groups = [group(*[(0.0, rf"so \boxed{{{n}}}")] * 2, (0.0, "no idea"), gold=str(n)) for n in (3, 4, 5)]
        assert values(groups)["rollouts.scored-right"] == "no"

    def test_one_answer_for_every_prompt(self) -> None:
        groups = [group((-0.3, "5"), (-0.3, "5"), (-0.4, "4"), gold=str(n)) for n in (9, 1, 4)]
        assert values(groups)["rollouts.shortcut"] == "constant-answer"
        assert "rollouts.shortcut" not in values(groups[:2])

    def test_noise_and_loops(self) -> None:
        noise = group(*[(0.0, "Ġzeit pallet;;) oughtн Rand_Metadata 漫 ]]>")] * 4)
        assert values([noise])["rollouts.readable"] == "no"
        loop = group(*[(0.0, "well then " + "and so on " * 20)] * 4)
        assert values([loop])["rollouts.repeats-tokens"] == "yes"

    def test_the_evidence_names_its_source(self) -> None:
        found = facts_of_groups([group((0.0, ""), (0.0, "."), (1.0, "x"))])
        [fact] = [fact for fact in found if "empty" in fact.observation]
        assert fact.evidence().text.startswith("rollouts of step 7: 2 responses") and fact.evidence().fact

    def test_nothing_from_nothing(self) -> None:
        assert facts_of_groups([]) == [] and automatic_facts(FakeRun({})) == {}


class TestTexts:
    @pytest.mark.parametrize("text", ["", " .", "<think></think><answer></answer>"])
    def test_empty(self, text: str) -> None:
        assert is_empty(text)

    def test_ordinary_text_is_none_of_it(self) -> None:
        for text in (PROSE, "Let α + β = γ, then 2α = 3. Ответ: 5", "答案是 5, so it is 5", "no. " * 3):
            assert not (is_empty(text) or is_garbled(text) or ends_in_loop(text))

    def test_where_answers_stand(self) -> None:
        assert final_answer(r"a \boxed{3} or \boxed{4}") == "4"
        assert final_answer("<answer> Paris </answer> done") == "paris"
        assert final_answer("work\n#### 1,200") == "1200" and says_gold("so it is 1200.", "1,200")


class TestDerived:
    def test_the_lists_of_names_agree(self) -> None:
        assert set(CURVES) == DERIVED_METRICS and set(DERIVED) == DERIVED_SETTINGS

    def test_updates_per_rollout(self) -> None:
        config = {"train_batch_size": 512, "mini_batch_size": 32, "num_iterations": 2}
        assert derived_setting("updates_per_rollout", config.get) == 32
        trl = {"steps_per_generation": 8, "gradient_accumulation_steps": 4}
        assert derived_setting("updates_per_rollout", trl.get) == 2
        assert derived_setting("updates_per_rollout", {}.get) is None

    def test_reward_weights(self) -> None:
        assert derived_setting("unused_rewards", {"reward_weights": [1, 0, 0]}.get) == 2
        assert derived_setting("unused_rewards", {"reward_weights": "[1.0, 0.5]"}.get) == 0
        assert derived_setting("reward_weight_ratio", {"reward_weights": [1, 0.1, 0]}.get) == 10

    def test_the_kl_that_is_in_force(self) -> None:
        assert derived_setting("kl_weight", {"beta": 0.04}.get) == 0.04
        off = {"use_kl_loss": False, "kl_loss_coef": 0.001, "use_kl_in_reward": False}
        assert derived_setting("kl_weight", off.get) == 0.0
        assert derived_setting("kl_weight", {**off, "use_kl_loss": True}.get) == 0.001

    def test_expected_share_of_equal_groups(self) -> None:
        book = read_text(BOOK, "asks.yaml").playbook
        test_run = FakeRun({}, config={"group_size": 16})
        assert len(RunScope(test_run, book).points("expected_zero_std_frac")) == 0
        assert natural_zero_variance(0.9, 16) == pytest.approx(0.1853, abs=1e-4)


BOOK = """
playbook: asks
format: 1
title: Asks
hypotheses: {healthy: fine, data.too-hard: hard}
steps:
  - id: gold
    ask: data.gold-parses
    cases:
      - {when: answer == "no", evidence: {data.too-hard: +3}}
      - {otherwise: true}
"""


class TestWalk:
    def test_a_fact_answers_and_a_person_overrules(self) -> None:
        book = read_text(BOOK, "asks.yaml").playbook
        assert book is not None
        run = FakeRun({}, incidents={"gold-unparsed": 4})
        walk = Walk.start(book, run, {})
        assert str(walk.run_headless()) == "confirmed data.too-hard"
        assert walk.history[0].evidence[0].text.startswith("console: once")
        walk = Walk.start(book, run, {}, answers={"data.gold-parses": "yes"})
        assert str(walk.run_headless()) == "undetermined"

    def test_facts_do_not_reach_back(self) -> None:
        facts = automatic_facts(FakeRun({}, incidents={"gold-unparsed": 40}))
        assert values_at(facts, 39) == {} and values_at(facts, 40) == {"data.gold-parses": "no"}
