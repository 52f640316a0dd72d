"""`grpo-tui serve`: the app in a browser, on this machine, behind a token."""

from __future__ import annotations

import shlex
import socket
import sys
from argparse import Namespace

from .output import complain

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(options: Namespace) -> int:
    if options.host not in LOOPBACK:
        return complain(
            f"--host {options.host}: only this machine ({', '.join(LOOPBACK)}) is served; from elsewhere use "
            f"a tunnel: ssh -L {options.port}:127.0.0.1:{options.port} HOST"
        )
    try:
        from ..web.server import TokenServer, address, new_token
    except ImportError:
        return complain("serving needs textual-serve; get it with: pip install 'grpo-tui[serve]'")
    from ..sources.search.detect import SeveralRuns, find_run
    from ..sources.source import SourceError

    if options.path == "-":
        return complain("standard input cannot be served: every browser tab starts the app anew; name a file")
    try:
        find_run(options.path, live=True)
    except SeveralRuns:
        pass
    except SourceError as error:
        return complain(str(error))
    reason = _taken(options.host, options.port)
    if reason is not None:
        return complain(f"port {options.port} on {options.host}: {reason}; choose another with --port")
    token = new_token()
    print(f"open  {address(options.host, options.port, token)}")
    print("      (the token lets this address alone in; ctrl+c ends)", flush=True)
    server = TokenServer(
        _command(options), host=options.host, port=options.port, token=token, title=f"grpo-tui {options.path}"
    )
    server.serve()
    return 0


def _command(options: Namespace) -> str:
    """The command line of one tab's app."""
    words = [sys.executable, "-m", "grpo_tui", "watch", options.path]
    for name in ("config", "baseline", "python"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}", str(value)]
    for folder in options.playbooks:
        words += ["--playbooks", folder]
    return shlex.join(words)


def _taken(host: str, port: int) -> str | None:
    """Why a port cannot be listened on; None where it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OverflowError:
            return "is no port (1 to 65535)"
        except OSError as error:
            return str(error.strerror or error).lower()
    return None
