"""The calculators as a form: the run's own numbers filled in, the answer beside them while one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label

from ...calculators.forms import CALCULATORS, Calculator, Field
from ..calculating import inputs_of
from ..keymap import bindings
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.text import clean_line
from .sheet import Sheet

if TYPE_CHECKING:
    from ..app import GrpoApp


class CalculatorScreen(Sheet[None]):
    """One calculator at a time; the page keys go to the next one."""

    CSS_PATH = "calculator.tcss"
    BINDINGS = bindings("calculator")

    def __init__(self, app: GrpoApp, calculator: str = "budget") -> None:
        super().__init__()
        self._grpo = app
        self._which = calculator

    @property
    def calculator(self) -> Calculator:
        return CALCULATORS[self._which]

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            with Container(id="panes"):
                yield VerticalScroll(id="fields", can_focus=False)
                yield Page(id="answer", can_focus=True)
            yield KeyBar("calculator")

    async def on_mount(self) -> None:
        await self._show()

    async def _show(self) -> None:
        """Fill the form with what the run knows."""
        names = list(CALCULATORS)
        box = self.query_one("#box")
        box.border_title = f"calculate: {self._which}"
        box.border_subtitle = f"{names.index(self._which) + 1} of {len(names)}: {', '.join(names)}"
        fields = self.query_one("#fields")
        known = inputs_of(self._grpo.snapshot, self._which)
        await fields.remove_children()
        rows: list[Label | Input] = []
        for field in self.calculator.fields:
            text = _text_of(known.get(field.name, field.default))
            source = "  from this run" if field.name in known else ""
            hint = f" ({', '.join(field.choices)})" if field.choices else ""
            rows.append(Label(f"{field.help}{hint}{source}", markup=False))
            rows.append(Input(text, id=f"field-{field.name}", placeholder="may stay empty"))
        await fields.mount(*rows)
        first = fields.query(Input).first()
        first.focus()
        self._answer()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._answer()

    def _answer(self) -> None:
        page = self.query_one("#answer", Page)
        if len(self.query(Input)) != len(self.calculator.fields):
            return
        try:
            inputs = self._inputs()
            answer = self.calculator.answer(**inputs)
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            page.write([Content.styled(clean_line(str(error)), "$warning")])
            return
        lines = [Content.styled(f"▲ {clean_line(warning)}", "bold $warning") for warning in answer.warnings]
        page.write([*lines, *(Content(clean_line(line)) for line in answer.lines)])

    def _inputs(self) -> dict[str, Any]:
        """The fields as numbers. Raises ValueError that names the field."""
        inputs = {}
        for field in self.calculator.fields:
            text = self.query_one(f"#field-{field.name}", Input).value.strip()
            if text:
                inputs[field.name] = _value_of(field, text)
        return inputs

    async def action_next(self, by: int) -> None:
        names = list(CALCULATORS)
        self._which = names[(names.index(self._which) + by) % len(names)]
        await self._show()

    def action_close(self) -> None:
        self.dismiss()


def _text_of(value: Any) -> str:
    if value is None or value == ():
        return ""
    return " ".join(f"{one:g}" for one in value) if isinstance(value, tuple | list) else str(value)


def _value_of(field: Field, text: str) -> Any:
    """A field's text as what the calculator takes. Raises ValueError with one line."""
    try:
        match field.kind:
            case "count":
                number = float(text)
                if number != int(number):
                    raise ValueError
                return int(number)
            case "number":
                return float(text)
            case "numbers":
                return [float(part) for part in text.replace(",", " ").split()]
    except (ValueError, OverflowError) as error:
        kinds = {"count": "a whole number", "number": "a number", "numbers": "numbers"}
        raise ValueError(f"{field.help}: {text!r} is not {kinds.get(field.kind, field.kind)}") from error
    if field.choices and text not in field.choices:
        raise ValueError(f"{field.help}: one of {', '.join(field.choices)}")
    return text
