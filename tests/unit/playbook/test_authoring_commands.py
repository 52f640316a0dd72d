"""`grpo-tui playbook`: what an author types, what comes out, and the exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playbook_support import GOOD

from grpo_tui.cli import main
from grpo_tui.playbook.authoring.problem_lines import PATTERN, check_task

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["playbook", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_new_playbook_passes_check_and_test(capsys: pytest.CaptureFixture[str], somewhere: Path) -> None:
    code, out, _ = said(capsys, "new", "kl-jump")
    assert code == 0 and "wrote playbooks/kl-jump.yaml" in out
    text = (somewhere / "playbooks" / "kl-jump.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./playbook.schema.json\nplaybook: kl-jump\n")
    schema = json.loads((somewhere / "playbooks" / "playbook.schema.json").read_text())
    assert schema["title"].startswith("grpo-tui playbook")
    assert said(capsys, "check", "playbooks")[:2] == (0, "1 playbook, 0 problems\n")
    code, out, _ = said(capsys, "test", "playbooks", "--coverage")
    assert code == 0 and "3 passed, 0 failed" in out and "4 of 4 branches" in out
    code, out, _ = said(capsys, "list")
    assert "kl-jump" in out and "[project: playbooks/kl-jump.yaml]" in out


@pytest.mark.parametrize("name", ["KL", "kl jump", "../kl", "", "-kl", "a" * 61, "kl_jump"])
def test_new_refuses_a_bad_name(capsys: pytest.CaptureFixture[str], name: str, somewhere: Path) -> None:
    try:
        code, _, err = said(capsys, "new", "--", name)
    except SystemExit as wrong:
        code, err = int(str(wrong.code)), "is no name for a playbook"
    assert code == 2 and "is no name for a playbook" in err
    assert not (somewhere / "playbooks").exists()


def test_new_never_writes_over_a_file(capsys: pytest.CaptureFixture[str], somewhere: Path) -> None:
    (somewhere / "books").mkdir()
    (somewhere / "books" / "mine.yaml").write_text("keep me")
    code, _, err = said(capsys, "new", "mine", "--dir", "books")
    assert code == 2 and "is there already" in err
    assert (somewhere / "books" / "mine.yaml").read_text() == "keep me"
    code, _, err = said(capsys, "new", "entropy-collapse")
    assert code == 2 and "--extends entropy-collapse" in err


def test_a_new_overlay_changes_nothing_yet(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "new", "ours", "--extends", "entropy-colapse")[0] == 2
    assert said(capsys, "new", "ours", "--extends", "entropy-collapse")[0] == 0
    assert said(capsys, "check", "playbooks")[0] == 0
    code, out, _ = said(capsys, "list", "--json")
    rows = {row["playbook"]: row for row in json.loads(out)["playbooks"]}
    assert code == 0 and rows["entropy-collapse"]["changed_by"] == ["playbooks/ours.yaml"]
    assert rows["entropy-collapse"]["from"] == "bundled"


# -- check -----------------------------------------------------------------------------------------

REAL = GOOD.replace("    records: {probe.ratio.engine-agrees: result.engine_agrees}\n", "").replace(
    "result.engine_agrees ==", 'obs["probe.ratio.engine-agrees"] =='
)
"""Branching on what the probe states; `result.engine_agrees` is no field of a real result."""
REMARKABLE = REAL.replace("  warmup: 5\n", "").replace("within=window) >=", "within=window) >", 1)


@pytest.fixture
def remarkable(somewhere: Path) -> Path:
    path = somewhere / "my book.yaml"
    path.write_text(REMARKABLE, encoding="utf-8")
    return path


def test_problem_lines_match_the_matcher_for_vs_code(
    capsys: pytest.CaptureFixture[str], remarkable: Path
) -> None:
    _, out, _ = said(capsys, "check", str(remarkable), "--format", "problems")
    _, listed, _ = said(capsys, "check", str(remarkable), "--format", "json")
    problems = json.loads(listed)["problems"]
    lines = out.splitlines()
    assert len(lines) == len(problems) > 2
    matcher = check_task()["tasks"][0]["problemMatcher"]
    pattern = matcher["pattern"]
    assert pattern["regexp"] == PATTERN
    for line, problem in zip(lines, problems, strict=True):
        found = re.match(pattern["regexp"], line)
        assert found, line
        assert found[pattern["file"]] == problem["path"]
        assert (int(found[pattern["line"]]), int(found[pattern["column"]])) == (
            problem["line"],
            problem["col"],
        )
        assert found[pattern["code"]] == problem["check"]
        assert found[pattern["message"]] == problem["message"]
        assert found[pattern["severity"]] in ("error", "warning", "info")


@pytest.mark.parametrize(
    "line",
    [
        "C:\\books\\a.yaml:3:5: error: two: colons [in] it [yaml/key]",
        "/books/a.yaml:3:5: warning: x [trigger/hold]",
    ],
)
def test_the_matcher_on_paths_of_other_systems(line: str) -> None:
    found = re.match(PATTERN, line)
    assert found and found[1].endswith("a.yaml") and (found[2], found[3]) == ("3", "5")


@pytest.mark.parametrize("line", ["1 playbook, 0 problems", "   7 |   when: x", "     |   ^ at trigger/when"])
def test_the_matcher_leaves_other_lines_alone(line: str) -> None:
    assert re.match(PATTERN, line) is None


SARIF = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "shortDescription": {"required": ["text"]},
                                                "defaultConfiguration": {
                                                    "properties": {
                                                        "level": {
                                                            "enum": ["none", "note", "warning", "error"]
                                                        }
                                                    }
                                                },
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "ruleId", "locations"],
                            "properties": {
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                                "partialFingerprints": {"additionalProperties": {"type": "string"}},
                                "locations": {
                                    "items": {
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "properties": {"uri": {"pattern": r"^[^\s\\]+$"}}
                                                    },
                                                    "region": {
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1},
                                                            "startColumn": {"type": "integer", "minimum": 1},
                                                        }
                                                    },
                                                },
                                            }
                                        }
                                    }
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""What SARIF 2.1.0 asks of the parts that are written here (OASIS, sections 3.13 to 3.30)."""


