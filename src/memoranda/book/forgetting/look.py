"""Looks through an owner's records for a fact: to the letter, and in other words."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from memoranda.book.forgetting.item_values import as_stored, earlier_values
from memoranda.book.forgetting.likeness import RELATED, Likely, Likeness
from memoranda.book.forgetting.record_texts import (
    formed_texts,
    made_of,
    sentences_of,
    statements_of,
    texts_of,
)
from memoranda.book.forgetting.tellings import Fact, fact_of, named_so, tellings, tells, words_of
from memoranda.formation.owner_names import profile_names
from memoranda.model.beside.quotations import quote
from memoranda.model.data.items import Item
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import NO_WORDS, Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter, Hits, Scan
from memoranda.model.records import Owner, Record, RecordType, View, those_of
from memoranda.model.redactions import Telling, Trace, strings_of
from memoranda.ports import Records
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text
from memoranda.text.sentence_spans import sentence_places
from memoranda.text.similarity import same_statement

#: Why a text still tells a fact, beside the rules of likeness.
SOURCE: Final = "a source of it, in other words"
BESIDE: Final = "beside a part that goes"
NEAR: Final = "near in meaning"
MADE: Final = "made from a text that may tell it"
NOT_OWN: Final = "another agent's, which this view may not change"
_PAGE: Final = 1000
#: Characters of a text that are shown.
_SHOWN: Final = 300
#: Texts that are named in all, and by the rules that say least.
_MOST: Final = 100
_MOST_BY: Final = {RELATED: 30, BESIDE: 40, NEAR: 20, MADE: 30}
#: A sentence less likely than this tells nothing of a fact if it says what another statement says.
_WEAK: Final = 0.4
#: Messages whose neighbours are looked at, and so many turns on either side.
_MOST_BESIDE, _TURNS = 30, 4

#: Finds the passages nearest in meaning to a text; None where the book compares no meaning.
Nearest = Callable[[str], Awaitable[Hits]]


def may_forget(view: View, record: Record) -> bool:
    """True if a view may erase or change a record for good: the owner's view, or the agent that wrote it."""
    return view.whole or (view.agent is not None and getattr(record, "agent", None) == view.agent)


async def every(
    records: Records, owner: Owner, view: View, *types: RecordType, withdrawn: bool = False
) -> AsyncIterator[Record]:
    """Yield the records of these types that a view sees, page by page; or those that were withdrawn."""
    cursor: str | None = None
    while True:
        page = await records.scan(
            owner, view, Filter(types=frozenset(types), withdrawn=withdrawn), cursor, _PAGE
        )
        for record in page.records:
            yield record
        cursor = page.cursor
        if cursor is None:
            return


