"""Builds the service from a book and its settings, and runs it: logs as JSON, traces to a
collector, the HTTP server.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import TextIO

import uvicorn

from memoranda.access.key_check import KeyCheck
from memoranda.access.read_audit import ReadAudit
from memoranda.access.service_settings import ServiceSettings
from memoranda.access.tokens import TokenCheck
from memoranda.book import Book
from memoranda.errors import installing
from memoranda.mcp_server.http_mount import McpMount
from memoranda.service.app import make_app
from memoranda.service.connections import Connection, Connections
from memoranda.service.doorkeeper import (
    Doorkeeper,
    is_loopback,
    refuse_open_address,
    refuse_taken_address,
)
from memoranda.service.gate import Gate

#: Seconds that running requests have to end when the service stops.
_LAST_REQUESTS = 30
#: Seconds that requests which are cut and the application have to end.
_LAST_STEPS = 5


class Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(
        self, config: uvicorn.Config, gate: Gate, listening: Callable[[str], Awaitable[None] | None]
    ) -> None:
        super().__init__(config)
        self._gate = gate
        self._listening = listening

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and Ctrl-C, and let the program end as usual: it closes its book, and its
        exit code is 0.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the running requests end; a second signal ends them at once."""
        if self.should_exit:
            self.force_exit = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell the address."""
        await super().startup(sockets)
        for one in self.servers:
            for opened in one.sockets:
                host, port = opened.getsockname()[:2]
                self._listening(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams that have no end of their own, let running requests end, and stop."""
        self._gate.streams.stop()
        await super().shutdown(sockets)
        if not self.force_exit:
            return
        # After a second signal the base class leaves requests and application as they are: without
        # this they would end after the book is closed, and what the audit noted last would be lost.
        running = list(self.server_state.tasks)
        for task in running:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_STEPS):
                await asyncio.gather(*running, return_exceptions=True)
                await self.lifespan.shutdown()


def server_of(app: Gate, host: str, port: int, listening: Callable[[str], None]) -> Server:
    """Return a server of this application; it calls ``listening`` with its address."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=partial(Connection, Connections(app.settings)),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_LAST_REQUESTS,
        timeout_keep_alive=75,
        h11_max_incomplete_event_size=65_536,
    )
    return Server(config, app, listening)


try:
    from opentelemetry import metrics, trace
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ModuleNotFoundError as exc:  # the extra is not installed
    if not (exc.name or "").startswith("opentelemetry"):
        raise
    MISSING: str | None = exc.name
else:
    MISSING = None

    class OwnSpans(BatchSpanProcessor):
        """Sends the spans of Memoranda alone: those of libraries may quote what a person said."""

        def on_end(self, span: ReadableSpan) -> None:
            """Take a span that has ended."""
            if (
                span.instrumentation_scope is not None
                and span.instrumentation_scope.name == "memoranda"
            ):
                super().on_end(span)


_log = logging.getLogger("memoranda.service")
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@asynccontextmanager
async def exporting(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Export by OTLP over HTTP to the address in ``OTEL_EXPORTER_OTLP_ENDPOINT``; what waits at the
    end is sent, too.
    """
    is_off = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or not environment.get(_ENDPOINT):
        yield
        return
    if MISSING is not None:
        _log.warning("%s is set, and nothing is sent: %s", _ENDPOINT, installing("telemetry"))
        yield
        return
    # The exporters read the address, headers and times from the environment themselves.
    named = environment.get("OTEL_SERVICE_NAME") or "service.name=" in environment.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    resource = Resource.create({} if named else {"service.name": "memoranda"})
    tracing = TracerProvider(resource=resource)
    tracing.add_span_processor(OwnSpans(OTLPSpanExporter()))
    metering = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource)
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(metering)
    try:
        yield
    finally:
        await asyncio.to_thread(tracing.shutdown)
        await asyncio.to_thread(metering.shutdown)


#: What a record of the service may tell beside its message.
_FIELDS = ("request_id", "verb", "method", "status", "milliseconds", "principal")


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: getattr(record, name) for name in _FIELDS if hasattr(record, name)},
        }
        if record.exc_info:
            # The kind and the place of an error: its text may quote what a person said.
            kind, _, trace = record.exc_info
            line["error"] = kind.__name__ if kind else ""
            line["trace"] = _places(trace)
        return json.dumps(line)


def _places(trace: object) -> list[str]:
    found: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code  # type: ignore[attr-defined]
        found.append(f"{code.co_filename.rpartition('memoranda/')[2]}:{trace.tb_lineno}")  # type: ignore[attr-defined]
        trace = trace.tb_next  # type: ignore[attr-defined]
    return found[-20:]


def log_to(stream: TextIO, level: int = logging.INFO) -> logging.Handler:
    """Write the logs of this program to a stream, and return the handler."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    # A request that was cut has its line, with the status 499; the server would call it an error.
    handler.addFilter(
        lambda record: not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("memoranda").setLevel(level)
    return handler


#: New objects before the youngest are looked through, and so many times before the older ones are,
#: too.
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

    A second signal cuts the running requests: then SystemExit is raised, with the code of a program
    that was terminated.
    """
    tokens = TokenCheck(settings, book.tenant) if settings.takes_tokens else None
    keys = KeyCheck(book)
    audit = ReadAudit(book, settings.audit_days) if settings.audit else None
    doorkeeper = Doorkeeper(book, keys, tokens)
    refuse_open_address(host, is_locked=await doorkeeper.is_locked())
    refuse_taken_address(host, port)
    log_to(logs)
    # A service that other machines reach has keys, so a page that rebinds a name to its address has
    # none.
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
