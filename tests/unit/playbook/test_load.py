"""One typo, one problem, at the right place; and no bytes that make the loader fall over."""

from __future__ import annotations

from pathlib import Path

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.format.load import (
    PlaybookError,
    Problem,
    load_file,
    load_text,
    read_bytes,
    read_mapping,
    read_text,
)
from grpo_tui.playbook.format.yaml_tree import resolve


def problems_of(text: str) -> tuple[Problem, ...]:
    return read_text(text, "a.yaml").problems


def only(text: str) -> Problem:
    found = problems_of(text)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def test_the_good_one_loads_without_a_word() -> None:
    playbook = load_text(GOOD, "a.yaml")
    assert problems_of(GOOD) == ()
    assert (playbook.id, len(playbook.steps), len(playbook.digest)) == ("entropy-small", 4, 64)
    assert playbook.lines[("steps", 1)] == (24, 5)
    assert playbook.lines[("steps", 1, "ask")] == (25, 5)
    assert playbook.lines[("steps", 1, "cases", 2)] == (30, 9)
    assert playbook.trigger is not None and playbook.trigger.for_ == 20
    assert str(playbook.trigger.raise_["warning"]) == "rise(reward_mean, within=300) < 0.02"
    assert playbook.metric_keys("fmt") == ("rewards/format/mean", "format_reward")
    assert playbook.metric_keys("entropy") == ("entropy",)


TYPOS = [
    # (what stands in the file, what is typed instead, the marked text, what the message says)
    ("title: ", "titel: ", "titel", "did you mean 'title'"),
    ("format: 1", "format: 2", "2", "1"),
    ("trigger:", "triger:", "triger", "did you mean 'trigger'"),
    ("  warmup: 5", "  warm_up: 5", "warm_up", "did you mean 'warmup'"),
    ("for: 20", "for: many", "many", "whole number"),
    ("for: 20", "for: 0", "0", "at least 1"),
    ("severity: info", "severity: warn", "warn", "did you mean 'warning'"),
    ("raise: {warning:", "raise: {warnin:", "warnin", "did you mean 'warning'"),
    ("drop(entropy, within=window)", "drop(entrpy, within=window)", "entrpy", "did you mean 'entropy'"),
    ("within=window) >=", "within=windo) >=", "windo)", "did you mean 'window'"),
    (">= drop_at_least", ">= drop_at_lest", "drop_at_lest", "did you mean 'drop_at_least'"),
    (
        "when: drop(entropy, within=window) >= drop_at_least",
        "when: drop(entropy, within=window)",
        "drop(",
        "not a condition",
    ),
    (
        '"rise(reward_mean, within=300) < 0.02"',
        '"rise(reward_men, within=300) < 0.02"',
        "reward_men,",
        "'reward_mean'",
    ),
    (
        "  collapse.entropy: Expl",
        "  colapse.entropy: Expl",
        "colapse.entropy: Expl",
        "did you mean 'collapse.entropy'",
    ),
    ("  - id: learning\n", "  - ident: learning\n", "ident", "did you mean 'id'"),
    ("    check: rise", "    chek: rise", "chek", "did you mean 'check'"),
    ("    ask: rollouts", "    aks: rollouts", "aks", "did you mean 'ask'"),
    ("    ask: rollouts.near", "    check: entropy < 1\n    ask: rollouts.near", "ask:", "check and ask"),
    ("if_true:    {", "if_ture:    {", "if_ture", "did you mean 'if_true'"),
    ("{goto: near_identical}", "{goto: near_identicl}", "near_identicl}", "did you mean 'near_identical'"),
    ("note: nobody", "goto: learning, note: nobody", "learning, note", "only jumps forward"),
    ("healthy: +2", "healthy: +5", "+5", "at most 3"),
    ("healthy: +2", "helthy: +2", "helthy", "did you mean 'healthy'"),
    ("rollouts.near-identical\n", "rollouts.near-identcal\n", "rollouts.near-identcal", "did you mean"),
    ("open: rollouts", "open: rollout", "rollout\n", "did you mean 'rollouts'"),
    ('answer == "yes"', 'answer == "yse"', '"yse"', "did you mean 'yes'"),
    ('answer == "yes"', 'answer = "yes"', '= "yes"', "write =="),
    (
        "- {otherwise: true, note: nobody looked}",
        "- {when: answer == 'unknown', note: x}",
        "cases:",
        "otherwise: true",
    ),
    ("- {otherwise: true, note: nobody looked}", "- {note: nobody looked}", "{note: nobody", "either `when`"),
    ("probe: ratio", "probe: ration", "ration\n", "did you mean 'ratio'"),
    ("timeout: 10m", "timeout: 10", "10\n", "write the unit"),
    (
        "probe.ratio.engine-agrees: result",
        "probe.ratio.engine-agree: result",
        "probe.ratio.engine-agree:",
        "did you mean",
    ),
    ("result.engine_agrees}", "engine_agrees}", "engine_agrees}", "a field of the result"),
    ("max(clip_frac_high, last=200)", "max(clip_frac_high, lst=200)", "200) ==", "did you mean 'last'"),
    ("  - for: collapse.entropy", "  - for: healty", "healty", "did you mean 'healthy'"),
    ("  - for: collapse.entropy", "  - for: data.too-hard", "data.too-hard", "declare it there"),
    ("after: 200}", "aftr: 200}", "aftr", "did you mean 'after'"),
    ("0.9~0.25x200 0.25", "0.9~0.25x200 0,25", "0,25", "no part of a curve"),
    ('{entropy: "0.9~', '{entrop: "0.9~', "entrop:", "did you mean 'entropy'"),
    ('rollouts.near-identical: "no"', 'rollouts.near-identical: "non"', '"non"', "one of yes, no, unknown"),
    ("verdict: suspected healthy", "verdict: suspekt healthy", "suspekt", "expected `suspected"),
    (
        "verdict: suspected healthy",
        "verdict: suspected data.too-hard",
        "suspected data",
        "declare it there",
    ),
    ("path: [learning]", "path: [learning, learnin]", "learnin]", "did you mean 'learning'"),
    ("params: {window: 200", "params: {drop: 200, window: 200", "drop: 200", "a word of the language"),
    ("params: {window: 200", "params: {entropy: 1, window: 200", "entropy: 1", "already a metric"),
    ("{fmt: [rewards", "{window: [rewards/x/mean], fmt: [rewards", "window: [rew", "also a parameter"),
    ("show: [entropy, fmt]", "show: [entropy, fnt]", "fnt]", "did you mean 'fmt'"),
    ("- id: sampling\n    config", "- id: learning\n    config", "learning\n    config", "already given"),
    ("triggered: true", "triggered: yes", "yes, verdict", "true or false"),
    ("  rules: [S1-1]", "  rules: S1-1", "S1-1\n", "expected a list"),
    ("title: Raise", "title: [Raise]\n    note: Raise", "[Raise]", "expected text"),
]


