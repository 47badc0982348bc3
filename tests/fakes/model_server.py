"""A local provider of language models that speaks OpenAI's two protocols and replies as a script
says.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.fakes.model_replies import Reply, Way

#: How often a reply that does not come looks whether somebody still waits for it.
_LOOK_SECONDS = 0.02
#: The longest request that is read.
_LONGEST_REQUEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    path: str
    #: By their names in lower case.
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body, read."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def said(self) -> list[tuple[str, str]]:
        """Role and text of every turn, the instructions first."""
        asked = self.json
        first = [("system", asked["instructions"])] if asked.get("instructions") else []
        return first + [
            (turn["role"], _text(turn["content"]))
            for turn in asked.get("messages") or asked.get("input") or ()
        ]

    @property
    def content(self) -> str:
        """The first text that is no instruction."""
        return next((text for role, text in self.said if role == "user"), "")


#: Replies in their order, the last one for all that comes after; or what makes a reply of a
#: request, in any thread.
Script = Sequence[Reply] | Callable[[Asked], Reply]


class ModelServer:
    """Serves from threads of its own while it is entered; other processes may ask it too."""

    def __init__(self, script: Script) -> None:
        self.script = script
        #: Every request, in the order in which they came.
        self.asked: list[Asked] = []
        #: Replies that nobody waited for any longer.
        self.given_up = 0
        #: Held to count, and told of every count.
        self._news = threading.Condition()
        self._closing = threading.Event()
        self._sockets: set[socket.socket] = set()
        self._http = _Server(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_LOOK_SECONDS,), daemon=True
        )

    @property
    def base_url(self) -> str:
        """Where clients of OpenAI's protocols find it."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What lets another process ask here for ``openai:…`` and ``openai-chat:…``."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "not-a-key"}

    def until(self, *, asked: int = 0, given_up: int = 0, seconds: float = 30.0) -> bool:
        """Wait until so many requests came, and so many callers went away; False where that takes
        longer.
        """
        with self._news:
            return self._news.wait_for(
                lambda: len(self.asked) >= asked and self.given_up >= given_up, timeout=seconds
            )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        with self._news:
            for connection in self._sockets:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    def _next(self, asked: Asked) -> Reply:
        with self._news:
            self.asked.append(asked)
            self._news.notify_all()
            if not callable(self.script):
                return self.script[min(len(self.asked), len(self.script)) - 1]
        return self.script(asked)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, owner: ModelServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.owner._news:
            self.server.owner._sockets.add(self.connection)

    def finish(self) -> None:
        with self.server.owner._news:
            self.server.owner._sockets.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_POST(self) -> None:
        length = min(int(self.headers.get("Content-Length", 0)), _LONGEST_REQUEST)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, self.rfile.read(length))
        reply = self.server.owner._next(asked)
        try:
            self._send(reply, _body(reply, asked))
        except OSError:
            self._nobody_waits()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are kept, not logged: they hold what was said."""

    def _send(self, reply: Reply, body: bytes) -> None:
        if reply.way is Way.SILENT:
            self._stay_silent()
            return
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.way is Way.DRIP:
            self._drip(body, reply.seconds)
        elif reply.way is Way.HALF:
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(body)

    def _stay_silent(self) -> None:
        while not self.server.owner._closing.is_set():
            if select.select([self.connection], [], [], _LOOK_SECONDS)[0]:
                self._nobody_waits()
                return
        self.close_connection = True

    def _drip(self, body: bytes, seconds: float) -> None:
        for place in range(len(body)):
            if self.server.owner._closing.wait(seconds):
                self.close_connection = True
                return
            self.wfile.write(body[place : place + 1])
            self.wfile.flush()

    def _nobody_waits(self) -> None:
        self.close_connection = True
        with self.server.owner._news:
            self.server.owner.given_up += 1
            self.server.owner._news.notify_all()


def _body(reply: Reply, asked: Asked) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status >= 400:
        # As providers do at their worst: the error quotes what was sent.
        error = {
            "message": f"refused: {asked.content}",
            "code": reply.code or None,
            "type": "error",
        }
        return json.dumps({"error": error}).encode()
    envelope = _response if asked.path.endswith("/responses") else _completion
    return json.dumps(envelope(reply, asked)).encode()


def _completion(reply: Reply, asked: Asked) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": None if reply.refusal else reply.text,
        "refusal": reply.refusal,
    }
    into, cached, out = _tokens(reply, asked)
    usage = {
        "prompt_tokens": into,
        "completion_tokens": out,
        "total_tokens": into + out,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return {
        "id": "chatcmpl-local",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.json.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        **({"usage": usage} if reply.counted else {}),
    }


def _response(reply: Reply, asked: Asked) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
    if reply.refusal:
        part = {"type": "refusal", "refusal": reply.refusal}
    message = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    into, cached, out = _tokens(reply, asked)
    usage = {
        "input_tokens": into,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": into + out,
    }
    why = {"length": "max_output_tokens"}.get(reply.finish, reply.finish)
    return {
        "id": "resp_local",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed" if reply.finish == "stop" else "incomplete",
        "incomplete_details": None if reply.finish == "stop" else {"reason": why},
        "error": None,
        "model": asked.json.get("model"),
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **({"usage": usage} if reply.counted else {}),
    }


def _tokens(reply: Reply, asked: Asked) -> tuple[int, int, int]:
    return reply.tokens or (len(asked.body) // 4 + 1, 0, len(reply.text) // 4 + 1)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())
