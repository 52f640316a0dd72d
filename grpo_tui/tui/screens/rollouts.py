"""What the policy wrote: the sampled responses of one step, group by group."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from .. import format as form
from ..keymap import bindings
from ..rollout_step import RolloutStep, read_step
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.row_list import RowList
from ..widgets.text import clean_label, clean_line, fit

if TYPE_CHECKING:
    from ...sources.records import Group
    from ...sources.rollout_facts import RolloutFacts
    from ..app import GrpoApp

NONE = (
    "No rollouts on disk beside this run.\n\n"
    "TRL writes them with log_completions, verl with rollout_data_dir."
)
_LONGEST = 4_000
_TITLE = 24
_LABEL = 8


class RolloutScreen(ModalScreen[None]):
    """Groups on the left, the responses of one on the right; the newest step first."""

    CSS_PATH = "rollouts.tcss"
    BINDINGS = bindings("rollouts")

    def __init__(self, app: GrpoApp) -> None:
        super().__init__()
        self._grpo = app
        self._files: list[Path] = []
        self._step: RolloutStep | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("reading …", id="facts", markup=False)
            with Container(id="panes"):
                yield RowList()
                yield Page(id="responses")
            yield KeyBar("rollouts")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "rollouts"
        self._open()

    @work(exclusive=True)
    async def _open(self, place: int | None = None) -> None:
        if not self._files:
            self._files = await self._grpo.ask(self._grpo.desk.rollout_files)
        if not self._files:
            self.query_one("#facts", Static).update(NONE)
            return
        last = len(self._files) - 1
        wanted = last if place is None else min(max(0, place), last)
        self._step = await asyncio.to_thread(read_step, self._files, wanted)
        self._show(self._step)

    def _show(self, step: RolloutStep) -> None:
        box = self.query_one("#box")
        at = f"step {step.groups[0].step} · " if step.groups else ""
        box.border_title = Content(f"rollouts: {at}{clean_label(step.path.name)}")
        box.border_subtitle = Content(f"file {step.place + 1} of {step.of}")
        text = step.trouble or (facts_text(step.facts) if step.facts else "this file holds no group")
        self.query_one("#facts", Static).update(clean_line(text))
        groups = self.query_one(OptionList)
        groups.clear_options()
        groups.add_options([Option(group_title(group)) for group in step.groups])
        if step.groups:
            groups.highlighted = 0
            groups.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._step is not None and event.option_index < len(self._step.groups):
            page = self.query_one("#responses", Page)
            page.write(group_lines(self._step.groups[event.option_index]))
            page.scroll_home(animate=False)

    def action_step(self, by: int) -> None:
        if self._step is not None:
            self._open(self._step.place + by)

    def action_scroll(self, direction: int) -> None:
        page = self.query_one("#responses", Page)
        page.scroll_relative(y=direction * max(1, page.size.height - 1), animate=False)

    def action_close(self) -> None:
        self.dismiss()


def facts_text(facts: RolloutFacts) -> str:
    """The step in one line."""
    parts = [f"{facts.groups} groups", f"{facts.responses} responses", f"{facts.distinct_texts} distinct"]
    for name, share in (
        ("without reward spread", facts.zero_variance),
        ("all right", facts.all_right),
        ("all wrong", facts.all_wrong),
        ("near-identical", facts.near_identical),
        ("cut off", facts.truncated),
    ):
        if share is not None:
            parts.append(f"{share:.0%} {name}")
    if facts.empty_texts:
        parts.append(f"{facts.empty_texts} empty")
    if facts.tokens is not None:
        parts.append(f"{facts.tokens.median:.0f} tokens ({facts.tokens.least:.0f}–{facts.tokens.most:.0f})")
    if facts.answers:
        answer, share = facts.answers[0]
        parts.append(f"{share:.0%} answer {clean_label(answer)[:24]}")
    return " · ".join(parts)


def group_title(group: Group) -> Content:
    """Rewards first, then the prompt's beginning."""
    rewards = [response.reward for response in group.responses if response.reward is not None]
    spread = f"{form.number(min(rewards), 3)}…{form.number(max(rewards), 3)}" if rewards else "no reward"
    if rewards and min(rewards) == max(rewards):
        spread = f"all {form.number(rewards[0], 3)}"
    prompt = fit(clean_label(group.prompt), _TITLE)
    return Content.assemble(
        (f"{len(group.responses)} × ", "$faint"), (spread, "bold"), (f"\n  {prompt}", "$faint")
    )


def group_lines(group: Group) -> list[Content | tuple[int, Content]]:
    """Prompt, gold answer, then every response under its reward."""
    lines = labelled("prompt", group.prompt)
    if group.gold is not None:
        lines += labelled("gold", group.gold)
    for number, response in enumerate(group.responses, 1):
        parts = ", ".join(
            f"{clean_label(name)} {form.number(value, 3)}" for name, value in response.parts.items()
        )
        reward = (f"reward {form.number(response.reward, 3)}", "bold")
        head = Content.assemble((f"response {number}  ", "bold $accent"), reward, (f"  {parts}", "$faint"))
        lines += [Content(""), head, *body(response.text)]
    return lines


def labelled(label: str, text: str) -> list[Content | tuple[int, Content]]:
    """Foreign text beside a label."""
    first, *others = body(text)
    head = Content.assemble((label.ljust(_LABEL), "$faint"), first)
    return [(_LABEL, head), *((_LABEL, Content(" " * _LABEL) + line) for line in others)]


def body(text: str) -> list[Content]:
    """Foreign text, line by line, as it stands; a very long one is cut and says so."""
    if not text.strip():
        return [Content.styled("(empty)", "$faint")]
    lines = [Content(clean_line(line)) for line in text[:_LONGEST].splitlines()]
    if len(text) > _LONGEST:
        lines.append(Content.styled(f"… {len(text) - _LONGEST} more characters", "$faint"))
    return lines
