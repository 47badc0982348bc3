"""Attempts to find another owner's data by its words, and to notice it in the scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memoranda.book.input import MODES
from memoranda.embedding import VectorMaker
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import MemorandaError
from memoranda.model import changes as c
from memoranda.model.ledger import Actor
from memoranda.model.messages import Episode, Outcome
from memoranda.model.passages import Sight
from memoranda.model.query import Filter
from memoranda.model.records import (
    PASSAGE_TYPES,
    WHOLE,
    Audience,
    Owner,
    OwnerKind,
    RecordType,
    View,
)
from memoranda.model.values import new_id
from memoranda.model.vectors import pack_vector
from memoranda.recall.recall import Recall
from memoranda_conformance.builders import adopted, exported
from proofs._book import world
from proofs._book.canaries import canaries_in
from proofs._book.oracle import Leak, may_read
from proofs._book.session import EMBEDDER, OTHER_EMBEDDER, Session, who
from proofs._book.truth import Row


async def recall(s: Session) -> None:
    party, view = s.someone()
    sought = s.oracle.records[s.pick(party, view, "memory", "message", "episode")]
    question = " ".join(
        [sought.word or "garden", *s.rng.choice([["garden"], [], ["spring", "said"]])]
    )
    mode = s.rng.choice(("words", *MODES))
    hits = await s.book(party).recall(
        party, question, limit=s.rng.choice([3, 5, 20]), mode=mode, **who(view)
    )
    s.oracle.judge([(hit.record, hit.words) for hit in hits], party, view, "recall")
    for hit in hits:
        if not s.oracle.sees(party, view, hit.id):
            raise Leak(f"recall of {party.parts} as {view} found {hit.id}")
    visible = mode == "words" and s.oracle.sees(party, view, sought.id) and sought.found_by_words
    if visible and sought.word and sought.id not in {hit.id for hit in hits}:
        raise Leak(f"recall of {party.parts} as {view} does not find its own {sought.id}")


async def recall_filtered(s: Session) -> None:
    """Check that a filter finds exactly the visible passages with its properties."""
    party, view = s.someone()
    sought = s.truth.row(s.pick(party, view, "memory", "message", "episode"))
    if sought is None or sought.type not in PASSAGE_TYPES:
        return
    facets = {facet: sought.body.get(facet) for facet in ("agent", "key", "tags")}
    properties: dict[str, Any] = {
        "agent": facets["agent"],
        "keys": facets["key"],
        "tags": facets["tags"],
    }
    properties |= {"kinds": sought.kind, "thread": sought.thread}
    names = [name for name, value in properties.items() if value]
    chosen = s.rng.sample(names, min(len(names), s.rng.choice((1, 1, 2))))
    only: Any = {name: properties[name] for name in chosen}
    asking = s.book(party).recall(
        party, "garden", only=only, mode="recent", limit=1000, **who(view)
    )
    found = {hit.id for hit in await asking}
    expected = {
        known.id
        for known in s.oracle.visible(party, view)
        if known.found_by_words and _has(s.truth.row(known.id), only)
    }
    if found != expected:
        raise Leak(
            f"recall of {party.parts} as {view} with {only} finds {len(found)} of {len(expected)}"
        )


def _has(row: Row | None, only: dict[str, Any]) -> bool:
    """Return True if a row has all these properties."""
    if row is None:
        return False
    held = {
        "agent": row.body.get("agent"),
        "keys": row.body.get("key"),
        "kinds": row.kind,
        "thread": row.thread,
    }
    return all(
        not set(wanted).isdisjoint(row.body.get("tags", ()))
        if name == "tags"
        else held[name] == wanted
        for name, wanted in only.items()
    )


async def context(s: Session) -> None:
    """Check that a context has only what the agent may see, and what it has learnt itself."""
    party, view = s.someone()
    sought = s.oracle.records[s.pick(party, view, "memory", "message", "episode")]
    made = await s.book(party).context(
        party,
        f"{sought.word} garden",
        budget=s.rng.choice([200, 2000]),
        mark_used=False,
        **who(view),
    )
    agent = Owner(tenant=party.tenant, kind=OwnerKind.AGENT, id=view.agent or "nobody")
    own = {word for known in s.oracle.of.get(agent, {}).values() for word in known.words}
    s.oracle.judge(sorted(canaries_in(made) - own), party, view, "context")


async def at_the_wall(s: Session) -> None:
    """Check that the engine already limits the reads that the book makes for recall and
    contexts.
    """
    party, view = s.someone()
    memories, engine = frozenset({RecordType.MEMORY}), s.book(party).engine
    pinned = Filter(types=memories, pinned=True, newest_first=s.rng.random() < 0.5)
    found = [record.id for record in (await engine.scan(party, view, pinned, None, 50)).records]
    found += await engine.most_used(party, view, Filter(types=memories), 50)
    found += [record.id for record in await engine.newest(party, view, Filter(), 50)]
    for newest_first in (False, True):
        waiting = Filter(
            types=frozenset({RecordType.MESSAGE}), unformed=True, newest_first=newest_first
        )
        found += [
            record.id for record in (await engine.scan(party, view, waiting, None, 50)).records
        ]
    if others := [job.owner for job in await engine.jobs(None, 1000, party) if job.owner != party]:
        raise Leak(f"{party.parts} is told of jobs of {others}")
    kinds = await engine.kinds(party, view, Filter())
    if sum(kinds.values()) != await engine.count(party, view, Filter(types=PASSAGE_TYPES)):
        raise Leak(
            f"{party.parts} as {view} is told of kinds of passages that it does not see: {kinds}"
        )
    if hidden := [id for id in found if not s.oracle.sees(party, view, id)]:
        raise Leak(f"{party.parts} as {view} is given {hidden}, pinned or used by others")


async def recall_what_moved(s: Session) -> None:
    """Check that a shared record is found by its new readers, also after more records came to their
    shelf.
    """
    party, _ = s.someone()
    memories = [
        known
        for known in s.oracle.visible(party, WHOLE)
        if known.type == "memory" and not known.grounds
    ]
    if not memories or party.kind is not OwnerKind.USER:
        return
    moving, book = s.rng.choice(memories), s.book(party)
    for audience in s.rng.sample(world.AUDIENCES, 2):
        await book.recall(party, "garden", as_owner=True)
        shared = await s.told(
            book.memories.share(party, moving.id, audience, as_owner=True), party, WHOLE, "share"
        )
        if isinstance(shared, MemorandaError):
            return
        s.absorb(shared, party, WHOLE, moved=audience, asked=s.oracle.citing(party, moving.id))
        for _ in range(2):
            if moving.word and moving.found_by_words:
                hits = await book.recall(party, moving.word, limit=20, mode="words", as_owner=True)
                if moving.id not in {hit.id for hit in hits}:
                    raise Leak(
                        f"{moving.id} of {party.parts} was shared for {audience} and is not found"
                    )
            patch = c.RecordEpisode(_deed(s, party, audience), audience=audience)
            done = await book.door.write(party, WHOLE, Actor("owner"), [patch], request=None)
            s.absorb(done, party, WHOLE, born=audience)


def _deed(s: Session, party: Owner, audience: Audience) -> Episode:
    now = s.clock()
    goal = f"dig {s.word(party, audience)}"
    return Episode(
        id=new_id(), owner=party, goal=goal, outcome=Outcome.SUCCEEDED, started_at=now, ended_at=now
    )


async def recall_without_the_others(s: Session) -> None:
    """Check that scores equal those of a book without other owners and without anything that this
    view may not see.
    """
    party, view = s.someone()
    question, mode = (
        "what did we say about the garden in spring, and who dug early",
        s.rng.choice(MODES),
    )
    await s.embed()
    alone = _Without()
    lines = await exported(s.book(party).engine, party)
    if not lines:
        return
    await adopted(alone, party, lines)
    await alone.begin_set(EMBEDDER.embedding)
    await VectorMaker(alone, EMBEDDER).catch_up()
    alone.hidden = {
        k.id.bytes for k in s.oracle.of[party].values() if not may_read(k.audience, view)
    }
    types, now = PASSAGE_TYPES, s.clock()
    hits, expected = [
        await finder.find(
            party, view, question, limit=200, types=types, only=Filter(types=types), mode=mode,
            vector=EMBEDDER.of(question), vectors=EMBEDDER.embedding.name, now=now,
        )
        for finder in (s.book(party).finder, Recall(alone))
    ]  # fmt: skip
    if [(hit.id, hit.score) for hit in hits] != [(hit.id, hit.score) for hit in expected]:
        raise Leak(
            f"recall of {party.parts} as {view} scores by {mode} otherwise than in a book of its own"
        )


class _Without(InMemoryEngine):
    """A book without the passages that a view may not see, on any shelf."""

    hidden: set[bytes]

    async def look(self, owner: Owner, view: View, cached: Any, choose: Any, **_: Any) -> Sight:
        return Sight(await self.since(owner, view, cached), None)

    async def since(self, owner: Owner, view: View, held: Any) -> Any:
        return [
            (shelf, replace(delta, rows=[row for row in delta.rows if row.id not in self.hidden]))
            for shelf, delta in await super().since(owner, view, held)
        ]


async def vectors_again(s: Session) -> None:
    """Check that putting vectors again changes nobody else's."""
    party, _ = s.someone()
    passages = [known for known in s.oracle.visible(party, WHOLE) if known.found_by_words]
    if not passages:
        return
    await s.embed()
    chosen = s.rng.choice(passages).id
    record = await s.book(party).records.get(party, chosen, as_owner=True)
    for embedder in (EMBEDDER, OTHER_EMBEDDER):
        vector = pack_vector(embedder.of(record.passage_text() or ""))
        if await s.book(party).engine.put_vectors(embedder.embedding, {chosen: vector}) != 1:
            raise Leak(f"no vector was put for {chosen} of {party.parts}")


RECALLS = {
    recall: 5,
    recall_filtered: 1,
    recall_what_moved: 0.3,
    recall_without_the_others: 0.2,
    context: 0.5,
    at_the_wall: 0.5,
    vectors_again: 0.3,
}
