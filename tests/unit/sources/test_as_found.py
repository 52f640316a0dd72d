"""Logs as they are found in the wild: carried by containers, cut, marked, packed under another name."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.search.detect import find_runs
from grpo_tui.sources.source import SourceError
from grpo_tui.sources.tables.csv_columns import CsvColumns
from grpo_tui.sources.tables.verl_file import VerlFile

from .reading import read


def row(step: int, **more: object) -> str:
    values: dict[str, object] = {
        "actor/entropy": 0.5 / step,
        "actor/pg_loss": -0.001 * step,
        "critic/score/mean": 0.1 * step,
        "actor/lr": "1e-06",
        "response_length/mean": 100.0 + step,
    }
    values |= {name.replace("__", "/"): value for name, value in more.items()}
    return f"step:{step} - " + " - ".join(f"{name}:{value}" for name, value in values.items())


CONSOLE = "".join(f"{row(step)}\n" for step in range(1, 6))
STEPS = [1, 2, 3, 4, 5]


def opened(path: Path, data: bytes | str) -> Run:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    run = Run.open(path)
    run.poll(final=True)
    return run


def steps(run: Run, name: str = "score_mean") -> list[int]:
    found: list[int] = run.points(name).steps.tolist()
    return found


@pytest.mark.parametrize(
    "before",
    [
        "2026-01-02T10:00:01.123456789Z ",
        "2026-01-02T10:00:01+00:00 ",
        "2026-01-02T10:00:01.123456789Z stdout F ",
        "0: ",
        "2026-01-02T10:00:01.5Z \x1b[36m(TaskRunner pid=12)\x1b[0m ",
    ],
    ids=["docker", "podman", "kubernetes", "srun", "docker-ray"],
)
def test_what_carries_a_line_is_no_part_of_it(tmp_path: Path, before: str) -> None:
    text = "".join(before + line + "\n" for line in CONSOLE.splitlines())
    assert steps(opened(tmp_path / "a.log", text)) == STEPS


def test_a_byte_order_mark_hides_no_row(tmp_path: Path) -> None:
    assert steps(opened(tmp_path / "a.log", b"\xef\xbb\xbf" + CONSOLE.encode())) == STEPS
    table = b"\xef\xbb\xbfstep,reward\n1,0.5\n2,0.6\n"
    assert steps(opened(tmp_path / "a.csv", table), "reward_mean") == [1, 2]


def test_the_hole_that_a_truncated_log_begins_with_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.touch()
    with path.open("r+b") as handle:
        handle.truncate(900_000)  # the writer holds its old place: the system fills up with NULs
    run = opened(path, path.read_bytes() + CONSOLE.encode())
    assert steps(run) == STEPS


def test_compression_is_found_by_content(tmp_path: Path) -> None:
    assert steps(opened(tmp_path / "a.log", gzip.compress(CONSOLE.encode()))) == STEPS
    assert steps(opened(tmp_path / "b.log.gz", CONSOLE)) == STEPS


def test_utf16_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="UTF-16"):
        opened(tmp_path / "a.log", CONSOLE.encode("utf-16"))


def test_a_tagged_response_that_talks_like_a_row_is_none(tmp_path: Path) -> None:
    said = row(77, critic__score__mean=9.0)
    text = "".join(f"{row(step)}\n[response] {said}\n[prompt] {said}\n" for step in range(1, 6))
    run = opened(tmp_path / "a.log", text)
    assert steps(run) == STEPS
    assert len(run.segments) == 1


def test_a_printed_dictionary_of_a_few_of_the_metrics_is_a_response(tmp_path: Path) -> None:
    own = (
        "{{'loss': 0.1, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'reward': 0.{0}, 'reward_std': 0.2, "
        "'kl': 0.01, 'epoch': 0.{0}}}\n"
    )
    text = "".join(own.format(i) + "so {'loss': 5.0, 'reward': 9.0, 'epoch': 3.0}\n" for i in range(1, 6))
    run = opened(tmp_path / "a.log", text)
    assert run.points("reward_mean").values.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert any("taken for a response's" in text for text in run.warnings)


class TestTables:
    def test_nested_objects_are_flattened(self, tmp_path: Path) -> None:
        text = "".join(f'{{"step": {i}, "train": {{"reward": {{"mean": 0.{i}}}}}}}\n' for i in range(1, 4))
        assert opened(tmp_path / "a.jsonl", text).points("reward_mean").values.tolist() == [0.1, 0.2, 0.3]

    def test_a_row_without_the_step_is_no_step(self, tmp_path: Path) -> None:
        text = "".join(f'{{"step": {i}, "reward": 0.{i}}}\n' for i in range(5, 9)) + '{"reward": 1.0}\n'
        run = opened(tmp_path / "a.jsonl", text)
        assert (steps(run, "reward_mean"), len(run.segments)) == ([5, 6, 7, 8], 1)
        assert any("line 5 is not a row with a step" in text for text in run.warnings)

    def test_quoted_cells_may_hold_anything(self, tmp_path: Path) -> None:
        text = 'step,"reward, mean",note,loss\n1,0.5,"a, ""b""\n7,8,9,10\n c",1.5\n2,,"",2.5\n3,0.7,x,3.5\n'
        run = opened(tmp_path / "a.csv", text)
        assert run.points("loss").values.tolist() == [1.5, 2.5, 3.5]
        assert steps(run, "reward, mean") == [1, 3]

    def test_decimal_commas(self, tmp_path: Path) -> None:
        run = opened(tmp_path / "a.csv", "step;reward;loss\n1;0,5;-1,25\n2;0,6;1e-3\n")
        assert run.points("reward_mean").values.tolist() == [0.5, 0.6]
        assert run.points("loss").values.tolist() == [-1.25, 0.001]


def _table(separator: str, *, head: str = "") -> str:
    return head + "".join(separator.join((str(s), f"{s / 8}", repr(1e-6 / s))) + "\n" for s in range(1, 7))


CUT = {
    "verl.log": "".join(f"{row(step)}\n" for step in range(1, 7)),
    "a.csv": _table(",", head="step,reward,lr\n"),
    "a.tsv": _table("\t", head="step\treward\tlr\n"),
    "prime.log": "".join(f"Step {s} | Time: 41.20s | Loss: {1 / s:.4f} | Entropy: 0.5{s}12\n" for s in STEPS),
    "nemo.log": "".join(
        f"===== Step {s}/500 =====\n  • Loss: {1 / s:.4f}\n  • Avg Reward: 0.{s}333\n" for s in range(1, 9)
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_wherever_a_log_ends_no_number_is_another(tmp_path: Path, name: str) -> None:
    whole = opened(tmp_path / name, CUT[name])
    for end in range(len(CUT[name]) // 2, len(CUT[name])):
        run = opened(tmp_path / f"{end}-{name}", CUT[name][:end])
        for metric in run.names():
            points, all_points = run.points(metric), whole.points(metric)
            held = dict(zip(all_points.steps.tolist(), all_points.values.tolist(), strict=True))
            for step, value in zip(points.steps.tolist(), points.values.tolist(), strict=True):
                assert value == pytest.approx(held[step], rel=1e-9), (end, metric, step)


def test_a_last_line_without_an_end_is_read_where_it_is_complete(tmp_path: Path) -> None:
    run = opened(tmp_path / "a.log", CONSOLE.removesuffix("\n"))
    assert steps(run) == steps(run, "response_length_mean") == STEPS and run.warnings == []
    cut = opened(tmp_path / "b.log", CONSOLE[:-3])
    assert steps(cut) == STEPS and steps(cut, "response_length_mean") == STEPS[:-1]
    assert any("last number may be cut off" in text for text in cut.warnings)


def test_a_data_set_beside_the_log_is_no_curve(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"question": "6 * 7?", "answer": 42, "level": 3}\n' * 5)
    (tmp_path / "run.log").write_text(CONSOLE)
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert "answer" not in run.names() and steps(run) == STEPS
    assert [path.name for path in find_runs(tmp_path)] == [tmp_path.name]


@pytest.mark.parametrize("seed", range(4))
def test_how_a_log_ends_does_not_depend_on_the_pieces_it_came_in(seed: int) -> None:
    made = random.Random(seed)
    words = ["\r", "\n", "\n", "-", "nan", "1", "0.5", "e-06", "step:3 - a/b:", " - a/c:1", ",", "x", "\r\n"]
    for _ in range(150):
        data = "".join(made.choices(words, k=made.randint(1, 25))).encode()
        cuts = [made.randint(1, len(data)) for _ in range(4)]
        for kind in (VerlConsole, CsvColumns, VerlFile):
            assert list(map(str, read(kind(), data, cuts=cuts))) == list(map(str, read(kind(), data))), data