@dataclass(slots=True)
class Look:
    """A search through the records of an owner for the statements of some memories."""

    records: Records
    owner: Owner
    view: View
    meant: Sequence[Memory]
    #: The parts that the call names beside those that go anyway.
    take: Collection[str]
    #: Records that say it too, and go: memories that say the same, and memories and episodes with a sentence that does.
    same: list[Record] = field(default_factory=list)
    #: Threads whose summaries tell it, and are emptied.
    threads: list[Record] = field(default_factory=list)
    #: Statements under the same key that stay.
    earlier: list[Memory] = field(default_factory=list)
    spans: list[Telling] = field(default_factory=list)
    listed: list[Telling] = field(default_factory=list)
    found: list[Trace] = field(default_factory=list)
    #: The messages that lose words: their threads and places.
    places: dict[UUID, tuple[UUID, int]] = field(default_factory=dict)
    _later: list[Record] = field(default_factory=list)
    _likeness: Likeness | None = None
    #: The threads of the messages that are named.
    _threads_of: dict[UUID, UUID] = field(default_factory=dict)

    async def through(self, nearest: Nearest | None) -> None:
        """Look through everything that the view sees."""
        known = [
            record
            async for record in every(
                self.records, self.owner, self.view, RecordType.MEMORY, RecordType.PROFILE
            )
        ]
        memories, profiles = those_of(Memory, known), those_of(ProfileDocument, known)
        names = frozenset({comparable_text(self.owner.id), *profile_names(profiles), *OWNER_WORDS})
        self._compare(memories)
        told = {memory.id for memory in (*self.meant, *self.same)}
        others = [memory for memory in memories if memory.active and memory.id not in told]
        fact = fact_of([*self.meant, *those_of(Memory, self.same)], names, others)
        likeness = Likeness(fact)
        self._later = [record for record in known if record.id not in told]
        keys = {memory.key for memory in self.meant} - {None}
        for memory in others:
            if memory.key not in keys and self._is_same_subject(memory):
                self._take(fact, memory, statements_of(memory), self.same)
        told.update(record.id for record in self.same)
        for memory in memories:
            if memory.id not in told:
                self._sort(memory, tellings(fact, memory))
        async for record in every(
            self.records,
            self.owner,
            self.view,
            *(RecordType.MESSAGE, RecordType.THREAD, RecordType.EPISODE, RecordType.OVERFLOW),
        ):
            if isinstance(record, Message):
                self._read(fact, likeness, record)
            elif isinstance(record, Thread):
                self._later.append(record)
                self._take(fact, record, formed_texts(record), self.threads)
            else:
                if isinstance(record, Episode):
                    self._take(fact, record, [record.goal, record.summary], self.same)
                self._later.append(record)
        await self._items(fact)
        await self._beside(fact)
        await self._near(nearest)
        self._likeness = likeness

    def without(self, gone: Collection[UUID], left: Mapping[UUID, Record]) -> tuple[tuple[Trace, ...], int]:
        """Return what may still tell the fact once some records are gone and others are ``left`` as they will be.

        The likeliest comes first; the number is how many more there are than are named.
        """
        assert self._likeness is not None
        earlier = {memory.id for memory in self.earlier}
        told = {trace.id for trace in self.found if trace.why not in (BESIDE, RELATED)}
        threads = {self._threads_of[id] for id in told if id in self._threads_of}
        for record in self._later:
            if record.id in earlier or record.id in gone:
                continue
            now = left.get(record.id, record)
            self._add(record, self._likeness, texts_of(now))
            for text in made_of(now, told, threads):
                if words_of(text):
                    self._name(record, text, Likely(0.28, MADE))
        return self._named(gone)

    def _compare(self, memories: Iterable[Memory]) -> None:
        """Find memories that say the same as those meant, and earlier statements under their keys."""
        meant = {memory.id for memory in self.meant}
        older = {id for memory in self.meant for id in memory.supersedes}
        keys = {memory.key for memory in self.meant} - {None}
        for memory in memories:
            if memory.id in meant:
                if not may_forget(self.view, memory):
                    self._name(memory, memory.content, Likely(1.0, NOT_OWN))
                continue
            if any(_says_the_same(memory, one) for one in self.meant):
                if may_forget(self.view, memory):
                    self.same.append(memory)
                else:
                    self._name(memory, memory.content, Likely(1.0, NOT_OWN))
            elif memory.id in older or (memory.key in keys and memory.status is MemoryStatus.SUPERSEDED):
                self.earlier.append(memory)

    def _take(self, fact: Fact, record: Record, texts: Iterable[str], taken: list[Record]) -> None:
        """Take a record of which a text tells the fact to the letter; name it if the view may not."""
        for text in texts:
            if tells(fact, text):
                if may_forget(self.view, record):
                    taken.append(record)
                    return
                self._name(record, text, Likely(1.0, NOT_OWN))

    def _is_same_subject(self, memory: Memory) -> bool:
        subjects = {comparable_text(one.subject or "") for one in self.meant}
        return comparable_text(memory.subject or "") in subjects

    def _read(self, fact: Fact, likeness: Likeness, message: Message) -> None:
        """Find the parts of a message to take, those to list, and sentences that may tell the fact."""
        all_of_it = tellings(fact, message)
        if self._sort(message, all_of_it):
            self.places[message.id] = (message.thread, message.seq)
        if message.id in fact.sources and not all_of_it and message.content != NO_WORDS:
            self._name(message, message.content, Likely(0.95, SOURCE))
            return
        covered = [(one.span.start, one.span.end) for one in all_of_it if one.span.path is None]
        taken = message.id in self.places
        if not taken and not likeness.may_be_in(message.content) and message.native is None:
            return
        self._rest(fact, message, likeness, covered, taken=taken)

    async def _items(self, fact: Fact) -> None:
        """Find the parts of items to take, also of deleted ones and of their earlier values."""
        living = every(self.records, self.owner, self.view, RecordType.ITEM)
        deleted = every(self.records, self.owner, self.view, RecordType.ITEM, withdrawn=True)
        items = those_of(Item, [*[one async for one in living], *[one async for one in deleted]])
        by_id = {item.id: item for item in items}
        for item in items:
            self._later += [] if item.withdrawn else [item]
            self._sort(item, tellings(fact, item))
            named = None if item.withdrawn else named_so(fact, item)
            if named is not None and self._sort(item, [named]):
                self.same.append(item)
        for value in await earlier_values(self.records, self.owner, self.view, items):
            self._sort(by_id[value.id], [as_stored(one, value) for one in tellings(fact, value)])

    def _sort(self, record: Record, all_of_it: Iterable[Telling]) -> bool:
        """Sort parts of a record into those to take, to list and to name; return True if any is taken."""
        taken = False
        for one in all_of_it:
            if not (one.to_the_letter or one.name in self.take):
                self.listed.append(one)
                self._name(record, one.text, Likely(0.95, one.why))
            elif may_forget(self.view, record):
                self.spans.append(one)
                taken = True
            else:
                self._name(record, one.text, Likely(1.0, NOT_OWN))
        return taken

    def _rest(
        self, fact: Fact, message: Message, likeness: Likeness, covered: list[tuple[int, int]], *, taken: bool
    ) -> None:
        """Name sentences of a message that may tell the fact or are next to a part to take."""
        for start, end in sentence_places(message.content):
            if any(start < last and first < end for first, last in covered):
                continue
            text = message.content[start:end]
            likely = likeness.of(text)
            is_beside = taken and any(
                abs(start - last) < 3 or abs(first - end) < 3 for first, last in covered
            )
            if likely is None and is_beside and len(words_of(text)) > 1:
                likely = Likely(0.2, BESIDE)
            if likely is not None and not (likely.score < _WEAK and fact.is_of_others(text)):
                self._name(message, text, likely)
        for _, text in strings_of(message.native):
            said = [one.text for one in (*self.spans, *self.listed) if one.message == message.id]
            for sentence, likely in likeness.sentences(text):
                if sentence not in message.content and not any(sentence.strip() in one for one in said):
                    self._name(message, sentence, likely)

    def _add(self, record: Record, likeness: Likeness, texts: Iterable[str]) -> None:
        for text in texts:
            likely = likeness.of(text) if likeness.may_be_in(text) else None
            if likely is not None:
                self._name(record, text, likely)

    def _name(self, record: Record, text: str, likely: Likely) -> None:
        if isinstance(record, Message):
            self._threads_of[record.id] = record.thread
        self.found.append(Trace(record.id, record.type, _tidy(text), likely.why, likely.score))

    async def _beside(self, fact: Fact) -> None:
        """Name the turns around the messages that lose words: answers, and what was said on."""
        places = list(dict.fromkeys(self.places.values()))[:_MOST_BESIDE]
        if not places:
            return
        around = [
            Scan(
                self.owner,
                self.view,
                Filter(types=frozenset({RecordType.MESSAGE}), thread=thread),
                str(seq - _TURNS - 1) if seq > _TURNS + 1 else None,
                min(seq - 1, _TURNS) + 1 + _TURNS,
            )
            for thread, seq in places
        ]
        far: dict[UUID, tuple[int, Message]] = {}
        for (_, seq), page in zip(places, await self.records.scans(around), strict=True):
            for message in those_of(Message, page.records):
                distance = abs(message.seq - seq)
                if message.id not in self.places and distance < far.get(message.id, (_TURNS + 1,))[0]:
                    far[message.id] = distance, message
        named = {(trace.id, trace.text) for trace in self.found}
        for distance, message in far.values():
            for text in sentences_of(message.content):
                is_said = (message.id, _tidy(text)) in named or fact.is_of_others(text)
                if not is_said and len(words_of(text)) > 1 and message.content != NO_WORDS:
                    self._name(message, text, Likely(0.3 - 0.03 * distance, BESIDE))

    async def _near(self, nearest: Nearest | None) -> None:
        """Name what is nearest in meaning to the statements."""
        if nearest is None:
            return
        told = {memory.id for memory in (*self.meant, *self.same, *self.earlier)}
        named = {trace.id for trace in self.found}
        for memory in [*self.meant][:3]:
            for place, hit in enumerate(await nearest(memory.content)):
                if hit.id not in told and hit.id not in self.places and hit.id not in named:
                    self._name(hit.record, hit.text, Likely(max(0.4 - 0.01 * place, 0.1), NEAR))

    def _named(self, gone: Collection[UUID]) -> tuple[tuple[Trace, ...], int]:
        best: dict[tuple[UUID, str], Trace] = {}
        threads = {thread for thread, _ in self.places.values()}
        for one in self.found:
            if one.id in gone:
                continue
            if one.why == RELATED and one.id in threads:
                one = replace(one, score=one.score + 0.1)
            held = best.get((one.id, one.text))
            if held is None or held.score < one.score:
                best[one.id, one.text] = one
        counts: dict[str, int] = {}
        named: list[Trace] = []
        for one in sorted(best.values(), key=lambda trace: -trace.score):
            counts[one.why] = counts.get(one.why, 0) + 1
            if counts[one.why] <= _MOST_BY.get(one.why, _MOST) and len(named) < _MOST:
                named.append(one)
        return tuple(named), len(best) - len(named)


def _tidy(text: str) -> str:
    return quote(text.strip(" ,;\n\t"), _SHOWN)


def _says_the_same(memory: Memory, other: Memory) -> bool:
    return comparable_text(memory.subject or "") == comparable_text(other.subject or "") and same_statement(
        memory.content, other.content
    )
