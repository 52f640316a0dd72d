"""Responses printed into a log may talk like a logger; only the logger's own lines are rows."""

from __future__ import annotations

from pathlib import Path

from grpo_tui.run import Run

DICT = (
    "{{'loss': 0.01, 'grad_norm': 0.3, 'learning_rate': 1e-06, 'reward': {0}, 'entropy': 0.4, 'epoch': 0.1}}"
)


def read(path: Path, lines: list[str]) -> Run:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = Run.open(path)
    while run.poll():
        pass
    run.poll(final=True)
    return run


def test_a_response_that_looks_like_verl_in_a_trl_log(tmp_path: Path) -> None:
    lines = []
    for step in range(1, 21):
        lines += [
            DICT.format(step / 20),
            "[rank0] response: step:5 - actor/entropy:0.0 - critic/rewards/mean:0.0",
        ]
    run = read(tmp_path / "train.log", lines)
    assert run.framework == "trl"
    assert len(run.points("reward_mean")) == 20
    assert float(run.points("entropy").values.min()) == 0.4


def test_a_response_that_looks_like_a_row_in_a_verl_log(tmp_path: Path) -> None:
    lines = []
    for step in range(1, 21):
        row = f"step:{step} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2"
        lines += [
            f"\x1b[36m(TaskRunner pid=12)\x1b[0m {row}",
            "(WorkerDict pid=13) [response] I think so step:2 - actor/entropy:0.0 - critic/rewards/mean:99.0",
        ]
    run = read(tmp_path / "train.log", lines)
    assert len(run.segments) == 1
    assert float(run.points("reward_mean").values.max()) == 0.3


def test_a_dictionary_of_a_response_is_no_row(tmp_path: Path) -> None:
    lines = []
    for step in range(1, 21):
        lines += [
            DICT.format(step / 20),
            "{'loss': 0.1, 'reward': 9}",
            "The answer is {'loss': 0.1, 'reward': 9}.",
        ]
    run = read(tmp_path / "train.log", lines)
    assert len(run.points("reward_mean")) == 20
    assert float(run.points("reward_mean").values.max()) == 1.0


def test_what_loggers_put_before_a_row(tmp_path: Path) -> None:
    row = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2"
    heads = [
        "",
        "(main_task pid=9) ",
        "[rank0]: ",
        "2025-03-02 11:52:18,001 - ",
        "INFO 2025-03-02 11:52:18,001 - ",
        "Training Progress:   3%|▎         | 3/100 [01:00<32:20, 20.01s/it]",
    ]
    run = read(tmp_path / "train.log", [head + row.format(n) for n, head in enumerate(heads, 1)])
    assert run.steps() == [1, 2, 3, 4, 5, 6]


ROW = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2 - actor/lr:1e-06"


def test_a_bare_chain_alone_on_a_line_is_no_row(tmp_path: Path) -> None:
    """A response that counts its own steps, before the first row and between rows."""
    lines = ["step:7 - tiles/left:3", "step:8 - tiles/left:1 - door/open:1"]
    for step in range(1, 6):
        lines += [ROW.format(step), "step:5 - moves/best:1", f"step:{step + 9} - actor/entropy:9"]
    run = read(tmp_path / "train.log", lines)
    assert run.steps() == [1, 2, 3, 4, 5] and len(run.segments) == 1
    assert float(run.points("entropy").values.max()) == 0.5
    assert not {"moves/best", "tiles/left"} & set(run.names())


def test_short_rows_count_where_a_log_has_only_such(tmp_path: Path) -> None:
    for name, key, steps in (
        ("many", "custom/reward", 6),
        ("few", "custom/reward", 2),
        ("known", "val/score", 1),
    ):
        lines = [f"step:{step} - {key}:0.{step}" for step in range(1, steps + 1)]
        assert read(tmp_path / f"{name}.log", ["starting", *lines]).steps() == list(range(1, steps + 1)), name


def test_rows_that_grow_and_shrink_with_what_is_logged_all_count(tmp_path: Path) -> None:
    """A validation before training, a critic that warms up alone, then whole rows, some with a validation."""
    full = " - ".join(f"actor/m{i}:0.{i}" for i in range(20))
    lines = [
        "step:0 - val-core/gsm8k/acc/mean@1:0.4",
        "step:1 - critic/vf_loss:0.1 - critic/score/mean:0.5 - timing_s/step:3.0 - actor/m1:0.1",
        f"step:2 - {full} - critic/score/mean:0.5",
        f"step:3 - {full} - critic/score/mean:0.5 - val-core/gsm8k/acc/mean@1:0.5",
        "step:4 - val-core/gsm8k/acc/mean@1:0.6",
    ]
    assert read(tmp_path / "train.log", lines).steps() == [0, 1, 2, 3, 4]


def test_a_bare_chain_does_not_make_another_log_verls(tmp_path: Path) -> None:
    lines = ["step:5 - actor/entropy:0.0", *(DICT.format(step / 20) for step in range(1, 21))]
    run = read(tmp_path / "train.log", lines)
    assert run.framework == "trl" and len(run.points("reward_mean")) == 20
