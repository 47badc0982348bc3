"""Tests of copying a book: its pieces (records, ledger entries) are the same on every engine."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from memoranda.model.book_rows import (
    OWN_UPKEEP,
    Arrival,
    EntryPiece,
    Piece,
    PieceKind,
    RecordPiece,
    StonePiece,
)
from memoranda.model.changes import Import, Job, JobDraft, Retract, Undo
from memoranda.model.language_models import Spent
from memoranda.model.passages import Use
from memoranda.model.records import WHOLE, Audience, Owner
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    BEN,
    GUIDE,
    LARGE,
    SMALL,
    START,
    Pen,
    a_memory,
    vectors_of,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.maintenance import a_full_life, everything

COPY = "this copy"


async def a_whole_book(engine: Engine) -> None:
    """Write several owners, one of them with an ended era, with vectors, uses, jobs, a stored
    answer and spending.
    """
    pen, ben = Pen(engine, ANN), Pen(engine, BEN)
    await engine.begin_set(SMALL)
    await engine.begin_set(LARGE)
    await a_full_life(pen)
    await ben.remember("likes tea", audience=Audience.of_groups(["x", "ü"]))
    await ben.write(
        jobs=(JobDraft("form", "b", {"b": 1, "ä": [None]}, (new_id(),)),),
        operation="job",
        request=b"j",
    )
    await ben.erase_all()
    back = await ben.remember("is back", key="mood")
    await ben.write(Retract(back))
    await Pen(engine, GUIDE).remember("of an agent")
    records = [record.id for record in await pen.scan() if record.type in ("memory", "message")]
    await engine.put_vectors(SMALL, vectors_of(SMALL, *records))
    await engine.put_vectors(LARGE, vectors_of(LARGE, *records[:1]))
    await engine.note_use(BEN, WHOLE, {back: Use(strength=0.1, used_at=None, count=0)})
    for owner in (ANN, None):
        await engine.note_spent(
            Spent(
                tenant="default",
                owner=owner,
                day=START.date(),
                task="form",
                model="m",
                calls=2,
                price=Decimal("0.3"),
            )
        )
    draft = JobDraft("form", "a", {"n": 1}, (back,), delay=5.0, max_wait=9.0)
    await pen.write(jobs=(draft, JobDraft("close", "a")))
    job = await engine.lease(("form",), "w", START + timedelta(days=365), 60)
    assert job is not None
    await engine.keep(job, {"learnt": "ä"}, (back,))
    await engine.postpone(job, START + timedelta(days=400), "later")


async def all_pieces(engine: Engine) -> list[Any]:
    """Return all of a book's pieces, and the rows that belong to no owner."""
    found: list[Any] = [await engine.book_frame(), await of_kind(engine, PieceKind.STONE, b"")]
    for era in await engine.eras(b"", 1000):
        found += [era, await engine.frame(era)]
        found += [await of_kind(engine, kind, era) for kind in (PieceKind.RECORD, PieceKind.ENTRY)]
    return found


async def of_kind(engine: Engine, kind: PieceKind, era: bytes, limit: int = 3) -> list[Piece]:
    """Read all pieces of one kind, a few at a time."""
    found: list[Piece] = []
    while page := await engine.pieces(kind, era, found[-1].key if found else b"", limit):
        assert len(page) <= limit
        found += page
    return found


async def lay_all(source: Engine, target: Engine, copy: str = COPY) -> None:
    """Copy all pieces that the target does not have."""
    await target.lay_book(copy, await source.book_frame())
    await target.lay(copy, b"", await of_kind(source, PieceKind.STONE, b""))
    for era in await source.eras(b"", 1000):
        frame = await source.frame(era)
        assert frame is not None
        await target.lay_frame(copy, frame)
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await target.lay(copy, era, await of_kind(source, kind, era))


async def arrived(source: Engine, target: Engine, copy: str = COPY) -> bool:
    """Make the target an unfinished copy of the source; return False if it has content."""
    return await target.arrive(Arrival("elsewhere", copy), (await source.whereabouts()).secret)


