"""A bare FastAPI endpoint, with which the service is compared: `python -m bench.bare_endpoint`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import uvicorn
import uvloop
from fastapi import FastAPI


class Telling(uvicorn.Server):
    """A server that prints its address."""

    async def startup(self, sockets: Any = None) -> None:
        """Listen, then print the address."""
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(json.dumps({"listening": f"http://127.0.0.1:{port}"}) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Serve an endpoint that returns what it was given."""
    app = FastAPI()

    @app.post("/bare")
    async def bare(body: dict[str, Any]) -> dict[str, Any]:
        return body

    config = uvicorn.Config(app, port=0, http="httptools", log_config=None, access_log=False)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Telling(config).serve())


if __name__ == "__main__":
    main()