def test_sarif_is_what_the_standard_asks_for(capsys: pytest.CaptureFixture[str], remarkable: Path) -> None:
    _, out, _ = said(capsys, "check", remarkable.name, "--format", "sarif")
    log = json.loads(out)
    jsonschema.Draft7Validator(SARIF).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20book.yaml"


def test_exit_codes_and_the_least_severity(capsys: pytest.CaptureFixture[str], remarkable: Path) -> None:
    assert said(capsys, "check", str(remarkable))[0] == 0
    assert said(capsys, "check", str(remarkable), "--fail-on", "warning")[0] == 1
    _, out, _ = said(capsys, "check", str(remarkable), "--least", "warning", "--format", "problems")
    assert out and ": info: " not in out
    remarkable.write_text(REMARKABLE.replace("> drop_at_least", "> 40", 1))
    assert said(capsys, "check", str(remarkable))[0] == 1
    remarkable.write_text(REMARKABLE.replace("title", "titel", 1))
    assert said(capsys, "check", str(remarkable))[0] == 2
    code, _, err = said(capsys, "check", "nowhere")
    assert code == 2 and "no such file" in err


def test_escape_codes_in_a_file_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], remarkable: Path
) -> None:
    remarkable.write_text(
        GOOD.replace("title: ", 'titel: "\\e[31m" # \u009b31m\ntitle: ', 1), encoding="utf-8"
    )
    for form in ("text", "problems", "json", "sarif"):
        _, out, err = said(capsys, "check", str(remarkable), "--format", form)
        assert "\x1b" not in out + err and "\u009b" not in out + err


# -- replay, graph -------------------------------------------------------------------------------------


def run_file(folder: Path, name: str, entropy: list[float]) -> Path:
    rows = "".join(
        f'{{"step": {i}, "data": {{"actor/entropy": {value}}}}}\n' for i, value in enumerate(entropy, 1)
    )
    (folder / name).mkdir(parents=True)
    path = folder / name / "metrics.jsonl"
    path.write_text(rows, encoding="utf-8")
    return path


