"""What a step sends a person to look at: rollouts, configuration, the log near an alarm."""

import json
from pathlib import Path

import pytest
from app_helpers import BOOK, SIZES, app_on, healthy, ready, row, screen_text, sees, stuck, until, write

from grpo_tui.tui.rollout_lines import body, group_title
from grpo_tui.tui.rollout_reading import view_of
from grpo_tui.tui.widgets.run_log import RunLog


def dump(folder: Path, step: int, responses: list[tuple[str, float]]) -> None:
    folder.mkdir(exist_ok=True)
    rows = [
        {"input": "2 + [b]2[/b] =", "output": text, "gts": "4", "score": score, "step": step}
        for text, score in responses
    ]
    (folder / f"{step}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))


@pytest.mark.parametrize("size", SIZES)
async def test_the_newest_rollouts_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    run = tmp_path / "run"
    run.mkdir()
    write(run / "spin.log", healthy(range(1, 21)))
    dump(run / "rollouts", 10, [("five", 0.0), ("four", 1.0)])
    dump(run / "rollouts", 20, [("[red]four[/red]", 1.0), ("4 \x1b[31mred", 1.0)])
    app = app_on(run)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await pilot.press("R")
        await sees(pilot, "[red]four[/red]")
        text = screen_text(app)
        assert "all 1" in text and "2 + [b]2[/b] =" in text and "\x1b" not in text
        await pilot.press("left_square_bracket")
        await sees(pilot, "0…1")
        await pilot.press("escape")
        await sees(pilot, "step 20")


async def test_without_rollouts_it_says_how_to_get_them(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 5))))
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("R")
        await sees(pilot, "rollout_data_dir")
        await pilot.press("C")
        await pilot.press("escape")
        await sees(pilot, "reward_mean")


async def test_the_alarm_leads_to_its_row_in_the_log(tmp_path: Path) -> None:
    noise = [f"worker says {n}" for n in range(200)]
    path = write(tmp_path / "spin.log", [*healthy(range(1, 11)), *noise, *stuck(range(11, 31)), *noise])
    app = app_on(path, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("a")
        await sees(pilot, "since step")
        first = app.snapshot.alarms[0].first_step
        await pilot.press("g")
        await sees(pilot, f"step:{first} - ")
        assert not app.screen.query_one(RunLog).following


async def test_the_log_jumps_to_errors_and_finds_text(tmp_path: Path) -> None:
    noise = [f"worker says {n}" for n in range(300)]
    path = write(
        tmp_path / "spin.log", [row(1), "ERROR: disk is full", *noise, row(2), "the needle [b]x[/b]", *noise]
    )
    app = app_on(path)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("l")
        await sees(pilot, "worker says 299")
        await pilot.press("e")
        await sees(pilot, "ERROR: disk is full")
        await pilot.press("slash", *"NEEDLE", "enter")
        await sees(pilot, "the needle [b]x[/b]")
        await pilot.press("f")
        await sees(pilot, "worker says 299")
        write(path, ["a new last line"])
        await sees(pilot, "a new last line")


async def test_the_view_is_restored_for_the_run(tmp_path: Path) -> None:
    path = write(tmp_path / "spin.log", healthy(range(1, 9)))
    first = app_on(path)
    async with first.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("v", "D", "q")
        await until(pilot, lambda: first.return_value == 0)
    second = app_on(path)
    async with second.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert second.screen.query_one(RunLog).display and second.theme == "grpo-light"


def test_a_group_says_its_rewards_first_and_an_empty_response_is_named() -> None:
    from grpo_tui.sources.records import Group, Response

    group = Group(1, "what\nis it", (Response("a", 0.0), Response("b", 0.5)))
    assert group_title(view_of(group, 0), 30).plain.startswith("2 × 0…0.5")
    assert body("  ")[0].plain == "(empty)"
