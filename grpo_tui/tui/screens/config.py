"""The run's settings as they take effect: what decides a diagnosis first, against the baseline's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from .. import format as form
from ..keymap import bindings
from ..query import BadQuery, Query, parse
from ..setting_effects import EFFECTS
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.text import clean_label, clean_line
from .dialogs import TextDialog
from .sheet import Sheet

if TYPE_CHECKING:
    from ...sources.settings.config import ConfigValue
    from ..app import GrpoApp
    from ..snapshot import Snapshot

NONE = "No setting was found. Give the run's configuration with --config FILE."
Line = Content | tuple[int, Content]
_NOTHING: Mapping[str, Any] = {}


class ConfigScreen(Sheet[None]):
    """One line a setting; `d` leaves only what differs from the baseline."""

    CSS_PATH = "config.tcss"
    BINDINGS = bindings("config")

    def __init__(self, app: GrpoApp) -> None:
        super().__init__()
        self._grpo = app
        self._only_different = False
        self._query = Query()

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Page(id="settings", can_focus=True)
            yield KeyBar("config")

    def on_mount(self) -> None:
        self._show()
        self.query_one(Page).focus()

    def _show(self) -> None:
        snapshot = self._grpo.snapshot
        box = self.query_one("#box")
        box.border_title = "configuration"
        parts = [f"filter “{self._query.text}”"] if self._query else []
        parts += ["only what differs from the baseline"] if self._only_different else []
        box.border_subtitle = Content(" · ".join(parts))
        self.query_one(Page).write(self._lines(snapshot))

    def _lines(self, snapshot: Snapshot) -> list[Line]:
        config = {
            key: value
            for key, value in snapshot.config.items()
            if self._query.matches(f"{key} {value.raw} {value.value}")
        }
        other = snapshot.baseline_config
        if self._only_different:
            config = {key: value for key, value in config.items() if differs(value, other.get(key))}
        budget = [] if self._query or self._only_different else budget_lines(snapshot)
        return [*budget, *setting_lines(config, snapshot.warnings, other)]

    def action_difference(self) -> None:
        """Only what differs from the baseline, or everything."""
        if not self._grpo.snapshot.baseline_config:
            self._grpo.say("there is no baseline; start with --baseline RUN, or mark a run under runs (u)")
            return
        self._only_different = not self._only_different
        self._show()

    @work
    async def action_filter(self) -> None:
        text = await self.app.push_screen_wait(
            TextDialog("Show settings that match", self._query.text, "clip|kl   !dtype   learning")
        )
        if text is None:
            return
        try:
            self._query = parse(text)
        except BadQuery as error:
            self._grpo.say(str(error), "warning")
        self._show()

    def action_calculate(self) -> None:
        self._grpo.action_calculate()

    def action_close(self) -> None:
        self.dismiss()


def differs(value: ConfigValue, other: ConfigValue | None) -> bool:
    """Whether two runs have another value of a setting; one that only one of them has differs."""
    return other is None or str(other.value) != str(value.value)


def setting_lines(
    config: Mapping[str, ConfigValue],
    notes: tuple[str, ...],
    other: Mapping[str, ConfigValue] = _NOTHING,
) -> list[Line]:
    """What decides a diagnosis, then what the run states, then defaults, then what could not be read."""
    if not config and not notes:
        return [Content(NONE)]
    width = max((len(key) for key in config), default=0) + 2
    order = {key: place for place, key in enumerate(EFFECTS)}
    deciding = sorted((key for key in config if key in EFFECTS), key=lambda key: order[key])
    others = [key for key in config if key not in EFFECTS]
    parts = [
        ("what decides a diagnosis", deciding),
        ("stated by the run", [key for key in others if not config[key].default]),
        (
            "defaults of the framework, as far as its version is known",
            [k for k in others if config[k].default],
        ),
    ]
    lines: list[Line] = []
    for head, keys in parts:
        if keys:
            lines.append(Content.styled(head, "$faint"))
            for key in keys:
                lines += _lines_of(config[key], width, other)
            lines.append(Content(""))
    if notes:
        lines += [
            Content.styled("notes on reading", "$faint"),
            *(Content(f"• {clean_line(note)}") for note in notes),
        ]
    return lines


def _lines_of(value: ConfigValue, width: int, other: Mapping[str, ConfigValue]) -> list[Line]:
    """The value, whether it is a default, what the baseline has, and what follows from it."""
    text = clean_line(form.plain(value.value).replace("\n", " "))
    raw = f"  {clean_label(value.raw)}" if value.raw != value.key else ""
    default = "  (default)" if value.default else ""
    held = other.get(value.key)
    against = ""
    if other and differs(value, held):
        against = f"  ≠ baseline {clean_line(form.plain(held.value)) if held is not None else 'not known'}"
    line = Content.assemble(
        clean_label(value.key).ljust(width),
        (text, "$faint" if value.default else "bold"),
        (default, "$faint"),
        (against, "bold $warning"),
        (raw, "$faint"),
    )
    effect = EFFECTS.get(value.key)
    if effect is None:
        return [(width, line)]
    return [(width, line), (width, Content.assemble(" " * width, (effect, "$faint")))]


def budget_lines(snapshot: Snapshot) -> list[Line]:
    """Completions and prompts per update, by this run's own settings; what is missing is named."""
    from ...calculators.forms import CALCULATORS
    from ..calculating import inputs_of, missing_of

    inputs = inputs_of(snapshot, "budget")
    missing = missing_of(inputs, ("batch", "accumulation", "size"))
    if missing:
        return [
            Content.styled(f"budget: not known without {', '.join(missing)} (k calculates)", "$faint"),
            Content(""),
        ]
    try:
        answer = CALCULATORS["budget"].answer(**inputs)
    except ValueError as error:
        return [Content.styled(f"budget: {clean_line(str(error))}", "$warning"), Content("")]
    lines: list[Line] = [Content.styled("budget, from these settings (k calculates)", "$faint")]
    lines += [Content(clean_line(line)) for line in answer.lines]
    lines += [Content.styled(f"▲ {clean_line(warning)}", "$warning") for warning in answer.warnings]
    return [*lines, Content("")]
