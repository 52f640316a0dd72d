"""Which of a run's checkpoints holds its newest trainer state: a live run writes one more every so often."""

from __future__ import annotations

from pathlib import Path

_RECENT = 600.0


def newest_state(home: Path, known: Path) -> Path:
    """The state of the newest checkpoint in a run's folder; the folder's own one counts as well."""
    states = [known, home / "trainer_state.json"]
    if home.is_dir():
        states += (folder / "trainer_state.json" for folder in home.glob("checkpoint-*"))
    return newest([state for state in dict.fromkeys(states) if state.is_file()] or [known])


def newest(states: list[Path]) -> Path:
    """The state that goes furthest among the recently written ones.

    Times alone mislead where a folder was copied, steps alone where a run began anew over old checkpoints.
    """
    times = {state: state.stat().st_mtime if state.is_file() else 0.0 for state in states}
    latest = max(times.values())
    recent = [state for state in states if times[state] > latest - _RECENT]
    return max(recent, key=lambda state: (_checkpoint(state), times[state]))


def pickled_arguments(home: Path) -> Path | None:
    """transformers' `training_args.bin` of a run: a pickle, which is never opened."""
    found = [home / "training_args.bin", *sorted(home.glob("checkpoint-*/training_args.bin"))]
    return next((path for path in found if path.is_file()), None)


def _checkpoint(state: Path) -> float:
    """The step in the folder's name; the run's own folder is written last."""
    step = state.parent.name.removeprefix("checkpoint-")
    return float(step) if step.isdigit() else float("inf")
