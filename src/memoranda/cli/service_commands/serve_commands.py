"""The command ``serve``: a book over HTTP, with MCP and a worker, until it is stopped."""

from __future__ import annotations

import asyncio
import sys

import click

from memoranda.assembly import load_all, service_settings
from memoranda.assembly import open as open_book
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput, installing

try:
    import uvloop

    from memoranda.service.composition import serve
except ModuleNotFoundError as exc:  # the extra is not installed
    if (exc.name or "").startswith("memoranda"):
        raise
    MISSING: str | None = exc.name
else:
    MISSING = None


@click.command("serve")
@opens_book
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=7411,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@option("--no-worker", "Leave background jobs to memoranda worker.")
def serve_command(session: Session, host: str, port: int, no_worker: bool) -> None:
    """Serve the book over HTTP: REST under /v1, MCP under /mcp, and a worker beside them.

    Without keys it listens on this machine alone. After SIGTERM or Ctrl-C it ends the running
    requests and stops.
    """
    if MISSING is not None:
        raise InvalidInput(f"the service needs {MISSING}: {installing('server')}")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(session, host, port, no_worker=no_worker))


async def _serve(session: Session, host: str, port: int, *, no_worker: bool) -> None:
    def listening(address: str) -> None:
        if not session.print_json({"listening": address}):
            session.printer.say(f"listening on {address}; stop with Ctrl-C", "good")
        sys.stdout.flush()

    opening = open_book(
        session.address,
        tenant=session.tenant,
        config=session.config,
        worker=not no_worker,
        models="auto",
    )
    async with opening as book:
        await asyncio.to_thread(load_all)
        await serve(book, service_settings(session.config), host, port, listening, logs=sys.stderr)
