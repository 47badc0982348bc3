"""Tests of archived memories: they are active, and lists and limits leave them out."""

from __future__ import annotations

from uuid import UUID

import pytest

from memoranda.errors import Conflict, LimitReached
from memoranda.model.changes import Archive, Change, Confirm, Restore, Undo
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import STANDING
from memoranda.model.records import EVERYONE, Limits, RecordType, Trust, View
from memoranda.ports import Engine
from memoranda_conformance.builders import Pen
from memoranda_conformance.suite import Suite


class ArchiveSuite(Suite):
    """Tests of archived memories."""

    async def test_an_archived_memory_is_active_and_in_no_list_of_active_ones(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea, chess = await pen.remember("likes tea"), await pen.remember("plays chess")
        receipt = await archived(pen, tea)
        assert [(item.verb, item.id) for item in receipt.items] == [("archive", tea)]
        held = await pen.read(tea)
        assert held.active and held.archived and held.reason == "unused"
        assert await ids(pen, "active") == {chess}
        assert await ids(pen, "archived") == {tea}
        assert await ids(pen, *STANDING) == {tea, chess}

    async def test_a_newer_value_of_its_key_replaces_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        lisbon = await pen.remember("lives in Lisbon", key="city")
        await archived(pen, lisbon)
        found = await pen.scan(
            types=frozenset({RecordType.MEMORY}), statuses=STANDING, keys=frozenset({"city"})
        )
        assert [one.id for one in found] == [lisbon]
        porto = await pen.remember("lives in Porto", key="city")
        assert (await pen.read(lisbon)).status == "superseded"
        assert (await pen.read(porto)).supersedes == (lisbon,)

    @pytest.mark.parametrize("way", ["confirm", "restore", "undo"])
    async def test_it_comes_back(self, engine: Engine, way: str) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea")
        night = await archived(pen, tea)
        ways: dict[str, Change] = {
            "confirm": Confirm(tea),
            "restore": Restore(tea),
            "undo": Undo(night.position),
        }
        await pen.write(ways[way])
        held = await pen.read(tea)
        assert not held.archived and held.reason == "" and await ids(pen, "active") == {tea}
        again = await pen.write(Restore(tea))
        assert [part.code for part in again.ignored] == ["not_archived"]

    async def test_what_must_stay_is_not_archived(self, engine: Engine) -> None:
        pen = Pen(engine)
        persons = (await pen.write(pen.remembering("the person's"), actor=Actor("owner"))).id
        base = await pen.remember("the base")
        staying = {
            await pen.remember("pinned", pinned=True): "protected",
            await pen.remember("an operator's", trust=Trust.OPERATOR): "protected",
            await pen.remember("answer briefly", kind="instruction"): "protected",
            persons: "protected",
            base: "cited",
        }
        await pen.remember("rests on it", sources=(base,))
        receipt = await pen.write(*(Archive(id, 1, "unused") for id in staying))
        assert {part.id: part.code for part in receipt.ignored} == staying and not receipt.items
        tea = await pen.remember("likes tea")
        await pen.write(Confirm(tea))
        assert [part.code for part in (await pen.write(Archive(tea, 1, "unused"))).ignored] == [
            "changed"
        ]
        gone = await pen.remember("gone")
        await pen.erase(gone)
        assert [part.code for part in (await pen.write(Archive(gone, 1, "unused"))).ignored] == [
            "erased"
        ]

    async def test_one_undo_brings_back_what_nobody_changed_since_and_names_the_rest(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        kept, erased, newer, woken, later = [
            await pen.remember(f"fact {n}", key=f"k{n}") for n in range(5)
        ]
        night = await archived(pen, kept, erased, newer, woken)
        await pen.erase(erased)
        await pen.remember("fact 2 anew", key="k2")
        await pen.write(Restore(woken))
        await archived(pen, later)
        undone = await pen.write(Undo(night.position))
        assert [(item.verb, item.id) for item in undone.items] == [("undo", kept)]
        assert {part.id: part.code for part in undone.ignored} == {
            erased: "erased",
            newer: "changed",
            woken: "changed",
        }
        assert {kept, woken} <= await ids(pen, "active") and await ids(pen, "archived") == {later}
        with pytest.raises(Conflict, match="already undone"):
            await pen.write(Undo(night.position))
        await pen.write(Undo(undone.position))
        assert await ids(pen, "archived") == {kept, later}

    async def test_what_was_archived_since_can_be_undone_as_before(self, engine: Engine) -> None:
        pen = Pen(engine)
        told = await pen.write(pen.remembering("likes tea"))
        await archived(pen, told.id)
        await pen.write(Undo(told.position))
        assert (await pen.read(told.id)).status == "undone" and await ids(pen, *STANDING) == set()

    async def test_the_limit_of_archived_memories_refuses(self, engine: Engine) -> None:
        pen = Pen(
            engine,
            limits=Limits(memories_per_owner=1, archived_per_owner=2, at_capacity="evict_oldest"),
        )
        for number in range(3):
            await pen.remember(f"fact {number}")
        assert len(await ids(pen, "archived")) == 2
        with pytest.raises(
            LimitReached, match=r"\(2/2\).*archived_per_owner.*raise the limit"
        ) as caught:
            await pen.remember("one too many")
        assert caught.value.field == "archived_per_owner"
        await pen.erase(min(await ids(pen, "archived")))
        await pen.remember("fact 3")

    async def test_at_the_cap_it_comes_back_only_where_there_is_room(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="evict_oldest"))
        first, second, third = [await pen.remember(f"fact {n}") for n in range(3)]
        with pytest.raises(LimitReached, match="memories_per_owner"):
            await pen.write(Restore(first))
        await pen.write(Confirm(first))
        assert (await pen.read(first)).confirmations == 1
        assert await ids(pen, "active") == {second, third} and await ids(pen, "archived") == {first}
        await pen.erase(second)
        await pen.write(Confirm(first))
        assert await ids(pen, "active") == {first, third}
        assert (await engine.verify()).faults == ()

    async def test_a_correction_of_another_agents_memory_archives_none_of_that_agents(
        self, engine: Engine
    ) -> None:
        limits = Limits(memories_per_owner=2, at_capacity="evict_oldest")
        tea = Pen(engine, view=View(agent="tea"), limits=limits)
        first, second, third = [
            await tea.remember(f"fact {n}", agent="tea", audience=EVERYONE) for n in range(3)
        ]
        jazz = Pen(engine, view=View(agent="jazz"), limits=limits)
        with pytest.raises(LimitReached, match="memories_per_owner"):
            await jazz.remember(
                "fact 0, corrected", agent="tea", supersedes=(first,), audience=EVERYONE
            )
        assert await ids(tea, "active") == {second, third} and await ids(tea, "archived") == {first}

    async def test_erasing_its_only_source_erases_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        derived = await pen.remember("likes tea", sources=(said,))
        await archived(pen, derived)
        await pen.erase(said)
        assert await pen.find(derived) is None


async def archived(pen: Pen, *wanted: UUID) -> Receipt:
    """Archive memories in one operation."""
    changes = [Archive(id, (await pen.read(id)).version, "unused") for id in wanted]
    return await pen.write(*changes, actor=Actor("system"))


async def ids(pen: Pen, *statuses: str) -> set[UUID]:
    """Return the ids of the memories with these statuses."""
    return {
        one.id
        for one in await pen.scan(
            types=frozenset({RecordType.MEMORY}), statuses=frozenset(statuses)
        )
    }
