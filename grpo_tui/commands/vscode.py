"""`grpo-tui vscode init`: what VS Code needs to feel at home, merged into what is there already."""

from __future__ import annotations

from argparse import Namespace

from .output import complain


def run(options: Namespace) -> int:
    from ..editor.vscode import EditorError, files, plan, write

    folder = options.folder
    if options.print:
        for name, text in files().items():
            print(f"// {name}\n{text}")
        return 0
    if not folder.is_dir():
        return complain(f"{folder}: is no folder; name the workspace that VS Code has open")
    try:
        for change in plan(folder):
            write(change)
            print(f"{change.path}: {change.what}")
    except EditorError as error:
        return complain(str(error))
    except OSError as error:
        return complain(f"{error.filename}: cannot be written ({error.strerror})")
    print("now: Terminal > Run Task > grpo-tui, and `${progress}` in the tab's title shows the run")
    return 0
