"""The verifier probe: reward functions with planted faults, in both call conventions, and clean twins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from probe_helpers import Inside, run_inside, run_isolated

REWARDS = r"""
import itertools, os, random, re, signal, threading, time

calls = itertools.count()

def found(text):
    inside = re.findall(r"<answer>(.*?)</answer>", text, re.S)
    return inside[0].strip() if len(inside) == 1 else None

def clean(completions, answer, **kwargs):
    return [float(found(text) == gold) for text, gold in zip(completions, answer)]

async def clean_async(prompts, completions, solution, **kwargs):
    return clean(completions, solution)

def clean_chat(completions, answer, **kwargs):
    return clean([messages[0]["content"] for messages in completions], answer)

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": float(found(solution_str) == ground_truth), "acc": 1}

def strict_gold(completions, answer, **kwargs):
    pairs = zip(completions, answer)
    return [0.5 * (text.count("<answer>") == 1) + 0.5 * (found(text) == gold + ".0") for text, gold in pairs]

def pays_empty(completions, answer, **kwargs):
    return [float(not text.strip() or found(text) == gold) for text, gold in zip(completions, answer)]

def reads_prompt(prompts, completions, answer, **kwargs):
    return [0.25 for _ in prompts]

def thread(completions, answer, **kwargs):
    try:
        signal.signal(signal.SIGALRM, lambda *_: None)
    except ValueError:
        return [0.0 for _ in completions]
    return clean(completions, answer)

def process(completions, answer, **kwargs):
    return clean(completions, answer) if os.path.exists("labels.txt") else [0.0 for _ in completions]

def hangs(completions, answer, **kwargs):
    if any("gfedcba" in text for text in completions) or any(not text for text in completions):
        time.sleep(60)
    return clean(completions, answer)

def raises(completions, answer, **kwargs):
    pairs = zip(completions, answer)
    return [float(re.search(r"<answer>(.*?)</answer>", text).group(1) == gold) for text, gold in pairs]

def illegal(completions, answer, **kwargs):
    pairs = zip(completions, answer)
    return [1.0 if found(t) == g else 0.0 if found(t) else 0.2 if "<answer>" in t else -0.1 for t, g in pairs]

def cliff(completions, answer, **kwargs):
    return [1.0 if found(t) == g else -6.0 if found(t) else -114514.0 for t, g in zip(completions, answer)]

def guesses(completions, answer, **kwargs):
    return [float(g in re.findall(r"<answer>(.*?)</answer>", t)) for t, g in zip(completions, answer)]

def drifts(completions, answer, **kwargs):
    return [score + 0.001 * next(calls) for score in clean(completions, answer)]

def neighbours(completions, answer, **kwargs):
    return [score / len(completions) for score in clean(completions, answer)]

def kills(completions, answer, **kwargs):
    os._exit(3) if completions == [""] else None
    return clean(completions, answer)
