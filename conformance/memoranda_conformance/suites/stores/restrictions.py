"""Conformance tests of restricted processing, of uses of keys, and of lines about reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import pytest

from memoranda.errors import InvalidInput, LimitReached, Restricted
from memoranda.model.book_rows import Arrival, PieceKind, ReadPiece
from memoranda.model.changes import Hide, Import
from memoranda.model.ledger import Actor, Target
from memoranda.model.memories import HELD
from memoranda.model.passages import Use
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, WITH_EXPIRED, Limits, View
from memoranda.model.service_records import Appends, Caller, ReadNote, Restriction
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    BEN,
    SMALL,
    START,
    Pen,
    a_memory,
    adopted,
    exported,
    packed,
    vectors_of,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.job_waits import leased, put

COPY = "this copy"
ALL = Filter()


class RestrictionSuite(Suite):
    """Tests of what may be read and written of an owner whose processing is restricted."""

    async def test_only_the_persons_own_view_sees_anything_of_a_restricted_owner(
        self, engine: Engine
    ) -> None:
        pen, ben = Pen(engine), Pen(engine, BEN)
        tea = await pen.remember("likes tea", agent="a")
        await ben.remember("likes rum")
        await engine.note_use(ANN, pen.view, {tea: Use(strength=1.0, used_at=START, count=1)})
        await engine.restrict(ANN, Appends.REFUSE, START)

        async def sees(view: View) -> list[bool]:
            sight = await engine.look(ANN, view, lambda _: None, lambda shelves: [tea])
            return [
                bool(await engine.get(ANN, view, [tea])),
                bool((await engine.scan(ANN, view, ALL, None, 5)).records),
                bool(await engine.count(ANN, view, ALL)),
                bool(await engine.newest(ANN, view, ALL, 5)),
                bool(await engine.kinds(ANN, view, ALL)),
                bool(await engine.history(ANN, view, tea)),
                bool((await engine.versions(ANN, view, [tea])).get(tea)),
                bool(await engine.since(ANN, view, lambda _: None)),
                bool(await engine.uses(ANN, view, [tea])),
                bool(await engine.most_used(ANN, view, ALL, 5)),
                bool(
                    await engine.note_use(
                        ANN, view, {tea: Use(strength=1.0, used_at=START, count=2)}
                    )
                ),
                bool(sight.records or sight.shelves),
            ]

        for view in (View(), AT_A):
            assert not any(await sees(view))
        assert all(await sees(pen.view))
        assert len(await ben.scan(View())) == 1
        assert await engine.unrestrict(ANN, START)
        assert all(await sees(AT_A))

    async def test_nothing_new_is_stored_of_a_restricted_owner_but_what_hides(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea")
        repeated = pen.batch(pen.remembering("once"), operation="op", request=b"r")
        receipt = await engine.apply(repeated)
        await engine.restrict(ANN, Appends.REFUSE, START)
        for dry_run in (False, True):
            with pytest.raises(Restricted, match="restricted"):
                await pen.write(pen.remembering("likes rum"), dry_run=dry_run)
        assert (await engine.apply(repeated)).ids() == receipt.ids()
        assert len(await pen.scan()) == 2
        await pen.write(Hide((tea,)))
        await Pen(engine, BEN).remember("likes rum")

    async def test_kept_unread_is_what_a_program_writes_and_never_what_the_book_concludes(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
        (said,) = await pen.say(thread, "I like tea")
        with pytest.raises(Restricted):
            await pen.write(pen.remembering("likes tea"), actor=Actor("system", "formation"))
        assert await pen.find(said, View()) is None
        assert await pen.find(said) is not None
        await engine.unrestrict(ANN, START)
        assert await pen.find(said, View()) is not None

    async def test_kept_unread_archives_no_memory_of_a_restricted_owner(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_agent=2, at_capacity="evict_oldest"))
        first = [await pen.remember("likes tea"), await pen.remember("likes rum")]
        await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
        for dry_run in (False, True):
            with pytest.raises(LimitReached, match="memories_per"):
                await pen.write(pen.remembering("likes milk"), dry_run=dry_run)
        held = Filter(statuses=HELD)
        assert len((await engine.scan(ANN, pen.view, held, None, 5)).records) == 2
        await engine.unrestrict(ANN, START)
        await pen.remember("likes milk")
        assert first[0] not in {
            one.id for one in (await engine.scan(ANN, pen.view, held, None, 5)).records
        }

    async def test_a_restriction_holds_for_an_owner_without_records_and_outlives_an_erasure(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        assert await engine.restriction(ANN) is None
        first = await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
        assert first == Restriction(START, Appends.KEEP_UNREAD)
        assert await engine.restrict(ANN, Appends.REFUSE, START + timedelta(days=1)) == Restriction(
            START, Appends.REFUSE
        )
        with pytest.raises(Restricted):
            await pen.remember("likes tea")
        await engine.unrestrict(ANN, START)
        await pen.remember("likes tea")
        await engine.restrict(ANN, Appends.REFUSE, START)
        await pen.erase_all()
        assert await engine.restrictions([BEN, ANN]) == [None, Restriction(START, Appends.REFUSE)]
        with pytest.raises(Restricted):
            await pen.remember("is back")
        assert await engine.unrestrict(ANN, START)
        assert not await engine.unrestrict(ANN, START)
        await pen.remember("is back")

    async def test_upkeep_erases_nothing_of_a_restricted_owner_and_the_person_everything(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea, rum = await pen.remember("likes tea"), await pen.remember("likes rum")
        await engine.restrict(ANN, Appends.REFUSE, START)
        for target in (
            Target(ANN, WITH_EXPIRED, Actor("system"), (tea,)),
            Target(ANN, WITH_EXPIRED, Actor("system"), (tea,), ageing=True),
        ):
            assert (await engine.erase(target, pen.tick())).removed == {}
        assert len(await pen.scan()) == 2
        assert (await pen.erase(rum)).removed["memory"] == 1
        assert [record.id for record in await pen.scan()] == [tea]

    async def test_jobs_and_vectors_of_a_restricted_owner_wait_until_it_is_lifted(
        self, engine: Engine
    ) -> None:
        pen, ben = Pen(engine), Pen(engine, BEN)
        await engine.begin_set(SMALL)
        rum = await ben.remember("likes rum")
        await put(pen, "x")
        job = await leased(pen)
        await put(ben, "y", delay=5)
        has = {record.id for record in await ben.scan()}
        await engine.restrict(ANN, Appends.REFUSE, START)
        # The lease is lost, so that a run which finds nothing any more does not end the job.
        assert not await engine.finish(job)
        pen.tick(100)
        assert (await leased(pen)).key == "y"
        assert await engine.lease(["form"], "w", pen.now, 60) is None
        assert {record.id for record in await engine.lacking(SMALL, 5)} == has
        assert {record.id for record in await engine.stale_terms(10**6, 5)} == has
        await engine.put_vectors(SMALL, vectors_of(SMALL, rum, *has))
        await engine.unrestrict(ANN, pen.now)
        assert (await leased(pen)).key == "x"
        assert [record.owner for record in await engine.lacking(SMALL, 5)] == [ANN]
        assert any(each.kind == "embed" for each in await engine.jobs(None, 10))

    async def test_who_restricted_and_lifted_it_is_listed_for_good(self, engine: Engine) -> None:
        pen = Pen(engine)
        await pen.remember("likes tea")
        later = START + timedelta(seconds=1)
        await engine.restrict(ANN, Appends.REFUSE, START, Caller("the desk", "rest"))
        await engine.unrestrict(ANN, later)
        assert not await engine.unrestrict(ANN, later)
        await pen.erase_all()
        assert await engine.drop_reads("default", later + timedelta(days=1)) == 0
        lines = (await engine.reads("default", ANN)).lines
        assert [(line.at, line.principal, line.verb, line.surface) for line in lines] == [
            (START, "the desk", "restrict", "rest"),
            (later, "local", "unrestrict", "library"),
        ]
        assert [line.id for line in (await engine.about_owner(ANN)).reads] == [
            line.id for line in lines
        ]
        assert (await engine.reads("default", BEN)).lines == ()

    async def test_an_import_restricts_before_its_first_record_and_changes_no_restriction(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there, day = Pen(engine), Pen(another), timedelta(days=1)
        tea = await pen.remember("likes tea", audience=EVERYONE)
        lines = await exported(engine, ANN, private=True)
        await another.restrict(ANN, Appends.REFUSE, START + day, since=START)
        await adopted(another, ANN, lines)
        other = a_memory(ANN, "likes rum", audience=EVERYONE)
        assert (await there.write(Import(other, packed("likes rum")))).items[0].id == other.id
        assert {one.id for one in await there.scan()} == {tea, other.id} and await there.scan(
            View()
        ) == []
        # What the book says of itself is never overwritten by a file.
        kept = await another.restrict(ANN, Appends.KEEP_UNREAD, START + 2 * day, since=START + day)
        assert kept == Restriction(START, Appends.REFUSE) == await another.restriction(ANN)
        assert [line.at for line in (await another.reads("default", ANN)).lines] == [START + day]

    async def test_restrictions_of_owners_without_records_come_with_a_whole_book(
        self, engine: Engine, another: Engine
    ) -> None:
        await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
        await engine.restrict(BEN, Appends.REFUSE, START)
        secret, later = (await engine.whereabouts()).secret, START + timedelta(days=1)
        assert await another.adopt_book(secret, [], [])
        await another.restrict(BEN, Appends.KEEP_UNREAD, later)
        rows = (await engine.book_frame()).restrictions
        told = cast(Sequence[ReadPiece], await engine.pieces(PieceKind.READ, b"", b"", 10))
        for _ in range(2):
            await another.adopt_restrictions(rows, told)
        assert await another.restrictions([ANN, BEN]) == [
            Restriction(START, Appends.KEEP_UNREAD),
            Restriction(later, Appends.KEEP_UNREAD),
        ]
        assert [line.at for line in (await another.reads("default", BEN)).lines] == [START, later]

    async def test_rows_beside_the_owners_travel_with_a_copy(
        self, engine: Engine, another: Engine
    ) -> None:
        key = new_id()
        await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
        await engine.note_key_uses({key: START})
        await engine.note_reads([_note(n) for n in range(3)])
        here = await engine.whereabouts()
        assert await another.arrive(Arrival(here.address, COPY), here.secret)
        for _ in range(2):
            await another.lay_book(COPY, await engine.book_frame())
            await another.lay(COPY, b"", await engine.pieces(PieceKind.READ, b"", b"", 10))
        await another.end_arrival(COPY)
        assert await another.book_frame() == await engine.book_frame()
        assert await another.restriction(ANN) == Restriction(START, Appends.KEEP_UNREAD)
        assert await another.key_uses() == {key: START}
        assert await another.reads("default") == await engine.reads("default")
        # A book that restricts somebody is no empty place.
        assert not await engine.arrive(Arrival("elsewhere", "other"), b"o" * 32)


class ServiceRowSuite(Suite):
    """Tests of uses of keys, and of lines about reads."""

    async def test_of_each_key_the_latest_use_is_known(self, engine: Engine) -> None:
        one, other = new_id(), new_id()
        late = START + timedelta(minutes=1)
        await engine.note_key_uses({})
        await engine.note_key_uses({one: late, other: START})
        await engine.note_key_uses({one: START})
        assert await engine.key_uses() == {one: late, other: START}
        assert await engine.key_uses([one, new_id()]) == {one: late}

    async def test_lines_about_reads_are_found_by_owner_and_time_a_page_after_the_other(
        self, engine: Engine
    ) -> None:
        await engine.note_reads([])
        await engine.note_reads([_note(n) for n in range(5)])
        await engine.note_reads(
            [_note(5, owner=BEN), _note(6, owner=None), _note(7, tenant="other")]
        )
        page = await engine.reads("default", ANN, limit=3)
        assert [line.verb for line in page.lines] == ["verb0", "verb1", "verb2"]
        rest = await engine.reads("default", ANN, limit=3, cursor=page.cursor)
        assert ([line.verb for line in rest.lines], rest.cursor) == (["verb3", "verb4"], None)
        late = await engine.reads("default", None, START + timedelta(seconds=4))
        assert [(line.verb, line.principal, line.surface) for line in late.lines] == [
            (f"verb{n}", "the desk", "rest") for n in (4, 5, 6)
        ]
        assert late.lines[2].owner == ""
        assert len({line.owner for line in late.lines}) == 3
        with pytest.raises(InvalidInput, match="cursor"):
            await engine.reads("default", cursor="ab")

    async def test_lines_about_reads_outlive_an_erasure_and_are_deleted_by_age(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await pen.remember("tea", audience=EVERYONE)
        await engine.note_reads([_note(n) for n in range(4)])
        await engine.note_reads([_note(0, tenant="other")])
        await pen.erase_all()
        assert len((await engine.reads("default", ANN)).lines) == 4
        assert await engine.drop_reads("default", START + timedelta(seconds=2)) == 2
        assert [line.verb for line in (await engine.reads("default")).lines] == ["verb2", "verb3"]
        assert await engine.drop_reads("default", START) == 0
        assert len((await engine.reads("other")).lines) == 1


def _note(number: int, owner: object = ANN, tenant: str = "default") -> ReadNote:
    at = START + timedelta(seconds=number)
    return ReadNote(at, tenant, owner, "the desk", f"verb{number}", "rest")  # type: ignore[arg-type] # an owner or None
