"""A run has one folder of ours, by whichever path it is opened."""

from pathlib import Path

import pytest

from grpo_tui.home import run_home


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def log(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("step:1 - critic/rewards/mean:0.5\n")
    return path


def use(path: Path, name: str = "alarms.jsonl") -> Path:
    """Keep something of a run, as opening it does."""
    home = run_home(path)
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text("{}\n")
    return home


@pytest.mark.parametrize("first", ["outputs", "outputs/run-1", "outputs/run-1/train.log"])
@pytest.mark.parametrize("then", ["outputs", "outputs/run-1", "outputs/run-1/train.log"])
def test_a_log_and_the_folders_that_hold_it_alone_are_one_run(tmp_path: Path, first: str, then: str) -> None:
    log(tmp_path / "outputs/run-1/train.log")
    assert use(tmp_path / first) == run_home(tmp_path / then)


def test_what_else_a_run_writes_does_not_part_them(tmp_path: Path) -> None:
    train = log(tmp_path / "outputs/run-1/train.log")
    log(tmp_path / "outputs/run-2/train.log")
    (train.parent / "config.yaml").write_text("lr: 1\n")
    (train.parent / "rollouts").mkdir()
    home = use(train.parent)
    assert run_home(train) == home
    assert run_home(tmp_path / "outputs/run-2") != home
    assert run_home(tmp_path / "outputs") != home


def test_two_logs_in_a_folder_are_two_runs(tmp_path: Path) -> None:
    one, other = log(tmp_path / "logs/a.log"), log(tmp_path / "logs/b.log")
    home = use(tmp_path / "logs")
    assert len({home, use(one), run_home(other)}) == 3


def test_a_list_of_runs_is_no_run(tmp_path: Path) -> None:
    train = log(tmp_path / "outputs/train.log")
    home = use(tmp_path / "outputs", "runs.json")
    assert run_home(train) != home


def test_what_was_kept_apart_before_stays_where_it_is(tmp_path: Path, state: Path) -> None:
    train = log(tmp_path / "outputs/run-1/train.log")
    folder, other = use(train.parent), log(train.with_name("other.log"))
    own = use(train)
    other.unlink()
    assert own != folder
    assert run_home(train.parent) == folder
    assert run_home(train) == own


def test_what_is_not_there_has_its_own(tmp_path: Path) -> None:
    assert run_home(tmp_path / "gone.log") != run_home(tmp_path)
    assert run_home("-").name.startswith("run-")
