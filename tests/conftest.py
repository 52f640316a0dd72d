"""Shared by all tests: where the real logs and cases lie, when this machine has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no counterexample; what must be fast is measured in benchmarks/.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real run logs and triage cases; the test is skipped where it is absent."""
    if not (SHARED / "logs").is_dir():
        pytest.skip("no real run logs beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a state folder of its own, so none reads or leaves a session of another."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("GRPO_TUI_STATE", str(folder))
    return folder
