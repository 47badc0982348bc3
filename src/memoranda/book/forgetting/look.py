"""Looks through an owner's records for the statements of some memories, and for what tells them by
their value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from memoranda.book.forgetting.cuts import tells, tells_value
from memoranda.book.forgetting.facts import Fact, fact_of
from memoranda.book.forgetting.item_values import as_stored, earlier_values, earlier_versions
from memoranda.book.forgetting.model_findings import (
    MOST,
    Text,
    is_near,
    named_part,
    price,
    told_by_model,
)
from memoranda.book.forgetting.tellings import (
    each_once,
    made_of,
    named_so,
    profile_values,
    tellings_of,
)
from memoranda.book.services import AskModel
from memoranda.errors import Stale
from memoranda.formation.owner_names import profile_names
from memoranda.model.items import Item
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import NO_WORDS, Episode, Message, Overflow, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter
from memoranda.model.quotations import quote
from memoranda.model.records import Owner, Record, RecordType, View, those_of
from memoranda.model.redactions import Asking, Telling, Trace
from memoranda.paging import every_record
from memoranda.ports import Records
from memoranda.storage.decide.redaction import texts_of
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.tasks import Pauses
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import same_statement, terms_in

#: Why a text that stays is named.
SOURCE: Final = "a source of it, in other words"
NOT_OWN: Final = "another agent's, which this view may not change"
SOMEBODY: Final = "somebody else's, with the same value"
_PAGE: Final = 1000
#: Records of which the memories that come from them are read at a time.
_AT_ONCE: Final = 500
#: Characters of a text that are shown, and texts that are named in all.
_SHOWN, _MOST = 300, 100
_LATER: Final = (RecordType.MESSAGE, RecordType.THREAD, RecordType.EPISODE, RecordType.OVERFLOW)


def may_forget(view: View, record: Record) -> bool:
    """True if a view may erase or change a record for good: the owner's view, or the agent that
    wrote it.
    """
    return view.whole or (view.agent is not None and getattr(record, "agent", None) == view.agent)


def every(
    records: Records,
    owner: Owner,
    view: View,
    *types: RecordType,
    withdrawn: bool = False,
    **only: Any,
) -> AsyncIterator[Record]:
    """Return the records of these types that a view sees, page by page; or those that were
    withdrawn.
    """
    wanted = Filter(types=frozenset(types), withdrawn=withdrawn, **only)
    return every_record(records, owner, view, wanted, _PAGE)


@dataclass(slots=True)
class Look:
    """A search through the records of an owner for the statements of some memories."""

    records: Records
    owner: Owner
    view: View
    meant: Sequence[Memory]
    #: The parts that the call names beside those that go anyway.
    take: Collection[str]
    #: True if earlier values of a key go, too, except those whose ids are in ``keep``.
    takes_earlier: bool = False
    keep: Collection[UUID] = ()
    #: Records that say it too, and go: memories that say the same or have its value from the same
    #: message, and items.
    same: list[Record] = field(default_factory=list)
    #: Earlier values of the key, and those of them that go.
    earlier: list[Memory] = field(default_factory=list)
    taken: list[Memory] = field(default_factory=list)
    spans: list[Telling] = field(default_factory=list)
    listed: list[Telling] = field(default_factory=list)
    found: list[Trace] = field(default_factory=list)
    #: The episodes and threads whose texts were looked through, with their versions.
    looked: dict[UUID, int] = field(default_factory=dict)
    #: True to collect the texts that a language model may be asked about.
    collects: bool = False
    #: The newest texts without the value that share a word or a topic with it, and how many there
    #: are in all.
    near: deque[Text] = field(default_factory=lambda: deque(maxlen=MOST))
    all_near: int = 0
    #: The threads of the messages that lose words.
    _threads: set[UUID] = field(default_factory=set)
    #: Others must not wait while thousands of texts are compared.
    _pauses: Pauses = field(default_factory=Pauses)

    async def through(self) -> None:
        """Look through everything that the view sees."""
        profiles = those_of(ProfileDocument, [one async for one in self._every(RecordType.PROFILE)])
        names = frozenset({comparable_text(self.owner.id), *profile_names(profiles), *OWNER_WORDS})
        facts, memories = await self._facts(names)
        later = [one async for one in self._every(*_LATER, touches=self._test(facts))]
        known = {one.id for one in later}
        cited = {id for fact in facts for id in (*fact.sources, *fact.quotes)} - known
        later += (await self.records.get(self.owner, self.view, list(cited))).values()
        messages = sorted(those_of(Message, later), key=lambda one: one.id)
        facts = await self._beside(facts, [*memories, *later])
        told = {memory.id for memory in (*self.meant, *self.taken, *self.same)}
        for memory in memories:
            if memory.id not in told and not self._sort(memory, tellings_of(facts, memory)):
                self._collect(facts, memory, None, memory.content)
            await self._pauses.pause()
        for profile in profiles:
            self._sort(profile, _values_in(profile, facts))
        for message in messages:
            self._read(facts, message)
            await self._pauses.pause()
        await self._made(
            facts, [one for one in later if isinstance(one, (Thread, Episode, Overflow))]
        )
        await self._items(facts)
        await self._earlier_versions(facts)

    async def ask(self, ask: AskModel) -> None:
        """Ask a language model which of the texts near the fact tell it; what it finds is listed,
        or taken if it is named.
        """
        for one, part in await told_by_model(ask, self.owner, self._said(), list(self.near)):
            self._take_part(one.record, part)

    def price(self, *, asked: bool) -> Asking:
        """Return what it costs to ask a language model, or cost."""
        return price(self._said(), list(self.near), self.all_near - len(self.near), asked=asked)

    async def take_named(self) -> None:
        """Take the parts that the call names as a language model found them, if their records are
        as they were.
        """
        named = {name: part for name in self.take if (part := named_part(name)) is not None}
        have = {one.name for one in self.spans}
        records = await self.records.get(self.owner, self.view, [id for id, _, _ in named.values()])
        for name, (id, version, span) in named.items():
            record = records.get(id)
            if record is None or record.version != version:
                raise Stale(
                    f"take: the record of {name!r} has changed since; look again, then decide"
                )
            if name not in have and (text := _own_texts(record).get(span.path)):
                self._take_part(record, Text(record, span.path, text).part(span.start, span.end))

    def _take_part(self, record: Record, part: Telling) -> None:
        if self._sort(record, [part]):
            if isinstance(record, Memory):
                self.same.append(record)
            elif isinstance(record, (Thread, Episode)):
                self.looked[record.id] = record.version

    def _said(self) -> list[str]:
        return list(dict.fromkeys(memory.content for memory in (*self.meant, *self.taken)))

    def _collect(self, facts: Sequence[Fact], record: Record, path: str | None, text: str) -> None:
        """Keep a text for a language model if it shares a word or a topic with a fact, or is a
        source of it.
        """
        if self.collects and any(
            record.id in fact.sources or is_near(fact, text) for fact in facts
        ):
            self.near.append(Text(record, path, text))
            self.all_near += 1

    def named(self, gone: Collection[UUID]) -> tuple[tuple[Trace, ...], int]:
        """Return what stays and has to do with the fact once some records are gone, and how many
        more there are than are named.
        """
        left = {(one.id, one.text): one for one in self.found if one.id not in gone}
        return tuple([*left.values()][:_MOST]), max(len(left) - _MOST, 0)

    def _every(self, *types: RecordType, **only: Any) -> AsyncIterator[Record]:
        return every(self.records, self.owner, self.view, *types, **only)

    def _test(self, facts: Sequence[Fact]) -> Callable[[str], bool]:
        """Return the test of a text that is looked at closely: most have no word of any fact."""
        if self.collects:
            return lambda text: any(fact.touches(text) or is_near(fact, text) for fact in facts)
        tests = [fact.touches for fact in facts]
        return tests[0] if len(tests) == 1 else lambda text: any(test(text) for test in tests)

    async def _facts(self, names: frozenset[str]) -> tuple[list[Fact], list[Memory]]:
        """Return a fact for each memory that is meant, with all memories that tell it, which go as
        well; and those near them.
        """
        facts = [fact_of([one], names) for one in self.meant]
        memories = await self._memories(facts)
        groups = [self._compare(one, memories) for one in self.meant]
        if self.taken or self.same:
            memories = await self._memories([fact_of(group, names) for group in groups])
        for group in groups:
            fact = fact_of(group, names, self._others(memories, groups))
            await self._take_telling(fact, group[0])
        others = self._others(memories, groups)
        return [fact_of(group, names, others) for group in groups], memories

    def _others(
        self, memories: Sequence[Memory], groups: Sequence[Sequence[Memory]]
    ) -> list[Memory]:
        """Return the statements that stay."""
        gone = {memory.id for group in (*groups, self.same) for memory in group}
        return [memory for memory in memories if memory.active and memory.id not in gone]

    async def _memories(self, facts: Sequence[Fact]) -> list[Memory]:
        """Return the memories near a fact: those with a word of one, and the earlier values of
        their keys.
        """
        found = [one async for one in self._every(RecordType.MEMORY, touches=self._test(facts))]
        if keys := {memory.key for memory in self.meant if memory.key is not None}:
            found += [one async for one in self._every(RecordType.MEMORY, keys=frozenset(keys))]
        older = [id for memory in self.meant for id in memory.supersedes]
        found += (await self.records.get(self.owner, self.view, older)).values() if older else ()
        each = {memory.id: memory for memory in those_of(Memory, found)}
        return sorted(each.values(), key=lambda memory: memory.id)

    async def _beside(self, facts: Sequence[Fact], records: Sequence[Record]) -> list[Fact]:
        """Return the facts with the statements that stay and come from some records."""
        ids, citing = [record.id for record in records], list[Record]()
        for start in range(0, len(ids), _AT_ONCE):
            some = frozenset(ids[start : start + _AT_ONCE])
            citing += [one async for one in self._every(RecordType.MEMORY, sources=some)]
        others = self._others(
            those_of(Memory, citing), [[*self.meant, *self.taken, *those_of(Memory, self.same)]]
        )
        return [replace(fact, others=tuple(others)) for fact in facts]

    def _compare(self, meant: Memory, memories: Iterable[Memory]) -> list[Memory]:
        """Return a memory that is meant, those that say the same, and the earlier statements under
        its key that go too.
        """
        named = {memory.id for memory in self.meant}
        group, others = [meant], list[Memory]()
        if not may_forget(self.view, meant):
            self._name(meant, meant.content, NOT_OWN)
        for memory in memories:
            if memory.id in named:
                continue
            is_older = memory.key is not None and memory.key == meant.key
            is_older = is_older and memory.status is MemoryStatus.SUPERSEDED
            if says_the_same(memory, meant):
                group += self._take(memory, memory.content)
            elif memory.id in meant.supersedes or is_older:
                self.earlier += [] if memory in self.earlier else [memory]
                if (
                    self.takes_earlier
                    and memory.id not in self.keep
                    and may_forget(self.view, memory)
                ):
                    self.taken += [] if memory in self.taken else [memory]
                    group.append(memory)
            else:
                others.append(memory)
        for memory in others:
            if any(says_the_same(memory, one) for one in group):
                group += self._take(memory, memory.content)
        return group

    async def _take_telling(self, fact: Fact, meant: Memory) -> None:
        """Take the other memories that tell a fact; what else they say is no part of it."""
        keys = {memory.key for memory in self.meant} - {None}
        for memory in fact.near:
            await self._pauses.pause()
            is_of_owner = fact.is_of_owner(f"{memory.subject or ''} {memory.content}")
            its_own = (
                memory.key not in keys and _subject(memory) == _subject(meant) and not is_of_owner
            )
            if its_own and (
                any(tells(fact, text) for text in _statements_of(memory))
                or self._has_value_of_source(fact, memory)
            ):
                self._take(memory, memory.content)
            elif fact.is_of_a_stranger(memory.content):
                self._name(memory, memory.content, SOMEBODY)

    def _has_value_of_source(self, fact: Fact, memory: Memory) -> bool:
        """True if a memory has the value from a message from which a memory of the fact has it."""
        cited = {one.message for one in memory.quotes if one.quote}
        sources = [
            source for source in memory.sources if source in fact.sources and source not in cited
        ]
        return bool(sources) and tells_value(fact, memory.content)

    def _take(self, memory: Memory, text: str) -> list[Memory]:
        """Take a memory if the view may forget it, and else name it; return those taken."""
        if not may_forget(self.view, memory):
            self._name(memory, text, NOT_OWN)
            return []
        if memory not in self.same:
            self.same.append(memory)
        return [memory]

    def _read(self, facts: Sequence[Fact], message: Message) -> None:
        """Find the parts of a message to take and those to list."""
        told = tellings_of(facts, message)
        if self._sort(message, told):
            self._threads.add(message.thread)
        elif (
            any(message.id in fact.sources for fact in facts)
            and not told
            and message.content != NO_WORDS
        ):
            self._name(message, message.content, SOURCE)
        if not told and message.content != NO_WORDS:
            self._collect(facts, message, None, message.content)

    async def _made(self, facts: Sequence[Fact], records: Sequence[Record]) -> None:
        """Find the sentences to take from what was made of messages: episodes, summaries and
        titles; and from what a program says of a thread.
        """
        said: dict[UUID, frozenset[int]] = {}
        for record in records:
            await self._pauses.pause()
            thread: UUID | None = (
                record.id if isinstance(record, Thread) else getattr(record, "thread", None)
            )
            texts = texts_of(record).items()
            if texts and thread is not None and thread in self._threads and thread not in said:
                said[thread] = await self._said_in(facts, thread)
            told = [
                one
                for pointer, text in texts
                for one in made_of(
                    facts, record, pointer, text, None if thread is None else said.get(thread)
                )
            ]
            self._sort(record, told)
            if isinstance(record, (Thread, Episode)) and not told:
                for pointer, text in texts:
                    self._collect(facts, record, pointer, text)
            is_made = isinstance(record, (Thread, Episode)) and may_forget(self.view, record)
            if is_made and (told or thread in self._threads):
                self.looked[record.id] = record.version

    async def _said_in(self, facts: Sequence[Fact], thread: UUID) -> frozenset[int]:
        """Return the terms of a thread's messages without those of the facts."""
        said = self._every(RecordType.MESSAGE, thread=thread)
        texts = [one.content async for one in said if isinstance(one, Message)]
        return frozenset().union(*map(terms_in, texts)) - frozenset().union(
            *(fact.forms | fact.value.forms for fact in facts)
        )

    async def _items(self, facts: Sequence[Fact]) -> None:
        """Find the parts of items to take, also of deleted ones and of their earlier values."""
        living, deleted = self._every(RecordType.ITEM), self._every(RecordType.ITEM, withdrawn=True)
        items = those_of(Item, [*[one async for one in living], *[one async for one in deleted]])
        by_id = {item.id: item for item in items}
        for item in items:
            await self._pauses.pause()
            self._sort(item, tellings_of(facts, item))
            named = None if item.withdrawn else named_so(facts, item)
            if named is not None and self._sort(item, [named]):
                self.same.append(item)
        for value in await earlier_values(self.records, self.owner, self.view, items):
            self._sort(
                by_id[value.id], [as_stored(one, value) for one in tellings_of(facts, value)]
            )

    async def _earlier_versions(self, facts: Sequence[Fact]) -> None:
        """Find what history still shows of profiles and threads, also of deleted profiles."""
        records = [one async for one in self._every(RecordType.PROFILE, RecordType.THREAD)]
        records += [one async for one in self._every(RecordType.PROFILE, withdrawn=True)]
        by_id = {one.id: one for one in records}
        for earlier in await earlier_versions(self.records, self.owner, self.view, records):
            await self._pauses.pause()
            told = (
                _values_in(earlier, facts)
                if isinstance(earlier, ProfileDocument)
                else tellings_of(facts, earlier)
            )
            at = earlier.recorded_at
            self._sort(by_id[earlier.id], [replace(one, at=at) for one in told])

    def _sort(self, record: Record, all_of_it: Iterable[Telling]) -> bool:
        """Sort parts of a record into those to take, to list and to name; return True if any is
        taken.
        """
        taken = False
        for one in all_of_it:
            if not (one.to_the_letter or one.name in self.take):
                self.listed.append(one)
                self._name(record, one.text, one.why)
            elif may_forget(self.view, record):
                self.spans.append(one)
                taken = True
            else:
                self._name(record, one.text, NOT_OWN)
        return taken

    def _name(self, record: Record, text: str, why: str) -> None:
        self.found.append(Trace(record.id, record.type, quote(text.strip(" ,;\n\t"), _SHOWN), why))


def _values_in(profile: ProfileDocument, facts: Iterable[Fact]) -> list[Telling]:
    return each_once([one for fact in facts for one in profile_values(profile, fact)])


def _own_texts(record: Record) -> Mapping[str | None, str]:
    """Return the texts of a record that a language model may be asked about, by JSON pointer."""
    if isinstance(record, Memory):
        return {None: record.content}
    return texts_of(record) if isinstance(record, (Message, Thread, Episode)) else {}


def says_the_same(memory: Memory, other: Memory) -> bool:
    """True if two memories say the same about the same subject."""
    return _subject(memory) == _subject(other) and same_statement(memory.content, other.content)


def _subject(memory: Memory) -> str:
    return comparable_text(memory.subject or "")


def _statements_of(memory: Memory) -> Iterator[str]:
    """Yield the texts that are the statement itself: the content, its condition, and the value of a
    bound field.
    """
    yield memory.content
    if memory.applies_when:
        yield memory.applies_when
    if memory.has_value and isinstance(memory.data["value"], str):
        yield memory.data["value"]
