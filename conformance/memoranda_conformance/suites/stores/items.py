"""Conformance tests of items: values under names, their versions, time, limit, readers, undo,
erasure and exports.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoranda.errors import Conflict, LimitReached, NotAllowed, NotFound, Stale
from memoranda.model.changes import Expect, Undo
from memoranda.model.items import DeleteItem, Item, PutItem, RenewItem, expiry_of, item_link
from memoranda.model.ledger import Verb
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, Audience, Limits, Owner, RecordType, Trust
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    ROOMY,
    Pen,
    adopted,
    exported,
    packed,
)
from memoranda_conformance.suite import Suite

NOTES = ("notes", "work")


def a_put(
    pen: Pen,
    name: str,
    value: Any,
    *,
    namespace: tuple[str, ...] = NOTES,
    audience: Audience = EVERYONE,
    ttl: float | None = None,
    expect: int | None = None,
    **fields: Any,
) -> PutItem:
    """Return the change that stores an item."""
    item = Item(
        id=new_id(),
        owner=pen.owner,
        audience=audience,
        namespace=namespace,
        name=name,
        value=value,
        created_at=pen.now,
        updated_at=pen.now,
        ttl=ttl,
        expires_at=expiry_of(ttl, pen.now),
        **fields,
    )
    return PutItem(item, packed(item.passage_text()), expect)


async def named(pen: Pen, name: str, owner: Owner = ANN) -> list[Item]:
    """Return the items of a name that the pen's view sees, at the pen's time."""
    links = frozenset({item_link(owner, NOTES, name)})
    view = pen.view.model_copy(update={"at": pen.now})
    filter = Filter(types=frozenset({RecordType.ITEM}), sources=links)
    page = await pen.engine.scan(owner, view, filter, None, 100)
    return [record for record in page.records if isinstance(record, Item)]


async def words_of(pen: Pen, engine: Engine) -> dict[bytes, bytes]:
    """Return the terms of each passage that the pen's view sees."""
    return {
        row.id: row.terms
        for _, delta in await engine.since(pen.owner, pen.view, lambda _: None)
        for row in delta.rows
    }


