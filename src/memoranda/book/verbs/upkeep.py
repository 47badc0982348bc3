"""The verbs of a book over the whole book and its tenant: vectors, verification, usage, owners, facts and scrubbing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from pydantic import ValidationError

from memoranda.book.input import owner_named
from memoranda.book.services import Services
from memoranda.errors import InvalidInput
from memoranda.model.language_models import Spent, SpentFilter
from memoranda.model.ledger import Scrubbed
from memoranda.model.query import BookFacts, Findings
from memoranda.model.records import Owner
from memoranda.model.values import refused
from memoranda.operations import Part, Role, W, offer


class Upkeep(Part[W]):
    """The verbs of a book that keep it in order and count what it has."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @offer(Role.ADMIN, "POST /v1/embed")
    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute the missing vectors of passages now and return how many were made; without an embedder none are."""
        return await self._services.embeddings.catch_up(progress)

    @offer(Role.ADMIN, "POST /v1/reembed", command="reembed")
    async def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute all vectors with this book's embedder; recall reads the old ones until all new ones are there.

        A call that was interrupted goes on where it stopped when it is made again; returns how many it made itself.
        """
        return await self._services.embeddings.renew(progress)

    @offer(Role.ADMIN, "POST /v1/verify", command="verify")
    async def verify(
        self, progress: Callable[[int, int], None] | None = None, *, whole: bool = False
    ) -> Findings:
        """Compare every record of this book's tenant with the ledger, check all tables, and return the findings.

        With ``whole``, which is for operators, verify the records of all tenants.
        """
        return await self._services.engine.verify(progress, None if whole else self._services.tenant)

    @offer(Role.VIEWER, "GET /v1/usage", command="usage", title="read_usage")
    async def usage(
        self,
        owner: str | Owner | None = None,
        *,
        agent: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Sequence[Spent]:
        """Return what calls to language models used and cost, from the day ``since`` to before the day ``until`` (UTC).

        There is one item for each owner, agent, day, task and model; ``model.spending.totals`` adds them up by one of these.
        """
        party = None if owner is None else owner_named(owner, self._services.tenant)
        return await self._services.engine.spent(
            self._services.tenant, _as_spent_filter(party, agent, since, until)
        )

    @offer(Role.ADMIN, "GET /v1/owners", command="list", title="list_owners")
    async def owners(self) -> Sequence[Owner]:
        """Return the tenant's owners that have a ledger, also if all their records were forgotten one by one."""
        return await self._services.engine.owners(self._services.tenant)

    @offer(Role.ADMIN, "GET /v1/facts", command="doctor", title="read_facts")
    async def facts(self, *, whole: bool = False) -> BookFacts:
        """Return facts about this book's tenant, or with ``whole``, which is for operators, about all tenants.

        ``details["vectors"]`` says how many passages have a vector, and of which model.
        """
        found = await self._services.engine.facts(None if whole else self._services.tenant)
        return await self._services.embeddings.facts(found, whole=whole)

    @offer(Role.ADMIN, "POST /v1/scrub", command="forget")
    async def scrub(self) -> Scrubbed:
        """Clear the book's own files of everything that was forgotten. It completes an erasure whose state is ``pending``.

        On a server every table is rewritten, and each is locked while it is.
        """
        return await self._services.engine.scrub()


def _as_spent_filter(owner: Owner | None, agent: Any, since: Any, until: Any) -> SpentFilter:
    """Return the filter of what was spent, with its days checked."""
    days = {"since": _as_day(since, "since"), "until": _as_day(until, "until")}
    try:
        return SpentFilter.model_validate({"owner": owner, "agent": agent, **days})
    except ValidationError as exc:
        raise refused(exc) from exc


def _as_day(value: Any, field: str) -> date | None:
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    raise InvalidInput(f"{field}: give a date, not {value!r}; spending is kept by day", field=field)
