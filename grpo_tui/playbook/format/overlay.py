"""A file that changes a playbook without copying it: other parameters, further fixes and tests.

Steps cannot be changed in this way on purpose: whoever needs other steps needs another playbook, and a
person on call must be able to read the steps in one file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .fields import Model, PlaybookId, Scalar
from .schema import Fix, PlaybookTest


class Overlay(Model):
    """Changes to a playbook that is given elsewhere."""

    extends: PlaybookId = Field(description="The id of the playbook that is changed.")
    format: Literal[1] = Field(description="The version of this format.")
    params: dict[str, Scalar] = Field(
        default={}, description="Parameter of that playbook -> the value to use instead."
    )
    fixes: tuple[Fix, ...] = Field(default=(), description="Fixes added to those of the playbook.")
    tests: tuple[PlaybookTest, ...] = Field(default=(), description="Tests added, run with these parameters.")
