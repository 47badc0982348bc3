"""The operations of a book over dreams: a night by hand, the scheduled ones, and what contradicts
itself.
"""

from __future__ import annotations

from typing import Final, Unpack

from memoranda.book.dream.contradictions import Contradiction, contradictions
from memoranda.book.dream.night import STANDING_MEMORIES, DreamReport, dream
from memoranda.book.dream.schedule import Schedule, schedules
from memoranda.book.input import Who, as_flag, as_view, owner_named
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.model.changes import MOST_JOBS
from memoranda.model.memories import Memory
from memoranda.model.records import Owner
from memoranda.operations import Part, Role, W, offer
from memoranda.paging import every_record

_WHOLE: Final = "a night looks at all memories of an owner, which"


@spelled_out
class Dreams(Part[W]):
    """The nights of a book: they archive what nobody used for long, and tell what contradicts
    itself.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    @offer(Role.EDITOR, "POST /dream", command="dream", of_the_person=_WHOLE, title="dream")
    async def run(
        self, owner: str | Owner, *, agent: str | None = None, dry_run: bool = False
    ) -> DreamReport:
        """Do a night for one owner now, in one operation, which an undo of the receipt's position
        reverses.

        It archives what was neither said nor used for ``pruneStaleAfterDays``, and brings back what
        was used since. With ``agent`` it looks at what that agent wrote, under its settings;
        without, at what all agents wrote that have no settings of dreams of their own. ``dry_run``
        writes nothing, and the report says what would be done.
        """
        services, named = self._services, as_view({"agent": agent}).agent
        party = owner_named(owner, services.tenant)
        settings, apart = await services.forming.of_agents.dreams(named)
        return await dream(
            services.engine, services.door, party, named, settings,
            apart=apart, dry_run=as_flag(dry_run, "dry_run"),
        )  # fmt: skip

    @offer(Role.VIEWER, "GET /contradictions", command="dream")
    async def contradictions(self, owner: str | Owner, **who: Unpack[Who]) -> list[Contradiction]:
        """Return where this view reads several values though one holds at a time, under one key or
        in statements that differ in their value only, each with the memories, the newest first.
        """
        services = self._services
        party, view = owner_named(owner, services.tenant), as_view(who)
        read = [one async for one in every_record(services.engine, party, view, STANDING_MEMORIES)]
        return contradictions(
            (one for one in read if isinstance(one, Memory)), services.door.clock()
        )

    @offer(Role.ADMIN, "GET /v1/dreams", command="dream")
    async def schedules(self) -> list[Schedule]:
        """Return the next night of each agent whose nights are enabled, with its state as EDDI
        names it.
        """
        return await schedules(self._services.engine, MOST_JOBS)
