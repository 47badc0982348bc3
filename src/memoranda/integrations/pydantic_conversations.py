"""A store for PydanticAI's conversations (2.66 and newer): their messages are threads of a book."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4

from memoranda.book import Book, ThreadHandle
from memoranda.errors import Conflict, InvalidInput, NotFound, Stale
from memoranda.integrations.native_threads import every_message, threads_tagged
from memoranda.integrations.tools import Scope, digest
from memoranda.model.messages import NO_WORDS, Message

try:
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
except ImportError as exc:
    raise InvalidInput(
        "conversations need PydanticAI 2.66 or newer: pip install 'pydantic-ai-slim>=2.66'"
    ) from exc

from memoranda.integrations.pydantic_entries import (
    FAMILY,
    FILLER,
    FREED,
    RECORDS,
    Family,
    Line,
    cut,
    divided,
    entries_of,
    entry_of,
    joined,
)

__all__ = ["BookConversationStore"]

#: The most attempts at a write while others change the same thread.
_TRIES: Final = 100
_PAGE: Final = 500
#: The most entries whose threads are remembered.
_KNOWN: Final = 100_000


class BookConversationStore(ConversationStore):
    """A store of one owner's conversations in a book, in one agent's scope."""

    def __init__(self, book: Book, scope: Scope) -> None:
        if scope.thread is not None:
            raise InvalidInput(
                "scope: give it no thread; each conversation has its own", field="scope"
            )
        self.book = book
        self.scope = scope
        self._threads: dict[str, UUID] = {}

    # ── the primitives ────────────────────────────────────────────────────────────────────────────

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation; None if the book has none that this scope may
        see.
        """
        family = await self._family(conversation_id)
        return None if family is None else family.record(conversation_id)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return all records, or those with a scope, last updated first; finish what a killed
        deletion left.
        """
        found: list[ConversationRecord] = []
        async for family in self._families():
            if family.state.get(FREED):
                await self._free(family)
            found += family.records()
        chosen = [record for record in found if scope is None or record.scope == scope]
        chosen.sort(key=lambda record: record.updated_at, reverse=True)
        return chosen[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and its new entries in one operation; a save of more messages than one
        takes is several saves.
        """
        limits = await self.book.agents.limits(self.scope.agent)
        parts = divided(
            new_entries, self.scope.agent, limits.message_length, max(1, limits.batch - 1)
        )
        for entries, drafts in parts[:-1]:
            meanwhile = replace(record, head_id=entries[-1].id, revision=str(uuid4()))
            await self._write(meanwhile, entries, drafts, expected_revision)
            expected_revision = meanwhile.revision
        await self._write(record, *parts[-1], expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete a record, and erase the messages that no other record or branch reaches."""
        while True:
            family = await self._family(conversation_id)
            stored = None if family is None else family.record(conversation_id)
            if family is None or stored is None or stored.revision != expected_revision:
                raise ConversationConflict(conversation_id)
            state = family.without_record(conversation_id)
            try:
                await family.handle.set(state=state, expect=family.version)
            except (Stale, NotFound):
                continue
            await self._free(replace(family, version=family.version + 1, state=state))
            return

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return one entry; raise KeyError if no record reaches it."""
        return (await self.read_history(entry_id, limit=1))[0]

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """Return the entries up to this one, or the last of them, from one thread."""
        if head_id is None or limit == 0:
            return []
        found = await self._reaching(head_id)
        if found is None:
            raise KeyError(head_id)
        family, line = found
        entries = await self._entries(family.handle, line, limit)
        self._know(family, entries)
        return entries

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    async def _write(
        self,
        record: ConversationRecord,
        entries: Sequence[ConversationEntry],
        drafts: Sequence[Mapping[str, Any]],
        expected: str | None,
    ) -> None:
        """Store a record and its entries; begin again if others changed the thread, but not the
        record.
        """
        id = record.conversation_id
        known = record.head_id if not entries else entries[0].parent_id
        for _ in range(_TRIES):
            family = await self._family(id, opens=expected is None)
            stored = None if family is None else family.record(id)
            if family is None or (None if stored is None else stored.revision) != expected:
                raise ConversationConflict(id)
            line = await self._line(family, known)
            try:
                if line is None and stored is None:
                    family, line = await self._forked(family, id, known, record.forked_from)
                if line is None or (entries and record.head_id != entries[-1].id):
                    raise ConversationConflict(id)
                await self._commit(family, record, line, drafts)
            except (Stale, NotFound):
                continue
            self._know(family, entries)
            return
        raise Conflict(
            f"conversation {id!r}: others changed its thread {_TRIES} times meanwhile; try again"
        )

    async def _commit(
        self,
        family: Family,
        record: ConversationRecord,
        line: Line,
        drafts: Sequence[Mapping[str, Any]],
    ) -> None:
        thread = family.handle
        versions = {thread.id: family.version, **family.pointer}
        if not drafts:
            state = family.with_record(record, line)
            await thread.set(state=state, expect=versions)
            return
        newest = await thread.newest(1)
        last = max(family.last, newest[0].seq if newest else 0)
        state = family.with_record(record, joined(line, [last + 1, last + len(drafts)]))
        try:
            await thread.append(drafts, state=state, expect=versions, expect_last=last)
        except Stale:
            now = {
                id: await self.book.records.get(self.scope.owner, id, **self.scope.who)
                for id in versions
            }
            if all(now[id].version == version for id, version in versions.items()):
                # The newest message of the thread was erased: with one more, its last place is
                # known again.
                await thread.append("system", NO_WORDS, native=FILLER)
            raise

    async def _forked(
        self, family: Family, id: str, head: str | None, source: str | None
    ) -> tuple[Family, Line | None]:
        """Return the thread that has a fork's history, once the fork's own thread points to it."""
        if source is not None:
            await self._family(source)
        found = None if head is None else await self._reaching(head)
        if found is None:
            return family, None
        there, line = found
        own = await self._thread(_name(self.scope, id))
        if own is None or own.handle.id == there.handle.id:
            return family, None
        state = own.pointing(there.handle.id)
        await own.handle.set(state=state, expect=own.version)
        changed = own.state != state
        return replace(there, pointer={own.handle.id: own.version + changed}), line

    async def _free(self, family: Family) -> None:
        """Erase the messages that no record of a thread reaches; the thread, too, if it has no
        record.
        """
        who = self.scope.who
        thread = family.handle
        if not family.records() and FAMILY not in family.state:
            await _erase(self.book, thread, [thread.id], who)
            return
        tips = family.tips()
        lines = {tip: line for tip, line in family.lines.items() if tip in tips}
        for tip in tips - set(lines):
            line = await self._line(family, tip)
            if line is not None:
                lines[tip] = line
        kept = {
            place
            for line in lines.values()
            for first, last in line
            for place in range(first, last + 1)
        }
        gone = [
            one.id async for one in every_message(thread) if one.seq not in kept and entry_of(one)
        ]
        for start in range(0, len(gone), _PAGE):
            await _erase(self.book, thread, gone[start : start + _PAGE], who)
        try:
            await thread.set(state=family.freed(lines), expect=family.version)
        except (Stale, NotFound):
            # The mark stays, and the next reader does this again.
            return

    # ── finding ───────────────────────────────────────────────────────────────────────────────────

    async def _family(self, conversation: str, *, opens: bool = False) -> Family | None:
        """Return the thread that has, or would have, a conversation's record; ``opens`` makes
        it.
        """
        name = _name(self.scope, conversation)
        while True:
            own = await self._thread(name)
            if own is None and opens:
                await self.book.thread(
                    self.scope.owner,
                    name=name,
                    tags=[_tag(self.scope)],
                    audience=self.scope.audience,
                    **self.scope.who,
                )
                continue
            if own is None:
                return None
            there = None
            if FAMILY in own.state and own.record(conversation) is None:
                there = await self._thread(UUID(own.state[FAMILY]))
            if there is not None:
                own = replace(there, pointer={own.handle.id: own.version})
            if own.state.get(FREED):
                await self._free(own)
                continue
            self._know(own, ())
            return own

    async def _thread(self, named: str | UUID) -> Family | None:
        try:
            handle = await self.book.thread(self.scope.owner, id=named, **self.scope.who)
            thread = await handle.get()
        except NotFound:
            return None
        if thread.expires_at is not None and thread.expires_at <= self.book.door.clock():
            return None
        return Family(handle, thread.version, dict(thread.state))

    async def _families(self) -> AsyncIterator[Family]:
        """Yield every thread with records in this scope."""
        for thread in await threads_tagged(self.book, self.scope, _tag(self.scope)):
            if RECORDS in thread.state:
                handle = await self.book.thread(self.scope.owner, id=thread.id, **self.scope.who)
                yield Family(handle, thread.version, dict(thread.state))

    async def _reaching(self, entry: str) -> tuple[Family, Line] | None:
        """Return the thread in which a record reaches an entry, and the places of the history up to
        it.
        """
        known = self._threads.get(entry)
        family = None if known is None else await self._thread(known)
        line = None if family is None else await self._line(family, entry)
        if family is not None and line is not None:
            return family, line
        async for other in self._families():
            line = await self._line(other, entry)
            if line is not None:
                return other, line
        return None

    async def _line(self, family: Family, entry: str | None) -> Line | None:
        """Return the places of the history up to an entry; None if no record of the thread reaches
        it.
        """
        if entry is None:
            return []
        tips = family.tips()
        if entry in tips and entry in family.lines:
            return family.lines[entry]
        seen: set[tuple[int, int]] = set()
        for line in (family.lines[tip] for tip in tips if tip in family.lines):
            for first, last in line:
                if (first, last) in seen:
                    continue
                seen.add((first, last))
                ends = [
                    one.seq
                    async for one in every_message(family.handle, first, last)
                    if entry_of(one) == entry
                ]
                if ends:
                    return cut(line, ends[-1])
        return None

    async def _entries(
        self, thread: ThreadHandle, line: Line, limit: int | None
    ) -> list[ConversationEntry]:
        """Return a history's entries, oldest first; at most the last ``limit``."""
        found: list[Message] = []
        for first, last in reversed(line):
            end = last
            while end >= first:
                begin = max(first, end - _PAGE + 1)
                found = [
                    one async for one in every_message(thread, begin, end) if entry_of(one)
                ] + found
                end = begin - 1
                # One more than is asked for: it names the parent of the first.
                if limit is not None and len({entry_of(one) for one in found}) > limit + 1:
                    break
            else:
                continue
            break
        entries = entries_of(found)
        return entries if limit is None else entries[-limit:]

    def _know(self, family: Family, entries: Sequence[ConversationEntry]) -> None:
        if len(self._threads) > _KNOWN:
            self._threads.clear()
        known = [*family.lines, *(entry.id for entry in entries)]
        self._threads.update(dict.fromkeys(known, family.handle.id))


async def _erase(book: Book, thread: ThreadHandle, ids: Sequence[UUID], who: Any) -> None:
    try:
        await book.forget(thread.owner, ids, what="record", **who)
    except NotFound:
        # Somebody else has erased it already.
        return


# ── state ─────────────────────────────────────────────────────────────────────────────────────────


def _tag(scope: Scope) -> str:
    return digest("conversations", *_readers(scope))


def _name(scope: Scope, conversation: str) -> str:
    return digest("conversation", *_readers(scope), conversation)


def _readers(scope: Scope) -> tuple[object, ...]:
    """Return the agent of a scope and the readers of its threads; another set of groups has other
    conversations.
    """
    groups = () if scope.audience in (None, "self", "global") else sorted(scope.groups)
    return scope.agent, str(scope.audience), *groups
