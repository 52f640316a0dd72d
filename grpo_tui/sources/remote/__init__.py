"""Runs on another machine or in a bucket: `sftp://`, `s3://`, `hf://`, `http://`, … through fsspec.

What is worth reading of the remote tree is mirrored into a folder of our own, and the mirror grows as the
run does, by ranged reads of the new bytes only. So every reader works on a file as it always does, a
database included, and none has to know of a network. fsspec is an optional extra and loads lazily.
"""

from .address import is_remote
from .mirror import Mirror

__all__ = ["Mirror", "is_remote"]
