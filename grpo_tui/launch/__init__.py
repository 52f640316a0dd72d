"""How a probe is started: which interpreter, which device, at what cost, and what came back.

This room knows processes and knows no screen: it imports neither textual nor torch, so that the command
line, the app and a test start a probe in the same way. A plan is made first and shown to a person; only
then does anything run. Other launchers (torchrun, Slurm, Ray) are further files beside `local.py`.
"""

from .command import PlanError, ProbePlan, plan_probe
from .cost import CostEstimate, estimate_cost
from .events import ProbeEvent
from .history import Compared, Kept, compare_results, latest_changes, read_history
from .interpreter import InterpreterChoice, InterpreterInfo, choose_interpreter, probe_interpreter
from .job import JobProbe, start_launched
from .local import LocalProbe, run_probe
from .profiles import Launched, LaunchProfile, launched, load_profile, profile_names
from .registered import Origin, agreed_to, remember
from .result import ProbeResult

__all__ = [
    "Compared",
    "CostEstimate",
    "InterpreterChoice",
    "InterpreterInfo",
    "JobProbe",
    "Kept",
    "LaunchProfile",
    "Launched",
    "LocalProbe",
    "Origin",
    "PlanError",
    "ProbeEvent",
    "ProbePlan",
    "ProbeResult",
    "agreed_to",
    "choose_interpreter",
    "compare_results",
    "estimate_cost",
    "latest_changes",
    "launched",
    "load_profile",
    "plan_probe",
    "probe_interpreter",
    "profile_names",
    "read_history",
    "remember",
    "run_probe",
    "start_launched",
]
