"""Without a provider of OpenTelemetry, no span is begun."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from memoranda import Book, telemetry


async def test_no_span_is_begun_while_nobody_collects_them(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    begun: list[str] = []
    provider = TracerProvider()

    class Noting:
        def start_span(self, name: str, *given: object) -> trace.Span:
            begun.append(name)
            return provider.get_tracer("memoranda").start_span(name)

    monkeypatch.setattr(telemetry, "_tracer", Noting)
    await book.remember("ana", "likes tea")
    assert begun == []
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    await book.remember("ana", "likes coffee")
    assert begun == ["memoranda.write"]
