"""The application of the service, behind the gate: its own routes, and those of other products;
paths under ``/v1/`` are answered by ``v1_requests``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from memoranda.access.guard import Audit
from memoranda.access.principal import Principal, local_admin
from memoranda.access.service_settings import ServiceSettings
from memoranda.book import Book
from memoranda.compatible.mounted_routes import compatible_routes
from memoranda.errors import MemorandaError, NotAllowed, StorageError
from memoranda.model.changes import JobState
from memoranda.model.values import utc_now
from memoranda.service.answers import Refused, error_answer, mistake
from memoranda.service.gate import LOOPBACK, App, Authenticate, Gate, Receive, Scope, Send
from memoranda.service.metrics import Metrics
from memoranda.service.openapi_document import document
from memoranda.service.v1_requests import answer, json_answer

#: A book that does not answer within these seconds serves nobody.
_PATIENCE = 5.0
#: A job that is due for so many seconds is late.
_LATE = 3600.0


async def can_serve(book: Book) -> str:
    """Return why requests cannot be served; empty if they can."""
    try:
        async with asyncio.timeout(_PATIENCE):
            # The same few rows however much is stored: nobody needs a key to ask this.
            await book.engine.whereabouts()
    except TimeoutError:
        return f"the book did not answer within {_PATIENCE:g} s"
    except StorageError as exc:
        return exc.code
    return ""


async def state_of(book: Book) -> dict[str, Any]:
    """Return the state of the service: ``ok``, or ``degraded`` with the reasons; counts, and no
    content.
    """
    try:
        jobs = (await book.admin.facts(whole=True)).jobs
        waiting = await book.jobs.list(state=JobState.WAITING.value, limit=1)
    except MemorandaError as exc:
        return {"status": "down", "reasons": [exc.code]}
    due = max(((utc_now() - job.run_at).total_seconds() for job in waiting), default=0.0)
    dead = jobs.get(JobState.DEAD.value, 0)
    reasons = [
        *([f"{dead} jobs were given up; see: memoranda jobs list --state dead"] if dead else []),
        *([f"a job has been due for {due:.0f} s; is a worker running?"] if due > _LATE else []),
        *([book.no_vectors_because] if book.no_vectors_because else []),
    ]
    return {
        "status": "degraded" if dead or due > _LATE else "ok",
        "reasons": reasons,
        "jobs": {
            "waiting": jobs.get(JobState.WAITING.value, 0),
            "dead": dead,
            "oldest_due_seconds": max(due, 0.0),
        },
    }


def gauges(state: Mapping[str, Any], running: int) -> dict[str, tuple[str, float]]:
    """Return the values of the present for the metrics."""
    jobs = state.get("jobs", {})
    return {
        "memoranda_up": ("1 if the book can be used.", float(state["status"] != "down")),
        "memoranda_requests_running": ("Requests in progress.", float(running)),
        "memoranda_jobs_waiting": ("Background jobs that wait.", float(jobs.get("waiting", 0))),
        "memoranda_jobs_dead": ("Background jobs that were given up.", float(jobs.get("dead", 0))),
        "memoranda_jobs_oldest_due_seconds": (
            "How long the oldest waiting job has been due.",
            float(jobs.get("oldest_due_seconds", 0)),
        ),
    }


#: The version of the API, which a client compares.
API = "v1"
#: FastAPI's own spans would tell the paths, and so the owners; the gate has spans that do not.
_UNTRACED: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False}


def make_app(
    book: Book,
    settings: ServiceSettings | None = None,
    *,
    authenticate: Authenticate | None = None,
    audit: Audit | None = None,
    routers: Sequence[APIRouter] = (),
    mounts: Sequence[tuple[str, Any]] = (),
    while_it_runs: Sequence[Any] = (),
    hosts: Sequence[str] = (),
) -> Gate:
    """Return the service over an open book as an ASGI application.

    Without ``authenticate`` every request is an administrator's: only a service on loopback may do
    without. ``routers`` and ``mounts`` add routes; ``while_it_runs`` are asynchronous contexts that
    last as long as the service.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in while_it_runs:
                await stack.enter_async_context(one)
            yield

    no_pages: Any = dict.fromkeys(("docs_url", "redoc_url", "openapi_url"))
    app = FastAPI(
        title="Memoranda", version=API, lifespan=lifespan, telemetry=_UNTRACED, **no_pages
    )
    known = LOOPBACK | frozenset(host.lower() for host in hosts)
    gate = Gate(
        _verbs_first(app),
        book,
        settings or ServiceSettings(),
        authenticate or _anybody(book),
        Metrics(),
        audit,
        known,
    )
    _add_own_routes(app, gate)
    for router in (*compatible_routes(gate.settings), *routers):
        app.include_router(router)
    app.openapi = cache(partial(document, app))  # type: ignore[method-assign]
    _add_error_handlers(app)
    for path, other in mounts:
        app.mount(path, other)
    return gate


