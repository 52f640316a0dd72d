"""The calculators against the numbers of the rules, and their command."""

from __future__ import annotations

import json

import pytest

from grpo_tui import calculators as calc
from grpo_tui.calculators.forms import CALCULATORS
from grpo_tui.cli import main


class TestGroups:
    def test_nine_of_ten_in_groups_of_sixteen(self) -> None:
        odds = calc.group_odds(0.9, 16, 512)
        assert odds.all_right == pytest.approx(0.1853, abs=1e-4) and odds.all_wrong < 1e-15
        assert odds.with_signal == pytest.approx(417.1, abs=0.05)

    def test_a_group_of_one_never_has_a_signal(self) -> None:
        assert calc.group_odds(0.5, 1).mixed == 0

    @pytest.mark.parametrize("success", [0.02, 0.18, 0.5])
    @pytest.mark.parametrize("size", [2, 4, 16])
    def test_the_inverse_finds_the_rate(self, success: float, size: int) -> None:
        found = calc.success_from_share(calc.natural_zero_variance(success, size), size)
        assert found == (pytest.approx(success, abs=1e-6), pytest.approx(1 - success, abs=1e-6))

    def test_fewer_than_chance_gives(self) -> None:
        assert calc.success_from_share(0.4, 2) is None

    def test_the_size_for_a_share(self) -> None:
        assert calc.group_size_for(0.9, 0.5) == 7
        assert calc.group_size_for(1e-9, 0.5) is None

    @pytest.mark.parametrize(("success", "size"), [(-0.1, 4), (1.1, 4), (0.5, 0)])
    def test_out_of_range(self, success: float, size: int) -> None:
        with pytest.raises(ValueError, match=r"lies between|at least one"):
            calc.group_odds(success, size)


def test_a_hundred_steps_see_a_fifth_of_the_data() -> None:
    found = calc.budget(8, 4, 8, steps=100, dataset=2000)
    assert (found.prompts_per_update, found.prompts_seen, found.epochs, found.divides) == (4, 400, 0.2, True)
    assert not calc.budget(2, 1, 8).divides


class TestSpacing:
    @pytest.mark.parametrize(
        ("value", "dtype", "step"),
        [
            (1.0, "bfloat16", 2**-7),
            (1.0, "float32", 2**-23),
            (1.0, "float16", 2**-10),
            (0.02, "bfloat16", 2**-13),
        ],
    )
    def test_the_next_number(self, value: float, dtype: str, step: float) -> None:
        assert calc.spacing(value, dtype) == step

    def test_a_norm_weight_does_not_feel_a_step_of_1e_5(self) -> None:
        assert not calc.survives(1.0, 1e-5, "bfloat16") and calc.survives(1e-4, 1e-5, "bfloat16")
        assert calc.survives(1.0, 1e-5, "float32")

    def test_what_moves(self) -> None:
        edge = calc.largest_moved(1e-6, "bfloat16")
        assert calc.survives(edge * 0.49, 1e-6, "bfloat16") and not calc.survives(
            edge * 1.01, 1e-6, "bfloat16"
        )


class TestAdvantages:
    def test_two_levels(self) -> None:
        found = calc.advantages([2.5] * 4 + [1.0] * 4)
        assert (found.mean, found.std) == (1.75, pytest.approx(0.802, abs=1e-3))
        assert found.values[0] == pytest.approx(0.935, abs=1e-3)

    def test_one_cliff_makes_the_rest_alike(self) -> None:
        found = calc.advantages([-114514, -6, -5, -4, -3, -2, -1, 0])
        assert all(value == pytest.approx(0.3535, abs=1e-3) for value in found.values[1:])

    def test_a_group_of_one(self) -> None:
        assert calc.advantages([0.7]).values == (0.7,)


