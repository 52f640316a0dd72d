"""The thread that owns the run: jobs between reads, few snapshots, no lost line, faults that stay small."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from app_helpers import BOOK, healthy, row, stuck, write

from grpo_tui.metrics.series import Points
from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui.desk import Desk, News
from grpo_tui.tui.ingest import COURTESY, MOST_PER_SECOND, Ingest
from grpo_tui.tui.log_store import LogStore
from grpo_tui.tui.messages import SnapshotPosted
from grpo_tui.tui.snapshot import Facts, Snapshot, ordered
from grpo_tui.tui.walking import Refused


class Post:
    """Collects what the thread posts."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self.times: list[float] = []

    def __call__(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)
        self.times.append(time.monotonic())


def wait(true: Callable[[], object], patience: float = 10) -> None:
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "spin.log", healthy(range(1, 11)))


@pytest.fixture
def desk(log: Path) -> Desk:
    book = load_text(BOOK, "test.yaml")
    return Desk(Run.open(log), Library({book.id: book}))


@pytest.fixture
def thread(desk: Desk):  # type: ignore[no-untyped-def]
    post = Post()
    ingest = Ingest(desk, post)
    ingest.start()
    wait(lambda: post.snapshots and not post.snapshots[-1].reading)
    yield ingest, post
    ingest.stop()
    ingest.join(5)
    assert not ingest.is_alive()


def test_a_storm_of_rows_becomes_few_snapshots_and_loses_no_line(log: Path, thread) -> None:  # type: ignore[no-untyped-def]
    ingest, post = thread
    before = len(post.times)
    start = time.monotonic()
    for step in range(11, 211):
        write(log, healthy([step]))
        time.sleep(0.004)
    wait(lambda: post.snapshots[-1].facts.step == 210)
    posted = post.times[before:]
    assert len(posted) <= (posted[-1] - start) * MOST_PER_SECOND + 3
    store = LogStore()
    store.add(ingest.news())
    assert store.taken == 210


def test_a_job_runs_in_the_thread_and_its_error_comes_back(desk: Desk, thread) -> None:  # type: ignore[no-untyped-def]
    ingest, _ = thread
    assert ingest.ask(lambda: threading.current_thread().name).result(5) == "ingest"
    with pytest.raises(Refused, match="choose a playbook first"):
        ingest.ask(lambda: desk.walking.note("x")).result(5)
    assert ingest.is_alive()


def test_points_are_read_only_and_the_same_object_until_they_change(log: Path, thread) -> None:  # type: ignore[no-untyped-def]
    ingest, post = thread
    entropy: Points = post.snapshots[-1].points["entropy"]
    with pytest.raises(ValueError, match="read-only"):
        entropy.values[0] = 1
    ingest.ask(lambda: None).result(5)
    assert post.snapshots[-1].points["entropy"] is entropy
    write(log, healthy([11]))
    wait(lambda: post.snapshots[-1].facts.step == 11)
    assert len(entropy) == 10 and len(post.snapshots[-1].points["entropy"]) == 11


