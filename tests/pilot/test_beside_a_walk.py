"""A walk about what is over, and what all playbooks say beside the verdict of one."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from app_helpers import (
    BOOK,
    app_on,
    healthy,
    ready,
    screen_text,
    sees,
    stuck,
    until,
    walk_to_the_verdict,
    write,
)

from grpo_tui.tui.snapshot import Overall
from grpo_tui.tui.widgets.verdict_page import together


async def test_an_alarm_that_is_over_is_walked_as_it_was(tmp_path: Path) -> None:
    log = write(tmp_path / "train.log", [*stuck(range(1, 13)), *healthy(range(13, 60))])
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await until(pilot, lambda: app.snapshot.alarms and not app.snapshot.open_alarms)
        await pilot.press("a", "enter")
        await sees(pilot, "step 1 of 3")
        assert "→ true" in screen_text(app)
        header = json.loads(Path(app.snapshot.walk.session).read_text().splitlines()[0])
        assert header["at"] is not None and header["at"] <= 12


async def test_a_verdict_says_what_all_playbooks_say(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "train.log", stuck(range(1, 13))), BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await walk_to_the_verdict(pilot)
        await sees(pilot, "all playbooks together say the same")
        await pilot.press("enter")
        await sees(pilot, "no other playbook says more")


async def test_the_checks_are_passed_at_once(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "train.log", stuck(range(1, 13))), BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("f")
        await sees(pilot, "step 2 of 3")
        assert [done.id for done in app.snapshot.walk.history] == ["flat"]
        await pilot.press("f")
        await sees(pilot, "this step waits for you")
        assert len(app.snapshot.walk.history) == 1


@pytest.mark.parametrize(
    ("overall", "said"),
    [
        (None, "looking"),
        (Overall("suspected", "a.b"), "say the same"),
        (Overall("undetermined", None), "undetermined"),
        (Overall("confirmed", "c.d", "book", "A [bold]title[/bold]", 7), "c.d  since step 7"),
    ],
)
def test_what_is_said_beside(overall: Overall | None, said: str) -> None:
    verdict: Any = SimpleNamespace(diagnosis="a.b")
    text = "\n".join(line.plain for line in together(verdict, overall))
    assert said in text
    assert ("enter walks “A [bold]title[/bold]”" in text) == (overall is not None and bool(overall.title))