class MovingSuite(Suite):
    """Tests of how an engine reads and writes the pieces of a copied book."""

    async def test_a_book_that_is_copied_piece_by_piece_is_the_same_book(
        self, engine: Engine, another: Engine
    ) -> None:
        await a_whole_book(engine)
        assert await arrived(engine, another)
        for _ in range(2):  # a second time nothing changes
            await lay_all(engine, another)
            assert await all_pieces(another) == await all_pieces(engine)
        await another.end_arrival(COPY)
        assert await all_pieces(another) == await all_pieces(engine)
        for owner in (ANN, BEN, GUIDE):
            assert await everything(another, owner) == await everything(engine, owner)
        assert await another.vector_sets() == await engine.vector_sets()
        assert await _jobs(another) == await _jobs(engine)
        assert await another.spent("default") == await engine.spent("default")
        assert (await another.verify()).faults == ()

    async def test_a_copy_that_is_begun_anew_has_nothing_of_what_was_there(
        self, engine: Engine, another: Engine
    ) -> None:
        await a_whole_book(engine)
        await arrived(engine, another)
        await lay_all(engine, another)
        pen, ben = Pen(engine, ANN), Pen(engine, BEN)
        await pen.remember("likes rum", key="drink", agent="a")
        await pen.erase(await pen.remember("goes"))
        await ben.erase_all()
        await engine.switch_set(LARGE)
        assert await arrived(engine, another)
        assert await all_pieces(another) != await all_pieces(engine)  # the same copy goes on
        assert await arrived(engine, another, "another copy")
        assert await another.eras(b"", 10) == []
        assert (await another.book_frame()).sets == ()
        assert await of_kind(another, PieceKind.STONE, b"") == []
        await lay_all(engine, another, "another copy")
        await another.end_arrival("another copy")
        assert await all_pieces(another) == await all_pieces(engine)

    async def test_everything_of_an_owner_is_read_at_once(self, engine: Engine) -> None:
        await a_whole_book(engine)
        for owner in (ANN, BEN, GUIDE):
            whole = await engine.owner_pieces(owner)
            assert whole is not None
            era = whole.frame.era
            assert whole.frame == await engine.frame(era)
            assert list(whole.records) == await of_kind(engine, PieceKind.RECORD, era)
            assert list(whole.entries) == await of_kind(engine, PieceKind.ENTRY, era)
        assert await engine.owner_pieces(Owner(id="nobody")) is None

    async def test_pieces_come_in_the_order_of_their_keys(self, engine: Engine) -> None:
        await a_whole_book(engine)
        shapes = {
            PieceKind.RECORD: RecordPiece,
            PieceKind.ENTRY: EntryPiece,
            PieceKind.STONE: StonePiece,
        }
        eras = await engine.eras(b"", 1000)
        assert eras == sorted(eras)
        assert await engine.eras(eras[0], 1) == (await engine.eras(b"", 2))[1:]
        for kind, shape in shapes.items():
            for era in [b""] if kind is PieceKind.STONE else eras:
                found = await of_kind(engine, kind, era)
                assert [piece.key for piece in found] == sorted({piece.key for piece in found})
                assert all(isinstance(piece, shape) for piece in found)
                assert await of_kind(engine, kind, era, 1) == found
        assert await engine.frame(new_id().bytes) is None

    async def test_an_operation_that_was_done_there_is_repeated_here(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there = Pen(engine), Pen(another)
        memory = new_id()
        first = await pen.write(pen.remembering("tea", id=memory), operation="one", request=b"x")
        lost = await pen.remember("lost")
        await pen.erase(lost)
        await arrived(engine, another)
        await lay_all(engine, another)
        await another.end_arrival(COPY)
        again = await there.write(
            there.remembering("tea", id=memory), operation="one", request=b"x"
        )
        assert (again.repeated, again.position, again.items) == (True, first.position, first.items)
        await there.write(Undo(first.position))
        assert not (await there.read(memory)).active
        back = await there.write(Import(a_memory(ANN, "back", id=lost)))
        assert [part.code for part in back.ignored] == ["erased"]

    async def test_vectors_of_sets_that_are_not_here_are_left_out(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        memory = await pen.remember("tea")
        await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
        await arrived(engine, another)
        (era,) = await engine.eras(b"", 10)
        frame = await engine.frame(era)
        assert frame is not None
        await another.lay_frame(COPY, frame)
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await another.lay(COPY, era, await of_kind(engine, kind, era))
        await another.end_arrival(COPY)
        assert await another.vector_sets() == []

    async def test_jobs_about_an_engines_own_files_and_tables_are_not_copied(
        self, engine: Engine
    ) -> None:
        for kind in (*OWN_UPKEEP, "embed"):
            await engine.put(JobDraft(kind, "x"), START)
        assert [job.kind for job in (await engine.book_frame()).jobs] == ["embed"]


async def _jobs(engine: Engine) -> list[Job]:
    return [job for job in await engine.jobs(None, 100) if job.kind not in OWN_UPKEEP]
