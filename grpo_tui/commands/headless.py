"""`grpo-tui watch --headless`: follows a run without a screen, a line for every change of an alarm."""

from __future__ import annotations

import json
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from .output import complain, plain

SEVERITIES = ("info", "warning", "critical")
OVER = ("ended", "died")


def run(options: Namespace, run: Any, library: Any, baseline: Any) -> int:
    """Watch until the run ends. 0; 1 with an open alarm from `--fail-on` on; 2 for wrong usage."""
    from ..outlets.dispatch import Dispatcher
    from ..outlets.settings import OutletSettingError, outlets_of

    try:
        outlets = outlets_of(options.outlets, options.outlet)
    except OutletSettingError as error:
        return complain(str(error))
    if not 0.05 <= options.every <= 3600:
        return complain(f"--every {options.every:g}: give seconds from 0.05 to 3600")
    signal.signal(signal.SIGTERM, _leave)
    dispatcher = Dispatcher(outlets, _mention)
    try:
        return _Watch(options, run, library, baseline, dispatcher.send).follow()
    finally:
        dispatcher.close()


def _mention(line: str) -> None:
    print(f"grpo-tui: {plain(line)}", file=sys.stderr, flush=True)


def _leave(*_: Any) -> None:
    raise SystemExit(143)


class _Watch:
    def __init__(
        self, options: Namespace, run: Any, library: Any, baseline: Any, send: Callable[[Any], None]
    ) -> None:
        from ..playbook.alarms.announcing import Announcer
        from ..playbook.alarms.handling import Handling
        from ..playbook.alarms.monitor import Monitor
        from .show import drain

        self._options = options
        self._run = run
        self._send = send
        self._state = ""
        self._first = True
        if baseline is not None:
            drain(baseline)
        self._monitor = Monitor(run, library, baseline)
        # What comes through a pipe has no name by which it could be known again.
        self._named = str(run.path) != "-"
        self._announcer = Announcer(Handling(run.path) if self._named else None)
        if self._named:
            self._know_what_was_told()

    def follow(self) -> int:
        """Read, judge, tell, wait; until the run is over (or silent, with `--until-stalled`)."""
        from ..sources.errors import SourceError

        complained = ""
        while True:
            try:
                while self._run.poll():
                    pass
                complained = ""
            except (OSError, SourceError) as error:
                if str(error) != complained:
                    complained = str(error)
                    _mention(f"{complained}; still watching")
            if self._over() or self._closed():
                self._run.poll(final=True)
                self._look()
                return self._exit_code()
            self._look()
            time.sleep(self._options.every)

    # -- inside ----------------------------------------------------------------------------

    def _over(self) -> bool:
        state = self._run.state()
        silent = state == "stalled" or (state == "unknown" and self._run.step is not None)
        return state in OVER or (silent and self._options.until_stalled)

    def _closed(self) -> bool:
        """Whether the run comes through a pipe that its writer has closed: nothing more can follow."""
        return bool(self._run.tracks) and all(track.source.closed for track in self._run.tracks)

    def _look(self) -> None:
        from ..playbook.alarms.alarm import remember

        changes = self._monitor.update()
        step = self._run.step
        for told in self._announcer.news(changes, self._monitor.alarms, step):
            if self._first and told.news == "resolved":
                continue
            self._tell(told.alarm, told.news, told.untold)
        try:
            if self._named:
                remember(self._run.path, changes)
        except OSError as error:
            if self._first:
                _mention(f"alarms cannot be kept ({error.strerror}); a restart will tell them again")
        self._first = False
        self._tell_state()

    def _know_what_was_told(self) -> None:
        """What fired before this process began is on record and is not told again."""
        from ..playbook.alarms.alarm import remembered

        last = {entry.get("id"): entry for entry in remembered(self._run.path)}
        for id, entry in last.items():
            if entry.get("state") in ("firing", "recovering") and entry.get("severity") in SEVERITIES:
                self._announcer.knows(str(id), entry["severity"])

    def _tell(self, alarm: Any, news: str, untold: str) -> None:
        from ..outlets.notice import Notice

        notice = Notice(self._run.address, news, alarm.severity, alarm.message, self._run.step, alarm)
        if self._options.json:
            self._print_json({**notice.as_dict(), "untold": untold or None})
        else:
            where = "–" if alarm.first_step is None else alarm.first_step
            why = f"  [{untold}]" if untold else ""
            head = f"{news:<8}  {alarm.severity:<8}  {alarm.playbook}"
            self._print(f"{head}  since step {where}: {alarm.message}{why}")
        if not untold:
            self._send(notice)

    def _tell_state(self) -> None:
        """The run's own end is news as well; that it runs is none."""
        from ..outlets.notice import Notice

        state = self._run.state()
        if state == self._state or (not self._state and (state == "running" or self._run.step is None)):
            self._state = state
            return
        self._state = state
        severity = "critical" if state == "died" else "info"
        said = "silent for long; how it ended is not known" if state == "unknown" else state
        notice = Notice(self._run.address, "run", severity, f"the run is {said}", self._run.step)
        if self._options.json:
            self._print_json({**notice.as_dict(), "untold": None})
        else:
            self._print(f"{'run':<8}  {said}")
        self._send(notice)

    def _print(self, line: str) -> None:
        at = "–" if self._run.step is None else self._run.step
        print(plain(f"{_now()}  step {at}  {line}"), flush=True)

    def _print_json(self, line: dict[str, Any]) -> None:
        print(json.dumps({"time": _now(), **line}, ensure_ascii=True), flush=True)

    def _exit_code(self) -> int:
        """1 where an alarm of the newest segment is still open at or above `--fail-on`."""
        if self._options.fail_on is None:
            return 0
        least = SEVERITIES.index(self._options.fail_on)
        newest = max(0, len(self._run.segments) - 1)
        standing = [a for a in self._monitor.alarms if a.active and a.segment == newest]
        return int(any(SEVERITIES.index(alarm.severity) >= least for alarm in standing))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
