"""A move that cannot be made now."""

from __future__ import annotations


class Refused(Exception):
    """A move that is not possible now; the text says why and what to do."""
