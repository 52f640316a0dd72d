"""The console lines that are facts, as data: a kind, where the message begins, and how it is found fast.

Each pattern is anchored to where the message begins, because responses printed into the log may talk about
errors too. Texts verified in verl 0.3-0.9, TRL 0.14-1.16, vLLM, SGLang, Ray 2.49, PyTorch, hydra 1.3 and
math-verify, or seen in public logs.
"""

from __future__ import annotations

import re

# An optional logging header: time stamps, levels, module names, ranks.
_HEAD = (
    r"^\s*(?:\[[^\]\r\n]{1,120}\]:?\s*|\d{4}-\d\d-\d\d[T ][\d:.,+Z]+\s*[-|]?\s*"
    r"|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b\s*[-:|]?\s*|[\w.]+:[\w<>.]+:\d+\s*[-|]\s*"
    r"|\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\s+|[\w./]+\.py:\d+\]\s*"
    r"|\((?:raylet|autoscaler|gcs_server)[^)]*\)\s*)*"
)
_ERROR = r"(?:[A-Za-z_][\w.]*\.)?"

PATTERNS: tuple[tuple[str, str], ...] = (
    ("nonfinite-gradient", r"(?:WARN(?:ING)?:?\s*)?(?:rank \d+ )?grad_norm is not finite"),
    ("oom", _ERROR + r"OutOfMemoryError(?::|\b.*CUDA out of memory)"),
    ("oom", r"(?:RuntimeError: )?CUDA (?:[Ee]rror: )?out of memory"),
    ("oom", r"(?:RuntimeError: )?MPS backend out of memory"),
    ("oom", r"(?:ValueError: )?No available memory for the cache blocks"),
    ("oom", r"(?:ray\.exceptions\.)?OutOfMemoryError: Task was killed due to the node running low on memory"),
    ("oom", r"Task was killed due to the node running low on memory"),
    ("killed", r".*Workers \(tasks / actors\) killed due to memory pressure \(OOM\)"),
    ("oom", r"torch\.cuda\.OutOfMemoryError"),
    ("engine-dead", _ERROR + r"(?:Async)?EngineDeadError\b"),
    ("engine-dead", r"(?:RuntimeError: )?Engine core (?:proc|initialization|process)\b.*(?:died|failed)"),
    ("worker-died", _ERROR + r"(?:ActorDiedError|RayActorError|ActorUnavailableError|WorkerCrashedError)\b"),
    ("worker-died", r"The actor (?:died unexpectedly|is dead)\b"),
    ("worker-died", r"A worker died or was killed while executing a task"),
    ("worker-died", r"torch\.distributed\.elastic\.multiprocessing\.errors\.ChildFailedError"),
    ("collective-timeout", r"Watchdog caught collective operation timeout"),
    ("collective-timeout", r".{0,200}\bWatchdog caught collective operation timeout: WorkNCCL"),
    ("collective-timeout", _ERROR + r"DistBackendError: .*(?:timeout|timed out)"),
    ("aborted", r"(?:ValueError: )?All samples are aborted"),
    ("aborted", r"Response mask is all False"),
    ("aborted", r"response_mask is all False"),
    ("aborted", r"(?:ValueError: )?response_mask must contain at least one valid token"),
    ("aborted", r"(?:AssertionError: )?Expected at least one valid token in response_mask"),
    ("collective-timeout", r"Some NCCL operations have failed or timed out"),
    ("collective-timeout", r".{0,200}\bProcessGroupNCCL's watchdog got stuck for \d+"),
    ("collective-timeout", r"(?:RuntimeError: )?\[.{0,120}gloo.{0,120}\] Timed out waiting \d+ms for"),
    ("collective-timeout", _ERROR + r"DistStoreError: .{0,80}(?:[Tt]imed out|timeout)"),
    ("collective-timeout", r"Timed out after \d+ seconds waiting for clients"),
    ("collective-error", _ERROR + r"DistBackendError: NCCL error"),
    (
        "collective-error",
        r"(?:RuntimeError: )?nccl(?:UnhandledCuda|System|Internal|Remote|InvalidUsage)\w*: ",
    ),
    (
        "worker-died",
        _ERROR + r"(?:NodeDiedError|OwnerDiedError|ObjectLostError|LocalRayletDiedError|"
        r"ReferenceCountingAssertionError|ObjectReconstructionFailed\w*)\b",
    ),
    ("worker-died", r"The node with node id: \S+ and address: \S+ .{0,80}has been marked dead"),
    ("worker-died", r"(?:RuntimeError: )?DataLoader worker \(pid"),
    ("engine-dead", r"Scheduler hit an exception: "),
    ("engine-dead", r"Rank \d+ scheduler died"),
    ("engine-dead", _ERROR + r"\w*Error: Background loop has errored already"),
    ("engine-dead", r"(?:ConnectionError: )?The vLLM server can't be reached"),
    ("engine-pressure", r"KV cache pool is full\. Retract requests"),
    ("engine-pressure", r"Decode out of memory happened\. #retracted_reqs"),
    ("engine-pressure", r"Sequence group \S+ is preempted by PreemptionMode"),
    ("oom", r"(?:RuntimeError: )?Not enough memory\. Please try to increase --mem-fraction-static"),
    ("oom", r"(?:ValueError: )?The model's max seq len .{0,80} is larger than the maximum number of tokens"),
    ("oom", r"(?:ValueError: )?To serve at least one request with the model"),
    ("oom", r"(?:RuntimeError: )?(?:HIP|XPU|NPU) out of memory"),
    ("oom", r"(?:RuntimeError: )?\[enforce fail at alloc_cpu\.cpp.{0,120}DefaultCPUAllocator: "),
    ("verifier-timeout", r"Timeout during (?:comparison|parsing)\b"),
    ("verifier-timeout", r"\[Timeout\] (?:Task timeout|Global reward|Skipping)"),
    ("verifier-timeout", r"Global timeout in reward comput"),
    ("verifier-timeout", r"Unexpected (?:error|timeout) in batched reward comput"),
    ("verifier-timeout", r"(?:Parsing|Simplification|Numerical evaluation) timed out for "),
    ("verifier-timeout", r"(?:TimeoutError: )?compute_score timed out after"),
    ("exception", r"(?:RuntimeError: |torch\.AcceleratorError: )CUDA error: "),
    ("exception", r"(?:RuntimeError: )?probability tensor contains either .inf., .nan. or element < 0"),
    ("exception", r"(?:RuntimeError: )?Megatron optimizer step failed"),
    ("rollout-failed", r"Error in _run_prompt for uid="),
    ("rollout-failed", r"Empty output for prompt"),
    ("killed", r"(?:slurmstepd: error: |srun: error: ).*"),
    ("killed", r"(?:.{0,80}: line \d+: +\d+ )?Killed\b\s*(?:\S.{0,200})?$"),
    ("killed", r".{0,80}\bdied with <Signals\.SIG\w+: \d+>"),
    ("killed", r"Signal \d+ \(SIG\w+\) received by PID"),
    ("killed", r"exitcode +: -\d+ \(pid"),
    ("killed", r"(?:.{0,80}: line \d+: +\d+ )?(?:Aborted|Bus error|Terminated) +\(core dumped\)"),
    ("killed", r"Segmentation fault\b.{0,80}$"),
    ("killed", r"Fatal Python error: "),
    ("config-error", r"In '[^']+': Could not find '"),
    ("config-error", r"Could not (?:override|append to config|delete from config) ?'?"),
    ("config-error", r"(?:hydra|omegaconf)\.errors\.\w+"),
    (
        "config-error",
        r"(?:[\w.]*\.)?(?:ConfigAttributeError|ConfigKeyError|ConfigCompositionException|"
        r"MissingConfigException|InterpolationKeyError|MissingMandatoryValue)\b",
    ),
    ("config-error", r"Cannot find primary config '|Primary config module '"),
    ("config-error", r"(?:hydra\.errors\.)?OverrideParseException: |LexerNoViableAltException: "),
    ("config-error", r"mismatched input '.{1,200}' expecting |no viable alternative at input '"),
    ("config-error", r"Key '[^']{1,200}' is not in struct|Missing mandatory value: "),
    ("config-error", r"You must specify '[^']{1,200}', e\.g|Multiple values for \S+\. To override a value"),
    ("config-error", r"Ambiguous value for argument '|Error merging override "),
    ("resumed", r"Resuming from \S"),
    ("state-missing", r"(?:Warning: )?No dataloader state found"),
    ("state-missing", r"optimizer_path=None\b"),
    (
        "state-missing",
        r"(?i:(?:warning: )?(?:could not|cannot|failed to|unable to) (?:load|restore|find)\b.{0,40}"
        r"\b(?:optimizer|scheduler|dataloader|rng) states?\b)",
    ),
    ("config-error", r"\S+: error: (?:unrecognized arguments|argument|the following arguments)\b"),
)
"""(kind, pattern where the message begins). The first that matches gives the kind."""

