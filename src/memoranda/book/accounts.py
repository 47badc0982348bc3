"""What is asked of a book for its whole tenant: its owners, its facts, and what language models used and cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from memoranda.book.meaning import Meaning
from memoranda.book.parsing import as_owner
from memoranda.errors import InvalidInput
from memoranda.model.erasure import Scrubbed
from memoranda.model.facts import BookFacts
from memoranda.model.owner import Owner
from memoranda.model.spending import Spent, SpentFilter
from memoranda.model.values import refused
from memoranda.ports import Engine

T = TypeVar("T")


class Accounts:
    """The verbs of a book that answer for its tenant."""

    engine: Engine
    tenant: str
    meaning: Meaning

    async def usage(
        self,
        owner: str | Owner | None = None,
        *,
        agent: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> list[Spent]:
        """What calls to language models used and cost, from the day ``since`` to before the day ``until``, in UTC.

        One for each owner, agent, day, task and model; ``model.spending.totals`` adds them up by one of these.
        """
        party = None if owner is None else as_owner(owner, self.tenant)
        days = {"since": _as_day(since, "since"), "until": _as_day(until, "until")}
        try:
            only = SpentFilter.model_validate({"owner": party, "agent": agent, **days})
        except ValidationError as exc:
            raise refused(exc) from exc
        return await self.engine.spent(self.tenant, only)

    async def owners(self) -> Sequence[Owner]:
        """The tenant's owners that have records."""
        return await self.engine.owners(self.tenant)

    async def facts(self) -> BookFacts:
        """What the book is and holds; ``details["vectors"]`` says by what recall goes, and how much has its vector."""
        return await self.meaning.facts(await self.engine.facts())

    async def scrub(self) -> Scrubbed:
        """Clear the book's own files of all that was forgotten: completes an erasure whose receipt says ``pending``.

        On a server every table is written anew, and each stands still meanwhile.
        """
        return await self.engine.scrub()


class SyncAccounts:
    """The same verbs for programs without an event loop."""

    book: Accounts

    @abstractmethod
    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, and wait for it."""

    def usage(self, owner: str | Owner | None = None, **how: Any) -> list[Spent]:
        return self.run(self.book.usage(owner, **how))

    def owners(self) -> Sequence[Owner]:
        return self.run(self.book.owners())

    def facts(self) -> BookFacts:
        return self.run(self.book.facts())

    def scrub(self) -> Scrubbed:
        return self.run(self.book.scrub())


def _as_day(value: Any, field: str) -> date | None:
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    raise InvalidInput(f"{field}: give a date, not {value!r}; what was spent is kept by day", field=field)
