"""Calls of language models are traced and measured by the conventions for generative models,
without their content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai.usage import RequestUsage

from memoranda import telemetry
from memoranda.errors import ModelDown
from memoranda.models import RemoteModels
from tests.models.questions import CANARY, question
from tests.models.scripted import raises, says


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", lambda: provider.get_tracer("memoranda"))
    yield exporter
    provider.shutdown()


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    meter = provider.get_meter("memoranda")
    monkeypatch.setattr(
        telemetry, "_histogram", lambda name, unit: meter.create_histogram(name, unit=unit)
    )
    yield reader
    provider.shutdown()


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    assert data is not None
    found = [
        metric
        for group in data.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
        if metric.name == name
    ]
    return [point for metric in found for point in metric.data.data_points]


def only(spans: InMemorySpanExporter) -> tuple[ReadableSpan, dict[str, Any]]:
    (one,) = spans.get_finished_spans()
    return one, dict(one.attributes or {})


async def test_a_call_tells_its_model_its_tokens_and_its_time(
    spans: InMemorySpanExporter, metrics: InMemoryMetricReader
) -> None:
    usage = RequestUsage(input_tokens=40, cache_read_tokens=30, output_tokens=7)
    models = RemoteModels(says("{}", "small", usage=usage))
    await models.ask(question())
    span, attributes = only(spans)
    assert (span.name, span.kind.name) == ("chat small", "CLIENT")
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "function",
        "gen_ai.request.model": "small",
        "gen_ai.request.max_tokens": 500,
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.cache_read.input_tokens": 30,
        "gen_ai.usage.output_tokens": 7,
    }
    tokens = points(metrics, "gen_ai.client.token.usage")
    assert {one.attributes["gen_ai.token.type"]: one.sum for one in tokens} == {
        "input": 40,
        "output": 7,
    }
    (took,) = points(metrics, "gen_ai.client.operation.duration")
    assert took.count == 1 and took.attributes["gen_ai.request.model"] == "small"


async def test_a_call_that_fails_tells_the_kind_of_error_and_no_text(
    spans: InMemorySpanExporter, metrics: InMemoryMetricReader
) -> None:
    with pytest.raises(ModelDown):
        await RemoteModels(raises(ConnectionResetError(CANARY))).ask(question())
    span, attributes = only(spans)
    assert attributes["error.type"] == "ModelDown" and span.status.status_code.name == "ERROR"
    assert CANARY not in span.to_json() and not span.events
    (took,) = points(metrics, "gen_ai.client.operation.duration")
    assert took.attributes["error.type"] == "ModelDown"


def test_providers_have_the_names_of_the_conventions(spans: InMemorySpanExporter) -> None:
    with telemetry.model_call("google-gla", "gemini", 5):
        pass
    assert only(spans)[1]["gen_ai.provider.name"] == "gcp.gemini"
