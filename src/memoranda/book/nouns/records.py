"""Operations that read records of any type: single ones, lists, explanations, histories and
receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack
from uuid import UUID

from pydantic import BaseModel

from memoranda.book.about import About, Readers, about, readers
from memoranda.book.advice import log_narrow_view
from memoranda.book.explanation import explain, seen_receipt, with_source_episode
from memoranda.book.input import (
    Conditions,
    Who,
    as_actor,
    as_count,
    as_cursor,
    as_filter,
    as_limit,
    as_text,
    as_types,
    as_view,
    as_wait,
    check_fields,
    each,
    owner_named,
)
from memoranda.book.nouns.experience import agent_named, lines_added
from memoranda.book.nouns.profiles import Profiles, fields_of
from memoranda.book.record_ids import record_id, with_thread_id
from memoranda.book.services import Services, WaitFor
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import InvalidInput, NotAllowed, NotFound
from memoranda.model.changes import Change, Remember
from memoranda.model.ledger import Entry, Receipt
from memoranda.model.query import Filter, HistoryStep, Page, Why
from memoranda.model.records import Audience, Owner, Record, RecordType
from memoranda.operations import Names, Part, Role, W, offer
from memoranda.ports import Finder, Lists

#: What forming makes.
_FORMED = frozenset({RecordType.MEMORY, RecordType.PROFILE, RecordType.EPISODE})
_ITEMS = frozenset({RecordType.ITEM})


@spelled_out
class Records(Part[W]):
    """The records of a book, of any type."""

    def __init__(self, services: Services, finder: Finder) -> None:
        self._services = services
        self._finder = finder

    @offer(
        Role.EDITOR,
        "POST /records",
        title="save_records",
        example={"profile": {"name": "Ann"}, "memories": [{"content": "I like green tea"}]},
        names={
            "profile": Names.NOBODY,
            "memories": Names.NOBODY,
            "experience": Names.ALL_USERS,
        },
    )
    async def save(
        self,
        owner: str | Owner,
        *,
        profile: Mapping[str, Any] | BaseModel | None = None,
        memories: Sequence[Mapping[str, Any]] = (),
        experience: Sequence[Mapping[str, Any]] = (),
        schema: str = "Profile",
        audience: str | Audience | None = None,
        run: str | None = None,
        operation: str | None = None,
        wait_for: WaitFor = "stored",
        **who: Unpack[Who],
    ) -> Receipt:
        """Store fields of a profile, memories and lines of an agent's experience together, all or
        nothing, as one operation that one undo reverses.

        ``profile`` sets fields as ``profiles.patch`` does, and ``memories`` are what
        ``remember_all`` takes. ``experience`` is the named ``agent``'s: each line has ``field`` and
        ``line``, and ``evidence`` lists the owner's records that taught it, for the privacy check
        of ``experience.add``. The receipt names the lines, too; an undo leaves those that were
        changed since.
        """
        party, view, waiting = self._party(owner), as_view(who), as_wait(wait_for)
        services, fields = self._services, {} if profile is None else fields_of(profile, "profile")
        changes: list[Change] = []
        changes += await services.remembered(party, view, memories, audience, run, "memories")
        beside: list[Record] = [one.memory for one in changes if isinstance(one, Remember)]
        if fields:
            edit, edits = await Profiles(services).changes(party, view, fields, schema, audience)
            beside.append(edit)
            changes += edits
        also = None
        if experience:
            if view.agent is None:
                raise InvalidInput("agent: name the agent that learnt this", field="agent")
            drafts = each(experience, "experience", lambda draft: _line_of(draft, party))
            agent = agent_named(view.agent, services.tenant)
            if agent == party:
                raise InvalidInput(
                    "owner: name a user; experience.add adds to an agent's experience alone",
                    field="owner",
                )
            also = agent, await lines_added(services, agent, drafts, beside)
        if not changes and also is None:
            raise InvalidInput("profile: nothing to save; give a profile, memories or experience")
        request = ["save", fields, schema, list(memories), list(experience), str(audience), run]
        writing = services.write(party, view, changes, request, operation, also=also)
        return await services.stored(writing, memories, view, waiting)

    @offer(Role.VIEWER, "GET /records/{id}", command="get", title="get_record")
    async def get(self, owner: str | Owner, id: UUID | str, **who: Unpack[Who]) -> Record:
        """Return one record by its id, or by your own name for it: an external id, or a thread's
        name.
        """
        party, view, engine = self._party(owner), as_view(who), self._services.engine
        wanted = await record_id(engine, party, view, id)
        found = await engine.get(party, view, [wanted])
        if wanted not in found:
            raise NotFound(f"no record {wanted} that this view may see")
        return await with_source_episode(engine, party, view, found[wanted])

    @offer(Role.VIEWER, "GET /records", command="list", title="list_records")
    async def list(
        self,
        owner: str | Owner,
        *,
        types: Iterable[str] | str | None = None,
        only: Conditions | None = None,
        newest_first: bool = False,
        cursor: str | None = None,
        limit: int = 100,
        **who: Unpack[Who],
    ) -> Page:
        """Return a page of the records that a view sees."""
        party, view = self._party(owner), as_view(who)
        chosen = await with_thread_id(self._services.engine, party, view, only or {})
        filter = as_filter(as_types(types), chosen, newest_first=newest_first)
        page = await self._lists(filter).scan(
            party, view, filter, as_cursor(cursor), as_limit(limit)
        )
        if cursor is None and (filter.types is None or filter.types & _FORMED):
            page = replace(page, waiting=await self._services.forming.waiting(party, view))
        if not page.records:
            await log_narrow_view(self._services.engine, party, view, filter, "list")
        return page

    @offer(Role.VIEWER, "GET /about", command="about", title="tell_about")
    async def about(self, owner: str | Owner, *, limit: int = 100, **who: Unpack[Who]) -> About:
        """Return what is known about an owner in one call: profile, the newest memories with
        sources and readers, counts.
        """
        party, view = self._party(owner), as_view(who)
        most, now = as_limit(limit), self._services.door.clock()
        profile = await self._services.bound.of_owner(party, view, now)
        waiting = await self._services.forming.waiting(party, view)
        found = await about(self._services.engine, party, view, most, profile, waiting)
        if not found.records:
            await log_narrow_view(self._services.engine, party, view, Filter(), "about")
        return found

    @offer(Role.VIEWER, "GET /readers", command="doctor", title="list_readers")
    async def readers(self, owner: str | Owner, **who: Unpack[Who]) -> Sequence[Readers]:
        """Return who reads how many of an owner's records; only the owner's own view may ask."""
        if not as_view(who).whole:
            raise NotAllowed("readers: it counts records of every audience; ask with as_owner=True")
        return await readers(self._services.engine, self._party(owner))

    @offer(Role.VIEWER, "GET /count", command="list", title="count_records")
    async def count(
        self,
        owner: str | Owner,
        *,
        types: Iterable[str] | str | None = None,
        only: Conditions | None = None,
        **who: Unpack[Who],
    ) -> int:
        """Return how many records ``list`` would return."""
        party, view, engine = self._party(owner), as_view(who), self._services.engine
        chosen = await with_thread_id(engine, party, view, only or {})
        filter = as_filter(as_types(types), chosen)
        return await self._lists(filter).count(party, view, filter)

    @offer(Role.VIEWER, "GET /records/{id}/why", command="why")
    async def why(
        self,
        owner: str | Owner,
        id: UUID | str,
        *,
        cursor: str | None = None,
        limit: int = 100,
        **who: Unpack[Who],
    ) -> Why:
        """Explain a record: its sources, quoted, and the changes that made it what it is.

        A record with more sources than it lists itself has them in pages of ``limit``: ``cursor``
        continues after an earlier one. The listed sources come on top of the first page.
        """
        party, view = self._party(owner), as_view(who)
        engine = self._services.engine
        wanted = await record_id(engine, party, view, id)
        return await explain(engine, party, view, wanted, as_cursor(cursor), as_limit(limit))

    @offer(Role.VIEWER, "GET /records/{id}/history", command="history", title="read_history")
    async def history(
        self, owner: str | Owner, id: UUID | str, **who: Unpack[Who]
    ) -> Sequence[HistoryStep]:
        """Return a record's changes, oldest first."""
        party, view, engine = self._party(owner), as_view(who), self._services.engine
        wanted = await record_id(engine, party, view, id)
        steps = await engine.history(party, view, wanted)
        if not steps:
            raise NotFound(f"no record {wanted} that this view may see")
        return steps

    @offer(Role.VIEWER, "GET /ledger", command="history", title="read_ledger")
    async def ledger(
        self, owner: str | Owner, *, after: int = 0, limit: int = 100, **who: Unpack[Who]
    ) -> Sequence[Entry]:
        """Return an owner's ledger entries after a position, oldest first; only the owner's own
        view may read them.
        """
        if not as_view(who).whole:
            raise NotAllowed(
                "the ledger lists records of every audience; read it with as_owner=True"
            )
        return await self._services.engine.entries(
            self._party(owner), as_count(after, "after"), as_limit(limit)
        )

    @offer(Role.VIEWER, "GET /operations/{operation}", title="get_operation")
    async def operation(
        self, owner: str | Owner, operation: str, **who: Unpack[Who]
    ) -> Receipt | None:
        """Return the receipt of an operation id, as far as this view sees it; None if it was never
        applied, or not by this agent.
        """
        party, view = self._party(owner), as_view(who)
        # The person may ask for anybody's operation, and everybody else for their own.
        by = None if view.whole else as_actor(view)
        receipt = await self._services.engine.find_operation(
            party, as_text(operation, "operation"), by
        )
        return (
            None
            if receipt is None
            else await seen_receipt(self._services.engine, party, view, receipt)
        )

    def _lists(self, filter: Filter) -> Lists:
        """Return the finder for conditions on data and on items, of which its indexes know most,
        and else the engine.
        """
        by_index = filter.data is not None or filter.kind_prefix is not None
        of_items = filter.types == _ITEMS and filter.keys is not None
        return self._finder if by_index or of_items else self._services.engine

    def _party(self, owner: str | Owner) -> Owner:
        return owner_named(owner, self._services.tenant)


def _line_of(draft: Mapping[str, Any], owner: Owner) -> dict[str, Any]:
    """Return the draft of a line that an owner's records taught."""
    check_fields(draft, frozenset({"field", "line", "evidence"}))
    ids = draft.get("evidence") or ()
    if not isinstance(ids, list | tuple):
        raise InvalidInput("evidence: give a list of ids", field="evidence")
    return {**draft, "evidence": {owner: ids} if ids else {}}
