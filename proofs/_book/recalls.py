"""Tries to find what is another's by its words, and to feel it in the scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from commonplace.door import pack_terms
from commonplace.engines.inmemory import InMemoryEngine
from commonplace.errors import CommonplaceError
from commonplace.model import changes as c
from commonplace.model.episodes import Episode, Outcome
from commonplace.model.ids import new_id
from commonplace.model.ledger import Actor
from commonplace.model.owner import WHOLE, Audience, Owner, OwnerKind, View
from commonplace.model.query import Filter
from commonplace.model.records import PASSAGE_TYPES
from commonplace.ports import Sight
from commonplace.recall.recall import Recall
from proofs._book import world
from proofs._book.oracle import Leak, may_read
from proofs._book.session import Session, who


async def recall(s: Session) -> None:
    party, view = s.someone()
    sought = s.oracle.records[s.pick(party, view, "memory", "message", "episode")]
    question = " ".join([sought.word or "garden", *s.rng.choice([["garden"], [], ["spring", "said"]])])
    hits = await s.book(party).recall(party, question, limit=s.rng.choice([3, 5, 20]), **who(view))
    s.oracle.judge([(hit.record, hit.words) for hit in hits], party, view, "recall")
    for hit in hits:
        if not s.oracle.sees(party, view, hit.id):
            raise Leak(f"recall of {party.parts} as {view} found {hit.id}")
    visible = s.oracle.sees(party, view, sought.id) and sought.found_by_words
    if visible and sought.word and sought.id not in {hit.id for hit in hits}:
        raise Leak(f"recall of {party.parts} as {view} does not find its own {sought.id}")


async def recall_what_moved(s: Session) -> None:
    """What is shared is found among its new readers, and still is when more has come there."""
    party, _ = s.someone()
    memories = [
        known for known in s.oracle.visible(party, WHOLE) if known.type == "memory" and not known.grounds
    ]
    if not memories or party.kind is not OwnerKind.USER:
        return
    moving, book = s.rng.choice(memories), s.book(party)
    for audience in s.rng.sample(world.AUDIENCES, 2):
        await book.recall(party, "garden", view="owner")
        shared = await s.told(book.share(party, moving.id, audience, view="owner"), party, WHOLE, "share")
        if isinstance(shared, CommonplaceError):
            return
        s.absorb(shared, party, WHOLE, moved=audience, asked=[moving.id])
        for _ in range(2):
            if moving.word and moving.found_by_words:
                hits = await book.recall(party, moving.word, limit=20, view="owner")
                if moving.id not in {hit.id for hit in hits}:
                    raise Leak(f"{moving.id} of {party.parts} was shared for {audience} and is not found")
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
    """Scores are those of a book in which nobody else ever wrote, and nothing that this view may not see."""
    party, view = s.someone()
    question = "what did we say about the garden in spring, and who dug early"
    hits = await s.book(party).recall(party, question, limit=200, **who(view))
    alone = InMemoryEngine()
    lines = [line async for line in s.book(party).engine.dump(party, private=False)]
    if not lines:
        return
    await alone.adopt(party, lines, pack_terms)
    hidden = [known.id for known in s.oracle.of[party].values() if not may_read(known.audience, view)]
    types = frozenset(PASSAGE_TYPES)
    finder = Recall(alone, _Without(alone, frozenset(id.bytes for id in hidden)))
    expected = await finder.find(party, view, question, limit=200, types=types, only=Filter(types=types))
    if [(hit.id, round(hit.score, 9)) for hit in hits] != [(hit.id, round(hit.score, 9)) for hit in expected]:
        raise Leak(f"recall of {party.parts} as {view} scores otherwise than in a book of its own")


class _Without:
    """Passages without those that a view may not see, whatever shelf they would be on."""

    def __init__(self, engine: InMemoryEngine, hidden: frozenset[bytes]) -> None:
        self._engine = engine
        self._hidden = hidden

    async def look(self, owner: Owner, view: View, held: Any, choose: Any) -> Sight:
        return Sight(await self.since(owner, view, held), None)

    async def since(self, owner: Owner, view: View, held: Any) -> Any:
        found = await self._engine.since(owner, view, held)
        return [
            (shelf, replace(delta, rows=[row for row in delta.rows if row.id not in self._hidden]))
            for shelf, delta in found
        ]


RECALLS = {recall: 5, recall_what_moved: 0.3, recall_without_the_others: 0.2}
