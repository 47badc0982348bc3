"""Operations over memories: remember, correct, share, retract and undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Unpack
from uuid import UUID

from pydantic import ValidationError

from memoranda.book.input import (
    Who,
    as_actor,
    as_audience,
    as_count,
    as_fields,
    as_flag,
    as_text,
    as_view,
    as_wait,
    memory_of,
    owner_named,
)
from memoranda.book.memory_uses import Uses
from memoranda.book.record_ids import EPISODES, MEMORIES, record_id, record_ids, with_ids
from memoranda.book.retraction import Retracting
from memoranda.book.services import Services, WaitFor
from memoranda.book.verb_fields import MemoryFields, spelled_out
from memoranda.door import check_operation
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.changes import (
    Amend,
    Change,
    ChangeAudience,
    Confirm,
    Expect,
    Remember,
    Restore,
    Retract,
    Supersede,
    Undo,
)
from memoranda.model.ledger import Receipt
from memoranda.model.memories import SOURCES, Memory, MemoryStatus
from memoranda.model.records import Audience, Owner, View
from memoranda.model.service_records import CALLER
from memoranda.model.unlisted import FIRST, SourcePage, unlisted_of
from memoranda.model.values import new_id, refused
from memoranda.operations import Names, Part, Role, W, offer
from memoranda.ports import Engine
from memoranda.text.scripts import comparable_text

#: Fields that a correction has from the corrected memory unless they are given.
_KEPT: Final = (
    "kind",
    "key",
    "subject",
    "cardinality",
    "applies_when",
    "tags",
    "pinned",
    "expires_at",
)
#: Fields that belong to the words: they are kept only if these stay the same.
_OF_WORDS: Final = "data observed_at valid_from valid_to valid_from_granularity valid_to_granularity happened".split()


async def corrected(
    engine: Engine, owner: Owner, view: View, id: UUID, operation: str | None
) -> Memory:
    """Return the memory to correct; raise ``Conflict`` if it is not active, unless this operation
    was applied before.
    """
    held = (await engine.get(owner, view, [id])).get(id)
    if not isinstance(held, Memory):
        raise NotFound(f"no memory {id} that this view may see")
    if held.active or (
        operation is not None
        and await engine.find_operation(owner, check_operation(operation), as_actor(view))
        is not None
    ):
        return held
    if held.status is MemoryStatus.SUPERSEDED:
        raise Conflict(
            f"id: memory {id} was superseded already; read what holds now, and update that"
        )
    state = "undone" if held.withdrawn else held.status.value
    raise Conflict(f"id: memory {id} is {state}; store a new statement with remember")


async def correction(
    engine: Engine, owner: Owner, view: View, held: Memory, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a memory that corrects ``held``."""
    content = given.get("content")
    kept = {name: getattr(held, name) for name in _KEPT}
    if isinstance(content, str) and comparable_text(content) == comparable_text(held.content):
        kept |= {name: getattr(held, name) for name in _OF_WORDS}
        sources = await _sources(engine, owner, view, held)
        there = await engine.get(owner, view, [*sources, *([held.thread] if held.thread else [])])
        kept |= {"sources": [id for id in sources if id in there]}
        kept |= {"thread": held.thread if held.thread in there else None}
    kept |= {
        f"{name}_granularity": None
        for name in ("valid_from", "valid_to")
        if given.get(name) is not None
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    replaced = chosen.get("supersedes", ())
    also = [replaced] if isinstance(replaced, (str, UUID)) else replaced
    return {**kept, **chosen, "content": content, "supersedes": [held.id, *also]}


async def _sources(engine: Engine, owner: Owner, view: View, held: Memory) -> list[UUID]:
    """Return all sources of a memory: the unlisted ones stand between the first listed ones and the
    others.
    """
    if not unlisted_of(held):
        return list(held.sources)
    page = SourcePage(limit=SOURCES - len(held.sources))
    others = [id for _, id in await engine.unlisted(owner, view, held.id, page)]
    return [*held.sources[:FIRST], *others, *held.sources[FIRST:]]


@spelled_out
class Memories(Part[W]):
    """The memories of a book."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.uses = Uses(services)
        self.retracting = Retracting(services)

    @offer(
        Role.EDITOR,
        "POST /memories",
        command="remember",
        example={"content": "I like green tea", "kind": "preference"},
    )
    async def remember(
        self,
        owner: str | Owner,
        content: str,
        *,
        audience: str | Audience | None = None,
        run: str | None = None,
        operation: str | None = None,
        expect: Mapping[UUID, int] | None = None,
        agent: str | None = None,
        groups: Sequence[str] = (),
        as_owner: bool = False,
        wait_for: WaitFor = "stored",
        **fields: Unpack[MemoryFields],
    ) -> Receipt:
        """Store a statement: kind, key, subject, applies_when, data, tags, sources, supersedes,
        valid_from, happened, …
        """
        who = as_view({"agent": agent, "groups": groups, "as_owner": as_owner})
        statements = [{"content": content, **fields}]
        return await self._services.remember(
            self._owner(owner), who, statements, audience, run, operation, expect, wait_for
        )

    @offer(Role.EDITOR, "POST /memories/batch", batch=("statements",), title="remember_all")
    async def remember_all(
        self,
        owner: str | Owner,
        statements: Sequence[Mapping[str, Any]],
        *,
        audience: str | Audience | None = None,
        run: str | None = None,
        operation: str | None = None,
        expect: Mapping[UUID, int] | None = None,
        wait_for: WaitFor = "stored",
        **who: Unpack[Who],
    ) -> Receipt:
        """Store several statements, all or none; ``wait_for="embedded"`` computes their vectors
        before it returns.
        """
        return await self._services.remember(
            self._owner(owner), as_view(who), statements, audience, run, operation, expect, wait_for
        )

    @offer(Role.EDITOR, "PUT /memories/{id}", command="update")
    async def update(
        self,
        owner: str | Owner,
        id: UUID | str,
        content: str,
        *,
        audience: str | Audience | None = None,
        run: str | None = None,
        operation: str | None = None,
        agent: str | None = None,
        groups: Sequence[str] = (),
        as_owner: bool = False,
        wait_for: WaitFor = "stored",
        **fields: Unpack[MemoryFields],
    ) -> Receipt:
        """Correct a memory: store a newer one that supersedes it.

        The newer one has the audience, kind, key, subject, tags, ``applies_when``, cardinality and
        pin of the older one, unless they are given. With an unchanged ``content`` it also has its
        data, times, sources and thread.
        """
        waiting, party, who = (
            as_wait(wait_for),
            self._owner(owner),
            as_view({"agent": agent, "groups": groups, "as_owner": as_owner}),
        )
        readers = as_audience(audience, who)
        statement, engine = {"content": content, **fields}, self._services.engine
        wanted = await record_id(engine, party, who, id, types=MEMORIES)
        held = await corrected(engine, party, who, wanted, operation)
        named, unknown = await with_ids(engine, party, who, statement)
        draft = await correction(engine, party, who, held, named)
        now = self._services.door.clock()
        try:
            memory = memory_of(draft, party, who.agent, now)
        except ValidationError as exc:
            raise refused(exc) from exc
        if run is not None:
            as_text(run, "run")
        door = await self._services.door_for(who)
        writing = door.write(
            party,
            who,
            as_actor(who),
            [Remember(memory, audience=readers or held.audience, run=run, unknown=unknown)],
            # Not the version: when the operation is repeated, the memory has the next one.
            request=["update", str(id), statement, str(audience), run],
            operation=operation,
            expect=Expect(versions={held.id: held.version}),
        )
        return await self._services.stored(writing, [statement], who, waiting)

    @offer(Role.EDITOR, "POST /memories/{loser}/supersede")
    async def supersede(
        self,
        owner: str | Owner,
        loser: UUID | str,
        winner: UUID | str,
        *,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Mark the memory ``loser`` as replaced by the memory ``winner``; both are stored
        already.
        """
        change = Supersede(
            await self._id(owner, who, loser, "loser"), await self._id(owner, who, winner, "winner")
        )
        return await self._change(
            owner, change, ["supersede", str(loser), str(winner)], operation, who
        )

    @offer(Role.EDITOR, "POST /memories/{id}/confirm")
    async def confirm(
        self,
        owner: str | Owner,
        id: UUID | str,
        *,
        sources: Iterable[UUID | str] = (),
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Record that a memory was said again, and in which records."""
        party, view = self._owner(owner), as_view(who)
        grounds = await record_ids(self._services.engine, party, view, sources, "sources")
        change = Confirm(await self._id(owner, who, id), grounds)
        return await self._change(
            owner, change, ["confirm", str(id), list(map(str, grounds))], operation, who
        )

    @offer(Role.EDITOR, "POST /memories/{id}/restore")
    async def restore(
        self,
        owner: str | Owner,
        id: UUID | str,
        *,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Bring an archived memory back to the lists of active ones."""
        change = Restore(await self._id(owner, who, id))
        return await self._change(owner, change, ["restore", str(id)], operation, who)

    @offer(Role.EDITOR, "PATCH /memories/{id}")
    async def amend(
        self,
        owner: str | Owner,
        id: UUID | str,
        fields: Mapping[str, Any],
        *,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Change a memory's fields other than its content: pinned, tags, applies_when, valid_from,
        valid_to, happened, expires_at.

        Of an episode, ``expires_at`` alone may be changed.
        """
        changed = as_fields(fields)
        return await self._change(
            owner,
            Amend(await self._id(owner, who, id), changed),
            ["amend", str(id), changed],
            operation,
            who,
        )

    @offer(Role.EDITOR, "POST /memories/{id}/share")
    async def share(
        self,
        owner: str | Owner,
        id: UUID | str,
        audience: str | Audience,
        *,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Change who may read a memory."""
        readers = as_audience(audience, as_view(who))
        if readers is None:
            raise InvalidInput("audience: name the audience to share with", field="audience")
        change = ChangeAudience(await self._id(owner, who, id), readers)
        return await self._change(owner, change, ["share", str(id), str(readers)], operation, who)

    @offer(Role.EDITOR, "DELETE /memories/{id}", command="retract")
    async def retract(
        self,
        owner: str | Owner,
        id: UUID | str,
        *,
        reason: str = "",
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Retract a memory: it is not active any more, and its history stays."""
        change = Retract(await self._id(owner, who, id), reason)
        return await self._change(owner, change, ["retract", str(id), reason], operation, who)

    @offer(Role.EDITOR, "POST /sources/{source}/retract", command="retract", title="retract_source")
    async def retract_source(
        self,
        owner: str | Owner,
        source: UUID | str,
        *,
        reason: str = "",
        dry_run: bool = False,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Mark a message or an episode as faulty: every statement derived only from it is
        retracted, in one operation.

        Of an episode these are also the memories whose ``source_episode`` it is. The receipt's
        ``ignored`` tells what stays because it has other grounds, or that there is nothing to
        retract; what agents learnt of it alone serves no more. Undoing the operation brings all of
        it back. ``dry_run`` writes nothing: the receipt says what would be done.
        """
        party, view = self._owner(owner), as_view(who)
        wanted = await record_id(self._services.engine, party, view, source, "source", EPISODES)
        as_flag(dry_run, "dry_run")
        return await self.retracting.retract_source(
            party, view, wanted, reason, operation, dry_run=dry_run
        )

    @offer(Role.EDITOR, "POST /ledger/{position}/undo", command="undo")
    async def undo(
        self,
        owner: str | Owner,
        position: int,
        *,
        with_dependents: bool = False,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Reverse a whole operation by its ledger position; ``with_dependents`` reverses the later
        changes that build on it too.
        """
        undone = as_count(position, "position", 1)
        change = Undo(undone, with_dependents, others=CALLER.get().opens_all)
        # With an operation id it is in the ledger even if it only affects agents' lines, so that it
        # can be undone too.
        named = operation or f"undo {new_id()}"
        receipt = await self._change(owner, change, ["undo", position, with_dependents], named, who)
        return await self.retracting.undone(self._owner(owner), receipt, named)

    @offer(Role.EDITOR, "POST /memories/used", title="mark_used", names={"placed": Names.NOBODY})
    async def mark_used(
        self,
        owner: str | Owner,
        ids: Iterable[UUID | str],
        *,
        placed: bool = True,
        **who: Unpack[Who],
    ) -> int:
        """Record that memories were placed in a prompt, which refreshes their strength. Reading
        them does not count.

        With ``placed=False`` they were given to an agent among others: no strength and no count
        changes, and the nights to come do not archive them.
        """
        as_flag(placed, "placed")
        party, view = self._owner(owner), as_view(who)
        engine = self._services.engine
        found = await engine.get(
            party, view, await record_ids(engine, party, view, ids, types=MEMORIES)
        )
        given = [record for record in found.values() if isinstance(record, Memory)]
        if placed:
            return await self.uses.use(party, view, given)
        self.uses.note_found(party, view, given)
        return len(given)

    async def _id(self, owner: str | Owner, who: Who, id: UUID | str, field: str = "id") -> UUID:
        """Return the id of the memory that a caller names."""
        return await record_id(
            self._services.engine, self._owner(owner), as_view(who), id, field, MEMORIES
        )

    def _owner(self, owner: str | Owner) -> Owner:
        return owner_named(owner, self._services.tenant)

    async def _change(
        self,
        owner: str | Owner,
        change: Change,
        request: Sequence[Any],
        operation: str | None,
        who: Who,
    ) -> Receipt:
        return await self._services.write(
            self._owner(owner), as_view(who), [change], request, operation
        )
