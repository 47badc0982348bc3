"""Books for cases of forgetting: fills one with messages and memories, and reads all texts of its
owner.
"""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from evals.forgetting_set import items, messages, readable
from memoranda import Book
from memoranda.formation.schemas.definitions import PROFILE
from memoranda.model.changes import PatchProfile, Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cited
from memoranda.model.messages import Episode, Message, SummariseThread, Thread, native_parts
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import EVERYONE, WHOLE, Owner, Record
from memoranda.model.values import new_id
from memoranda_conformance.builders import a_memory

_ACTOR: Final = Actor("application", "evaluation")
_FIRST: Final = datetime(2026, 5, 4, 9, tzinfo=UTC)
#: As many hits as a book of one case can have.
_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class Telling:
    """A part of a record that contains the fact."""

    place: str
    label: str
    text: str
    record: UUID


@dataclass(slots=True)
class FilledBook:
    """The book of one case: its owner, the memory of the fact, and the parts that contain the
    fact.
    """

    book: Book
    case: Mapping[str, Any]
    owner: Owner
    memory: UUID = field(default_factory=new_id)
    threads: dict[int, UUID] = field(default_factory=dict)
    said: dict[tuple[int, int], UUID] = field(default_factory=dict)
    tellings: list[Telling] = field(default_factory=list)

    async def fill(self) -> None:
        """Append the messages, then store the memory and other results of forming."""
        for thread, one in enumerate(self.case["threads"], 1):
            handle = await self.book.thread(self.owner)
            self.threads[thread] = handle.id
            at = _FIRST + timedelta(days=thread)
            drafts = [
                {name: value for name, value in message.items() if name != "tells"}
                | {"observed_at": at + timedelta(minutes=place)}
                for place, message in enumerate(one["messages"])
            ]
            ids = (await handle.append(drafts)).ids("message")
            self.said |= {(thread, place): id for place, id in enumerate(ids, 1)}
        for thread, place, message in messages(self.case):
            self._tells("message", message, self.said[thread, place])
        for earlier in self.case.get("earlier", ()):
            # The fact has its key and takes its place.
            self._tells(
                "memory", earlier, await self._remember(earlier, earlier["sources"], new_id())
            )
        await self._remember(self.case["fact"], self.case["sources"], self.memory)
        for other in self.case["other_memories"]:
            self._tells("memory", other, await self._remember(other, other["sources"], new_id()))
        await self._write_profile()
        await self._write_reports()

    async def _remember(self, statement: Mapping[str, Any], sources: Any, id: UUID) -> UUID:
        found = [self.memory] if sources == "fact" else [self._source(one) for one in sources]
        cited = (
            []
            if sources == "fact"
            else [Cited(message=self._source(one), quote=one.get("quote", "")) for one in sources]
        )
        memory = a_memory(
            self.owner,
            statement["content"],
            _FIRST + timedelta(days=9),
            id=id,
            key=statement.get("key"),
            sources=tuple(found),
            quotes=tuple(one for one in cited if one.quote),
            language=self.case["language"],
        )
        await self._write(Remember(memory, audience=EVERYONE))
        return id

    async def _write_profile(self) -> None:
        lists = {one["field"]: one["items"] for one in self.case["profile"]}
        if not lists:
            return
        grounds = {
            name: tuple(
                tuple(self._source(source) for source in item["sources"]) for item in listed
            )
            for name, listed in lists.items()
        }
        document = new_id()
        change = PatchProfile(
            document,
            PROFILE.name,
            EVERYONE,
            {name: [item["text"] for item in listed] for name, listed in lists.items()},
            sources=tuple(
                {
                    source: None
                    for entries in grounds.values()
                    for entry in entries
                    for source in entry
                }
            ),
            grounds=grounds,
        )
        await self._write(change)
        for item in items(self.case):
            self._tells("profile", item, document)

    async def _write_reports(self) -> None:
        if summary := self.case.get("summary"):
            thread = self.threads[summary["thread"]]
            await self._write(SummariseThread(thread, summary["text"], summary["through"]))
            self._tells("summary", summary, thread)
        if episode := self.case.get("episode"):
            covered = [id for (thread, _), id in self.said.items() if thread == episode["thread"]]
            receipt = await self.book.episodes.record(
                self.owner,
                goal=episode["goal"],
                summary=episode["summary"],
                outcome="succeeded",
                thread=self.threads[episode["thread"]],
                sources=covered,
            )
            self._tells("episode", episode, receipt.id)

    async def _write(self, change: Any) -> None:
        await self.book.door.write(self.owner, WHOLE, _ACTOR, [change], request=None)

    def _source(self, one: Mapping[str, Any]) -> UUID:
        return self.said[one["thread"], one["message"]]

    def _tells(self, place: str, text: Mapping[str, Any], record: UUID) -> None:
        self.tellings += [
            Telling(place, one["label"], one["text"], record) for one in text["tells"]
        ]

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    async def records(self) -> dict[UUID, Record]:
        """Return all records of the owner by id."""
        found: dict[UUID, Record] = {}
        cursor = None
        while True:
            page = await self.book.records.list(self.owner, as_owner=True, cursor=cursor)
            found |= {record.id: record for record in page}
            cursor = page.cursor
            if cursor is None:
                return found

    async def context(self) -> str:
        """Return the context for the question about the fact."""
        made = await self.book.context(
            self.owner, self.case["question"], as_owner=True, mark_used=False
        )
        return html.unescape(made.text)

    async def everything_read(self) -> str:
        """Return all that can be read of the owner, by every read, as one text."""
        texts = [text async for text in self._reads()]
        return "\n".join(texts)

    async def _reads(self) -> AsyncIterator[str]:
        records = await self.records()
        for id, record in records.items():
            yield text_of(record)
            for step in await self.book.records.history(self.owner, id, as_owner=True):
                yield "" if step.record is None else text_of(step.record)
            if isinstance(record, Thread):
                handle = await self.book.thread(self.owner, id=id, as_owner=True)
                window = await handle.window(20_000)
                yield window.summary
                for message in (*(await handle.messages()), *window.messages):
                    yield text_of(message)
        yield json.dumps(
            await self.book.profiles.get(self.owner, as_owner=True), ensure_ascii=False
        )
        for question in (self.case["question"], self.case["fact"]["content"]):
            made = await self.book.context(self.owner, question, as_owner=True, mark_used=False)
            yield html.unescape(made.text)
            for hit in await self.book.recall(self.owner, question, limit=_HITS, as_owner=True):
                yield hit.text
        async for line in self.book.admin.export(self.owner):
            yield readable("", json.loads(line))


