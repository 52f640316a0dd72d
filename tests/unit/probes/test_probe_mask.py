"""The mask probe: wrong positions are reported exactly, as data and through a loss function's gradient."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probe_helpers import Inside, run_inside

pytest.importorskip("torch")
pytest.importorskip("transformers")

LOSS = """
def chosen(logits, ids):
    return logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]

def clean(logits, input_ids, loss_mask):
    return -(chosen(logits[:, :-1], input_ids[:, 1:]) * loss_mask[:, 1:]).sum()

def unshifted_mask(logits, input_ids, loss_mask):
    return -(chosen(logits[:, :-1], input_ids[:, 1:]) * loss_mask[:, :-1]).sum()

def shifted_twice(logits, input_ids, loss_mask):
    mask = loss_mask[:, 1:].roll(-1, 1)
    return -(chosen(logits[:, :-1], input_ids[:, 1:]) * mask).sum()

def everything(logits, input_ids):
    return -chosen(logits[:, :-1], input_ids[:, 1:]).sum()
"""
Mask = list[int]


@pytest.fixture(scope="module")
def end(tiny: Path) -> int:
    return int(json.loads((tiny / "config.json").read_text())["eos_token_id"])


def written(path: Path, end: int, change: Callable[[Mask, int, int], Mask], **more: Any) -> str:
    """Four rows: prompt 3-6, response 5-8 with its end token, two padding positions; masks changed."""
    lines = []
    for row in range(4):
        prompt, response = list(range(10, 13 + row)), [*range(30, 34 + row), end]
        mask = [0] * len(prompt) + [1] * len(response) + [0, 0]
        record = {"prompt_ids": prompt, "response_ids": response, **more}
        lines.append(
            json.dumps(record | {"loss_mask": change(mask, len(prompt), len(prompt) + len(response))})
        )
    path.write_text("\n".join(lines))
    return str(path)


def probed(tiny: Path, *more: str) -> Inside:
    return run_inside("mask", "--model", str(tiny), *more)


def set_to(value: int, *positions: int) -> Callable[[Mask], Mask]:
    return lambda mask: [value if index in positions else flag for index, flag in enumerate(mask)]


@pytest.mark.parametrize(
    ("change", "code", "totals"),
    [
        (lambda m, b, e: [1] * b + m[b:], "MASK.PROMPT", {"prompt": 18, "missing": 0, "pad": 0, "ok": 26}),
        (lambda m, b, e: [*m[:e], 1, 1], "MASK.PADDING", {"prompt": 0, "missing": 0, "pad": 8, "ok": 26}),
        (lambda m, b, e: [0, *m[:-1]], "MASK.SHIFTED", {"prompt": 0, "missing": 4, "pad": 4, "ok": 22}),
        (lambda m, b, e: [*m[1:], 0], "MASK.SHIFTED", {"prompt": 4, "missing": 4, "pad": 0, "ok": 22}),
        (lambda m, b, e: set_to(0, e - 1)(m), "MASK.EOS", {"prompt": 0, "missing": 4, "pad": 0, "ok": 22}),
        (
            lambda m, b, e: set_to(0, b + 2)(m),
            "MASK.MISSING",
            {"prompt": 0, "missing": 4, "pad": 0, "ok": 22},
        ),
        (lambda m, b, e: [0] * len(m), "MASK.ROW_EMPTY", {"prompt": 0, "missing": 26, "pad": 0, "ok": 0}),
    ],
)
def test_planted_faults(
    tiny: Path, end: int, tmp_path: Path, change: Any, code: str, totals: dict[str, int]
) -> None:
    done = probed(tiny, "--batch", written(tmp_path / "b.jsonl", end, change))
    assert (done.code, done.codes) == (1, [code]) and done.result["basis"] == "mask"
    assert done.result["totals"] == {"tool": 0} | totals
    assert done.result["facts"] == {"probe.mask.right": "no"}
    if code == "MASK.PROMPT":
        assert done.result["rows"][1]["prompt"] == [0, 1, 2, 3]
    if code == "MASK.PADDING":
        assert done.result["rows"][0]["pad"] == [8, 9]


def test_the_clean_twin_passes(tiny: Path, end: int, tmp_path: Path) -> None:
    done = probed(tiny, "--batch", written(tmp_path / "b.jsonl", end, lambda m, b, e: m))
    assert (done.code, done.codes, done.result["faulty_rows"]) == (0, [], 0)
    assert done.result["facts"] == {"probe.mask.right": "yes"} and done.result["totals"]["ok"] == 26
    short = probed(tiny, "--batch", written(tmp_path / "s.jsonl", end, lambda m, b, e: m[b:e]))
    assert short.code == 0, "a mask over the response alone"


def test_tool_output_in_the_loss(tiny: Path, end: int, tmp_path: Path) -> None:
    batch = written(tmp_path / "b.jsonl", end, lambda m, b, e: m, tool_spans=[[1, 3]])
    done = probed(tiny, "--batch", batch)
    assert done.codes == ["MASK.TOOL"] and done.result["rows"][0]["tool"] == [4, 5]
    right = written(
        tmp_path / "r.jsonl", end, lambda m, b, e: set_to(0, b + 1, b + 2)(m), tool_spans=[[1, 3]]
    )
    assert probed(tiny, "--batch", right).code == 0


def test_padding_that_equals_the_end_token(tiny: Path, end: int, tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.mkdir()
    for file in tiny.iterdir():
        (model / file.name).write_bytes(file.read_bytes())
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"pad_token_id": end}))
    record = {"prompt_ids": [10, 11], "response_ids": [30, 31, end, end, end]}
    for mask, codes in (
        ([1, 1, 1, 0, 0], []),
        ([1, 1, 1, 1, 0], ["MASK.PADDING"]),
        ([1, 1, 0, 0, 0], ["MASK.EOS"]),
    ):
        (tmp_path / "b.jsonl").write_text(json.dumps(record | {"loss_mask": mask}))
        assert probed(model, "--batch", str(tmp_path / "b.jsonl")).codes == codes


def test_truncated_rows_may_be_left_out_if_the_run_says_so(tiny: Path, end: int, tmp_path: Path) -> None:
    rows = [
        {"prompt_ids": [10, 11], "response_ids": [30, 31], "loss_mask": [0, 0]},
        {"prompt_ids": [10, 11], "response_ids": [30, end], "loss_mask": [1, 1]},
    ]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert probed(tiny, "--batch", str(tmp_path / "b.jsonl")).code == 1
    done = probed(tiny, "--batch", str(tmp_path / "b.jsonl"), "--truncated-masked")
    assert (done.code, done.result["verdict"], done.codes) == (0, "warn", ["MASK.ROW_EMPTY"])
    assert done.result["facts"] == {"probe.mask.right": "yes"}


def test_whole_rows_with_labels_and_left_padding(tiny: Path, end: int, tmp_path: Path) -> None:
    ids = [0, 0, 10, 11, 12, 30, 31, end, 0]
    row = {
        "input_ids": ids,
        "attention_mask": [0, 0, 1, 1, 1, 1, 1, 1, 0],
        "prompt_length": 3,
        "labels": [-100] * 5 + ids[5:8] + [-100],
    }
    (tmp_path / "b.jsonl").write_text(json.dumps(row))
    assert probed(tiny, "--batch", str(tmp_path / "b.jsonl")).code == 0
    (tmp_path / "b.jsonl").write_text(json.dumps(row | {"labels": [0, *row["labels"][1:]]}))
    assert probed(tiny, "--batch", str(tmp_path / "b.jsonl")).result["rows"][0]["pad"] == [0]


@pytest.mark.parametrize(
    ("function", "codes", "counts"),
    [
        ("clean", [], (0, 0, 0)),
        ("unshifted_mask", ["MASK.SHIFTED"], (0, 2, 2)),
        ("shifted_twice", ["MASK.SHIFTED"], (2, 2, 0)),
        ("everything", ["MASK.PROMPT", "MASK.PADDING"], None),
    ],
)
def test_a_loss_function_is_read_by_its_gradient(
    tiny: Path, tmp_path: Path, function: str, codes: list[str], counts: tuple[int, int, int] | None
) -> None:
    (tmp_path / "loss.py").write_text(LOSS)
    done = probed(tiny, "--loss", f"{tmp_path / 'loss.py'}:{function}", "--n", "2", "--max-new", "12")
    assert done.codes == codes and done.result["basis"] == "gradient", done.error
    totals = done.result["totals"]
    if counts:
        assert (totals["prompt"], totals["missing"], totals["pad"]) == counts


def test_nothing_of_the_run_gives_no_fact(tiny: Path) -> None:
    done = probed(tiny)
    assert (done.code, done.result["facts"]) == (3, {}) and "--batch" in done.result["limits"][0]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"prompt_ids": [1], "response_ids": [2, 3], "loss_mask": [1]}, "has 1 entries; 2"),
        ({"prompt_ids": [1], "response_ids": [2], "loss_mask": [2]}, "a list of 0 and 1"),
        ({"input_ids": [1, 2], "loss_mask": [0, 1]}, "give 'prompt_length'"),
        ({"prompt_ids": [1], "response_ids": [2], "loss_mask": [1], "tool_spans": [3]}, "must be pairs"),
    ],
)
def test_bad_records_name_the_line(tiny: Path, tmp_path: Path, record: dict[str, Any], words: str) -> None:
    (tmp_path / "b.jsonl").write_text(json.dumps(record))
    done = probed(tiny, "--batch", str(tmp_path / "b.jsonl"))
    assert done.code == 2 and done.error and words in done.error and "b.jsonl:1" in done.error
