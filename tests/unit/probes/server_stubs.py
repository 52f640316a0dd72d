"""A small HTTP server that answers as vLLM, SGLang and llama.cpp are documented to, from a script of ids."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Route = Callable[[dict[str, Any]], Any]


class Stub:
    """`routes` by path; a route gets the request body ({} for GET) and returns JSON or (status, JSON)."""

    def __init__(self, routes: dict[str, Route]) -> None:
        self.routes = routes
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.url = ""


@contextmanager
def serving(routes: dict[str, Route]) -> Iterator[Stub]:
    """The stub, listening on a free port of this machine."""
    stub = Stub(routes)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: dict[str, Any]) -> None:
            stub.asked.append((self.path, body))
            route = stub.routes.get(self.path)
            value = route(body) if route else (404, {"error": "no such path"})
            status, value = value if isinstance(value, tuple) else (200, value)
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


Sampler = Callable[[list[int], float], tuple[list[int], list[float]]]
"""(prompt ids, temperature) -> sampled ids and the engine's log-probs."""


def vllm(sampler: Sampler, *, ids: bool = True, strict: bool = False) -> dict[str, Route]:
    def completions(body: dict[str, Any]) -> Any:
        if strict and "return_token_ids" in body:
            return 400, {"error": {"message": "unknown field return_token_ids"}}
        tokens, logprobs = sampler(body["prompt"], body["temperature"])
        choice = {
            "index": 0,
            "text": "...",
            "finish_reason": "length",
            "logprobs": {"tokens": ["x"] * len(tokens), "token_logprobs": logprobs, "top_logprobs": [{}]},
        }
        if ids:
            choice |= {"token_ids": tokens, "prompt_token_ids": body["prompt"]}
        return {
            "object": "text_completion",
            "choices": [choice],
            "usage": {"prompt_tokens": len(body["prompt"])},
        }

    return {
        "/v1/models": lambda _: {"object": "list", "data": [{"id": "policy", "owned_by": "vllm"}]},
        "/version": lambda _: {"version": "0.20.2"},
        "/v1/completions": completions,
    }


def sglang(sampler: Sampler) -> dict[str, Route]:
    def generate(body: dict[str, Any]) -> Any:
        tokens, logprobs = sampler(body["input_ids"], body["sampling_params"]["temperature"])
        return {
            "text": "...",
            "output_ids": tokens,
            "meta_info": {
                "prompt_tokens": len(body["input_ids"]),
                "completion_tokens": len(tokens),
                "finish_reason": {"type": "length"},
                "output_token_logprobs": [[v, t, None] for v, t in zip(logprobs, tokens, strict=True)],
            },
        }

    return {
        "/v1/models": lambda _: {"data": [{"id": "policy", "owned_by": "sglang"}]},
        "/get_server_info": lambda _: {"model_path": "policy", "version": "0.5.9", "dtype": "bfloat16"},
        "/generate": generate,
    }


def llamacpp(sampler: Sampler, drop: int = 0) -> dict[str, Route]:
    def completion(body: dict[str, Any]) -> Any:
        tokens, logprobs = sampler(body["prompt"], 1.0)
        entries = [{"id": t, "token": "x", "logprob": v} for t, v in zip(tokens, logprobs, strict=True)]
        return {
            "content": "...",
            "tokens": tokens,
            "tokens_evaluated": len(body["prompt"]),
            "completion_probabilities": entries[: len(entries) - drop] if drop else entries,
        }

    return {
        "/v1/models": lambda _: {"data": [{"id": "policy", "owned_by": "llamacpp"}]},
        "/props": lambda _: {"default_generation_settings": {}, "build_info": "b1"},
        "/completion": completion,
    }
