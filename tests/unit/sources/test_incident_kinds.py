"""Every kind of incident: the line as it is printed, and a line of a response that only resembles it."""

from __future__ import annotations

import re

import pytest

from grpo_tui.sources.incidents.finder import Incidents
from grpo_tui.sources.incidents.patterns import HINTS, hinted
from grpo_tui.sources.records import Incident

PAIRS = [
    (
        "collective-timeout",
        "[E ProcessGroupNCCL.cpp:1] Some NCCL operations have failed or timed out. Due to the asynchronous",
        "He says some NCCL operations have failed or timed out",
    ),
    (
        "collective-timeout",
        "[rank3]:[F1129 10:00:00 ProcessGroupNCCL.cpp:1557] [PG ID 0 Rank 3] [PG ID 0 Rank 3] "
        "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress",
        "the watchdog got stuck for 480 seconds",
    ),
    (
        "collective-timeout",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting "
        "1800000ms for recv operation to complete",
        "Timed out waiting for the bus, 1800000ms",
    ),
    (
        "collective-timeout",
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 joined.",
        "clients were waiting and Timed out after 601 seconds",
    ),
    (
        "collective-error",
        "torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:1333, internal error",
        "I got torch.distributed.DistBackendError: NCCL error in",
    ),
    (
        "collective-error",
        "ncclUnhandledCudaError: Call to CUDA function failed.",
        "the name is ncclUnhandledCudaError: what does it mean?",
    ),
    (
        "worker-died",
        "ray.exceptions.NodeDiedError: Task was killed because its node died",
        "so ray.exceptions.NodeDiedError is raised",
    ),
    (
        "worker-died",
        "(raylet) The node with node id: 12ab and address: 10.0.0.2 and has been marked dead because",
        "The king has been marked dead",
    ),
    (
        "worker-died",
        "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.",
        "Is a DataLoader worker (pid 4711) a thread?",
    ),
    ("engine-dead", "[2026-01-01 10:00:00 TP0] Scheduler hit an exception: T", "A scheduler hit one"),
    ("engine-dead", "Rank 0 scheduler died, exit code: -9", "A rank 0 scheduler died"),
    (
        "engine-dead",
        "ConnectionError: The vLLM server can't be reached at http://0.0.0.0:8000/health/ after 240 s.",
        "Then the vLLM server can't be reached",
    ),
    (
        "engine-pressure",
        "[2026-01-01 10:00:00] KV cache pool is full. Retract requests. #retracted_reqs: 1",
        "When the KV cache pool is full, retract requests.",
    ),
    (
        "engine-pressure",
        "WARNING 11-29 14:03:05 scheduler.py:1] Sequence group 12 is preempted by PreemptionMode.RECOMPUTE",
        "a Sequence group 12 is preempted by PreemptionMode.RECOMPUTE",
    ),
    (
        "oom",
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        "There is Not enough memory. Please try to increase --mem-fraction-static.",
    ),
    (
        "oom",
        "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that",
        "because The model's max seq len (32768) is larger than the maximum number of tokens",
    ),
    (
        "oom",
        "ValueError: To serve at least one request with the model's max seq len (40960), (5.62 GiB",
        "In order To serve at least one request with the model",
    ),
    ("verifier-timeout", "Timeout during comparison", "A Timeout during comparison is common"),
    ("verifier-timeout", "[Timeout] Global reward scoring timed out.", "A [Timeout] Task timeout"),
    (
        "verifier-timeout",
        "Unexpected error in batched reward computing. Setting all as 0.: queue",
        "An Unexpected error in batched reward computing",
    ),
    ("verifier-timeout", "TimeoutError: compute_score timed out after 3s", "our compute_score timed out"),
    (
        "exception",
        "RuntimeError: CUDA error: device-side assert triggered",
        "What does CUDA error: device-side assert triggered mean?",
    ),
    (
        "killed",
        "subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGKILL: 9>.",
        "It died with <Signals.SIGKILL>",
    ),
    ("killed", "  exitcode  : -9 (pid: 4711)", "the exitcode : -9 (pid: 4711)"),
    ("killed", "run.sh: line 9: 4711 Aborted        (core dumped) python", "They Aborted (core dumped)"),
    (
        "config-error",
        "Cannot find primary config 'ppo'. Check that it's in your config search path.",
        "We Cannot find primary config 'ppo'",
    ),
    ("config-error", "Key 'foo' is not in struct", "The Key 'foo' is not in struct"),
    ("config-error", "mismatched input '=' expecting <EOF>", "a mismatched input '=' expecting <EOF>"),
    ("config-error", "Multiple values for rollout. To override a value use", "a Multiple values for rollout"),
]  # fmt: skip