def _verbs_first(app: App) -> App:
    """Return the application with all paths under /v1/ before its routes, which would only make
    each request slower.
    """

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await app(scope, receive, send)
            return
        response = await answer(Request(scope, receive))
        await response(scope, receive, send)

    return choose


def _anybody(book: Book) -> Authenticate:
    async def admin(_: str | None) -> Principal:
        return local_admin(book.tenant)

    return admin


def _add_own_routes(app: FastAPI, gate: Gate) -> None:
    @app.api_route("/livez", methods=["GET", "HEAD"], include_in_schema=False)
    async def livez() -> Response:
        return PlainTextResponse("ok")

    @app.api_route("/readyz", methods=["GET", "HEAD"], include_in_schema=False)
    async def readyz() -> Response:
        why_not = await can_serve(gate.book)
        if why_not:
            raise Refused(
                503,
                "not_ready",
                f"the book cannot be used: {why_not}",
                headers={"Retry-After": "1"},
            )
        return PlainTextResponse("ok")

    @app.get("/health", include_in_schema=False)
    async def health(request: Request) -> Response:
        state = await state_of(gate.book)
        return json_answer(state if _sees_numbers(request) else {"status": state["status"]})

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        if not _sees_numbers(request):
            raise NotAllowed(
                "metrics: they need an admin's credential, or a key made with --metrics"
            )
        text = gate.metrics.text(gauges(await state_of(gate.book), gate.running))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return json_answer(app.openapi())

    @app.get("/v1", include_in_schema=False)
    async def version(request: Request) -> Response:
        principal: Principal = request.state.principal
        return json_answer(
            {
                "service": "memoranda",
                "api": API,
                "tenant": gate.book.tenant,
                "role": str(principal.role),
                "person": principal.person,
                "secrets": gate.book.secrets,
                "no_vectors_because": gate.book.no_vectors_because,
                "forms_by_model": gate.book.forms_by_model,
                "tool_grace_hours": gate.book.forget_settings.tool_grace_hours,
            }
        )


def _sees_numbers(request: Request) -> bool:
    principal: Principal = request.state.principal
    return principal.sees_numbers


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(MemorandaError)
    async def refused_by_book(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, MemorandaError)
        return error_answer(exc, request.state.request_id)

    @app.exception_handler(Refused)
    async def refused_before(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, Refused)
        return exc.answer(request.state.request_id)

    @app.exception_handler(HTTPException)
    async def refused_by_routing(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)
        codes = {404: "not_found", 405: "method", 406: "accept"}
        headers = dict(exc.headers or {})
        is_mcp = request.url.path.startswith("/mcp")
        if (
            exc.status_code == 405
            and not is_mcp
            and (methods := _methods_at(app, request.url.path))
        ):
            # The routing names the methods of one route, and a path may have several.
            headers["Allow"] = methods
        found = Refused(
            exc.status_code, codes.get(exc.status_code, "refused"), str(exc.detail), headers=headers
        )
        return found.answer(request.state.request_id)

    @app.exception_handler(Exception)
    async def mistaken(request: Request, _: Exception) -> Response:
        return mistake(request.state.request_id)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, RequestValidationError)
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        status = 400 if first["type"] == "json_invalid" else 422
        return Refused(status, "invalid", f"{where or 'body'}: {first['msg']}").answer(
            request.state.request_id
        )


def _methods_at(app: FastAPI, path: str) -> str:
    """Return the methods that a path of other products' routes takes; empty for any other path."""
    found: set[str] = set()
    for template, operations in app.openapi()["paths"].items():
        if compile_path(template)[0].match(path):
            found |= {method.upper() for method in operations}
    return ", ".join(sorted(found))
