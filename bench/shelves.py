"""Shelves for measurements: messages and facts, the stand-in's vectors, and questions with
answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from bench.figures import Place
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book, Limits
from memoranda.model.vectors import pack_vectors

AGENT = "helper"
HITS = 10
#: Note in every row about a shelf that was made here.
STAND_IN = "stand-in's texts and vectors"
#: Limits for measurements that fill a book faster than any user would.
ROOMY = Limits(writes_per_run=1_000_000, memories_per_agent=1_000_000)

_BATCH = 500
_STATED = 100
_QUESTIONS = 60

#: Time of the first record of a mixed shelf, and the time until the next.
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=30)
#: Shares of statements and episodes among the passages of a mixed shelf; the rest are messages.
_STATEMENTS, _DEEDS = 0.25, 0.03
AGENTS, ROLES = ("helper", "guide"), ("user", "assistant", "user", "tool")
KINDS, TAGS = ("fact", "preference", "note"), tuple(f"tag {number}" for number in range(10))
KEYS, SUBJECTS = 300, 20
_TURNS = 100


class Question(NamedTuple):
    """A question's words, and their vector from the stand-in."""

    text: str
    #: An array, as embedders give it.
    vector: Any


async def fill(book: Book, owner: str, passages: int, talk: Talk, sentences: int = 3) -> None:
    """Append this many messages through the public API, each batch in a thread of its own."""
    left = passages
    while left > 0:
        count = min(left, _BATCH)
        thread = await book.thread(owner, agent=AGENT)
        await thread.append(
            [{"role": "user", "content": talk.passage(sentences)} for _ in range(count)]
        )
        left -= count


async def lend_vectors(book: Book, stand_in: StandIn) -> None:
    """Give every passage its vector, in larger batches than a book uses itself."""
    await book.engine.begin_set(stand_in.embedding)
    while records := await book.engine.lacking(stand_in.embedding, _BATCH):
        made = pack_vectors(
            await stand_in.passages([record.passage_text() or "" for record in records])
        )
        await book.engine.put_vectors(
            stand_in.embedding, {record.id: one for record, one in zip(records, made, strict=True)}
        )


class Steps:
    """A clock that advances with every reading."""

    def __init__(self) -> None:
        self.now = BEGAN

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


async def fill_mixed(book: Book, owner: str, passages: int, talk: Talk, clock: Steps) -> None:
    """Fill one shelf with messages, statements and episodes that have every field used by
    filters.
    """
    stated, done = int(passages * _STATEMENTS), int(passages * _DEEDS)
    said = passages - stated - done
    for number in range(0, said, _TURNS):
        agent = AGENTS[number // _TURNS % len(AGENTS)]
        thread = await book.thread(owner, agent=agent, audience="global")
        clock.now = BEGAN + STEP * number
        await thread.append(
            [_turn(place, talk) for place in range(number, min(number + _TURNS, said))]
        )
    for number in range(0, stated, _STATED):
        clock.now = BEGAN + STEP * said * number // stated
        part = [
            _statement(place, talk, clock.now)
            for place in range(number, min(number + _STATED, stated))
        ]
        agent = AGENTS[number // _STATED % len(AGENTS)]
        await book.memories.remember_all(owner, part, agent=agent, audience="global")
    for number in range(done):
        clock.now = BEGAN + STEP * said * number // done
        tags = [TAGS[number % len(TAGS)]]
        await book.episodes.record(
            owner,
            goal=talk.sentence(),
            outcome="succeeded",
            tags=tags,
            agent=AGENT,
            audience="global",
        )


def _turn(place: int, talk: Talk) -> Mapping[str, Any]:
    role = ROLES[place % len(ROLES)]
    return {"role": role, "content": talk.passage(), "observed_at": BEGAN + STEP * place}


def _statement(place: int, talk: Talk, now: datetime) -> Mapping[str, Any]:
    """Return a statement; one of three supersedes the one under its key, and one of four ends at
    some time.
    """
    told: dict[str, Any] = {
        "content": talk.sentence(),
        "kind": KINDS[place % len(KINDS)],
        "subject": f"subject {place % SUBJECTS}",
        "tags": [TAGS[place % len(TAGS)], TAGS[place * 7 % len(TAGS)]],
        "observed_at": now,
    }
    if place % 3 == 0:
        told["key"] = f"key {place % KEYS}"
    if place % 4 == 0:
        told |= {"valid_from": now, "valid_to": now + STEP * 2000}
    return told


async def questions(book: Book, owner: str, stand_in: StandIn, place: Place) -> list[Question]:
    """Return questions whose words find as many hits as asked for; searching for them also reads
    the shelf.
    """
    talk = Talk(place.seed + 1)
    page = await book.records.list(owner, types="message", limit=1000, agent=AGENT)
    said = [record.passage_text() or "" for record in page.records]
    wanted = min(_QUESTIONS, place.scale.samples)
    found: list[str] = []
    for number in range(wanted * 20):
        question = talk.question(said[number * 7919 % len(said)])
        hits = await book.recall(owner, question, limit=HITS, agent=AGENT, mode="words")
        if len(hits) == min(HITS, len(said)):
            found.append(question)
        if len(found) == wanted:
            break
    return [Question(text, await stand_in.query(text)) for text in found]


async def ask(book: Book, owner: str, question: Question, **how: Any) -> Sequence[Any]:
    """Recall ten hits with the question's vector given, as every measurement does."""
    return await book.recall(
        owner, question.text, limit=HITS, agent=AGENT, vector=question.vector, **how
    )