def incidents(text: str) -> list[Incident]:
    reader = Incidents()
    found = [item for i, line in enumerate(text.split("\n"), 1) for item in reader.line(i, line)]
    return found + list(reader.finish())


@pytest.mark.parametrize(("kind", "line", "talk"), PAIRS)
def test_a_kind_and_what_only_resembles_it(kind: str, line: str, talk: str) -> None:
    assert [incident.kind for incident in incidents(line)] == [kind]
    assert not incidents(talk)
    assert hinted(line) and re.search(HINTS, line)


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
  File "rewards.py", line 9, in compute_score
    return gold[uid]
KeyError: 'uid'"""


def test_a_traceback_names_its_innermost_frame() -> None:
    (incident,) = incidents(TRACEBACK)
    assert (incident.frame, incident.stage) == ("rewards.py:9 in compute_score", "reward")


@pytest.mark.parametrize(
    ("actor", "stage"),
    [
        ("vLLMHttpServer", "rollout"),
        ("EngineCore_DP0", "rollout"),
        ("RewardLoopWorker", "reward"),
        ("WorkerDict", ""),
    ],
)
def test_where_a_process_ran_out_of_memory(actor: str, stage: str) -> None:
    (one,) = incidents(f"({actor} pid=5) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB")
    assert one.stage == stage
    framed = 'Traceback (most recent call last):\n  File "a.py", line 3, in update_policy\n'
    text = framed + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB"
    (one,) = incidents("\n".join(f"({actor} pid=5) {line}" for line in text.split("\n")))
    assert one.stage == "update"


def test_a_traceback_behind_the_name_of_a_role() -> None:
    lines = [f"[trainer] {line}" for line in TRACEBACK.split("\n")]
    lines[2:2] = ["[rollout] Timeout during comparison", "[rollout] idle"]
    assert [(one.kind, one.text) for one in incidents("\n".join(lines))] == [
        ("verifier-timeout", "[rollout] Timeout during comparison"),
        ("exception", "KeyError: 'uid'"),
    ]
    level = TRACEBACK.replace("Traceback", "[ERROR] Traceback")
    assert [one.text for one in incidents(level)] == ["KeyError: 'uid'"]


def test_a_printed_sample_is_the_models_text() -> None:
    """verl's reward managers print a sample's parts; only what stands outside of them is said by the run."""
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB."
    sample = f"[prompt] Explain this\n[response] It says\n{oom}\n{TRACEBACK}\n[ground_truth] 4\n[score] 0.0\n"
    assert not incidents(sample)
    assert [one.line for one in incidents(f"{sample}{oom}")] == [12]
    other = sample.replace("\n[ground", f"\n(WorkerDict pid=5) {oom}\n[ground")
    assert [one.kind for one in incidents(other)] == ["oom"]


def test_a_sample_that_never_ends_hides_nothing() -> None:
    text = f"[prompt] Explain\n[response] It says\n{TRACEBACK}"
    assert [one.kind for one in incidents(text)] == ["exception"]
    assert [one.kind for one in incidents(text + "\nwords" * 700 + "\ngrad_norm is not finite: nan")] == [
        "exception",
        "nonfinite-gradient",
    ]


def test_training_complete_is_a_claim_only_behind_what_kills() -> None:
    for claim in (
        "Training complete!",
        "✅ Training finished successfully.",
        "训练完成！",
        "=== Training done ===",
    ):
        assert not incidents(claim)
        assert [one.kind for one in incidents(f"{TRACEBACK}\n{claim}")] == ["exception", "false-completion"]
    assert len(incidents(f"{TRACEBACK}\nI know that training is never complete without a dragon")) == 1


def test_what_repeats_is_counted_up_to_a_point() -> None:
    assert len(incidents("Timeout during comparison\n" * 1000)) == 200
