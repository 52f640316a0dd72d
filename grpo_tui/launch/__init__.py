"""How a probe is started: which interpreter, which device, at what cost, and what came back.

This room knows processes and knows no screen: it imports neither textual nor torch, so that the command
line, the app and a test start a probe in the same way. A plan is made first and shown to a person; only
then does anything run. Other launchers (torchrun, Slurm, Ray) are further files beside `local.py`.
"""

from .command import PlanError, ProbePlan, plan_probe
from .cost import CostEstimate, estimate_cost
from .events import ProbeEvent
from .interpreter import InterpreterChoice, InterpreterInfo, choose_interpreter, probe_interpreter
from .local import LocalProbe, run_probe
from .result import ProbeResult

__all__ = [
    "CostEstimate",
    "InterpreterChoice",
    "InterpreterInfo",
    "LocalProbe",
    "PlanError",
    "ProbeEvent",
    "ProbePlan",
    "ProbeResult",
    "choose_interpreter",
    "estimate_cost",
    "plan_probe",
    "probe_interpreter",
    "run_probe",
]
