"""JSON over HTTP to the one address a person typed: no redirects, no proxies, always a timeout."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from ..errors import CannotRun

_LARGEST = 256 * 1024 * 1024


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Refused(CannotRun):
    """The server answered with an HTTP error; `status` is its code."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class Endpoint:
    """A server at `url`. `key_variable` names the environment variable that holds its key, if any."""

    def __init__(self, url: str, timeout_s: float, key_variable: str | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CannotRun(f"{url} is not an address: give http://HOST:PORT")
        self.url = url.rstrip("/").removesuffix("/v1")
        self.timeout_s = timeout_s
        self._key = _key(key_variable)
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())

    def get(self, path: str) -> dict[str, Any]:
        return self._ask(urllib.request.Request(self.url + path))

    def post(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        data = json.dumps(payload).encode()
        return self._ask(
            urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method="POST")
        )

    def maybe(self, path: str) -> dict[str, Any] | None:
        """The answer, or None where the server does not know this path."""
        try:
            return self.get(path)
        except Refused:
            return None

    def _ask(self, request: urllib.request.Request) -> dict[str, Any]:
        if self._key:
            request.add_header("Authorization", f"Bearer {self._key}")
        try:
            with self._opener.open(request, timeout=self.timeout_s) as answer:
                body = answer.read(_LARGEST)
        except urllib.error.HTTPError as error:
            said = error.read(300).decode(errors="replace").replace("\n", " ")
            raise Refused(f"{request.full_url} answers {error.code}: {said[:200]}", error.code) from None
        except TimeoutError:
            raise CannotRun(f"{request.full_url}: no answer within {self.timeout_s:g} s") from None
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise CannotRun(f"{request.full_url}: no answer within {self.timeout_s:g} s") from None
            raise CannotRun(f"{request.full_url} cannot be reached: {reason}") from None
        try:
            value = json.loads(body)
        except ValueError:
            raise CannotRun(f"{request.full_url} does not answer with JSON") from None
        return value if isinstance(value, dict) else {"value": value}


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise CannotRun(f"the environment variable {variable} is empty")
    return key