@pytest.mark.parametrize(("right", "wrong", "marked", "says"), TYPOS, ids=[t[1][:40] for t in TYPOS])
def test_one_typo_gives_one_problem_at_its_place(right: str, wrong: str, marked: str, says: str) -> None:
    assert GOOD.count(right) >= 1
    text = GOOD.replace(right, wrong, 1)
    problem = only(text)
    assert says in problem.message
    start = text.index(wrong)
    place = text.find(marked, start, start + len(wrong) + 40)
    place = place if place >= 0 else text.rindex(marked, 0, start)
    line = text.count("\n", 0, place) + 1
    col = place - text.rfind("\n", 0, place)
    assert (problem.line, problem.col) == (line, col), str(problem)
    assert problem.path == "a.yaml"
    assert problem.severity == "fatal"


def test_a_missing_key_is_named_once() -> None:
    problem = only(GOOD.replace('title: "Policy entropy fell: what now?"\n', ""))
    assert "missing key 'title'" in problem.message


def test_the_block_shows_the_line_and_a_caret() -> None:
    problem = only(GOOD.replace("if_true:    {", "if_ture:    {"))
    headline, source, caret = str(problem).split("\n")
    assert headline.startswith("a.yaml:21:5: unknown key 'if_ture' - did you mean 'if_true'?")
    assert source == "  21 |     if_ture:    {evidence: {healthy: +2, collapse.entropy: -1}, goto: end}"
    assert caret == "     |     ^ at steps/0/if_ture"


def test_an_unknown_configuration_key_is_only_a_warning() -> None:
    loaded = read_text(GOOD.replace("config: temperature", "config: temprature"), "a.yaml")
    assert loaded.playbook is not None
    (problem,) = loaded.problems
    assert problem.severity == "warning" and "did you mean 'temperature'" in problem.message
    quiet = read_text(
        "# grpo-tui disable names/config-key\n" + GOOD.replace("config: temperature", "config: temprature"),
        "a",
    )
    assert quiet.problems == ()


