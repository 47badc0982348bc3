"""Spans and counters; the only module that imports OpenTelemetry. Without OpenTelemetry it does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_SCOPE = "memoranda"


@cache
def _api(name: str) -> Any:
    """Return ``opentelemetry.trace`` or ``opentelemetry.metrics``; None if it is not installed."""
    return import_module(f"opentelemetry.{name}") if find_spec("opentelemetry") else None


@cache
def _tracer() -> Any:
    api = _api("trace")
    return api.get_tracer(_SCOPE) if api else None


@cache
def _counter(name: str) -> Any:
    api = _api("metrics")
    return api.get_meter(_SCOPE).create_counter(f"{_SCOPE}.{name}") if api else None


@cache
def _gauge(name: str) -> Any:
    api = _api("metrics")
    return api.get_meter(_SCOPE).create_gauge(f"{_SCOPE}.{name}") if api else None


def listened() -> bool:
    """True if telemetry is collected; costly measurements are skipped otherwise."""
    return _api("metrics") is not None


def measure(name: str, value: float) -> None:
    """Record the current value of a gauge."""
    gauge = _gauge(name)
    if gauge is not None:
        gauge.set(value)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Trace a piece of work; a span's name says what is done, never for which owner."""
    tracer = _tracer()
    if tracer is None:
        yield
    else:
        with tracer.start_as_current_span(f"{_SCOPE}.{name}"):
            yield


def count(name: str, amount: int = 1) -> None:
    """Add to a counter."""
    counter = _counter(name)
    if counter is not None:
        counter.add(amount)
