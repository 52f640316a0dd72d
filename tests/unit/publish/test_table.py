"""A table read back is what was logged."""

import io
import math

import numpy as np
import pandas as pd

from grpo_tui.metrics.series import Points
from grpo_tui.publish.table import write_csv


def test_it_reads_back_as_it_was() -> None:
    reward = Points(np.array([1, 2, 4]), np.array([0.1, math.nan, 1 / 3]))
    grad = Points(np.array([2, 3]), np.array([math.inf, -2e-308]))
    file = io.StringIO()
    assert write_csv({"reward_mean": reward, "grad_norm": grad}, file) == 4
    text = file.getvalue()
    assert text.splitlines()[:3] == ["step,reward_mean,grad_norm", "1,0.1,", "2,nan,inf"]
    back = pd.read_csv(io.StringIO(text), index_col="step", keep_default_na=False, na_values=[""])
    assert float(back.loc[4, "reward_mean"]) == 1 / 3
    assert float(back.loc[3, "grad_norm"]) == -2e-308


def test_a_name_is_no_formula() -> None:
    file = io.StringIO()
    write_csv({"=cmd()": Points(np.array([1]), np.array([1.0]))}, file)
    assert file.getvalue().splitlines()[0] == "step,'=cmd()"
