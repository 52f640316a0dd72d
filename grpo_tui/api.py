"""A run in a notebook: its metrics as a table, its configuration, its incidents, and what is wrong with it.

    >>> import grpo_tui
    >>> run = grpo_tui.open_run("outputs/my-run")        # doctest: +SKIP
    >>> run.metrics["reward_mean"].plot()                # doctest: +SKIP

The same reading that the app does, with nothing of a screen in it. A log that is still written is read up
to now; `refresh` reads on.

    >>> import json, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = pathlib.Path(folder.name) / "metrics.jsonl"
    >>> rows = [{"step": i, "reward": i / 4, "frac_reward_zero_std": 0.25} for i in range(1, 4)]
    >>> _ = log.write_text("".join(json.dumps(row) + chr(10) for row in rows))
    >>> run = grpo_tui.open_run(log)
    >>> run.metrics[["reward_mean", "zero_std_group_frac"]]
          reward_mean  zero_std_group_frac
    step
    1            0.25                 0.25
    2            0.50                 0.25
    3            0.75                 0.25
    >>> run.framework, run.state, run.metrics.attrs["raw"]["reward_mean"]
    ('trl', 'running', 'reward')
    >>> run.derived
          effective_group_frac
    step
    1                     0.75
    2                     0.75
    3                     0.75
    >>> with log.open("a") as handle:
    ...     _ = handle.write(json.dumps({"step": 4, "reward": 1.0}) + chr(10))
    >>> int(run.refresh().metrics.index[-1])
    4
    >>> len(run.incidents)
    0
    >>> folder.cleanup()

A run that ships with the package shows the rest: settings with where they come from, sampled responses, what
follows from them, a metric in words, and the verdict.

    >>> from grpo_tui.demo import DEMOS
    >>> run = grpo_tui.open_run(DEMOS["lr-too-high"].folder)
    >>> run
    <run ...lr-too-high of trl: ended, step 30>
    >>> run.configuration.loc[["group_size", "learning_rate"], ["value", "raw", "default"]]
                  value              raw  default
    key
    group_size        8  num_generations    False
    learning_rate  0.03    learning_rate    False
    >>> run.raw_metrics["frac_reward_zero_std"].tail(2).tolist()
    [1.0, 1.0]
    >>> run.rollouts[["step", "group", "reward"]].head(2)
       step  group  reward
    0    30      0     1.0
    1    30      0     1.0
    >>> [int(table["reward"].nunique()) for table in (run.rollouts_at(1), run.rollouts)]
    [..., 1]
    >>> run.derived.attrs["formula"]["effective_group_frac"]
    '1 - zero_std_group_frac'
    >>> print(run.explain("reward_std").of("not")[0])
    Not the spread within groups in TRL from 0.27: it no longer shows that groups collapse.
    >>> report = run.diagnose()
    >>> report.diagnosis, report.status
    ('collapse.dead-lock', 'confirmed')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .run import Run, Segment

if TYPE_CHECKING:
    import pandas as pd

    from .diagnose import Report
    from .metrics.explanation import Explanation
    from .sources.records import Group

__all__ = ["OpenRun", "open_run"]


def open_run(path: str | Path, *, config: str | Path | None = None) -> OpenRun:
    """Open the run at a log file or a run directory and read it up to now.

    `config` is a YAML or JSON file of settings that the run's folder lacks. Raises
    `grpo_tui.sources.errors.SourceError` with one clear line when there is nothing that can be read, or
    when the folder holds several runs (its `paths` are they).
    """
    return OpenRun(Run.open(path, config_file=Path(config) if config is not None else None)).refresh()


class OpenRun:
    """One run as tables. Each property describes what was read by the last `refresh`.

    `run` is the object underneath, with the canonical names, segments and curves that playbooks see.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def __repr__(self) -> str:
        return f"<run {self.run.address} of {self.framework}: {self.state}, step {self.run.step}>"

    def refresh(self) -> OpenRun:
        """Read on, up to the present end of every source."""
        while self.run.poll():
            pass
        self.run.poll(final=True)
        return self

    @property
    def framework(self) -> str:
        """`verl`, `trl`, …; `unknown` where nothing gave it away."""
        return self.run.framework

    @property
    def state(self) -> str:
        """`running`, `stalled`, `ended`, `died` or `unknown`."""
        return self.run.state()

    @property
    def metrics(self) -> pd.DataFrame:
        """Every metric of the newest segment: a row a step, canonical names (or the run's own) as columns.

        NaN is both "not logged at this step" and "logged as NaN". `attrs["raw"]` maps a column to what
        the run itself calls it.
        """
        return self._table(self.run.names())

    @property
    def raw_metrics(self) -> pd.DataFrame:
        """The same table under the names that the run itself writes; `attrs["canonical"]` maps them back."""
        frame = self._table(self.run.names())
        raw: dict[str, str] = frame.attrs["raw"]
        frame = frame.rename(columns=raw)
        frame.attrs = {"canonical": {own: name for name, own in raw.items()}}
        return frame

    @property
    def derived(self) -> pd.DataFrame:
        """Metrics that the run does not log but that follow from it; `attrs["formula"]` says how."""
        frame = self._table(self.run.derived)
        frame.attrs = {"formula": {name: self.run.derivation(name).formula for name in frame.columns}}
        return frame

    @property
    def segments(self) -> list[Segment]:
        """The stretches of training, oldest first: another begins where steps went back."""
        return self.run.segments

    @property
    def configuration(self) -> pd.DataFrame:
        """The settings under canonical keys: `value`, the run's own key as `raw`, whether a `default`."""
        import pandas as pd

        held = self.run.config
        return pd.DataFrame(
            {
                "value": pd.Series([setting.value for setting in held.values()], dtype=object),
                "raw": [setting.raw for setting in held.values()],
                "default": [setting.default for setting in held.values()],
            },
        ).set_index(pd.Index(list(held), name="key"))

    @property
    def incidents(self) -> pd.DataFrame:
        """Console lines that are facts (an exception, out of memory, …): `kind`, `step`, `line`, `text`."""
        import pandas as pd

        rows = [(held.kind, held.step, held.line, held.text) for held in self.run.incidents]
        return pd.DataFrame(rows, columns=["kind", "step", "line", "text"]).astype({"step": "Int64"})

    @property
    def rollouts(self) -> pd.DataFrame:
        """The newest step's sampled responses, a row each; empty where the run dumps none.

        `step`, `group`, `prompt`, `response`, `reward`, `gold`, and a column for each part of the reward.
        """
        return _responses(self.run.groups())

    def rollouts_at(self, *steps: int) -> pd.DataFrame:
        """The same of certain steps. Only files that can hold them are read; a broken one is passed over."""
        from .sources.errors import SourceError
        from .sources.rollouts.groups import read_groups, step_of

        wanted, groups = set(steps), []
        for path in self.run.rollout_files():
            if step_of(path) in {*wanted, None}:
                with suppress(SourceError):
                    groups += [group for group in read_groups(path) if group.step in wanted]
        return _responses(groups)

    def explain(self, name: str) -> Explanation:
        """One metric in words: what it is, its stage and policy, what it is not, its traps here, its origin.

        `name` is canonical, raw or that of a derived metric; `of(label)` gives the sentences of one kind.
        """
        from .explain import explain

        return explain(self.run, name)

    def diagnose(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        baseline: OpenRun | None = None,
        playbooks: Iterable[str | Path] = (),
    ) -> Report:
        """Alarms and ranked diagnoses, as `grpo-tui diagnose` gives them.

        `answers` maps observation ids to what a person saw; `playbooks` are folders of further playbooks.
        """
        from .diagnose import diagnose
        from .playbook.library import load_library

        other = baseline.run if baseline is not None else None
        return diagnose(self.run, load_library(playbooks), answers=answers, baseline=other)

    def _table(self, names: list[str]) -> pd.DataFrame:
        import pandas as pd

        columns = {}
        for name in names:
            points = self.run.points(name)
            columns[name] = pd.Series(points.values, index=points.steps)
        frame = pd.DataFrame(columns, index=pd.Index(self.run.steps(), name="step"))
        frame.attrs["raw"] = {name: self.run.raw_name(name) for name in names}
        return frame


def _responses(groups: Sequence[Group]) -> pd.DataFrame:
    """A row a response; the columns that every dump has come first."""
    import pandas as pd

    rows = [
        {
            "step": group.step,
            "group": i,
            "prompt": group.prompt,
            "response": response.text,
            "reward": response.reward,
            "gold": group.gold,
        }
        | {f"reward/{name}": value for name, value in response.parts.items()}
        for i, group in enumerate(groups)
        for response in group.responses
    ]
    return pd.DataFrame(
        rows, columns=None if rows else ["step", "group", "prompt", "response", "reward", "gold"]
    )
