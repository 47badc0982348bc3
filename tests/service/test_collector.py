"""Telemetry: what a collector of OpenTelemetry gets from the service, and that every documented
name is sent.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from memoranda import Book, telemetry
from memoranda.service import composition
from memoranda.service.composition import exporting
from tests.service.conftest import asking
from tests.service.test_v1 import OWNER, remembered

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8")
WORD = "canaryquince"


class Collector(BaseHTTPRequestHandler):
    """Takes what exporters send."""

    got: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        self.got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def collecting() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    got: list[tuple[str, bytes]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Collector,), {"got": got}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(address: str, path: str, body: dict[str, object], **headers: str) -> None:
    request = urllib.request.Request(
        address + path, json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, bytes]]:
    """Return what a service in a process of its own sent to a collector, from its start to its
    end.
    """
    with collecting() as (endpoint, got):
        serving = subprocess.Popen(
            [sys.executable, "-m", "memoranda", "--json", "serve", "--port", "0"],
            env={
                **os.environ,
                "MEMORANDA_BOOK": str(tmp_path_factory.mktemp("book") / "book.db"),
                "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with serving:
            assert serving.stdout is not None
            address = json.loads(serving.stdout.readline())["listening"]
            trace = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
            ask(address, f"/v1/owners/{WORD}/memories", {"content": f"I like {WORD}"}, **trace)
            ask(address, f"/v1/owners/{WORD}/recall", {"query": WORD})
            serving.send_signal(signal.SIGTERM)
            assert serving.wait(60) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    return got


def test_a_collector_gets_the_spans_of_requests_in_the_trace_of_the_caller(
    sent: list[tuple[str, bytes]],
) -> None:
    spans: dict[str, Any] = {}
    for path, body in sent:
        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                names = {one.key: one.value.string_value for one in group.resource.attributes}
                assert names["service.name"] == "memoranda"
                spans |= {one.name: one for scope in group.scope_spans for one in scope.spans}
    assert {"POST remember", "POST recall", "memoranda.write", "memoranda.recall"} <= spans.keys()
    first = spans["POST remember"]
    assert first.trace_id == bytes.fromhex("ab" * 16) and first.parent_span_id == bytes.fromhex(
        "cd" * 8
    )
    assert spans["memoranda.write"].trace_id == first.trace_id
    attributes = {one.key: one.value for one in first.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    assert attributes["memoranda.verb"].string_value == "remember"


def test_a_collector_gets_the_metrics(sent: list[tuple[str, bytes]]) -> None:
    names = {
        metric.name
        for path, body in sent
        if path == "/v1/metrics"
        for group in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    }
    assert {"http.server.request.duration", "memoranda.writes", "memoranda.recalls"} <= names


def test_nothing_that_is_sent_names_an_owner_or_holds_content(
    sent: list[tuple[str, bytes]],
) -> None:
    assert sent and all(WORD.encode() not in body for _, body in sent)


async def test_without_the_extra_nothing_is_sent_and_the_log_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(composition, "MISSING", "opentelemetry")
    async with exporting({}):
        assert caplog.text == ""
    async with exporting({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}):
        assert "pip install 'PATH[telemetry]'" in caplog.text


async def test_requests_and_calls_of_models_work_without_opentelemetry(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    monkeypatch.setattr(telemetry, "_api", lambda _: None)
    for cached in (telemetry._tracer, telemetry._counter, telemetry._gauge, telemetry._histogram):
        monkeypatch.setattr(telemetry, cached.__name__, cached.__wrapped__)
    with telemetry.model_call("openai", "small", 10) as call:
        telemetry.model_tokens(call, 1, 0, 1)
    async with asking(book) as http:
        await remembered(http)


def documented(title: str) -> set[str]:
    """Return the names in the first cells of the table under a title."""
    table = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


async def test_every_metric_of_prometheus_is_documented_and_answered(book: Book) -> None:
    async with asking(book) as http:
        await http.get(f"{OWNER}/count")
        text = (await http.get("/metrics")).text
    assert set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)) == documented(
        "Metrics for Prometheus"
    )
    assert re.search(
        r'^memoranda_requests_total\{verb="records.count",status="200"\} 1$', text, re.MULTILINE
    )


def test_every_counter_gauge_and_span_is_documented_and_emitted() -> None:
    source = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "src" / "memoranda").rglob("*.py")
    )
    counters = {
        f"memoranda.{name}" for name in re.findall(r'telemetry\.count\(\s*"([\w.]+)"', source)
    }
    assert 'telemetry.count(f"formation.left_out.{_code(one)}")' in source
    counters.add("memoranda.formation.left_out.CODE")
    gauges = {
        f"memoranda.{name}" for name in re.findall(r'telemetry\.measure\(\s*"([\w.]+)"', source)
    }
    spans = {f"memoranda.{name}" for name in re.findall(r'telemetry\.span\(\s*"([\w.]+)"', source)}
    own = (ROOT / "src" / "memoranda" / "telemetry.py").read_text("utf-8")
    durations = set(re.findall(r'"((?:gen_ai|http)\.(?:client|server)\.[\w.]+)"', own))
    assert documented("Counters") == counters
    assert documented("Gauges") == gauges
    assert documented("Histograms") == durations
    assert documented("Spans") - {"chat MODEL", "METHOD VERB"} == spans
