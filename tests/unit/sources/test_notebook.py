"""The table that a trainer draws into a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo_tui.run import Run

TABLE = """
<div><progress value='3' max='250'></progress>[  3/250 01:00 < 10:00, 0.1 it/s, Epoch 0.1/1]</div>
<table border="1" class="dataframe"><thead><tr style="text-align: left;">
<th>Step</th><th>Training Loss</th><th>reward</th><th>completions / mean_length</th><th>kl</th></tr></thead>
<tbody>%s</tbody></table><p>
"""
ROW = "<tr><td>%d</td><td>0.000100</td><td>%.6f</td><td>120.5</td><td>No log</td></tr>"


def notebook(path: Path, *outputs: str) -> Path:
    cells = [{"cell_type": "markdown", "source": ["# GRPO"]}]
    for html in outputs:
        data = {
            "text/html": html.splitlines(keepends=True),
            "text/plain": ["<IPython.core.display.HTML object>"],
        }
        cells.append({"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data}]})
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    return path


def test_the_rows_of_a_training(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "train.ipynb", "<b>hello</b>", TABLE % "".join(ROW % (i, i / 4) for i in (1, 2, 3))
    )
    for place in (path, tmp_path):
        run = Run.open(place)
        run.poll(final=True)
        assert run.framework == "trl" and run.steps() == [1, 2, 3] and run.total_steps == 250
        assert run.points("reward_mean").values.tolist() == [0.25, 0.5, 0.75]
        assert run.points("response_length_mean").values.tolist() == [120.5] * 3 and not len(
            run.points("kl_ref")
        )


def test_a_second_training_is_another_segment(tmp_path: Path) -> None:
    tables = [TABLE % "".join(ROW % (i, i / 8) for i in steps) for steps in ((1, 2, 3), (1, 2))]
    run = Run.open(notebook(tmp_path / "train.ipynb", *tables))
    run.poll(final=True)
    assert len(run.segments) == 2 and run.steps() == [1, 2]


@pytest.mark.parametrize("outputs", [(), ("<table><tr><th>a</th></tr></table>",)])
def test_a_notebook_without_such_a_table(tmp_path: Path, outputs: tuple[str, ...]) -> None:
    run = Run.open(notebook(tmp_path / "train.ipynb", *outputs))
    run.poll(final=True)
    assert not run.steps() and any("no output" in warning for warning in run.warnings)