class ItemSuite(Suite):
    """Tests of items."""

    async def test_a_name_has_one_item_whose_creation_outlives_new_values(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        first = await pen.write(a_put(pen, "tea", {"likes": "green", "n": [1, None, True, 1.5]}))
        made = (await named(pen, "tea"))[0]
        assert made.value == {"likes": "green", "n": [1, None, True, 1.5]} and made.version == 1
        second = await pen.write(a_put(pen, "tea", "black"))
        (now,) = await named(pen, "tea")
        assert (now.id, now.version, now.value) == (first.id, 2, "black") and second.id == first.id
        assert now.created_at == made.created_at and now.updated_at > made.updated_at
        same = await pen.write(a_put(pen, "tea", "black"))
        assert [part.code for part in same.ignored] == ["unchanged"] and (
            await pen.read(now.id)
        ).version == 2
        await pen.write(a_put(pen, "tea", 1, namespace=("notes",)), a_put(pen, "Tea", None))
        assert len(await pen.scan(types=frozenset({RecordType.ITEM}))) == 3
        assert (await named(pen, "Tea"))[0].value is None

    @pytest.mark.parametrize(
        "value",
        [
            {"$ref": "#/$defs/tea", "$id": "one", "$defs": {"tea": {"type": "string"}}},
            {"in": [{"$id": 1, "$ref": "cups", "$db": "kitchen"}]},
            {"$ref": "#/$defs/tea"},
            {"$oid": "a", "$date": 1, "a.b": 2, "$": 3, "": 4, "_id": 5},
            {"largest": 2**63 - 1, "larger": 2**80, "zero": -0.0, "many": 1e300},
        ],
    )
    async def test_any_json_comes_back_as_it_was_given(self, engine: Engine, value: Any) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", value))
        await pen.write(a_put(pen, "tea", "black"), a_put(pen, "cup", value))
        (item,) = await named(pen, "cup")
        assert item.value == value
        first, second = await engine.history(ANN, pen.view, made.id)
        assert [first.record.value, second.record.value] == [value, "black"]  # type: ignore[union-attr]
        receipt = await pen.erase(item.id, made.id)
        assert receipt.removed["item"] == 2

    async def test_a_new_value_is_found_by_its_own_words_only(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "green leaves"))
        before = (await words_of(pen, engine))[made.id.bytes]
        await pen.write(a_put(pen, "tea", "black coffee"))
        assert (await words_of(pen, engine))[made.id.bytes] == packed("black coffee") != before
        await pen.write(a_put(pen, "tea", "black coffee", index=()))
        assert (await words_of(pen, engine))[made.id.bytes] == packed("")

    async def test_the_version_that_was_read_must_still_be_there(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", 1, expect=0))
        with pytest.raises(Conflict, match="there is an item 'tea' already"):
            await pen.write(a_put(pen, "tea", 2, expect=0))
        await pen.write(a_put(pen, "tea", 2, expect=1))
        with pytest.raises(Stale, match="version 2 now"):
            await pen.write(a_put(pen, "tea", 3, expect=1))
        with pytest.raises(Stale, match="not there any more"):
            await pen.write(a_put(pen, "coffee", 3, expect=1))
        with pytest.raises(Stale):
            await pen.write(DeleteItem(made.id, 1))
        assert (await named(pen, "tea"))[0].value == 2

    async def test_several_items_are_stored_only_if_all_expectations_hold(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = (await pen.write(a_put(pen, "tea", 1))).id
        both = (a_put(pen, "tea", 2), a_put(pen, "milk", 2, expect=0))
        await pen.write(*both, expect=Expect(versions={tea: 1}))
        later = (a_put(pen, "tea", 3), a_put(pen, "rum", 3, expect=0))
        with pytest.raises(Stale):
            await pen.write(*later, expect=Expect(versions={tea: 1}))
        with pytest.raises(Conflict):
            await pen.write(
                *later, a_put(pen, "milk", 3, expect=0), expect=Expect(versions={tea: 2})
            )
        with pytest.raises(Stale):
            await pen.write(a_put(pen, "rum", 3), DeleteItem(tea), expect=Expect(versions={tea: 1}))
        held = {one.name: one.value for one in await pen.scan(types=frozenset({RecordType.ITEM}))}
        assert held == {"tea": 2, "milk": 2}

    async def test_a_deleted_item_is_gone_until_an_undo_and_its_name_is_free(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "green"))
        gone = await pen.write(DeleteItem(made.id))
        assert [item.verb for item in gone.items] == [Verb.RETRACT]
        assert await named(pen, "tea") == [] and await pen.find(made.id) is None
        with pytest.raises(NotFound):
            await pen.write(DeleteItem(made.id))
        await pen.write(Undo(gone.position))
        (back,) = await named(pen, "tea")
        assert (back.id, back.value, back.version) == (made.id, "green", 3)
        gone = await pen.write(DeleteItem(made.id))
        anew = await pen.write(a_put(pen, "tea", "black"))
        assert anew.id != made.id and (await pen.read(anew.id)).version == 1
        with pytest.raises(Conflict, match="same name now"):
            await pen.write(Undo(gone.position))

    async def test_an_undo_restores_the_value_and_its_words(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "green"))
        changed = await pen.write(a_put(pen, "tea", "black"))
        await pen.write(Undo(changed.position))
        assert (await pen.read(made.id)).value == "green"
        assert (await words_of(pen, engine))[made.id.bytes] == packed("green")
        alone = await pen.write(a_put(pen, "coffee", 1))
        await pen.write(Undo(alone.position))
        assert await pen.find(alone.id) is None

    async def test_each_audience_has_its_own_item_of_a_name(self, engine: Engine) -> None:
        pen = Pen(engine)
        mine = await pen.write(a_put(pen, "tea", "of a", audience=FOR_A))
        common = await pen.write(a_put(pen, "tea", "of all"))
        assert mine.id != common.id
        at_a, at_b = Pen(engine, view=AT_A), Pen(engine, view=AT_B)
        at_a.now = at_b.now = pen.now
        assert {one.value for one in await named(at_a, "tea")} == {"of a", "of all"}
        assert {one.value for one in await named(at_b, "tea")} == {"of all"}
        with pytest.raises(NotFound):
            await at_b.write(a_put(at_b, "tea", "stolen", audience=FOR_A))
        with pytest.raises(NotFound):
            await at_b.write(DeleteItem(mine.id))
        other = Pen(engine, BEN)
        with pytest.raises(NotFound):
            await other.write(DeleteItem(common.id))
        assert await named(other, "tea", BEN) == []

    async def test_tools_and_pages_replace_nothing_that_others_stored(self, engine: Engine) -> None:
        pen = Pen(engine)
        await pen.write(a_put(pen, "tea", "green"))
        with pytest.raises(NotAllowed):
            await pen.write(a_put(pen, "tea", "poison", trust=Trust.WEB))
        await pen.write(a_put(pen, "page", 1, trust=Trust.WEB))
        await pen.write(a_put(pen, "page", 2, trust=Trust.TOOL))
        assert (await named(pen, "page"))[0].value == 2

    async def test_an_item_is_hidden_from_the_moment_at_which_it_expires(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "green", ttl=60))
        written = pen.now
        pen.now = written + timedelta(seconds=58)
        assert len(await named(pen, "tea")) == 1
        pen.now = written + timedelta(seconds=60)
        assert await named(pen, "tea") == []
        with pytest.raises(NotFound):
            await pen.write(DeleteItem(made.id))
        anew = await pen.write(a_put(pen, "tea", "black", expect=0))
        (now,) = await named(pen, "tea")
        assert now.id == anew.id != made.id and now.created_at == now.updated_at

    async def test_a_renewed_item_lives_as_long_again(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "green", ttl=100))
        early = await pen.write(RenewItem(made.id))
        assert [part.code for part in early.ignored] == ["unchanged"]
        pen.tick(50)
        renewed = await pen.write(RenewItem(made.id))
        assert [item.verb for item in renewed.items] == [Verb.AMEND]
        pen.tick(90)
        (now,) = await named(pen, "tea")
        assert now.value == "green" and now.updated_at < now.recorded_at
        stays = await pen.write(a_put(pen, "coffee", 1))
        assert [part.code for part in (await pen.write(RenewItem(stays.id))).ignored] == [
            "unchanged"
        ]

    async def test_the_limit_of_items_refuses_and_evicts_nothing(self, engine: Engine) -> None:
        limits = Limits(**{**ROOMY.model_dump(), "items_per_owner": 2})
        pen = Pen(engine, limits=limits)
        first = await pen.write(a_put(pen, "a", 1, ttl=100), a_put(pen, "b", 1))
        with pytest.raises(LimitReached, match=r"items_per_owner"):
            await pen.write(a_put(pen, "c", 1))
        await pen.write(a_put(pen, "b", 2))
        gone = await pen.write(DeleteItem(first.items[1].id))
        await pen.write(a_put(pen, "c", 1))
        with pytest.raises(LimitReached):
            await pen.write(Undo(gone.position))
        pen.tick(200)
        await pen.write(a_put(pen, "d", 1))
        with pytest.raises(LimitReached):
            await pen.write(a_put(pen, "e", 1))
        await Pen(engine, BEN, limits=limits).write(a_put(Pen(engine, BEN), "a", 1))

    async def test_an_erased_item_leaves_nothing_and_does_not_come_back(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        made = await pen.write(a_put(pen, "tea", "the canary sings"))
        await pen.write(a_put(pen, "tea", "the canary is silent"))
        lines = await exported(engine, ANN)
        await adopted(another, ANN, lines)
        (copied,) = await named(Pen(another), "tea")
        assert (copied.id, copied.value, copied.version) == (made.id, "the canary is silent", 2)
        receipt = await pen.erase(made.id)
        assert receipt.removed["item"] == 1
        assert await named(pen, "tea") == [] and await words_of(pen, engine) == {}
        assert all(step.record is None for step in await engine.history(ANN, pen.view, made.id))
        await adopted(engine, ANN, lines)
        assert await named(pen, "tea") == []
