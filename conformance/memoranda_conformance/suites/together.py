"""Tests of operations that change the records of two owners, all or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, NotAllowed
from memoranda.model.book_rows import PieceKind
from memoranda.model.changes import AddExperience, PatchProfile, RetireExperience, Undo
from memoranda.model.ledger import Receipt
from memoranda.model.records import EVERYONE, RecordType, View
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, GUIDE, Pen, a_line
from memoranda_conformance.suite import Suite


async def saved(pen: Pen, *changes: Any, line: str = "Be brief", **fields: Any) -> Receipt:
    """Write changes of Ann's, and with them a line of the guide's experience."""
    learnt = AddExperience(a_line(GUIDE, line))
    return await pen.write(*changes, also=(GUIDE, (learnt,)), **fields)


async def lines(engine: Engine) -> list[str]:
    """Return the lines of the guide's experience."""
    found = await Pen(engine, GUIDE).scan(types=frozenset({RecordType.EXPERIENCE}))
    return [line.line for line in found]


class TogetherSuite(Suite):
    """Tests that an operation changes the records of two owners, or nothing."""

    async def test_records_of_two_owners_are_stored_as_one_operation(self, engine: Engine) -> None:
        pen = Pen(engine)
        patch = PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ann"})
        receipt = await saved(pen, pen.remembering("likes tea"), patch)
        kinds = [item.type for item in receipt.items]
        assert kinds == [RecordType.MEMORY, RecordType.PROFILE, RecordType.EXPERIENCE]
        assert (receipt.owner, receipt.position) == (ANN, 1)
        assert await lines(engine) == ["Be brief"]
        for owner, count in ((ANN, 2), (GUIDE, 1)):
            (entry,) = await Pen(engine, owner).ledger()
            assert len(entry.lines) == count and entry.at == receipt.at

    async def test_each_record_stands_on_a_shelf_of_its_own_owner(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea, please")
        # The end of the thread is asked for, and with it its shelf, which has the same readers.
        receipt = await saved(pen, pen.saying(thread, "and cake"))
        assert await lines(engine) == ["Be brief"]
        assert {one.id for one in await pen.scan()} == {thread, said, receipt.id}
        again = await saved(pen, pen.saying(thread, "and milk"), line="Be kind")
        assert await lines(engine) == ["Be brief", "Be kind"] and await pen.find(again.id)

    async def test_nothing_is_stored_if_the_other_owners_part_is_refused(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await saved(pen, pen.remembering("likes tea"))
        (line,) = await Pen(engine, GUIDE).scan()
        twice = AddExperience(a_line(GUIDE, "Be kind", id=line.id))
        with pytest.raises(Conflict):
            await pen.write(pen.remembering("likes cake"), also=(GUIDE, (twice,)))
        assert [one.content for one in await pen.scan()] == ["likes tea"]
        assert await lines(engine) == ["Be brief"]
        assert [len(await Pen(engine, owner).ledger()) for owner in (ANN, GUIDE)] == [1, 1]

    async def test_nothing_is_stored_if_the_owners_own_part_is_refused(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        known = pen.remembering("likes tea")
        await pen.write(known)
        with pytest.raises(Conflict):
            await saved(pen, known)
        assert await lines(engine) == [] and await Pen(engine, GUIDE).ledger() == []

    async def test_a_repeated_operation_gets_the_whole_receipt_again(self, engine: Engine) -> None:
        pen = Pen(engine)
        fields: dict[str, Any] = {"operation": "save 1", "request": b"1"}
        first = await saved(pen, pen.remembering("likes tea"), **fields)
        again = await saved(pen, pen.remembering("likes tea"), **fields)
        assert again.repeated and again.items == first.items and len(again.items) == 2
        found = await engine.find_operation(ANN, "save 1")
        assert found is not None and found.items == first.items
        assert await lines(engine) == ["Be brief"] and len(await pen.scan()) == 1
        await Pen(engine, GUIDE).erase_all()
        await saved(pen, line="Be kind")
        # The agent's ledger began again, and another operation has the position.
        left = await engine.find_operation(ANN, "save 1")
        assert left is not None and left.items == first.items[:1]

    async def test_one_undo_takes_back_the_records_of_both(self, engine: Engine) -> None:
        pen = Pen(engine)
        receipt = await saved(pen, pen.remembering("likes tea", key="drink"))
        undone = await pen.write(Undo(receipt.position))
        assert set(undone.ids()) == set(receipt.ids())
        assert (await pen.read(receipt.id)).status == "undone" and await lines(engine) == []
        restored = await pen.write(Undo(undone.position))
        assert (await pen.read(receipt.id)).status == "active"
        assert await lines(engine) == ["Be brief"]
        later = await pen.write(pen.remembering("likes gin", key="drink"))
        assert later.position == restored.position + 1
        await pen.write(Undo(receipt.position, with_dependents=True))
        assert await lines(engine) == []

    async def test_a_line_that_was_changed_since_stays_when_its_operation_is_undone(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        receipt = await saved(pen, pen.remembering("likes tea"))
        await Pen(engine, GUIDE).write(RetireExperience(receipt.ids(RecordType.EXPERIENCE)[0]))
        undone = await pen.write(Undo(receipt.position))
        assert [(part.item, part.code) for part in undone.ignored] == [(1, "changed")]
        assert (await pen.read(receipt.id)).status == "undone"
        (line,) = await Pen(engine, GUIDE).scan()
        assert line.retired_at is not None

    async def test_an_undo_that_may_not_change_the_other_owner_changes_nothing(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        receipt = await saved(pen, pen.remembering("likes tea", audience=EVERYONE))
        for undo, view in (
            (Undo(receipt.position, others=False), None),
            (Undo(receipt.position), "b"),
        ):
            with pytest.raises(NotAllowed, match="also taught"):
                await pen.write(undo, view=View(agent=view))
        assert (await pen.read(receipt.id)).status == "active"
        assert await lines(engine) == ["Be brief"]

    async def test_an_erased_owner_leaves_no_name_of_the_other_one(self, engine: Engine) -> None:
        pen = Pen(engine)
        await saved(pen, pen.remembering("likes tea"), operation="save 1", request=b"1")
        era = await pen.era()
        await pen.erase_all()
        ended = await engine.pieces(PieceKind.ENTRY, era.bytes, b"", 10)
        assert len(ended) == 2 and GUIDE.id not in repr(ended)
        assert await lines(engine) == ["Be brief"]
        (entry,) = await Pen(engine, GUIDE).ledger()
        assert entry.note == {}
