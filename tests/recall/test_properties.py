"""Whatever was done to a book: its index answers as one built anew, and nobody feels what they may
not see.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import MemorandaError
from memoranda.model.changes import Batch
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, PASSAGE_TYPES, WHOLE, Owner, Record, View
from memoranda.model.vectors import pack_vectors
from memoranda.ports import Engine
from memoranda.recall.recall import Recall
from memoranda.recall.scoring import search as searching
from memoranda.testing.embedder import StubEmbedder
from memoranda.text.terms import RULE
from memoranda_conformance.builders import ANN, AT_A, AT_B, BEN, FOR_A, FOR_B, START, Pen
from tests.engines.dice import Dice
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import GROUPS, VIEWS, World

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "15"))

#: How often each step is taken, of those in this list.
STEPS = (
    *("write",) * 9,
    *("undo",) * 3,
    *("erase",) * 2,
    *("embed",) * 5,
    *("sets",) * 2,
    *("ask",) * 4,
    *("note use", "put terms"),
)
EMBEDDERS = (StubEmbedder("first", 32), StubEmbedder("second", 32), StubEmbedder("longer", 40))
QUESTIONS = ("who likes tea or gin", "what was said yesterday, about tea for 2")
#: What is asked: every mode, and some filters.
ASKED = (
    *((QUESTIONS[0], Filter(types=PASSAGE_TYPES), mode) for mode in searching.Mode),
    (
        QUESTIONS[1],
        Filter(types=PASSAGE_TYPES, kinds=frozenset({"fact", "user"}), agent="a"),
        searching.Mode.HYBRID,
    ),
    (
        QUESTIONS[1],
        Filter(types=PASSAGE_TYPES, known_at=START + timedelta(seconds=30)),
        searching.Mode.HYBRID,
    ),
)
STRANGER = Owner(tenant="elsewhere", id="ann")

Answers = dict[Any, list[Any]]
Program = list[tuple[str, int]]


@dataclass
class Reader:
    """An engine, and an index that follows it all the time."""

    engine: Engine
    held: Recall = field(init=False)

    def __post_init__(self) -> None:
        self.held = Recall(self.engine)

    async def asked(self, owner: Owner, view: View, *, anew: bool = False) -> Answers:
        """Every question, with what was found for it."""
        finder = Recall(self.engine) if anew else self.held
        found: Answers = {}
        sets = await self.engine.vector_sets()
        active = next(
            (one for one in EMBEDDERS if sets and one.embedding.name == sets[0].name), EMBEDDERS[0]
        )
        for question, only, mode in ASKED:
            recalled = await finder.find(
                owner, view, question, limit=50, types=PASSAGE_TYPES, only=only, mode=mode,
                vector=active.of(question), vectors=active.embedding.name, now=START,
            )  # fmt: skip
            found[question, only, mode] = [(hit.id, hit.score, hit.record) for hit in recalled]
        return found


class Life:
    """The same random work on two engines."""

    def __init__(self, readers: list[Reader]) -> None:
        self.readers = readers
        self.world = World()

    async def begin(self) -> None:
        """Something to build upon, half of it with vectors already."""
        for owner in OWNERS:
            await self._apply(self.world.first(owner))
        for reader, embedder in product(self.readers, EMBEDDERS):
            await reader.engine.begin_set(embedder.embedding)
            await embed(
                reader.engine, embedder, (await reader.engine.lacking(embedder.embedding, 99))[::2]
            )

    async def take(self, step: str, dice: Dice) -> None:
        """One step."""
        await getattr(self, "_" + step.replace(" ", "_"))(dice)

    async def _apply(self, batch: Batch) -> None:
        for reader in self.readers:
            try:
                self.world.written(await reader.engine.apply(batch))
            except MemorandaError:
                continue

    async def _write(self, dice: Dice) -> None:
        await self._apply(self.world.batch(dice))

    async def _undo(self, dice: Dice) -> None:
        await self._apply(self.world.batch(dice, undo=True))

    async def _erase(self, dice: Dice) -> None:
        target = self.world.target(dice, everything=dice.rarely(12))
        for reader in self.readers:
            try:
                await reader.engine.erase(target, self.world.now)
            except MemorandaError:
                continue

    async def _embed(self, dice: Dice) -> None:
        """Make some of the missing vectors, late and out of order."""
        embedder, place = dice.pick(EMBEDDERS), dice.number(3)
        for reader in self.readers:
            lacking = await reader.engine.lacking(embedder.embedding, 99)
            await embed(reader.engine, embedder, lacking[place::2])

    async def _sets(self, dice: Dice) -> None:
        embedding, verb = (
            dice.pick(EMBEDDERS).embedding,
            dice.pick(("begin", "begin", "switch", "drop")),
        )
        for reader in self.readers:
            await getattr(reader.engine, f"{verb}_set")(embedding)

    async def _note_use(self, dice: Dice) -> None:
        owner, view = dice.pick(OWNERS), dice.pick(VIEWS)
        ids = self.world.any_of(dice, owner, 4)
        for reader in self.readers:
            records = await reader.engine.get(owner, view, ids)
            await reader.engine.note_use(
                owner, view, await reader.engine.uses(owner, view, list(records))
            )

    async def _put_terms(self, dice: Dice) -> None:
        ids = self.world.any_of(dice, dice.pick(OWNERS), 4)
        for reader in self.readers:
            await reader.engine.put_terms(RULE, dict.fromkeys(ids, bytes(9)))

    async def _ask(self, dice: Dice) -> None:
        """An index that read before has the rest to catch up with."""
        owner, view = dice.pick((ANN, ANN, *OWNERS)), dice.pick((WHOLE, *VIEWS))
        told = [await reader.asked(owner, view) for reader in self.readers]
        assert told[0] == told[1]

    async def compare(self) -> None:
        """Check that kept and fresh indexes answer alike, on both engines."""
        for owner, view in product(OWNERS, VIEWS):
            one, *others = [
                await reader.asked(owner, view, anew=anew)
                for reader, anew in product(self.readers, (False, True))
            ]
            for other in others:
                assert other == one


async def embed(engine: Engine, embedder: StubEmbedder, records: list[Record]) -> None:
    texts = [record.passage_text() or "" for record in records]
    packed = pack_vectors(await embedder.passages(texts))
    vectors = {record.id: one for record, one in zip(records, packed, strict=True)}
    await engine.put_vectors(embedder.embedding, vectors)


@asynccontextmanager
async def lived(program: Program) -> AsyncIterator[Life]:
    """A life after some steps."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        sqlite = await SqliteEngine.open(Path(folder, "book.db"), synchronous="OFF")
        try:
            life = Life([Reader(InMemoryEngine()), Reader(sqlite)])
            await life.begin()
            for step, seed in program:
                await life.take(step, Dice(seed))
            yield life
        finally:
            await sqlite.close()