def test_a_fault_of_the_engine_costs_the_alarms_and_not_the_curves(
    log: Path, desk: Desk, thread, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    _, post = thread

    def broken() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(desk.engine, "update", broken)
    write(log, healthy([11]))
    wait(lambda: any("boom" in warning for warning in post.snapshots[-1].warnings))
    assert post.snapshots[-1].facts.step == 11


def test_the_file_may_vanish_and_come_back(log: Path, thread) -> None:  # type: ignore[no-untyped-def]
    _, post = thread
    log.unlink()
    time.sleep(0.5)
    write(log, healthy(range(1, 4)))
    wait(lambda: post.snapshots[-1].facts.step == 3)


def test_a_baseline_is_read_once_and_handed_out(tmp_path: Path, log: Path) -> None:
    clean = Run.open(write(tmp_path / "clean.log", healthy(range(1, 31))))
    desk = Desk(Run.open(log), Library({}), baseline=clean)
    while desk.read().changed:
        pass
    desk.judge()
    assert len(desk.snapshot().baseline["entropy"]) == 30


def test_alarms_are_judged_although_the_file_never_rests(log: Path, desk: Desk) -> None:
    post = Post()
    ingest = Ingest(desk, post, watch=False)
    real, steps = desk.read, iter(range(11, 100_000))

    def endless() -> News:
        write(log, stuck([next(steps)]))
        return real()

    desk.read = endless  # type: ignore[method-assign]
    ingest.start()
    try:
        wait(lambda: any(snapshot.alarms for snapshot in post.snapshots))
    finally:
        ingest.stop()
        ingest.join(5)


def test_a_newer_snapshot_replaces_one_that_waits() -> None:
    old, new = (SnapshotPosted(Snapshot(Facts("a", "a")), None) for _ in range(2))
    assert old.can_replace(new)


def test_a_store_forgets_what_a_replaced_file_said() -> None:
    store = LogStore(kept=3)
    store.add([News(True, tuple((n, f"line {n}") for n in (1, 2, 4, 7)), False, ((1, 2), (5, 7)))])
    assert store.since(0) == ["line 2", "line 4", "line 7"] and store.since(3) == ["line 7"]
    assert store.place_of(4) == 3 and store.place_of(5) == 4
    assert store.line_of_step(2) == 7 and store.line_of_step(6) is None
    store.add([News(True, ((1, "new"),), True)])
    assert store.since(0) == ["new"] and store.generation == 1 and store.line_of_step(1) is None


def test_metrics_that_never_moved_come_behind_and_counters_last() -> None:
    names = ["step", "clip_frac", "reward_mean", "made/up", "lr", "entropy"]
    assert ordered(names)[:3] == ("reward_mean", "entropy", "clip_frac")
    still = frozenset({"clip_frac", "entropy"})
    assert ordered(names, still) == ("reward_mean", "entropy", "lr", "made/up", "clip_frac", "step")


def test_a_metric_that_is_always_zero_is_still_and_one_that_is_always_one_is_not(tmp_path: Path) -> None:
    values = {"actor/pg_clipfrac": 0.0, "response_length/clip_ratio": 1.0}
    lines = [row(step, **values) for step in range(1, 5)]
    desk = Desk(Run.open(write(tmp_path / "spin.log", lines)), Library({}))
    while desk.read().changed:
        pass
    assert desk.snapshot().names.index("clip_frac") < desk.snapshot().names.index("truncation_ratio")
    write(tmp_path / "spin.log", [row(step, **values) for step in range(5, 20)])
    while desk.read().changed:
        pass
    names = desk.snapshot().names
    assert names.index("clip_frac") > names.index("response_length_mean")
    assert names.index("truncation_ratio") == names.index("response_length_mean") + 1


def test_a_key_is_given_its_turn_between_two_slices() -> None:
    class Slices:
        """A desk that always has more to read."""

        paths: tuple[Path, ...] = ()

        def __init__(self) -> None:
            self.times: list[float] = []

        def read(self) -> News:
            self.times.append(time.monotonic())
            return News(len(self.times) < 40)

        def judge(self) -> bool:
            return False

        def clock(self) -> bool:
            return False

        def snapshot(self) -> Snapshot:
            return Snapshot(Facts("", ""))

    desk = Slices()
    ingest = Ingest(desk, lambda snapshot: None, watch=False)  # type: ignore[arg-type]
    ingest.give_way()
    begun = time.monotonic()
    ingest.start()
    wait(lambda: len(desk.times) >= 40)
    ingest.stop()
    waited = desk.times[1] - begun
    assert waited > COURTESY / 2, "the second slice waits for the key's frame"
    gaps = sorted(later - earlier for earlier, later in zip(desk.times[1:], desk.times[2:], strict=False))
    assert gaps[len(gaps) // 2] < COURTESY / 2, "and no slice after it does"
