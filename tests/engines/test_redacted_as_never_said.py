"""Random talks from which words are taken out: as if these had never been said, or brought back to
the letter.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import memoranda
from memoranda import Book, Owner
from memoranda.errors import Erased
from memoranda.model.changes import Hide, PatchProfile, Remember
from memoranda.model.ledger import Actor, Receipt, Target
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import SummariseThread
from memoranda.model.records import EVERYONE, WHOLE
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from memoranda.testing.embedder import StubEmbedder
from tests.engines.mongo_server import MongoPlace
from tests.engines.postgres_server import Place

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "15")) // 5
ANA = Owner(id="ana")
ACTOR = Actor("owner", "ana")
WORDS = "canary garden kettle Oslo spring blue violin train bread winter lamp river".split()
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ENGINES = ("memory", "sqlite", "postgres", "mongo")
SERVERS = ("postgres", "mongo")


@dataclass
class Talk:
    """Messages in sentences, and the sentences that are taken out."""

    messages: list[list[str]]
    out: set[str]

    @classmethod
    def drawn(cls, rng: random.Random) -> Talk:
        messages = []
        for number in range(rng.randint(3, 9)):
            size = rng.randint(1, 5)
            messages.append([_sentence(rng, f"n{number}x{place}") for place in range(size)])
        out: set[str] = set()
        for sentences in messages:
            if rng.random() < 0.2:
                out.update(sentences)
            elif rng.random() < 0.6:
                # The last one stays, so that what is left ends as what was never said does.
                out.update(one for one in sentences[:-1] if rng.random() < 0.5)
        return cls(messages, out)

    def redaction(self, id: UUID, sentences: list[str]) -> Redaction | None:
        spans, at = [], 0
        for one in sentences:
            if one in self.out:
                spans.append(Span(start=at, end=at + len(one) + (one != sentences[-1])))
            at += len(one) + 1
        return Redaction(id, tuple(spans), 1) if spans else None


def _sentence(rng: random.Random, mark: str) -> str:
    return f"I know of {' and '.join(rng.choices(WORDS, k=rng.randint(1, 5)))} {mark}."


@asynccontextmanager
async def a_book(engine: str, folder: Path, server: Any) -> AsyncIterator[Book]:
    address = {"memory": "memory://", "sqlite": str(folder / f"{new_id()}.db")}.get(engine)
    given: dict[str, Any] = {"embed": StubEmbedder(), "worker": False, "clock": lambda: NOW}
    async with memoranda.open(address or server().new_book(), **given) as book:
        yield book
        assert (await book.admin.verify(whole=True)).faults == ()


async def tell(book: Book, talk: Talk, *, whole: bool) -> list[Redaction]:
    """Say a talk, or only what stays of it, and store what came from each sentence; returns what is
    to be taken out.
    """
    thread = await book.thread(ANA, name="talk", as_owner=True)
    found: list[Redaction] = []
    for sentences in talk.messages:
        said = [one for one in sentences if whole or one not in talk.out]
        if not said:
            continue
        message = (await thread.append("user", " ".join(said))).id
        for one in said:
            # Some quote their source, the others say the same as it does.
            quotes = (Cited(message=message, quote=one),) if len(one) % 2 else ()
            await remember(book, one, message, quotes)
        items = {"known": said, f"of{len(found)}": said[0]}
        patch = PatchProfile(new_id(), f"Profile{new_id()}", EVERYONE, items, sources=(message,))
        await book.door.write(ANA, WHOLE, ACTOR, [patch], request=None)
        redaction = talk.redaction(message, sentences) if whole else None
        found += [redaction] if redaction else []
    return found


async def remember(book: Book, text: str, message: UUID, quotes: tuple[Cited, ...]) -> None:
    memory = Memory(
        id=new_id(), owner=ANA, content=text, sources=(message,), quotes=quotes, observed_at=NOW, kind="fact"
    )  # fmt: skip
    await book.door.write(ANA, WHOLE, ACTOR, [Remember(memory, audience=EVERYONE)], request=None)


async def recalled(book: Book, question: str, mode: str) -> list[Any]:
    """All hits with all that explains them, in an order that does not come from ids."""
    hits = await book.recall(ANA, question, mode=mode, limit=1000, as_owner=True)
    found = [
        (
            hit.text,
            round(hit.score, 6),
            sorted((word, round(share, 6)) for word, share in hit.words),
            sorted((term, round(amount, 6)) for term, amount in hit.terms),
            round(hit.cosine or 0.0, 6),
        )
        for hit in hits
    ]
    return sorted(found)


async def take_out(book: Book, redactions: list[Redaction], way: str) -> None:
    target = Target(ANA, WHOLE, ACTOR, redactions=tuple(redactions))
    if way == "erased":
        await book.admin.backups.forget(target, backups=False)
        return
    hid = await hide(book, redactions)
    if way == "hidden and erased":
        await book.admin.backups.forget(
            Target(ANA, WHOLE, ACTOR, hidden=hid.position), backups=False
        )


async def hide(book: Book, redactions: list[Redaction]) -> Receipt:
    return await book.door.write(ANA, WHOLE, ACTOR, [Hide((), tuple(redactions))], request=None)


def server_of(request: pytest.FixtureRequest, engine: str) -> Any:
    def place() -> Place | MongoPlace:
        found: Place | MongoPlace = request.getfixturevalue(engine)
        return found

    return place


@pytest.mark.parametrize("way", ["erased", "hidden", "hidden and erased"])
@pytest.mark.parametrize("engine", ENGINES)
def test_recall_is_as_if_the_words_that_were_taken_out_had_never_been_said(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str, way: str
) -> None:
    if engine in SERVERS:
        request.getfixturevalue(engine)

    async def same(seed: int) -> None:
        talk = Talk.drawn(rng := random.Random(f"{seed} {way}"))
        server = server_of(request, engine)
        async with (
            a_book(engine, tmp_path, server) as told,
            a_book(engine, tmp_path, server) as never,
        ):
            redactions = await tell(told, talk, whole=True)
            await tell(never, talk, whole=False)
            await told.admin.embed()
            await recalled(told, "blue canary", "hybrid")
            if redactions:
                await take_out(told, redactions, way)
            await told.admin.embed()
            await never.admin.embed()
            gone = sorted(talk.out)
            for question in (*rng.sample(WORDS, 3), _sentence(rng, "n1x0"), *gone[:2]):
                for mode in ("words", "meaning", "hybrid"):
                    of_told, of_never = [
                        await recalled(book, question, mode) for book in (told, never)
                    ]
                    if way == "hidden":
                        # What is hidden still counts in statistics, since an undo brings it back.
                        assert not [hit for hit in of_told if any(one in hit[0] for one in gone)]
                    else:
                        assert of_told == of_never, (question, mode)
            read = json.dumps([one.model_dump(mode="json") for one in await everything(told)])
            assert not [one for one in talk.out if one in read]

    for seed in range(EXAMPLES):
        asyncio.run(same(seed))


async def everything(book: Book) -> list[Any]:
    return list((await book.records.list(ANA, limit=1000, as_owner=True)).records)


async def all_reads(book: Book) -> dict[str, Any]:
    """Return the answers of all reads without versions, times of writing and the ledger."""
    same = {"version": 0, "recorded_at": NOW, "past": ()}
    records = await everything(book)
    got = [await book.records.get(ANA, one.id, as_owner=True) for one in records]
    exported: dict[str, Any] = {}
    async for line in book.admin.export(ANA):
        record = json.loads(line).get("record")
        # Earlier versions come before later ones.
        if isinstance(record, dict) and "id" in record:
            exported[record["id"]] = {name: record[name] for name in record if name not in same}
    context = await book.context(ANA, "canary garden", budget=5000, as_owner=True, mark_used=False)
    return {
        "listed": {str(one.id): one.model_copy(update=same) for one in records},
        "got": {str(one.id): one.model_copy(update=same) for one in got},
        "recalled": [
            await recalled(book, word, mode)
            for word in WORDS
            for mode in ("words", "meaning", "hybrid")
        ],
        "context": context.text,
        "exported": exported,
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_an_undo_of_hiding_restores_every_byte_of_every_read_until_it_is_finished(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str
) -> None:
    if engine in SERVERS:
        request.getfixturevalue(engine)

    async def restored(seed: int) -> None:
        talk = Talk.drawn(random.Random(f"{seed} undone"))
        async with a_book(engine, tmp_path, server_of(request, engine)) as book:
            redactions = await tell(book, talk, whole=True)
            thread = await book.thread(ANA, name="talk", as_owner=True)
            summed = SummariseThread(thread.id, f"Told: {sorted(talk.out)}", len(talk.messages))
            await book.door.write(ANA, WHOLE, ACTOR, [summed], request=None)
            if not redactions:
                return
            await book.admin.embed()
            before = await all_reads(book)
            hid = await hide(book, redactions)
            for read, shown in (await all_reads(book)).items():
                # An export holds what an undo needs.
                told = json.dumps(shown, default=str) if read != "exported" else ""
                assert not [one for one in talk.out if one in told], read
            await book.undo(ANA, hid.position, as_owner=True)
            await book.admin.embed()
            after = await all_reads(book)
            for read, found in before.items():
                assert after[read] == found, read

            again = [Redaction(one.message, one.spans) for one in redactions]
            hid = await hide(book, again)
            await book.admin.backups.forget(
                Target(ANA, WHOLE, ACTOR, hidden=hid.position), backups=False
            )
            with pytest.raises(Erased):
                await book.undo(ANA, hid.position, as_owner=True)
            gone = json.dumps(await all_reads(book), default=str)
            assert not [one for one in talk.out if one in gone]

    for seed in range(EXAMPLES):
        asyncio.run(restored(seed))
