"""The three ways a probe stops early, and the exit code each one has."""

from __future__ import annotations

EXIT_PASS, EXIT_FAIL, EXIT_USAGE, EXIT_INCONCLUSIVE, EXIT_CANCELLED = 0, 1, 2, 3, 130
EXIT_OF_VERDICT = {"pass": EXIT_PASS, "warn": EXIT_PASS, "fail": EXIT_FAIL, "inconclusive": EXIT_INCONCLUSIVE}


class CannotRun(Exception):
    """The probe cannot start or go on. The text is one line that says what to do; exit code 2."""


class Cancelled(Exception):
    """A person (SIGTERM, SIGINT) asked to stop. Exit code 130; results so far stay valid."""


class TimedOut(Exception):
    """`--timeout` ran out. Exit code 3; results so far stay valid."""
