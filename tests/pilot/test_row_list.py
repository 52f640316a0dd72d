"""Lists to choose from survive any size and paging at any moment."""

from pathlib import Path

import pytest
from app_helpers import BOOK, app_on, ready, stuck, write


@pytest.mark.parametrize("keys", [("a",), ("t",), ("a", "enter"), ("t", "enter")])
@pytest.mark.parametrize("size", [(20, 5), (10, 3), (6, 10), (4, 20)])
async def test_a_list_in_a_tiny_terminal(
    tmp_path: Path, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    app = app_on(write(tmp_path / "spin.log", stuck(range(1, 31))), BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press(*keys)
        await pilot.resize_terminal(*size)
        await pilot.pause(0.1)
        await pilot.press("pageup", "pagedown", "end", "pageup", "home", "pagedown")
        await pilot.pause(0.1)
        assert app.is_running
    assert app.return_code in (None, 0)
