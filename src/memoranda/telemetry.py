"""Spans, counters and durations by the API of OpenTelemetry. Without OpenTelemetry it does
nothing.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

_SCOPE = "memoranda"
#: Providers whose name in the conventions for generative models is not the one by which PydanticAI
#: knows them.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gen_ai",
    "google-cloud": "gcp.vertex_ai",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
_NOTHING = nullcontext()
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


def _api(name: str) -> Any:
    """Return a module of ``opentelemetry``, such as ``trace`` or ``metrics``; None if it is not
    installed.

    None too while nothing in this process can have set up a provider: what the program does is not
    measured then.
    """
    return _module(name) if "opentelemetry" in sys.modules or _set_up_by_environment() else None


@cache
def _module(name: str) -> Any:
    return import_module(f"opentelemetry.{name}") if find_spec("opentelemetry") else None


@cache
def _set_up_by_environment() -> bool:
    return any(f"OTEL_PYTHON_{kind}_PROVIDER" in os.environ for kind in ("TRACER", "METER"))


@cache
def _tracer() -> Any:
    return _api("trace").get_tracer(_SCOPE)


@cache
def _counter(name: str) -> Any:
    return _api("metrics").get_meter(_SCOPE).create_counter(f"{_SCOPE}.{name}")


@cache
def _gauge(name: str) -> Any:
    return _api("metrics").get_meter(_SCOPE).create_gauge(f"{_SCOPE}.{name}")


def listened() -> bool:
    """True if telemetry is collected; costly measurements are skipped otherwise."""
    return _api("metrics") is not None


def measure(name: str, value: float) -> None:
    """Record the current value of a gauge."""
    if name.startswith(_OF_NIGHTS):
        NIGHTS[name] += value
    if listened():
        _gauge(name).set(value)


@cache
def _histogram(name: str, unit: str) -> Any:
    return _api("metrics").get_meter(_SCOPE).create_histogram(name, unit=unit)


#: What this process counted and measured of nights, in all; the service tells it as metrics, too.
NIGHTS: defaultdict[str, float] = defaultdict(float)
_OF_NIGHTS = "dream."


@dataclass
class Work:
    """A piece of work that is traced: its attributes say what is done, never for which owner."""

    name: str
    attributes: dict[str, Any] = field(default_factory=dict)
    #: Attributes of the span alone; a duration is never told by them.
    more: dict[str, Any] = field(default_factory=dict)


@contextmanager
def _traced(
    work: Work, kind: str, duration: str | None = None, parent: Any = None
) -> Iterator[Work]:
    """Trace a piece of work and its duration; of an error only the kind, because its text may
    quote.
    """
    api = _api("trace")
    if api is None:
        yield work
        return
    begun = perf_counter()
    traced = _tracer().start_span(work.name, parent, api.SpanKind[kind])
    contexts = _api("context")
    token = contexts.attach(api.set_span_in_context(traced))
    is_left = False
    try:
        yield work
    except BaseException as exc:
        work.attributes["error.type"] = type(exc).__name__
        # A coroutine of a closed event loop ends in another context, from which nothing can be
        # detached.
        is_left = isinstance(exc, GeneratorExit)
        raise
    finally:
        if not is_left:
            contexts.detach(token)
        traced.update_name(work.name)
        traced.set_attributes({**work.attributes, **work.more})
        if "error.type" in work.attributes:
            traced.set_status(api.StatusCode.ERROR)
        if duration is not None:
            _histogram(duration, "s").record(perf_counter() - begun, work.attributes)
        traced.end()


def span(name: str) -> AbstractContextManager[object]:
    """Trace a piece of work; a span's name says what is done, never for which owner.

    Without a provider nobody collects spans, so none is begun.
    """
    api = _api("trace")
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        return _NOTHING
    return _traced(Work(f"{_SCOPE}.{name}"), "INTERNAL")


@contextmanager
def model_call(provider: str, model: str, largest: int) -> Iterator[Work]:
    """Trace a call of a language model by the conventions for generative models."""
    call = Work(f"chat {model}")
    call.attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
    call.more = {"gen_ai.request.max_tokens": largest}
    with _traced(call, "CLIENT", "gen_ai.client.operation.duration"):
        yield call


def model_tokens(call: Work, tokens_in: int, tokens_cached: int, tokens_out: int) -> None:
    """Tell what a call of a language model used."""
    call.more |= {
        "gen_ai.usage.input_tokens": tokens_in,
        "gen_ai.usage.cache_read.input_tokens": tokens_cached,
        "gen_ai.usage.output_tokens": tokens_out,
    }
    if listened():
        tokens = _histogram("gen_ai.client.token.usage", "{token}")
        tokens.record(tokens_in, {**call.attributes, "gen_ai.token.type": "input"})
        tokens.record(tokens_out, {**call.attributes, "gen_ai.token.type": "output"})


@contextmanager
def request(method: str, headers: Mapping[str, str]) -> Iterator[Work]:
    """Trace a request of the service, as a part of the trace that its headers name, if they name
    one.
    """
    method = method if method in _METHODS else "_OTHER"
    work = Work(method, {"http.request.method": method})
    api = _api("propagate") if "traceparent" in headers else None
    with _traced(
        work, "SERVER", "http.server.request.duration", api.extract(headers) if api else None
    ):
        yield work


def answered(work: Work, verb: str, status: int) -> None:
    """Tell which verb a request meant, and how it was answered."""
    work.name = f"{work.attributes['http.request.method']} {verb}"
    work.attributes |= {"memoranda.verb": verb, "http.response.status_code": status}
    if status >= 500:
        work.attributes["error.type"] = str(status)


def count(name: str, amount: int = 1) -> None:
    """Add to a counter."""
    if name.startswith(_OF_NIGHTS):
        NIGHTS[name] += amount
    if listened():
        _counter(name).add(amount)