def test_replay_counts_what_fired_what_was_silent_and_what_could_not_tell(
    capsys: pytest.CaptureFixture[str], somewhere: Path
) -> None:
    (somewhere / "books").mkdir()
    (somewhere / "books" / "a.yaml").write_text(GOOD, encoding="utf-8")
    run_file(somewhere / "runs", "falls", [0.9] * 100 + [0.2] * 100)
    run_file(somewhere / "runs", "steady", [0.9] * 200)
    other = run_file(somewhere / "runs", "other", [0.9] * 200)
    other.write_text(other.read_text().replace("actor/entropy", "actor/grad_norm"))
    words = ("replay", "runs", "--playbooks", "books", "--playbook", "entropy-small")
    code, out, _ = said(capsys, *words, "--json")
    report: dict[str, Any] = json.loads(out)
    (row,) = report["playbooks"]
    assert code == 0
    assert (row["fired"], row["silent"], row["unknown"], row["alarms"]) == (1, 1, 1, 1)
    (alarm,) = next(run for run in report["runs"] if "falls" in run["run"])["alarms"]
    assert 95 <= alarm["first_step"] <= 130 and alarm["severity"] == "info"
    assert row["verdicts"] == {alarm["verdict"]: 1}
    code, out, _ = said(capsys, *words)
    assert "1/2 (50%)" in out and "falls" in out and "steady" not in out


def test_replay_of_what_is_not_there(capsys: pytest.CaptureFixture[str], somewhere: Path) -> None:
    assert "no such file" in said(capsys, "replay", "nowhere")[2]
    (somewhere / "empty").mkdir()
    code, _, err = said(capsys, "replay", "empty", "--playbook", "entropy-colapse")
    assert code == 2 and "did you mean 'entropy-collapse'" in err
    code, _, err = said(capsys, "replay", "empty", "--playbook", "triage")
    assert code == 2 and "no trigger" in err
    code, _, err = said(capsys, "replay", "empty")
    assert code == 2 and "no run found" in err


def test_every_bundled_playbook_can_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    from grpo_tui.playbook.authoring.graph import drawn, edges_of, mermaid
    from grpo_tui.playbook.library import load_library

    for book in load_library().playbooks.values():
        lines = drawn(book, 200)
        assert all(any(f"● {step.id}  " in line for line in lines) for step in book.steps)
        text = mermaid(book)
        for edge in edges_of(book):
            assert edge.target > edge.source
        assert len(re.findall(r"^  s\d+ .*--> s\d+$", text, re.MULTILINE)) == len(edges_of(book))


def test_a_jump_is_drawn_from_its_branch_to_its_step() -> None:
    from grpo_tui.playbook.authoring.graph import drawn
    from grpo_tui.playbook.format.load import load_text

    text = GOOD.replace("{goto: near_identical}", "{goto: sampling}")
    lines = drawn(load_text(text, "a.yaml"), 200)
    start = next(i for i, line in enumerate(lines) if "→ sampling" in line)
    end = next(i for i, line in enumerate(lines) if "● sampling" in line)
    assert lines[start][0] == "╭" and lines[end][0] == "╰"
    assert all(line[0] == "│" for line in lines[start + 1 : end])


def test_graph_of_a_file_and_of_nothing(capsys: pytest.CaptureFixture[str], remarkable: Path) -> None:
    code, out, _ = said(capsys, "graph", str(remarkable), "--mermaid")
    assert code == 0 and out.startswith("flowchart TD\n")
    assert "#quot;yes#quot;" in out and "#gt;" in out
    code, _, err = said(capsys, "graph", "entropy-colapse")
    assert code == 2 and "did you mean 'entropy-collapse'" in err


# -- schema, reference ----------------------------------------------------------------------------------


def test_the_committed_reference_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    held = (Path(__file__).resolve().parents[3] / "docs" / "playbook-reference.md").read_text(
        encoding="utf-8"
    )
    assert said(capsys, "reference")[1] == held, (
        "run: grpo-tui playbook reference > docs/playbook-reference.md"
    )


def test_check_sees_two_playbooks_of_one_id_and_a_link_that_leads_nowhere(
    capsys: pytest.CaptureFixture[str], somewhere: Path
) -> None:
    assert said(capsys, "new", "mine")[0] == 0
    folder = somewhere / "playbooks"
    (folder / "other.yaml").write_text((folder / "mine.yaml").read_text())
    (folder / "link.yaml").symlink_to(folder / "gone.yaml")
    (folder / "round.yaml").symlink_to(folder / "round.yaml")
    code, out, _ = said(capsys, "check", "playbooks")
    assert code == 2
    assert (
        "playbooks/other.yaml:2:1: playbook 'mine' is already given by mine.yaml [flow/duplicate-id]" in out
    )
    assert "playbooks/link.yaml:1:1: cannot be read: No such file" in out
    assert "playbooks/round.yaml:1:1: cannot be read" in out
    assert said(capsys, "check", "playbooks/mine.yaml", "playbooks/mine.yaml")[0] == 0