YAML_PITFALLS = [
    ("title: Reward: low", "put the text in quotes", 1, 14),
    ("a: 1\nb: 2\na: 3", "already given in line 1", 3, 1),
    ("a: &x 1\nb: 2", "no anchors", 1, 4),
    ("a: *x", "no aliases", 1, 4),
    ("<<: {a: 1}", "merge keys", 1, 1),
    ("a: !!python/object:os.system x", "tags", 1, 4),
    ("a: !x y", "tags", 1, 4),
    ("msg: {{ x }}", "must be text", 1, 7),
    ("when: > 5", "put it in quotes", 1, 9),
    ("a: @b", "quote it", 1, 4),
    ("a: [1, 2", "", None, None),
    ("{when: rise(reward_mean, within=300) > 0.1}", "a comma inside { } cuts", 1, 26),
    ("a: 1\n---\nb: 2", "second document", 2, 1),
    ("", "empty", 1, 1),
    ("# only a comment", "empty", 1, 1),
    ("a: \x07", "character", 1, 4),
    ("[" * 60, "deeper", 1, None),
    ("a: " + "{b: " * 50, "deeper", 1, None),
]


@pytest.mark.parametrize(("text", "says", "line", "col"), YAML_PITFALLS)
def test_yaml_pitfalls(text: str, says: str, line: int | None, col: int | None) -> None:
    problem = only(text)
    assert says in problem.message
    assert line is None or problem.line == line
    assert col is None or problem.col == col


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("1e-3", 1e-3),
        ("1e3", 1000.0),
        ("010", 10),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("0x1F", 31),
        ("0o17", 15),
        ("+2", 2),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("~", None),
        ("", None),
        ("null", None),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = resolve(text)
    assert found == value and type(found) is type(value)


def test_an_alias_bomb_is_refused_at_once() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20))
    assert "anchors" in only(bomb).message


def test_size_limits() -> None:
    assert "1 MB" in only("a: " + "x" * 1_000_001).message
    assert "items" in only("[" + "1," * 5_001 + "]").message
    assert "values" in only("[" + ("[" + "1," * 4_900 + "],") * 22 + "]").message


def test_broken_encodings() -> None:
    (problem,) = read_bytes(b"playbook: a\ntitle: \xff\xfe\n", "a.yaml").problems
    assert (problem.line, problem.col, problem.check) == (2, 8, "yaml/encoding")
    assert read_bytes(b"\xef\xbb\xbf" + GOOD.encode(), "a.yaml").playbook is not None
    assert read_bytes(GOOD.replace("\n", "\r\n").encode(), "a.yaml").playbook is not None


@pytest.mark.parametrize("text", ["5", "[1, 2]", "text", "~", "true"])
def test_a_file_that_is_no_mapping(text: str) -> None:
    assert "expected a playbook" in only(text).message


def test_a_multi_line_condition_is_placed_at_its_start() -> None:
    text = GOOD.replace(
        "  when: drop(entropy, within=window) >= drop_at_least",
        "  when: >-\n    drop(entropy, within=window) >= drop_at_least\n    and entrpy < 1",
    )
    problem = only(text)
    assert (problem.line, problem.col) == (7, 9)
    assert "did you mean 'entropy'" in problem.message


def test_load_file_and_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_file(path).origin == path
    with pytest.raises(PlaybookError) as caught:
        load_file(tmp_path / "missing.yaml")
    assert "cannot be read" in caught.value.problems[0].message
    with pytest.raises(PlaybookError):
        load_file(tmp_path)
    with pytest.raises(PlaybookError, match="did you mean 'title'"):
        load_text(GOOD.replace("title: ", "titel: ", 1), "a.yaml")


def test_several_mistakes_come_in_file_order() -> None:
    text = (
        GOOD.replace("titel", "title")
        .replace("warmup", "warmp")
        .replace("if_true", "if_tru")
        .replace("timeout: 10m", "timeout: 5")
    )
    lines = [problem.line for problem in problems_of(text)]
    assert len(lines) == 3 and lines == sorted(lines)


def test_read_mapping(tmp_path: Path) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text('rollouts.readable: no\nprobe.update.moved: 1e-3\n{"a": 1}: 2\n')
    with pytest.raises(ValueError, match="line 3, column 1"):
        read_mapping(path)
    path.write_text("rollouts.readable: no\nprobe.update.moved: 1e-3\n")
    assert read_mapping(path) == {"rollouts.readable": "no", "probe.update.moved": 0.001}
    path.write_text('{"rollouts.readable": "no"}')
    assert read_mapping(path) == {"rollouts.readable": "no"}
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="UTF-8"):
        read_mapping(path)
    path.write_text("- 1")
    with pytest.raises(ValueError, match="key: value"):
        read_mapping(path)
