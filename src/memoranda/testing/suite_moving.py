"""Books that move: their pieces are the same on every engine, laid down as they stood, and marks keep writers off."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from memoranda.model.changes import Import, Retract, Undo
from memoranda.model.ids import new_id
from memoranda.model.jobs import Job, JobDraft
from memoranda.model.moving import (
    OWN_UPKEEP,
    Arrival,
    EntryPiece,
    Piece,
    PieceKind,
    RecordPiece,
    StonePiece,
)
from memoranda.model.owner import WHOLE, Audience
from memoranda.model.passages import Use
from memoranda.model.spending import Spent
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, BEN, GUIDE, LARGE, SMALL, START, Pen, a_memory, vectors_of
from memoranda.testing.suite import Suite
from memoranda.testing.suite_keeping import a_full_life, everything

RUN = "this run"


async def a_whole_book(engine: Engine) -> None:
    """Several owners, one of them with an ended era, with vectors, uses, jobs, what is kept of them, and spending."""
    pen, ben = Pen(engine, ANN), Pen(engine, BEN)
    await engine.begin_set(SMALL)
    await engine.begin_set(LARGE)
    await a_full_life(pen)
    await ben.remember("likes tea", audience=Audience.of_groups(["x", "ü"]))
    await ben.write(
        jobs=(JobDraft("form", "b", {"b": 1, "ä": [None]}, (new_id(),)),), operation="job", request=b"j"
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
    """Everything that a book is made of."""
    found: list[Any] = [await engine.book_frame(), await of_kind(engine, PieceKind.STONE, b"")]
    for era, position in await engine.eras(b"", 1000):
        found += [era, position, await engine.frame(era)]
        found += [await of_kind(engine, kind, era) for kind in (PieceKind.RECORD, PieceKind.ENTRY)]
    return found


async def of_kind(engine: Engine, kind: PieceKind, era: bytes, limit: int = 3) -> list[Piece]:
    """All pieces of a kind, asked for a few at a time."""
    found: list[Piece] = []
    while page := await engine.pieces(kind, era, found[-1].key if found else b"", limit):
        assert len(page) <= limit
        found += page
    return found


async def lay_all(source: Engine, target: Engine) -> None:
    """Bring everything over."""
    await target.lay_book(RUN, await source.book_frame())
    await target.lay(RUN, PieceKind.STONE, b"", await of_kind(source, PieceKind.STONE, b""))
    for era, _ in await source.eras(b"", 1000):
        frame = await source.frame(era)
        assert frame is not None
        await target.lay_frame(RUN, frame.begun())
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await target.lay(RUN, kind, era, await of_kind(source, kind, era))
        await target.lay_frame(RUN, frame)


async def arrived(source: Engine, target: Engine, run: str = RUN) -> bool:
    """Let the target become a copy of the source."""
    return await target.arrive(Arrival("elsewhere", run), (await source.whereabouts()).secret)


class MovingSuite(Suite):
    """What an engine does for a book that moves."""

    async def test_a_book_laid_down_piece_by_piece_is_the_same_book(
        self, engine: Engine, another: Engine
    ) -> None:
        await a_whole_book(engine)
        assert await arrived(engine, another)
        await lay_all(engine, another)
        assert await all_pieces(another) == await all_pieces(engine)
        await another.end_arrival(RUN)
        assert await all_pieces(another) == await all_pieces(engine)
        for owner in (ANN, BEN, GUIDE):
            assert await everything(another, owner) == await everything(engine, owner)
        assert await another.vector_sets() == await engine.vector_sets()
        assert await _jobs(another) == await _jobs(engine)
        assert await another.spent("default") == await engine.spent("default")
        assert (await another.verify()).faults == ()

    async def test_laying_down_again_changes_nothing(self, engine: Engine, another: Engine) -> None:
        await a_whole_book(engine)
        await arrived(engine, another)
        for _ in range(2):
            await lay_all(engine, another)
            assert await all_pieces(another) == await all_pieces(engine)
        await another.end_arrival(RUN)

    async def test_what_changed_is_laid_over_what_stood(self, engine: Engine, another: Engine) -> None:
        await a_whole_book(engine)
        await arrived(engine, another)
        await lay_all(engine, another)
        pen, ben = Pen(engine, ANN), Pen(engine, BEN)
        before = await all_pieces(engine)
        await pen.write(Undo((await pen.ledger())[-1].position))
        # A key passes from one to the other: both are laid down, in whichever order.
        await pen.remember("likes rum", key="drink", agent="a")
        await pen.erase(await pen.remember("goes"))
        await ben.erase_all()
        await ben.remember("once more")
        await engine.switch_set(LARGE)
        job = (await engine.jobs(None, 100))[0]
        await engine.replay(job.id, START + timedelta(days=500))
        assert await all_pieces(engine) != before
        await self._level(engine, another)
        await another.end_arrival(RUN)
        assert await all_pieces(another) == await all_pieces(engine)

    async def _level(self, source: Engine, target: Engine) -> None:
        """Lay down what the source has, and take away what it has not."""
        await lay_all(source, target)
        for era, _ in await source.eras(b"", 1000):
            there = {piece.key for piece in await of_kind(source, PieceKind.RECORD, era)}
            gone = [
                piece.key for piece in await of_kind(target, PieceKind.RECORD, era) if piece.key not in there
            ]
            await target.lay(RUN, PieceKind.RECORD, era, (), gone)
            frame = await source.frame(era)
            assert frame is not None
            await target.lay_frame(RUN, frame)

    async def test_pieces_come_in_the_order_of_their_keys(self, engine: Engine) -> None:
        await a_whole_book(engine)
        shapes = {PieceKind.RECORD: RecordPiece, PieceKind.ENTRY: EntryPiece, PieceKind.STONE: StonePiece}
        eras = [era for era, _ in await engine.eras(b"", 1000)]
        assert eras == sorted(eras)
        assert await engine.eras(eras[0], 1) == (await engine.eras(b"", 2))[1:]
        for kind, shape in shapes.items():
            for era in [b""] if kind is PieceKind.STONE else eras:
                found = await of_kind(engine, kind, era)
                assert [piece.key for piece in found] == sorted({piece.key for piece in found})
                assert all(isinstance(piece, shape) for piece in found)
                assert await of_kind(engine, kind, era, 1) == found

    async def test_records_are_asked_for_by_their_ids_and_their_era(self, engine: Engine) -> None:
        pen, ben = Pen(engine, ANN), Pen(engine, BEN)
        mine, theirs = await pen.remember("mine"), await ben.remember("theirs")
        eras = {frame.names: frame.era for frame in await self._frames(engine) if frame is not None}
        ids = [mine.bytes, theirs.bytes, new_id().bytes]
        assert [piece.key for piece in await engine.records_at(eras[ANN.parts], ids)] == [mine.bytes]
        assert await engine.records_at(eras[ANN.parts], []) == []
        assert await engine.records_at(new_id().bytes, ids) == []
        assert await engine.frame(new_id().bytes) is None

    async def _frames(self, engine: Engine) -> list[Any]:
        return [await engine.frame(era) for era, _ in await engine.eras(b"", 1000)]

    async def test_pieces_that_are_gone_are_taken_away_with_all_that_stands_beside_them(
        self, engine: Engine, another: Engine
    ) -> None:
        await a_whole_book(engine)
        await arrived(engine, another)
        await lay_all(engine, another)
        for era, _ in await engine.eras(b"", 1000):
            for kind in (PieceKind.RECORD, PieceKind.ENTRY):
                keys = [piece.key for piece in await of_kind(another, kind, era)]
                await another.lay(RUN, kind, era, (), keys)
                assert await of_kind(another, kind, era) == []
        stones = [piece.key for piece in await of_kind(another, PieceKind.STONE, b"")]
        await another.lay(RUN, PieceKind.STONE, b"", (), stones)
        assert await of_kind(another, PieceKind.STONE, b"") == []
        await lay_all(engine, another)
        await another.end_arrival(RUN)
        assert await all_pieces(another) == await all_pieces(engine)

    async def test_no_record_is_lost_sight_of_when_its_shelf_is_gone_elsewhere(
        self, engine: Engine, another: Engine
    ) -> None:
        await Pen(engine).remember("tea", audience=Audience.of_groups(["x"]))
        await arrived(engine, another)
        await lay_all(engine, another)
        ((era, _),) = await engine.eras(b"", 10)
        frame = await engine.frame(era)
        assert frame is not None
        await another.lay_frame(RUN, frame.begun())
        assert await of_kind(another, PieceKind.RECORD, era) == await of_kind(engine, PieceKind.RECORD, era)
        await another.lay_frame(RUN, frame)
        await another.end_arrival(RUN)

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
        await another.end_arrival(RUN)
        again = await there.write(there.remembering("tea", id=memory), operation="one", request=b"x")
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
        ((era, _),) = await engine.eras(b"", 10)
        frame = await engine.frame(era)
        assert frame is not None
        await another.lay_frame(RUN, frame)
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await another.lay(RUN, kind, era, await of_kind(engine, kind, era))
        await another.lay_frame(RUN, frame)
        await another.end_arrival(RUN)
        assert await another.vector_sets() == []


async def _jobs(engine: Engine) -> list[Job]:
    return [job for job in await engine.jobs(None, 100) if job.kind not in OWN_UPKEEP]
