"""The service as ``memoranda serve`` runs it: the application with its doorkeeper and its audit, on a server."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from memoranda.access.key_check import KeyCheck
from memoranda.access.read_audit import ReadAudit
from memoranda.access.service_settings import ServiceSettings
from memoranda.access.token_check import TokenCheck
from memoranda.book import Book
from memoranda.mcp_server.http_mount import McpMount
from memoranda.service.app import make_app
from memoranda.service.collector import exporting
from memoranda.service.doorkeeper import Doorkeeper, is_loopback, refuse_open_address, refuse_taken_address
from memoranda.service.json_logs import log_to
from memoranda.service.server import server_of

#: New objects before the youngest are looked through, and so many times before the older ones are, too.
_COLLECTED_AFTER = (50_000, 20, 50)
#: The exit code of a service that cut requests.
_CUT = 143


async def serve(
    book: Book,
    settings: ServiceSettings,
    host: str,
    port: int,
    listening: Callable[[str], None],
    *,
    logs: TextIO,
) -> None:
    """Serve an open book until SIGTERM or Ctrl-C; call ``listening`` with the address.

    A second signal cuts the running requests: then SystemExit is raised, with the code of a program that was terminated.
    """
    tokens = TokenCheck(settings, book.tenant) if settings.takes_tokens else None
    keys = KeyCheck(book)
    audit = ReadAudit(book, settings.audit_days) if settings.audit else None
    doorkeeper = Doorkeeper(book, keys, tokens)
    refuse_open_address(host, is_locked=await doorkeeper.is_locked())
    refuse_taken_address(host, port)
    log_to(logs)
    # A service that other machines reach has keys, so a page that rebinds a name to its address has none.
    hosts = [host] if is_loopback(host) or settings.allowed_hosts else ["*"]
    mcp = McpMount(book, audit)
    app = make_app(
        book,
        settings,
        authenticate=doorkeeper,
        audit=audit,
        hosts=hosts,
        mounts=[("", mcp)],
        while_it_runs=[keys, *([] if audit is None else [audit]), mcp.running()],
    )
    with _rare_collection():
        async with exporting(os.environ):
            server = server_of(app, host, port, listening)
            await server.serve()
    if server.force_exit:
        raise SystemExit(_CUT)


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Look for garbage in cycles less often, and never among what is there when the service begins.

    Requests leave next to none, and looking through all objects stops every request meanwhile.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