def text_of(record: Record) -> str:
    """Return the text of a record that may contain the fact."""
    match record:
        case Message():
            return readable(record.content, record.native)
        case Thread():
            return record.summary
        case Episode():
            return f"{record.goal}\n{record.summary}"
        case ProfileDocument():
            return readable("", record.body)
    return record.passage_text() or ""


def native_faults(before: Mapping[UUID, Record], after: Mapping[UUID, Record]) -> Sequence[str]:
    """Return calls without their result, results without their call, and arguments that are JSON no
    more.
    """
    return [*_torn(before, after), *_broken(before, after)]


def _torn(before: Mapping[UUID, Record], after: Mapping[UUID, Record]) -> list[str]:
    def ends(records: Mapping[UUID, Record]) -> set[tuple[str, bool]]:
        forms = [record.native for record in records.values() if isinstance(record, Message)]
        return {(part.id, part.is_result) for form in forms for part in native_parts(form)}

    whole = ends(before)
    left = ends(after)
    return [
        f"{id} has lost its {'call' if is_result else 'result'}"
        for id, is_result in left
        if (id, not is_result) in whole - left
    ]


def _broken(before: Mapping[UUID, Record], after: Mapping[UUID, Record]) -> list[str]:
    return [
        f"arguments are no JSON: {one}"
        for id, record in after.items()
        if isinstance(record, Message)
        for one in _arguments(record.native)
        if not _is_json(one) and id in before
    ]


def _arguments(native: Any) -> list[str]:
    calls = native.get("tool_calls", ()) if isinstance(native, Mapping) else ()
    return [call["function"]["arguments"] for call in calls]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
