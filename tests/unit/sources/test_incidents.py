"""Which console lines are facts, and which only talk of them."""

from __future__ import annotations

import pytest

from grpo_tui.sources.incidents.finder import Incidents
from grpo_tui.sources.records import Incident


def incidents(text: str) -> list[Incident]:
    reader = Incidents()
    found = [item for i, line in enumerate(text.split("\n"), 1) for item in reader.line(i, line)]
    return found + list(reader.finish())


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("nonfinite-gradient", "WARN: rank 3 grad_norm is not finite: nan"),
        ("nonfinite-gradient", "WARN: grad_norm is not finite: inf"),
        ("nonfinite-gradient", "(WorkerDict pid=5) WARN: rank 0 grad_norm is not finite: nan"),
        ("nonfinite-gradient", "WARNING:2026-01-01 10:00:00,123:grad_norm is not finite: nan"),
        ("oom", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB."),
        ("oom", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB."),
        ("oom", "RuntimeError: CUDA error: out of memory"),
        (
            "oom",
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        ),
        ("oom", "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."),
        ("oom", "  0%|          | 0/200 [00:00<?, ?it/s]torch.OutOfMemoryError: CUDA out of memory. Tried"),
        (
            "engine-dead",
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace",
        ),
        (
            "worker-died",
            "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        ),
        (
            "worker-died",
            "(raylet) A worker died or was killed while executing a task by an unexpected system error.",
        ),
        (
            "killed",
            "(raylet) [2025-12-14 21:55:46,394 E 1 1] (raylet) node_manager.cc:1: 3 Workers (tasks / actors) "
            "killed due to memory pressure (OOM), 0 Workers crashed",
        ),
        ("killed", "run.sh: line 12:  4711 Killed                  python train.py"),
        (
            "killed",
            "slurmstepd: error: *** JOB 17 ON node3 CANCELLED AT 2026-01-01T10:00:00 DUE TO TIME LIMIT ***",
        ),
        (
            "collective-timeout",
            "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=4, OpType=BROADCAST)",
        ),
        ("aborted", "All samples are aborted, returning default score metrics"),
        ("aborted", "ValueError: All samples are aborted, this should not happen."),
        ("aborted", "Response mask is all False, returning default advantage metrics"),
        ("exception", "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0"),
        ("oom", "RuntimeError: CUDA Error: out of memory at /vllm/csrc/cumem_allocator.cpp:62"),
        ("rollout-failed", "Error in _run_prompt for uid=abc"),
        ("config-error", "In 'ppo_trainer': Could not find 'algorithm/rollout_correction'"),
        ("config-error", "omegaconf.errors.ConfigAttributeError: Key 'x' is not in struct"),
        ("config-error", "train.py: error: unrecognized arguments: --foo"),
    ],
)
def test_facts(kind: str, line: str) -> None:
    assert [incident.kind for incident in incidents(line)] == [kind]


@pytest.mark.parametrize(
    "line",
    [
        "The answer mentions an error: CUDA out of memory is what the user saw",
        "predict_answer: torch.OutOfMemoryError: CUDA out of memory",
        "<think> If all samples are aborted we would see it. Killed the process?",
        "[response] He killed the dragon",
        "I got KeyError: 'uid' when running",
        "ERROR: the equation has no solution",
        "[rank0]:[W404 ProcessGroupNCCL.cpp:1553] Warning: destroy_process_group() was not called",
        "step:3 - response/aborted_ratio:0.0 - actor/grad_norm:nan",
        "  warnings.warn(",
    ],
)
def test_talk(line: str) -> None:
    assert not incidents(line)


TRACEBACK = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
    main()
KeyError: 'uid'"""


def test_a_traceback_is_what_was_raised() -> None:
    (incident,) = incidents(f"start\n{TRACEBACK}\nend")
    assert (incident.kind, incident.text, incident.line) == ("exception", "KeyError: 'uid'", 5)


def test_a_traceback_of_a_known_kind_has_that_kind() -> None:
    text = TRACEBACK.replace(
        "KeyError: 'uid'", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB"
    )
    assert [incident.kind for incident in incidents(text)] == ["oom"]


def test_the_same_traceback_again_is_folded() -> None:
    assert len(incidents(f"{TRACEBACK}\n{TRACEBACK}\n{TRACEBACK}")) == 1


def test_each_skipped_step_counts() -> None:
    assert len(incidents("WARN: grad_norm is not finite: nan\n" * 3)) == 3


def test_tracebacks_of_several_workers_at_once() -> None:
    lines = TRACEBACK.split("\n")
    mixed = [f"(Worker{i} pid={i}) {line}" for line in lines for i in (1, 2)]
    mixed[-1] = "(Worker2 pid=2) ValueError: another"
    assert [incident.text for incident in incidents("\n".join(mixed))] == [
        "KeyError: 'uid'",
        "ValueError: another",
    ]


def test_ranks_of_torchrun_are_told_apart() -> None:
    lines = TRACEBACK.replace("KeyError: 'uid'", "torch.OutOfMemoryError: CUDA out of memory. Tried").split(
        "\n"
    )
    mixed = "\n".join(f"[rank{rank}]: {line}" for line in lines for rank in (0, 1))
    assert [incident.kind for incident in incidents(mixed)] == ["oom"]
    (hang,) = incidents(
        "[rank1]:[E ProcessGroupNCCL.cpp:616] Watchdog caught collective operation timeout: WorkNCCL("
    )
    assert hang.text.startswith("[rank1]:")


def test_rays_quoted_traceback_leads_to_the_cause() -> None:
    text = TRACEBACK.replace(
        "KeyError: 'uid'", "ray.exceptions.RayTaskError(KeyError): ray::main_task() (pid=1, ip=10.0.0.1)"
    )
    text += '\n  File "b.py", line 9, in fit\n    raise NotImplementedError\nNotImplementedError\n'
    assert [incident.text for incident in incidents(text)] == ["NotImplementedError"]


def test_a_traceback_that_was_cut_off() -> None:
    (incident,) = incidents(TRACEBACK.rpartition("\n")[0])
    assert incident.kind == "exception" and incident.line == 1


def test_an_endless_text_is_shortened() -> None:
    (incident,) = incidents("torch.OutOfMemoryError: CUDA out of memory. " + "x" * 5000)
    assert len(incident.text) <= 400
