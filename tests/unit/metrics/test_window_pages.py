"""Every window function has its page, and what the page says is what the function returns."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from grpo_tui.metrics.windows import WINDOWS
from grpo_tui.playbook.language.expressions import parse_condition

DOCS = Path(__file__).resolve().parents[3] / "docs" / "windows"


def _draw() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_windows", DOCS / "draw.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["draw_windows"] = module
    spec.loader.exec_module(module)
    return module


draw = _draw()


@pytest.mark.parametrize("name", list(WINDOWS))
def test_the_left_curve_fires_and_the_right_one_does_not(name: str) -> None:
    example = draw.examples()[name]
    assert draw.fired(name, example, example.fires)
    assert not draw.fired(name, example, example.quiet)
    parse_condition(draw.condition(name, example))


@pytest.mark.parametrize("name", list(WINDOWS))
def test_the_page_says_what_the_function_returns(name: str) -> None:
    made = draw.page(name)
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == made, "run: python docs/windows/draw.py"
    assert (DOCS / f"{name}.svg").is_file() and f"({name}.md)" in (DOCS / "README.md").read_text("utf-8")