class TestForms:
    """What the screen and the command line draw."""

    def test_the_extreme_reward_is_warned_of(self) -> None:
        answer = CALCULATORS["advantage"].answer(rewards=[-114514, -6, -5, -4, -3, -2, -1, 0])
        assert answer.numbers["scalings"]["group"][1] == pytest.approx(0.3535, abs=1e-3)
        assert answer.numbers["scalings"]["none"][1] == pytest.approx(14310.875)
        assert [w for w in answer.warnings if "[S3-13]" in w]

    def test_two_equal_halves_are_not_called_extreme(self) -> None:
        assert CALCULATORS["advantage"].answer(rewards=[2.5] * 4 + [1.0] * 4).warnings == ()

    @pytest.mark.parametrize(
        ("rewards", "rule"), [([0.7], "S0-4"), ([1, 1, 1], "S0-3"), ([0.5, 0.5, 0.501], "S2-9")]
    )
    def test_what_a_group_lacks(self, rewards: list[float], rule: str) -> None:
        assert any(rule in warning for warning in CALCULATORS["advantage"].answer(rewards=rewards).warnings)

    def test_leave_one_out_is_against_the_others(self) -> None:
        assert calc.scaled([1.0, 0.0, 0.0], "leave-one-out").values == (
            pytest.approx(1.0),
            pytest.approx(-0.5),
            pytest.approx(-0.5),
        )

    def test_the_wished_share(self) -> None:
        answer = CALCULATORS["groups"].answer(success=0.9, size=16, wanted=0.7)
        assert answer.numbers["size_wanted"] == 12

    @pytest.mark.parametrize(
        ("inputs", "rule"),
        [
            ({"batch": 2, "size": 8}, "S3-5"),
            ({"batch": 8, "size": 1}, "S0-4"),
            ({"batch": 8, "size": 8, "steps": 10, "dataset": 2000}, "S3-5"),
            ({"batch": 512, "size": 8, "steps": 1000, "dataset": 100}, "S2-15"),
        ],
    )
    def test_a_budget_warns(self, inputs: dict[str, int], rule: str) -> None:
        assert any(rule in warning for warning in CALCULATORS["budget"].answer(**inputs).warnings)

    def test_a_sound_budget_does_not_warn(self) -> None:
        assert CALCULATORS["budget"].answer(batch=16, accumulation=8, size=8, devices=4).warnings == ()

    @pytest.mark.parametrize(
        ("inputs", "warns"),
        [
            ({"train_batch": 512, "mini_batch": 256, "size": 8, "micro_batch": 8, "devices": 8}, ""),
            ({"train_batch": 512, "mini_batch": 32, "size": 16, "micro_batch": 128, "devices": 8}, "S4-11"),
            ({"train_batch": 512, "mini_batch": 500, "size": 8}, "S3-5"),
            ({"train_batch": 512, "mini_batch": 32, "size": 8}, "S4-7"),
            ({"train_batch": 8, "mini_batch": 8, "size": 5, "micro_batch": 3}, "S3-5"),
        ],
    )
    def test_a_split(self, inputs: dict[str, int], warns: str) -> None:
        answer = CALCULATORS["split"].answer(**inputs)
        assert (any(warns in line for line in answer.warnings)) if warns else answer.warnings == ()

    def test_which_weights_move(self) -> None:
        cells = {(c.dtype, c.magnitude): c.moves for c in calc.spacing_table(1e-6)}
        assert cells["float32", 1.0] and not cells["bfloat16", 1.0] and cells["bfloat16", 1e-4]
        assert calc.share_moved(1e-6, "bfloat16") < 0.03 < calc.share_moved(1e-5, "bfloat16")
        with pytest.raises(ValueError, match="above 0"):
            calc.share_moved(1e-6, "bfloat16", 0)

    @pytest.mark.parametrize("name", list(CALCULATORS))
    def test_fields_are_what_it_takes(self, name: str) -> None:
        with pytest.raises(ValueError, match="asks for"):
            CALCULATORS[name].answer(nonsense=1)

    def test_tables_have_conditions_and_rules(self) -> None:
        for table in calc.TABLES.values():
            assert table.conditions and table.rules
            assert {len(row) for row in table.rows} == {len(table.columns)}
        with pytest.raises(ValueError, match="one of"):
            CALCULATORS["reference"].answer(table="x")


class TestCommand:
    def test_groups(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["calc", "groups", "--success", "0.9", "--size", "16", "--prompts", "512", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["with_signal"] == pytest.approx(417.1, abs=0.05)

    def test_an_observed_share(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["calc", "groups", "--share", "0.745", "--size", "2"]) == 0
        assert "success rate of 0.15" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "words",
        [
            ["budget", "--batch=8", "--accumulation=4", "--size=8", "--steps=100", "--dataset=2000"],
            ["spacing", "1.0", "--update", "1e-6"],
            ["advantage", "-114514", "-6", "0"],
            ["advantage", "1", "1"],
            ["spacing", "--update", "1e-6"],
            ["split", "--train-batch=512", "--mini-batch=32", "--size=16", "--micro-batch=4", "--devices=8"],
            ["reference"],
            ["reference", "kl"],
            ["groups", "--success", "0.9", "--wanted", "0.7"],
        ],
    )
    def test_for_a_person(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["calc", *words]) == 0
        assert capsys.readouterr().out.strip()

    @pytest.mark.parametrize("words", [["groups"], ["groups", "--success", "2"], ["advantage", "nan"]])
    def test_what_cannot_be_is_one_line(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["calc", *words]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
