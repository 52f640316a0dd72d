"""Addresses of places elsewhere, and a connection to one, with one clear line for whatever is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..errors import SourceError

_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/+(?=.)", re.DOTALL)
_PACKAGES = {
    "sftp": "paramiko",
    "ssh": "paramiko",
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "az": "adlfs",
    "abfs": "adlfs",
}
"""What a kind of address needs beside fsspec."""


def is_remote(path: str | Path) -> bool:
    """Whether a path is an address such as `sftp://host/run`; a drive letter is none.

    A `Path` made of an address keeps only one slash after the colon; it counts too.
    """
    return _ADDRESS.match(str(path)) is not None


def address_of(path: str | Path) -> str:
    """The address in full, with both slashes."""
    return _ADDRESS.sub(lambda found: f"{found[1].lower()}://" + "/" * (found[0].count("/") > 2), str(path))


def shown(address: str) -> str:
    """The address without a password in it."""
    return re.sub(r"//([^:/@]+):[^@/]+@", r"//\1:…@", address)


def connect(address: str) -> tuple[Any, str]:
    """A file system and the path in it. Raises `SourceError` with one line that says what to do."""
    where = shown(address)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SourceError(
            f"{where}: reading from elsewhere needs fsspec; install it with: pip install 'grpo-tui[remote]'"
        ) from None
    kind = address.partition(":")[0]
    try:
        fs, path = url_to_fs(address, skip_instance_cache=True)
    except ImportError:
        package = _PACKAGES.get(kind, kind)
        raise SourceError(
            f"{where}: {kind}:// needs the package {package}; install it with: pip install {package}"
        ) from None
    except ValueError as error:
        raise SourceError(f"{where}: is no address that fsspec knows ({reason(error)}); check it") from None
    except Exception as error:
        raise SourceError(f"{where}: cannot be reached ({reason(error)}); check host and keys") from None
    return fs, path


def reason(error: BaseException) -> str:
    """An error of any backend in half a line."""
    text = " ".join(str(error).split())[:120]
    return text or type(error).__name__