MATCHER = re.compile(_HEAD + "(?:" + "|".join(f"(?P<k{i}>{p})" for i, (_, p) in enumerate(PATTERNS)) + ")")
_LITERALS = (
    *("grad_norm is not finite", "OutOfMemoryError", "out of memory", "No available memory", "low on memory"),
    *("memory pressure", "EngineDeadError", "Engine core ", "ActorDiedError", "RayActorError"),
    *("ActorUnavailableError", "WorkerCrashedError", "The actor died", "The actor is dead", "A worker died"),
    *("ChildFailedError", "Watchdog caught", "DistBackendError", "samples are aborted", "ask is all False"),
    *("one valid token", "probability tensor", "optimizer step failed", "in _run_prompt for"),
    *("Empty output for prompt", "slurmstepd: ", "srun: ", "Killed", "Segmentation fault"),
    *("Fatal Python error", "Could not ", "hydra.errors.", "omegaconf.errors.", "ConfigAttributeError"),
    *("ConfigKeyError", "ConfigCompositionException", "MissingConfigException", "InterpolationKeyError"),
    *("MissingMandatoryValue", "Resuming from ", "No dataloader state", "optimizer_path=None", ": error: "),
    *(
        "Some NCCL operations",
        "watchdog got stuck",
        "Timed out waiting ",
        "DistStoreError",
        "ncclUnhandledCuda",
    ),
    *("Timed out after ", "ncclSystem", "ncclInternal", "ncclRemote", "ncclInvalidUsage"),
    "NodeDiedError",
    *("OwnerDiedError", "ObjectLostError", "LocalRayletDiedError", "ReferenceCountingAssertionError"),
    *("ObjectReconstructionFailed", "has been marked dead", "DataLoader worker (pid", "hit an exception: "),
    *("scheduler died", "Background loop has errored", "vLLM server can't be reached", "Retract requests"),
    *("#retracted_reqs", "is preempted by PreemptionMode", "Not enough memory", "model's max seq len"),
    *("To serve at least one request", "DefaultCPUAllocator", "Timeout during ", "[Timeout] "),
    *("in reward comput", "in batched reward comput", " timed out for ", "compute_score timed out"),
    *("CUDA error: ", "died with <Signals.", ") received by PID", "exitcode ", "(core dumped)"),
    *("Cannot find primary config", "Primary config module", "OverrideParseException"),
    *("LexerNoViableAltException", "mismatched input '", "no viable alternative at input"),
    *("is not in struct", "Missing mandatory value", "You must specify '", "Multiple values for "),
    *("Ambiguous value for argument", "Error merging override "),
    "Traceback (most recent call last)",
)
"""Every pattern, but for the one below, holds one of these: looking for them is what keeps reading fast."""
_LOST = re.compile(r"(?i:could not|cannot|failed to|unable to) (?i:load|restore|find)")
_CLAIM = r"(?i:training|train|训练).{0,24}(?i:complete|finished|done|success|完成)"
CLAIM = re.compile(r"^\W{0,8}" + _CLAIM + r"\w{0,8}\W{0,6}$")
"""A short line that says that training is complete."""
QUOTED = re.compile(r"^\[(?:prompt|response)\]")
"""What verl's reward managers print before a sample: what follows is the model's text, up to `UNQUOTED`."""
UNQUOTED = re.compile(r"^\[(?:ground_truth|score)\]")
_SAMPLE = r"\[(?:prompt|response|ground_truth|score)\]"
HINTS = "|".join((*map(re.escape, _LITERALS), _LOST.pattern, _CLAIM.replace("24", "96"), _SAMPLE))
HINTS = HINTS.replace("\\ ", " ")
"""One expression, in the syntax of RE2 too, that any line matches which may be or begin an incident. It sees
bytes, of which a character may have four."""


def hinted(text: str) -> bool:
    """Whether a line may hold one of the patterns."""
    return any(literal in text for literal in _LITERALS) or (
        "tate" in text.casefold() and _LOST.search(text) is not None
    )
