"""Tests of sets of vectors: started, filled, read by an index, switched, and removed with their
passages.
"""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from memoranda.errors import InvalidInput
from memoranda.model.changes import (
    Amend,
    ChangeAudience,
    CloseThread,
    Job,
    OpenThread,
    RecordEpisode,
    Retract,
)
from memoranda.model.messages import ThreadStatus
from memoranda.model.passages import PassageRow
from memoranda.model.records import EVERYONE
from memoranda.model.values import new_id
from memoranda.model.vectors import EMBED, Embedding, SetState, VectorSet, unpack_vectors
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    BEN,
    FOR_A,
    LARGE,
    SMALL,
    Follower,
    Pen,
    a_thread,
    adopted,
    an_episode,
    exported,
    packed,
    vector,
    vectors_of,
)
from memoranda_conformance.suite import Suite


async def without_vectors(engine: Engine, embedding: Embedding, limit: int = 100) -> list[UUID]:
    """Return the ids of passages that have no vector in a set."""
    return [record.id for record in await engine.lacking(embedding, limit)]


async def embed_jobs(engine: Engine) -> list[Job]:
    """Return the jobs that compute vectors."""
    return [job for job in await engine.jobs(None, 100) if job.kind == EMBED]


class VectorSuite(Suite):
    """Tests that vectors can be made later and again, and never exist without their passage."""

    async def test_the_first_set_of_a_book_is_active_and_others_are_made_beside_it(
        self, engine: Engine
    ) -> None:
        assert await engine.vector_sets() == []
        assert await engine.begin_set(SMALL) == VectorSet(SMALL.name, 4, 0, SetState.ACTIVE)
        assert await engine.begin_set(LARGE) == VectorSet(LARGE.name, 6, 0, SetState.MAKING)
        tea = await Pen(engine).remember("tea")
        await engine.put_vectors(LARGE, vectors_of(LARGE, tea))
        assert (await engine.begin_set(LARGE)).count == 1
        assert [(found.name, found.count) for found in await engine.vector_sets()] == [
            (SMALL.name, 0),
            (LARGE.name, 1),
        ]

    async def test_what_lacks_a_vector_is_told_across_owners_oldest_first(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open()
        said = await pen.say(thread, "tea", "cake")
        private = await other.remember("rum", agent="a", audience=FOR_A)
        episode = an_episode(pen.owner)
        await pen.write(RecordEpisode(episode, packed(episode.passage_text())))
        passages = [*said, private, episode.id]
        assert await without_vectors(engine, SMALL) == []
        await engine.begin_set(SMALL)
        assert await without_vectors(engine, SMALL) == passages
        assert await without_vectors(engine, SMALL, 2) == passages[:2]
        # The newest come first; older passages are still without a vector.
        await engine.put_vectors(SMALL, vectors_of(SMALL, *passages[2:]))
        assert await without_vectors(engine, SMALL) == passages[:2]
        await engine.put_vectors(SMALL, vectors_of(SMALL, passages[1]))
        await engine.put_vectors(SMALL, vectors_of(SMALL, passages[0]))
        assert await without_vectors(engine, SMALL) == []
        (third,) = await pen.say(thread, "thanks")
        assert await without_vectors(engine, SMALL) == [third]

    async def test_vectors_are_put_only_for_passages_that_are_there_and_into_sets_that_are(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        thread = await pen.open()
        tea, gone = await pen.remember("tea"), await pen.remember("gone")
        await pen.erase(gone)
        given = vectors_of(SMALL, tea, gone, thread, new_id())
        assert await engine.put_vectors(LARGE, vectors_of(LARGE, tea)) == 0
        assert await engine.put_vectors(SMALL, given) == 1
        assert [found.count for found in await engine.vector_sets()] == [1]
        assert await engine.put_vectors(SMALL, {tea: vector(SMALL, 2)}) == 1
        assert [found.count for found in await engine.vector_sets()] == [1]
        assert (await self._rows(engine))[tea].vector == vector(SMALL, 2)
        with pytest.raises(InvalidInput):
            await engine.put_vectors(SMALL, vectors_of(LARGE, tea))
        assert (await self._rows(engine))[tea].vector == vector(SMALL, 2)

    async def _rows(self, engine: Engine) -> dict[UUID, PassageRow]:
        shelves = await Follower(engine).follow()
        return {id: row for shelf in shelves.values() for id, row in shelf.items()}

    async def test_an_index_sees_the_vectors_of_the_active_set_as_they_come(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        await engine.begin_set(LARGE)
        tea, cake = await pen.remember("tea"), await pen.remember("cake")
        private = await pen.remember("rum", agent="a", audience=FOR_A)
        follower = Follower(engine)
        shelf = (await follower.follow())[EVERYONE]
        assert [row.vector for row in shelf.values()] == [None, None]
        await engine.put_vectors(LARGE, vectors_of(LARGE, tea, cake))
        await follower.follow()
        assert follower.came == []
        made = vectors_of(SMALL, tea, private)
        await engine.put_vectors(SMALL, made)
        shelves = await follower.follow()
        assert sorted(follower.came) == sorted([tea, private])
        assert (shelves[EVERYONE][tea].vector, shelves[EVERYONE][cake].vector) == (made[tea], None)
        assert shelves[FOR_A][private].vector == made[private]
        assert shelves[EVERYONE][tea].terms == packed("tea")
        await pen.write(
            Retract(tea), Amend(private, {"pinned": True}), ChangeAudience(private, EVERYONE)
        )
        shelf = (await follower.follow())[EVERYONE]
        assert (shelf[tea].vector, shelf[private].vector) == (made[tea], made[private])
        assert (await pen.read(cake)).version == 1

    async def test_a_switch_brings_every_shelf_anew_and_takes_the_old_set_away(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        tea, cake = await pen.remember("tea"), await pen.remember("cake")
        private = await other.remember("rum", agent="a", audience=FOR_A)
        await engine.begin_set(SMALL)
        await engine.put_vectors(SMALL, vectors_of(SMALL, tea, cake, private))
        follower, theirs, late = Follower(engine), Follower(engine, BEN), Follower(engine)
        for each in (follower, theirs, late):
            await each.follow()
        await engine.begin_set(LARGE)
        made = vectors_of(LARGE, tea, private)
        await engine.put_vectors(LARGE, made)
        await follower.follow()
        assert follower.came == []
        assert await engine.switch_set(LARGE)
        assert await engine.vector_sets() == [VectorSet(LARGE.name, 6, 2, SetState.ACTIVE)]
        shelf = (await follower.follow())[EVERYONE]
        assert follower.came == [tea, cake]
        assert [shelf[id].vector for id in (tea, cake)] == [made[tea], None]
        assert (await theirs.follow())[FOR_A][private].vector == made[private]
        # Vectors for the old set are ignored.
        assert await engine.put_vectors(SMALL, vectors_of(SMALL, cake)) == 0
        assert await without_vectors(engine, SMALL) == []
        assert await without_vectors(engine, LARGE) == [cake]
        await engine.put_vectors(LARGE, vectors_of(LARGE, cake))
        await follower.follow()
        assert follower.came == [cake]
        # An index that missed all of this has no old vectors either.
        assert (await late.follow())[EVERYONE] == (await Follower(engine).follow())[EVERYONE]

    async def test_a_switch_to_the_active_set_or_to_none_moves_nothing(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = await pen.remember("tea")
        await engine.begin_set(SMALL)
        await engine.put_vectors(SMALL, vectors_of(SMALL, tea))
        follower = Follower(engine)
        await follower.follow()
        assert not await engine.switch_set(LARGE)
        assert await engine.switch_set(SMALL)
        await follower.follow()
        assert follower.came == []
        assert [found.count for found in await engine.vector_sets()] == [1]

    async def test_a_set_in_the_making_may_be_given_up_and_the_active_one_not(
        self, engine: Engine
    ) -> None:
        tea = await Pen(engine).remember("tea")
        await engine.begin_set(SMALL)
        await engine.begin_set(LARGE)
        for embedding in (SMALL, LARGE):
            await engine.put_vectors(embedding, vectors_of(embedding, tea))
        assert not await engine.drop_set(SMALL)
        assert await engine.drop_set(LARGE)
        assert not await engine.drop_set(LARGE)
        assert [found.name for found in await engine.vector_sets()] == [SMALL.name]
        # A set that is started again is empty.
        assert (await engine.begin_set(LARGE)).count == 0
        assert await without_vectors(engine, LARGE) == [tea]

    async def test_erasure_takes_the_vectors_of_every_set_and_counts_them(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        one, two = await pen.remember("one"), await pen.remember("two")
        both = await pen.remember("three", sources=(one, two))
        bens = await other.remember("ben's")
        await engine.begin_set(SMALL)
        await engine.begin_set(LARGE)
        await engine.put_vectors(SMALL, vectors_of(SMALL, one, two, both, bens))
        await engine.put_vectors(LARGE, vectors_of(LARGE, one, bens))
        receipt = await pen.erase(one)
        assert receipt.removed["vectors"] == 2
        assert [found.count for found in await engine.vector_sets()] == [3, 1]
        # A memory that stays without one of its sources keeps its text.
        kept = (await self._rows(engine))[both]
        assert kept.vector == vectors_of(SMALL, both)[both]
        assert await engine.put_vectors(SMALL, vectors_of(SMALL, one)) == 0
        assert (await pen.erase_all()).removed["vectors"] == 2
        assert [found.count for found in await engine.vector_sets()] == [1, 1]
        assert "vectors" not in (await other.erase(await other.remember("x"))).removed

    async def test_new_passages_make_a_job_due_for_each_set(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("tea")
        assert await embed_jobs(engine) == []
        await engine.begin_set(SMALL)
        await pen.write(Retract(tea), OpenThread(a_thread(pen.owner)))
        assert await embed_jobs(engine) == []
        await pen.remember("cake")
        await pen.remember("rum")
        (job,) = await embed_jobs(engine)
        assert (job.key, job.owner, job.records, job.generation) == (SMALL.name, None, (), 1)
        await engine.begin_set(LARGE)
        thread = await pen.open()
        await pen.say(thread, "hello")
        assert {job.key for job in await embed_jobs(engine)} == {SMALL.name, LARGE.name}
        await engine.switch_set(LARGE)
        assert [job.key for job in await embed_jobs(engine)] == [LARGE.name]
        await engine.drop_set(LARGE)
        assert [job.key for job in await embed_jobs(engine)] == [LARGE.name]

    async def test_a_passage_that_comes_while_vectors_are_made_makes_the_job_due_once_more(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        await pen.remember("tea")
        leased = await engine.lease([EMBED], "one", pen.tick(), 60)
        assert leased is not None
        assert await without_vectors(engine, SMALL) != []
        await pen.remember("cake")
        await engine.finish(leased)
        again = await engine.lease([EMBED], "one", pen.tick(), 60)
        assert again is not None
        await engine.finish(again)
        assert await embed_jobs(engine) == []

    async def test_a_dump_has_no_vectors_and_adopting_it_makes_the_job_due(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        episode = an_episode(pen.owner)
        await pen.write(
            CloseThread(
                thread, ThreadStatus.COMPLETED, None, episode, packed(episode.passage_text())
            )
        )
        await engine.begin_set(SMALL)
        await engine.put_vectors(SMALL, vectors_of(SMALL, said, episode.id))
        lines = await exported(engine, ANN, private=True)
        assert not [line for line in lines if "vector" in str(line)]
        await another.begin_set(SMALL)
        await adopted(another, ANN, lines)
        assert await without_vectors(another, SMALL) == [said, episode.id]
        assert [row.vector for row in (await self._rows(another)).values()] == [None, None]
        job = await another.lease([EMBED], "one", pen.tick(), 60)
        assert job is not None
        assert job.key == SMALL.name

    async def test_rebuilding_keeps_the_vectors(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("tea")
        await engine.begin_set(SMALL)
        made = vectors_of(SMALL, tea)
        await engine.put_vectors(SMALL, made)
        await engine.rebuild()
        assert (await self._rows(engine))[tea].vector == made[tea]
        assert [found.count for found in await engine.vector_sets()] == [1]
        assert await without_vectors(engine, SMALL) == []

    async def test_many_vectors_are_put_at_once(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, *(f"message {number}" for number in range(1200)))
        await engine.begin_set(SMALL)
        made = vectors_of(SMALL, *said)
        assert await engine.put_vectors(SMALL, made) == 1200
        rows = await self._rows(engine)
        assert {id: row.vector for id, row in rows.items()} == made
        scales, numbers = unpack_vectors(
            [row.vector for row in rows.values() if row.vector is not None]
        )
        assert np.allclose(np.linalg.norm(scales[:, np.newaxis] * numbers, axis=1), 1, atol=0.02)
        assert (await pen.erase_all()).removed["vectors"] == 1200
        assert [found.count for found in await engine.vector_sets()] == [0]

    async def test_vectors_move_no_version_and_write_no_entry(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("tea")
        entries, before = await pen.ledger(), await pen.read(tea)
        await engine.begin_set(SMALL)
        await engine.put_vectors(SMALL, vectors_of(SMALL, tea))
        await engine.begin_set(LARGE)
        await engine.switch_set(LARGE)
        assert await pen.ledger() == entries
        assert await pen.read(tea) == before
