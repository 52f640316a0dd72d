"""Launch profiles: how a probe is started where one process on this machine is not enough.

A profile is a YAML file; those that ship lie in `profiles/`, a person's own is named by its path. It wraps
the probe's command and never changes its question:

    name: torchrun
    summary: several processes on this machine, the model in FSDP2 shards
    command: ["{python}", -m, torch.distributed.run, "--nproc-per-node={processes}", --, "{script}"]
    values: {processes: 2}

`{script}` becomes the probe's own words, `{shell}` the whole command as one quoted text, `{python}`, `{out}`,
`{name}` (unique) and every key of `values` are filled in. `follow: stream` reads events from the command's
output; `follow: file` submits a job, finds its id with `job`, reads events from a shared file, asks
`alive` whether the job lives, and stops it with `cancel`.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from .command import PROBES_DIR, PlanError, ProbePlan

SHIPPED = Path(__file__).with_name("profiles")
_KEYS = {"name", "summary", "command", "values", "follow", "job", "alive", "cancel"}


@dataclass(frozen=True)
class LaunchProfile:
    """One way to start a probe; see the module for the placeholders of its commands."""

    name: str
    command: tuple[str, ...]
    summary: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    follow: str = "stream"
    job: str | None = None
    alive: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()


def profile_names() -> list[str]:
    """Names of the profiles that ship."""
    return ["local", *sorted(path.stem for path in SHIPPED.glob("*.yaml"))]


def load_profile(name: str) -> LaunchProfile:
    """A shipped profile by name, or a person's own by path. Raises `PlanError` in one line."""
    path = Path(name).expanduser()
    if path.suffix not in (".yaml", ".yml"):
        path = SHIPPED / f"{name}.yaml"
    if not path.is_file():
        raise PlanError(
            f"no launch profile {name}: use {', '.join(profile_names())}, or a YAML file of your own"
        )
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PlanError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    return _checked(path, value)


def _checked(path: Path, value: Any) -> LaunchProfile:
    if not isinstance(value, dict) or not isinstance(value.get("command"), list):
        raise PlanError(f"{path}: a launch profile is a mapping with a list under 'command'")
    unknown = sorted(map(str, set(value) - _KEYS))
    if unknown:
        raise PlanError(f"{path}: unknown key {unknown[0]}; known are {', '.join(sorted(_KEYS))}")
    words = {key: tuple(map(str, value.get(key) or ())) for key in ("command", "alive", "cancel")}
    follow = str(value.get("follow", "stream"))
    if follow not in ("stream", "file"):
        raise PlanError(f"{path}: follow is stream or file, not {follow}")
    if not any("{script}" in word or "{shell}" in word for word in words["command"]):
        raise PlanError(
            f"{path}: the command names neither {{script}} nor {{shell}}: it would not start a probe"
        )
    if follow == "file" and not (value.get("job") and words["alive"] and words["cancel"]):
        raise PlanError(f"{path}: follow: file needs 'job' (a pattern), 'alive' and 'cancel'")
    values = value.get("values") or {}
    if not isinstance(values, dict):
        raise PlanError(f"{path}: 'values' is a mapping")
    job = str(value["job"]) if value.get("job") else None
    return LaunchProfile(
        name=str(value.get("name", path.stem)),
        summary=str(value.get("summary", "")),
        values=values,
        follow=follow,
        job=job,
        **words,
    )


@dataclass(frozen=True)
class Launched:
    """A plan under a profile: the plan with the wrapped command, and how its job is followed and stopped."""

    plan: ProbePlan
    profile: LaunchProfile
    cancel: tuple[str, ...]
    alive: tuple[str, ...]
    events: Path | None

    def of_job(self, words: tuple[str, ...], job: str) -> list[str]:
        return [word.replace("{job}", job) for word in words]


def launched(plan: ProbePlan, profile: LaunchProfile, values: Mapping[str, Any] | None = None) -> Launched:
    """The plan under this profile. Raises `PlanError` for a placeholder that nothing fills."""
    events = plan.out_dir / "events.jsonl" if profile.follow == "file" else None
    if plan.origin is not None:
        raise PlanError(
            f"{plan.probe} comes from a package and is started on this machine only: leave --launch out"
        )
    words = list(plan.argv[plan.argv.index(str(PROBES_DIR)) :])
    if events is not None:
        words[words.index("--events") + 1] = str(events)
    inner = replace(plan, argv=(plan.argv[0], *words))
    filling = {
        "python": plan.argv[0],
        "out": str(plan.out_dir),
        "name": f"probe-{plan.probe}-{uuid.uuid4().hex[:8]}",
        "shell": inner.shell(),
        **{str(key): str(value) for key, value in {**profile.values, **(values or {})}.items()},
    }
    argv: list[str] = []
    for word in profile.command:
        argv += words if word == "{script}" else [_filled(word, filling, profile.name)]
    later = {**filling, "job": "{job}"}
    return Launched(
        plan=replace(plan, argv=tuple(argv)),
        profile=profile,
        cancel=tuple(_filled(word, later, profile.name) for word in profile.cancel),
        alive=tuple(_filled(word, later, profile.name) for word in profile.alive),
        events=events,
    )


def _filled(word: str, filling: Mapping[str, str], name: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match.group(1) not in filling:
            raise PlanError(
                f"launch profile {name}: nothing fills {{{match.group(1)}}}; set it under 'values'"
            )
        return filling[match.group(1)]

    return re.sub(r"\{([a-z_]+)\}", one, word)
