"""Workspace files: whole where there were none, merged where there were some, never at a person's cost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.cli import build_parser, main
from grpo_tui.editor.vscode import FOLDER, SCHEMA_NAME, files, tasks


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / FOLDER / name).read_text())


def test_a_new_workspace_gets_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vscode", "init", str(tmp_path)]) == 0
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == [
        "extensions.json",
        SCHEMA_NAME,
        "settings.json",
        "tasks.json",
    ]
    assert read(tmp_path, "settings.json")["yaml.schemas"] == {
        f"./{FOLDER}/{SCHEMA_NAME}": ["playbooks/**/*.yaml", "**/*.playbook.yaml"]
    }
    assert "entropy" in (tmp_path / FOLDER / SCHEMA_NAME).read_text()
    assert "Run Task" in capsys.readouterr().out


def test_a_second_time_nothing_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["vscode", "init", str(tmp_path)])
    before = {path: path.read_text() for path in (tmp_path / FOLDER).iterdir()}
    capsys.readouterr()
    assert main(["vscode", "init", str(tmp_path)]) == 0
    assert {path: path.read_text() for path in (tmp_path / FOLDER).iterdir()} == before
    assert "written" not in capsys.readouterr().out


def test_what_a_person_set_stays(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    mine = {"editor.rulers": [100], "terminal.integrated.tabs.title": "mine", "yaml.schemas": {"a": "b/*"}}
    (folder / "settings.json").write_text(json.dumps(mine))
    own = {"label": "grpo-tui: watch", "command": "my-own"}
    (folder / "tasks.json").write_text(json.dumps({"version": "2.0.0", "tasks": [own]}))
    assert main(["vscode", "init", str(tmp_path)]) == 0
    settings = read(tmp_path, "settings.json")
    assert settings["terminal.integrated.tabs.title"] == "mine" and settings["editor.rulers"] == [100]
    assert list(settings["yaml.schemas"]) == ["a", f"./{FOLDER}/{SCHEMA_NAME}"]
    held = read(tmp_path, "tasks.json")["tasks"]
    assert held[0] == own and len(held) == len(tasks()["tasks"])


def test_a_file_with_comments_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "tasks.json").write_text('{\n  // mine\n  "tasks": []\n}\n')
    assert main(["vscode", "init", str(tmp_path)]) == 2
    assert (folder / "tasks.json").read_text() == '{\n  // mine\n  "tasks": []\n}\n'
    said = capsys.readouterr().err
    assert "left alone" in said and "--print" in said


def test_every_task_is_a_command_that_there_is() -> None:
    for task in tasks()["tasks"]:
        words = [word.replace("${input:grpoTuiRun}", "outputs") for word in task["args"]]
        assert build_parser().parse_args(words).command == words[0]


def test_the_matcher_reads_what_check_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = tmp_path / "broken.yaml"
    book.write_text("playbook: broken\nformat: 1\ntitel: x\n")
    assert main(["playbook", "check", "--format", "problems", str(book)]) == 2
    check = next(task for task in tasks()["tasks"] if task["problemMatcher"])
    pattern = check["problemMatcher"]["pattern"]
    found = [re.match(pattern["regexp"], line) for line in capsys.readouterr().out.splitlines()]
    hits = [match for match in found if match]
    assert hits and hits[0][pattern["file"]] == str(book) and int(hits[0][pattern["line"]]) >= 1


def test_print_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vscode", "init", str(tmp_path), "--print"]) == 0
    assert list(tmp_path.iterdir()) == [] and "yaml.schemas" in capsys.readouterr().out
    assert set(files()) == {
        f"{FOLDER}/{n}" for n in ("tasks.json", "settings.json", "extensions.json", SCHEMA_NAME)
    }