programs = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 2**32)), min_size=1, max_size=50
)
sampled = settings(
    max_examples=EXAMPLES, deadline=None, derandomize="HYPOTHESIS_EXAMPLES" not in os.environ
)


@pytest.fixture(autouse=True, scope="module", params=[searching.SHORT, 4], ids=["whole", "closer"])
def candidates(request: pytest.FixtureRequest) -> Iterator[None]:
    """Shelves as small as these are scored whole, or as those that are too large for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "SHORT", request.param)
        yield


@sampled
@given(programs)
def test_an_index_that_followed_every_change_answers_as_one_built_anew(program: Program) -> None:
    async def prove() -> None:
        async with lived(program) as life:
            await life.compare()

    asyncio.run(prove())


@sampled
@given(programs, st.integers(0, 2**32))
def test_what_is_added_where_a_reader_may_not_look_changes_no_score(
    program: Program, seed: int
) -> None:
    async def prove() -> None:
        async with lived(program) as life:
            before = [await reader.asked(ANN, AT_B) for reader in life.readers]
            for reader in life.readers:
                await add_out_of_sight(reader.engine, life.world, Dice(seed))
                # The others' indexes are there as well.
                for owner, view in ((ANN, WHOLE), (ANN, AT_A), (BEN, WHOLE), (STRANGER, WHOLE)):
                    await reader.asked(owner, view)
            for anew in (False, True):
                after = [await reader.asked(ANN, AT_B, anew=anew) for reader in life.readers]
                assert after == before

    asyncio.run(prove())


async def add_out_of_sight(engine: Engine, world: World, dice: Dice) -> None:
    """Passages full of the question's words in another audience, owner and tenant, with their
    vectors.
    """
    places = ((ANN, FOR_A), (ANN, GROUPS), (BEN, None), (BEN, FOR_B), (STRANGER, None))
    seen = await engine.get(ANN, AT_B, world.tried)
    talks = [
        id for id, record in seen.items() if record.type == "thread" and record.audience == EVERYONE
    ]
    made: list[UUID] = []
    for owner, audience in places:
        pen = Pen(engine, owner)
        thread = await pen.open(**({} if audience is None else {"audience": audience}))
        made += await pen.say(thread, *(dice.pick(QUESTIONS) for _ in range(4)), speaker="Tea")
        for _ in range(3):
            # It may even belong to a conversation that the reader sees.
            near = {"thread": dice.pick(talks)} if talks and owner == ANN else {}
            made.append(await pen.remember(dice.pick(QUESTIONS), audience=audience, **near))
    for embedder in EMBEDDERS:
        lacking = await engine.lacking(embedder.embedding, 999)
        await embed(engine, embedder, [record for record in lacking if record.id in made])
