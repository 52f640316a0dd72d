"""A person's own keys: read from a file, put over the table, and never in the way of the run."""

import os
import subprocess
import sys
from pathlib import Path

from grpo_tui.tui.key_sets import SETS, read_keys, with_keys
from grpo_tui.tui.key_table import TABLE


def table_with(path: Path, text: str) -> dict[str, str]:
    path.write_text(text, encoding="utf-8")
    return {key.id: key.keys for key in with_keys(TABLE, read_keys(path).keys)}


def test_single_keys_and_a_set_by_name(tmp_path: Path) -> None:
    keys = table_with(
        tmp_path / "keys.yaml", "set: vim\nkeys:\n  app.alarms: A\n  overview.filter: 'ctrl+f'\n"
    )
    assert keys["app.alarms"] == "A" and keys["overview.filter"] == "ctrl+f"
    assert "j" in keys["overview.down"].split(",") and keys["app.log"] == "L"


def test_a_key_taken_by_one_action_leaves_the_others_of_its_place(tmp_path: Path) -> None:
    keys = table_with(tmp_path / "keys.yaml", "keys: {app.alarms: t}\n")
    assert keys["app.alarms"] == "t" and "t" not in keys.get("app.triage", "").split(",")
    assert keys["walk.back"] == "b", "another place keeps its own"


def test_punctuation_goes_by_the_name_that_textual_gives_it(tmp_path: Path) -> None:
    assert table_with(tmp_path / "keys.yaml", "keys: {app.help: '!'}\n")["app.help"] == "exclamation_mark"


def test_what_cannot_be_used_is_said_and_left_at_its_default(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    keys = table_with(path, "set: emacs\nmore: 1\nkeys:\n  app.nothing: x\n  app.log: [1]\n")
    problems = read_keys(path).problems
    assert len(problems) == 4 and all(str(path) in line and "\n" not in line for line in problems)
    assert keys == {key.id: key.keys for key in TABLE}
    for broken in ("[", "just text", "\x00", "keys: 7"):
        table_with(path, broken)
        assert len(read_keys(path).problems) == 1


def test_every_set_names_keys_that_exist() -> None:
    known = {key.id for key in TABLE}
    assert all(name in known or name.startswith("chart.") for keys in SETS.values() for name in keys)


def test_no_two_actions_of_a_place_share_a_key_in_any_set() -> None:
    for name, keys in SETS.items():
        seen: dict[tuple[str, str], str] = {}
        for key in with_keys(TABLE, keys):
            for one in key.keys.split(","):
                other = seen.setdefault((key.place, one), key.id)
                assert other == key.id or key.place == "probe", (name, one, other, key.id)


def test_the_app_takes_the_file_at_its_start(tmp_path: Path) -> None:
    (tmp_path / "keys.yaml").write_text("set: vim\n", encoding="utf-8")
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from grpo_tui.tui.keymap import KEYS; print([k.keys for k in KEYS if k.id == 'app.log'])",
        ],
        env={**os.environ, "GRPO_TUI_KEYS": str(tmp_path / "keys.yaml")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "['L']"
