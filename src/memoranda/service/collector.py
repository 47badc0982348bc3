"""Sends spans and metrics to a collector of OpenTelemetry while the service runs, if the environment names one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from memoranda.errors import installing

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
            if span.instrumentation_scope is not None and span.instrumentation_scope.name == "memoranda":
                super().on_end(span)


_log = logging.getLogger("memoranda.service")
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@asynccontextmanager
async def exporting(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Export by OTLP over HTTP to the address in ``OTEL_EXPORTER_OTLP_ENDPOINT``; what waits at the end is sent, too."""
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
