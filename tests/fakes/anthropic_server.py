"""A stand-in for Anthropic's API on this machine: its model calls the memory tool, one command a
turn.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATH = "/memories/tea.txt"
#: What the model of the stub does, one call a turn; then it says that it is done.
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": PATH, "file_text": "Ada drinks tea\n"},
    {"command": "create", "path": PATH, "file_text": "again"},
    {"command": "insert", "path": PATH, "insert_line": 1, "insert_text": "and coffee"},
]


class Stub(BaseHTTPRequestHandler):
    """Answers as Anthropic's API does, with the next command of the list."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = len(self.asked)
        self.asked.append(asked)
        call = {
            "type": "tool_use",
            "id": f"t{done}",
            "name": "memory",
            "input": COMMANDS[min(done, 3)],
        }
        more = done < len(COMMANDS)
        answer = {
            "id": f"m{done}", "type": "message", "role": "assistant", "model": "stub", "stop_sequence": None,
            "content": [call] if more else [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if more else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve until the end of the block; yield the address, and the list of what was asked."""
    asked: list[dict[str, Any]] = []
    handler = type("Handler", (Stub,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def results(asked: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the text of each result that the model got, and True if it failed."""
    found = {}
    for message in (message for one in asked for message in one["messages"]):
        for block in message["content"] if message["role"] == "user" else ():
            if isinstance(block, dict) and block["type"] == "tool_result":
                inner = block["content"]
                text = inner if isinstance(inner, str) else inner[0]["text"]
                found[block["tool_use_id"]] = text, bool(block.get("is_error"))
    return [found[id] for id in sorted(found)]


EXPECTED = [
    ("Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n0B\t/memories", False),
    (f"File created successfully at: {PATH}", False),
    (f"File {PATH} already exists", True),
    (f"The file {PATH} has been edited.", False),
]  # fmt: skip
