"""The bundled runs and their replay."""

from __future__ import annotations

import time

import pytest

from grpo_tui.demo import DEMOS
from grpo_tui.demo.replay import Replay, chunks


@pytest.mark.parametrize("name", DEMOS)
def test_chunks_are_the_recorded_bytes_in_time_order(name: str) -> None:
    recorded = (DEMOS[name].folder / "train.log").read_bytes()
    cut = list(chunks(recorded))
    assert b"".join(chunk.data for chunk in cut) == recorded
    times = [chunk.at for chunk in cut]
    assert times == sorted(times) and times[-1] > 60


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_speed_that_is_none_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="must be greater than 0"):
        Replay(DEMOS["healthy"], speed)


def test_a_replay_ends_with_the_recorded_file_and_cleans_up() -> None:
    replay = Replay(DEMOS["constant-reward"], speed=1e6)
    replay.start()
    recorded = (DEMOS["constant-reward"].folder / "train.log").read_bytes()
    deadline = time.monotonic() + 20
    while replay.log.stat().st_size < len(recorded) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert replay.log.read_bytes() == recorded
    assert len(list((replay.folder / "completions").glob("*.parquet"))) == 3
    replay.stop()
    assert not replay.folder.parent.exists()
