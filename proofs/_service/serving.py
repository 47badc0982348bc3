"""A real `memoranda serve`, and a client that keeps its connections."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A connection that answers nothing for so long counts as lost.
_PATIENCE_SECONDS = 30.0

#: No vectors, and no limit that many rounds of requests could reach.
_SETTINGS = {
    "MEMORANDA_EMBEDDING_USE": "none",
    "MEMORANDA_SERVICE_REQUESTS_PER_MINUTE": "0",
    "MEMORANDA_LIMITS_MEMORIES_PER_AGENT": "1000000",
}


@dataclass
class Service:
    """A running service, and its port."""

    process: subprocess.Popen[str]
    port: int

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def serve(path: Path, *, module: str = "memoranda", before: tuple[str, ...] = ()) -> Service:
    """Start a service over the book in this file, with its worker, on a free port."""
    arguments = [*before, "serve", "--json", "--port", "0", "--book", str(path)]
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **_SETTINGS},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the service ended with status {process.wait()} before it listened")
    return Service(process, int(json.loads(line)["listening"].rpartition(":")[2]))


class Caller:
    """One connection to a service; it is opened anew when it is needed."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)

    def ask(
        self, method: str, path: str, body: Any = None, key: str | None = None
    ) -> tuple[int, Any]:
        """Return the status and the JSON of the answer; raise OSError or HTTPException if there is
        none.
        """
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
