"""Which command opens a file at a line, by what the terminal and the environment say."""

from pathlib import Path

import pytest

from grpo_tui.editor.opening import Opening, opening
from grpo_tui.editor.vscode import EditorError

LOG = Path("/runs/train.log")


def everywhere(name: str) -> str:
    return f"/bin/{Path(name).name}"


@pytest.mark.parametrize(
    ("environment", "words", "takes"),
    [
        ({"TERM_PROGRAM": "vscode", "EDITOR": "vim"}, ("/bin/code", "--goto", "/runs/train.log:7"), False),
        ({"EDITOR": "vim"}, ("vim", "+7", "/runs/train.log"), True),
        ({"EDITOR": "vim", "VISUAL": "nano -w"}, ("nano", "-w", "+7", "/runs/train.log"), True),
        ({"VISUAL": "code --wait"}, ("code", "--wait", "--goto", "/runs/train.log:7"), False),
        ({"EDITOR": "hx"}, ("hx", "/runs/train.log:7"), True),
        ({"EDITOR": "/opt/own-editor"}, ("/opt/own-editor", "/runs/train.log"), True),
    ],
)
def test_the_line_is_handed_over_as_the_editor_takes_it(
    environment: dict[str, str], words: tuple[str, ...], takes: bool
) -> None:
    assert opening(LOG, 7, environment, everywhere) == Opening(words, takes)


def test_without_a_line_the_file_alone() -> None:
    assert opening(LOG, None, {"EDITOR": "vim"}, everywhere).words == ("vim", "/runs/train.log")


def test_vscode_without_its_command_falls_back() -> None:
    found = opening(
        LOG, 7, {"TERM_PROGRAM": "vscode", "EDITOR": "vim"}, lambda name: {"vim": "vim"}.get(name)
    )
    assert found.words[0] == "vim"


@pytest.mark.parametrize("environment", [{}, {"EDITOR": "gone"}, {"EDITOR": "'unclosed"}])
def test_what_is_missing_is_told_with_the_place(environment: dict[str, str]) -> None:
    with pytest.raises(EditorError, match=r"/runs/train\.log:7: .*EDITOR"):
        opening(LOG, 7, environment, lambda name: None)
