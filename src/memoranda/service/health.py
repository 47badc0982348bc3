"""Health of the service: whether it lives, whether it can serve requests, and what waits or was given up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from memoranda.book import Book
from memoranda.errors import MemorandaError, StorageError
from memoranda.model.changes import JobState
from memoranda.model.values import utc_now

#: A book that does not answer within these seconds serves nobody.
_PATIENCE = 5.0
#: A job that is due for so many seconds is late.
_LATE = 3600.0


async def can_serve(book: Book) -> str:
    """Return why requests cannot be served; empty if they can."""
    try:
        async with asyncio.timeout(_PATIENCE):
            await book.facts()
    except TimeoutError:
        return f"the book did not answer within {_PATIENCE:g} s"
    except StorageError as exc:
        return exc.code
    return ""


async def state_of(book: Book) -> dict[str, Any]:
    """Return the state of the service: ``ok``, or ``degraded`` with the reasons; counts, and no content."""
    try:
        jobs = (await book.facts(whole=True)).jobs
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
