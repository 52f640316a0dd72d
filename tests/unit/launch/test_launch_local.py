"""Running a probe: events, cancel, timeouts, and processes that die without a word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from launch_helpers import script_plan

from grpo_tui.launch import LocalProbe, plan_probe, run_probe
from grpo_tui.launch import local as local_module
from grpo_tui.launch.events import parse_event


def test_a_real_probe_from_plan_to_facts(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    options = {"n": 2, "max_new": 12, "work": str(tmp_path)}
    plan = plan_probe("ratio", out_dir=tmp_path / "out", python=sys.executable, device="cpu", options=options)
    seen = []
    result = run_probe(plan, seen.append)
    assert (result.status, result.verdict, result.exit_code) == ("complete", "pass", 0), result.stderr
    assert seen[0].type == "start" and seen[-1].type == "end" and seen[-1].data["exit"] == 0
    assert {event.share for event in seen if event.type == "progress"} >= {1.0}
    assert result.facts["probe.ratio.repeatable"] == "yes" and result.rehearsal and result.evidence == {}
    assert result.path == tmp_path / "out" / "result.json"


def test_cancel_of_a_real_probe_is_quick_and_leaves_a_whole_result(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    options = {"n": 8, "max_new": 512, "work": str(tmp_path)}
    plan = plan_probe("ratio", out_dir=tmp_path / "out", python=sys.executable, device="cpu", options=options)
    probe, asked, last = LocalProbe(plan), 0.0, None
    for event in probe.events():
        last = event
        if event.type == "progress" and event.data["done"] > 5 and not asked:
            asked = time.monotonic()
            probe.cancel()
    took = time.monotonic() - asked
    result = probe.result()
    assert (result.status, result.exit_code, result.verdict) == ("cancelled", 130, "inconclusive")
    assert last is not None and last.type == "end" and last.data["status"] == "cancelled" and took < 9
    assert json.loads((tmp_path / "out/result.json").read_text())["stages"][0]["id"] == "static"


def test_killed_without_a_word_is_a_crash_report(tmp_path: Path) -> None:
    code = "sys.stderr.write('loading\\nallocating\\n'); say('start'); os.kill(os.getpid(), signal.SIGKILL)"
    result = run_probe(script_plan(tmp_path, code))
    assert (result.status, result.exit_code, result.verdict) == ("crashed", -9, "inconclusive")
    assert "memory" in (result.error or "") and result.stderr == ("loading", "allocating")
    crash = json.loads((tmp_path / "result.json").read_text())["crash"]
    assert crash == {
        "exit_code": -9,
        "signal": 9,
        "signal_name": "SIGKILL",
        "stderr": ["loading", "allocating"],
    }


def test_a_crash_keeps_the_stages_that_were_finished(tmp_path: Path) -> None:
    code = "open(out, 'w').write(json.dumps({'stages': [{'id': 'A'}], 'facts': {'x': 1}})); sys.exit(7)"
    result = run_probe(script_plan(tmp_path, code))
    assert (result.status, result.exit_code) == ("crashed", 7) and result.evidence == {}
    assert result.result["stages"] == [{"id": "A"}] and "exit code 7" in (result.error or "")


def test_only_the_last_lines_of_stderr_are_kept(tmp_path: Path) -> None:
    result = run_probe(script_plan(tmp_path, "for i in range(300): print(i, file=sys.stderr)"))
    assert len(result.stderr) == 50 and result.stderr[-1] == "299"


def test_a_deaf_process_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_module, "KILL_AFTER_S", 0.3)
    code = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say('start'); time.sleep(60)"
    probe = LocalProbe(script_plan(tmp_path, code))
    for _ in probe.events():
        probe.cancel()
    result = probe.result()
    assert (result.status, result.exit_code) == ("cancelled", -9)


def test_the_deadline_ends_a_silent_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_module, "_TIMEOUT_GRACE_S", 0.1)
    result = run_probe(script_plan(tmp_path, "time.sleep(60)", timeout_s=0.3))
    assert result.status == "timed-out" and "no end after" in (result.error or "")


def test_a_caller_that_stops_listening_stops_the_probe(tmp_path: Path) -> None:
    probe = LocalProbe(script_plan(tmp_path, "say('start'); time.sleep(60)"))
    events = probe.events()
    next(events)
    pid = probe.pid
    events.close()
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert probe.result().status == "cancelled"


def test_the_process_is_nice_and_sees_no_gpu_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    code = (
        "time.sleep(.3); say('metric', nice=os.nice(0), path=os.environ.get('PYTHONPATH'), "
        "gpu=os.environ.get('CUDA_VISIBLE_DEVICES'), session=os.getsid(0) == os.getpid())"
    )
    probe = LocalProbe(replace(script_plan(tmp_path, code), device="cpu"))
    (event,) = probe.events()
    assert dict(event.data) == {"nice": 10, "path": None, "gpu": "", "session": True}


def test_noise_on_the_stream_is_kept_as_error_output(tmp_path: Path) -> None:
    probe = LocalProbe(script_plan(tmp_path, "print('hello'); say('metric', x=1); print('[1]', flush=True)"))
    assert [event.type for event in probe.events()] == ["metric"]
    assert set(probe.result().stderr) == {"hello", "[1]"}


def test_an_interpreter_that_cannot_be_started(tmp_path: Path) -> None:
    plan = plan_probe("ratio", out_dir=tmp_path, python="/no/such/python")
    result = run_probe(plan)
    assert result.status == "cannot-run" and "/no/such/python cannot be started" in (result.error or "")


def test_a_plan_without_interpreter_is_refused(tmp_path: Path) -> None:
    plan = replace(plan_probe("ratio", out_dir=tmp_path, python=sys.executable), interpreter=None)
    with pytest.raises(ValueError, match="no interpreter"):
        LocalProbe(plan)


def test_events_are_parsed() -> None:
    event = parse_event('{"v":1,"seq":3,"ts":1.5,"type":"progress","stage":"B","done":1,"total":4}')
    assert event is not None and (event.seq, event.stage, event.share, event.message) == (3, "B", 0.25, None)
    for line in ("", "x", "[]", '{"type":"progress"}', '{"seq":1,"ts":1,"type":"unheard"}'):
        assert parse_event(line) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_probe_ends_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code = (
        "import sys\nfrom pathlib import Path\nfrom grpo_tui.launch import LocalProbe, plan_probe\n"
        f"plan = plan_probe('ratio', out_dir=Path({str(tmp_path)!r}), python=sys.executable, device='cpu',"
        " options={'n': 32, 'max-new': 256})\n"
        "probe = LocalProbe(plan)\n"
        "for event in probe.events():\n    print(probe.pid, event.type, flush=True)\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    for line in starter.stdout:
        pid, kind = line.split()
        if kind == "progress":
            break
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()


def test_a_result_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    plan = plan_probe("ratio", out_dir=tmp_path / "file" / "out", python=sys.executable, device="cpu")
    result = run_probe(plan)
    assert result.status == "cannot-run" and "cannot hold the result" in (result.error or "")
