"""textual-serve behind a token: whoever has the printed address sees the app, nobody else does.

The app can start probes and read files, so a port on a shared machine must not be open to its other
users. The token comes once in the address, becomes a cookie, and every request (the socket too) needs it;
a page of another site cannot send it, because the cookie is strict and the socket's origin is checked.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

COOKIE = "grpo_tui_token"
REFUSED = "This needs the address that `grpo-tui serve` printed, with its token.\n"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_token() -> str:
    """192 random bits that fit into an address."""
    return secrets.token_urlsafe(24)


def address(host: str, port: int, token: str) -> str:
    """What a person opens."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/?token={token}"


class TokenServer(Server):
    """Serves one command; a process of its own for every browser tab."""

    def __init__(self, command: str, *, host: str, port: int, token: str, title: str) -> None:
        shown = f"[{host}]" if ":" in host else host
        super().__init__(command, host=host, port=port, title=title, public_url=f"http://{shown}:{port}")
        self._token = token

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    def initialize_logging(self) -> None:
        """Nothing: what the app does is shown by the app."""

    async def on_startup(self, app: web.Application) -> None:
        """Nothing: the command has printed the address."""

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.query.get("token")
        if given is not None and self._is(given):
            entry = web.HTTPFound("/")
            entry.set_cookie(COOKIE, self._token, httponly=True, samesite="Strict", path="/")
            raise entry
        if not self._is(request.cookies.get(COOKIE, "")) or not self._from_here(request):
            raise web.HTTPForbidden(text=REFUSED)
        response = await handler(request)
        if not response.prepared:
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Frame-Options"] = "DENY"
        return response

    def _is(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _from_here(self, request: web.Request) -> bool:
        """Whether a browser's request comes from this very page; other clients send no origin."""
        origin = request.headers.get("Origin")
        return origin is None or urlsplit(origin).netloc == urlsplit(self.public_url).netloc
