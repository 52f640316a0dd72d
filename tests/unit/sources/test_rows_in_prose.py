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