"""
GOLD = [("2+2?", "4"), ("3*3?", "9"), ("10-3?", "7")]


@pytest.fixture(scope="module")
def rewards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rewards")
    (folder / "rewards.py").write_text(REWARDS)
    (folder / "labels.txt").write_text("x")
    (folder / "cases.jsonl").write_text("\n".join(json.dumps({"prompt": p, "gold": g}) for p, g in GOLD))
    return folder


def probed(rewards: Path, function: str, *more: str, own: bool = True) -> Inside:
    cases = ("--cases", str(rewards / "cases.jsonl")) if own else ()
    return run_inside("verifier", "--reward", f"{rewards / 'rewards.py'}:{function}", *cases, *more)


@pytest.mark.parametrize(
    ("function", "more"),
    [("clean", ()), ("clean_async", ()), ("clean_chat", ("--chat",)), ("compute_score", ())],
)
def test_clean_twins(rewards: Path, function: str, more: tuple[str, ...]) -> None:
    done = probed(rewards, function, *more, "--reward-of-run", "runs/a")
    assert (done.code, done.codes) == (0, []), done.result["findings"]
    assert done.result["form"] == "<answer>{gold}</answer>" and not done.result["rehearsal"]
    assert done.result["convention"] == ("verl" if function == "compute_score" else "trl")
    assert done.result["facts"] == {
        "verifier.gold-scores-full": "yes",
        "verifier.empty-scores-zero": "yes",
        "verifier.reads-response": "yes",
        "verifier.same-in-worker": "yes",
    }


FORM = ("--form", "<answer>{gold}</answer>")


@pytest.mark.parametrize(
    ("function", "code", "exit_code", "fact"),
    [
        ("strict_gold", "VERIFIER.GOLD_NOT_FULL", 1, ("verifier.gold-scores-full", "no")),
        ("pays_empty", "VERIFIER.PAYS_NOTHING", 1, ("verifier.empty-scores-zero", "no")),
        ("reads_prompt", "VERIFIER.CONSTANT", 1, ("verifier.reads-response", "no")),
        ("thread", "VERIFIER.THREAD_DIFFERS", 1, ("verifier.same-in-worker", "no")),
        ("process", "VERIFIER.PROCESS_DIFFERS", 1, ("verifier.same-in-worker", "no")),
        ("raises", "VERIFIER.RAISES", 1, None),
        ("illegal", "VERIFIER.ILLEGAL_ABOVE_WRONG", 1, None),
        ("cliff", "VERIFIER.SCALE", 1, None),
        ("guesses", "VERIFIER.SEVERAL_ANSWERS", 0, ("verifier.gold-scores-full", "yes")),
        ("drifts", "VERIFIER.NOT_REPEATABLE", 1, None),
        ("neighbours", "VERIFIER.BATCH_DIFFERS", 0, None),
        ("kills", "VERIFIER.RAISES", 1, None),
    ],
)
def test_planted_faults(
    rewards: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    code: str,
    exit_code: int,
    fact: tuple[str, str] | None,
) -> None:
    monkeypatch.chdir(rewards)
    done = probed(rewards, function, *FORM, "--full", "1", "--n", "2")
    assert code in done.codes and done.code == exit_code, (done.codes, done.error)
    if fact:
        assert done.result["facts"][fact[0]] == fact[1]


def test_a_call_that_never_ends_is_ended(rewards: Path) -> None:
    done = probed(rewards, "hangs", *FORM, "--call-timeout", "0.4", "--n", "1")
    assert "VERIFIER.TIMEOUT" in done.codes and done.code == 1
    late = [case["name"] for case in done.result["cases"] if case["timed_out"]]
    assert late == ["empty"] and "verifier.same-in-worker" not in done.result["facts"]


def test_own_cases_are_held_to_what_is_expected(rewards: Path, tmp_path: Path) -> None:
    records = [
        {"prompt": "p", "gold": "4", "response": "<answer>4</answer>", "expect": 1},
        {"prompt": "p", "gold": "4", "response": "four", "expect": 1, "level": 3},
        {"prompt": "p", "gold": "4", "response": "<answer>4", "kind": "illegal"},
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, records)))
    reward = f"{rewards / 'rewards.py'}:clean"
    done = run_inside("verifier", "--reward", reward, "--cases", str(tmp_path / "c.jsonl"))
    assert (
        done.codes == ["VERIFIER.EXPECTED"]
        and "line 2 got 0, you expect 1" in done.result["findings"][0]["title"]
    )


def test_made_up_examples_claim_nothing_about_gold(rewards: Path) -> None:
    clean = probed(rewards, "clean", own=False)
    assert clean.code == 0 and "verifier.gold-scores-full" not in clean.result["facts"]
    odd = probed(rewards, "reads_prompt", own=False)
    assert (odd.code, odd.result["facts"]) == (3, {}) and any("--form" in t for t in odd.result["limits"])


def test_lines_of_an_answer(rewards: Path, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(json.dumps({"prompt": "sort", "gold": "a\nb\nb\nc"}))
    done = run_inside(
        "verifier", "--reward", f"{rewards / 'rewards.py'}:clean", "--cases", str(tmp_path / "c.jsonl")
    )
    partial = {case["name"]: case["score"] for case in done.result["cases"] if case["kind"] == "partial"}
    assert partial == {"first half": 0, "extra line": 0, "reordered": 0, "missing duplicate": 0}


@pytest.mark.parametrize(
    ("function", "words"),
    [("found", "neither TRL's completions"), ("absent", "has no function absent")],
)
def test_refusals(rewards: Path, function: str, words: str) -> None:
    done = probed(rewards, function)
    assert done.code == 2 and done.error and words in done.error


def test_a_file_that_does_not_import_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text("import no_such_module_here\n\ndef f(completions): return []\n")
    done = run_inside("verifier", "--reward", f"{tmp_path / 'r.py'}:f")
    assert done.code == 2 and "cannot be imported" in (done.error or "")
    assert list(done.result["code"]["imports"]) == ["no_such_module_here"]


def test_as_a_process_it_says_first_what_it_imports(rewards: Path, tmp_path: Path) -> None:
    done = run_isolated(tmp_path / "out", "verifier", "--reward", f"{rewards / 'rewards.py'}:clean")
    said = next(event["message"] for event in done.events if event["type"] == "warning")
    assert done.code == 0, done.stderr
    assert said.startswith("imports ") and "itertools, os, random, re, signal" in said
    assert done.events[0]["type"] == "start" and done.events[-1]["exit"] == 0 and done.result["rehearsal"]
