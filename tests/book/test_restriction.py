"""Restricted processing: what an owner's data is still good for, and what nobody does with it."""

from __future__ import annotations

import json

import pytest

import memoranda
from memoranda.errors import InvalidInput, NotFound, Restricted
from memoranda.model.records import Owner


@pytest.fixture
async def told(book):
    """A person with a memory, and a thread that is to be formed."""
    await book.remember("ann", "likes green tea", agent="chef", audience="global")
    thread = await book.thread("ann", agent="chef", audience="global")
    await thread.append("user", "I love hiking in the mountains. I work as a nurse.")
    return thread


async def test_nothing_of_a_restricted_owner_is_recalled_or_placed(book, told):
    await book.admin.restrict("ann")
    assert (await book.admin.restriction("ann")).appends == "refuse"
    assert await book.recall("ann", "tea", agent="chef") == []
    assert "tea" not in (await book.context("ann", "tea", agent="chef")).text
    assert (await book.records.list("ann", agent="chef")).records == ()
    assert await book.admin.unrestrict("ann") and not await book.admin.unrestrict("ann")
    assert await book.admin.restriction("ann") is None
    assert len(await book.recall("ann", "tea", agent="chef", types="memory")) == 1


async def test_the_owners_own_view_recalls_and_places_nothing_in_a_context(book, told):
    await book.admin.restrict("ann")
    assert len(await book.recall("ann", "tea", as_owner=True, types="memory")) == 1
    context = await book.context("ann", "tea", as_owner=True, thread=told)
    assert context.text == "" and context.tokens == 0 and context.blocks == ()
    await book.admin.unrestrict("ann")
    assert "green tea" in (await book.context("ann", "tea", as_owner=True)).text


async def test_what_an_agent_has_learnt_is_not_used_for_a_restricted_owner(book, told):
    said = (await told.newest())[0].id
    await book.experience.add(
        "chef", "heuristics", "Ask about the season", evidence={"ann": [said]}
    )
    await book.experience.add("chef", "heuristics", "Be kind")
    await book.admin.restrict("ann")
    context = await book.context("ann", "tea", agent="chef")
    assert context.text == "" and context.blocks == ()
    assert await book.experience.list("chef", for_user="ann") == []
    assert "Be kind" in (await book.context("ben", "tea", agent="chef")).text
    await book.admin.unrestrict("ann")
    assert "season" in (await book.context("ann", "tea", agent="chef")).text
    assert len(await book.experience.list("chef", for_user="ann")) == 2


async def test_nothing_is_formed_or_stored_of_a_restricted_owner(book, told):
    await book.admin.restrict("ann")
    with pytest.raises(Restricted):
        await told.append("user", "one more")
    with pytest.raises(Restricted):
        await book.remember("ann", "likes coffee")
    await book.worker.drain()
    assert await book.records.count("ann", types="memory", as_owner=True) == 1
    with pytest.raises(NotFound):
        await told.summarise()
    await book.admin.unrestrict("ann")
    await told.append("user", "I moved to Porto.")
    assert [one.state for one in (await book.form("ann", agent="chef")).threads] == ["formed"]
    assert await book.records.count("ann", types="memory", as_owner=True) > 1


async def test_new_content_is_kept_unread_where_it_is_asked_for(book, told):
    await book.admin.restrict("ann", appends="keep_unread")
    await told.append("user", "I also like black tea")
    assert await book.recall("ann", "black tea", agent="chef") == []
    assert len(await book.recall("ann", "black tea", as_owner=True, types="message")) >= 1
    await book.admin.unrestrict("ann")
    assert len(await book.recall("ann", "black tea", agent="chef", types="message")) >= 1


async def test_export_the_owners_view_and_erasure_stay_and_the_restriction_survives(book, told):
    await book.admin.restrict("ann")
    assert any("green tea" in line for line in [line async for line in book.admin.export("ann")])
    assert [
        one.content
        for one in (await book.records.list("ann", types="memory", as_owner=True)).records
    ] == ["likes green tea"]
    await book.forget("ann", everything=True, as_owner=True)
    assert await book.records.count("ann", as_owner=True) == 0
    assert await book.admin.restriction("ann") is not None
    with pytest.raises(Restricted):
        await book.remember("ann", "back again")


async def test_other_owners_are_not_restricted(book, told):
    await book.admin.restrict("ann")
    await book.remember("bob", "likes milk")
    assert len(await book.recall("bob", "milk")) == 1


async def test_a_treatment_that_nobody_knows_is_refused(book):
    with pytest.raises(InvalidInput, match="use refuse or keep_unread"):
        await book.admin.restrict("ann", appends="whatever")


async def lines_of(book, *owner, **how):
    return [json.loads(line) async for line in book.admin.export(*owner, **how)]


@pytest.mark.parametrize("secrets", ["keep", "mask"])
async def test_an_export_carries_the_restriction_and_no_moment_of_its_import_shows_a_record(
    book, told, tmp_path, monkeypatch, secrets
):
    await book.admin.restrict("ann", appends="keep_unread")
    since = (await book.admin.restriction("ann")).at
    lines = await lines_of(book, "ann")
    owner, first = lines[1:3]
    assert (owner["line"], owner["restriction"]) == (
        "owner",
        {"at": since.isoformat(), "appends": "keep_unread"},
    )
    assert first["line"] == "entry" and "record" in {line["line"] for line in lines[2:]}
    async with memoranda.open(tmp_path / "other.db", secrets=secrets, worker=False) as other:
        found = []
        for verb in ("adopt", "apply"):
            write = getattr(type(other.engine), verb)

            async def watched(engine, *args, _write=write, **how):
                found.append(await engine.restriction(Owner(id="ann")))
                done = await _write(engine, *args, **how)
                found.append(len(await other.recall("ann", "tea", agent="chef")) == 0)
                return done

            monkeypatch.setattr(type(other.engine), verb, watched)
        report = await other.admin.import_([json.dumps(line) for line in lines])
        assert report.errors == [] and report.records["memory"] == 1
        assert found and all(found)
        assert (limit := await other.admin.restriction("ann")) and limit.at == since
        assert len(await other.recall("ann", "tea", as_owner=True, types="memory")) == 1


async def test_no_import_lifts_or_changes_a_restriction(book, told, tmp_path):
    open_ = await lines_of(book, "ann")
    await book.admin.restrict("ann", appends="keep_unread")
    limited = await lines_of(book, "ann")
    async with memoranda.open(tmp_path / "other.db") as other:
        await other.admin.restrict("ann")
        for lines in (open_, limited, open_):
            assert (await other.admin.import_([json.dumps(line) for line in lines])).errors == []
            assert (limit := await other.admin.restriction("ann")) and limit.appends == "refuse"
        assert await other.recall("ann", "tea", agent="chef") == []
        assert len(await other.recall("ann", "tea", as_owner=True, types="memory")) == 1


async def test_a_changed_restriction_refuses_the_owner(book, told, tmp_path):
    await book.admin.restrict("ann")
    lines = await lines_of(book)
    del lines[2]["restriction"]
    async with memoranda.open(tmp_path / "other.db") as other:
        report = await other.admin.import_([json.dumps(line) for line in lines])
        assert [number for number, _ in report.errors] == [3] and report.adopted == 0


async def test_a_whole_book_carries_restrictions_of_owners_without_records_and_who_made_them(
    book, told, tmp_path
):
    await book.admin.restrict("ann")
    await book.admin.restrict("nobody yet")
    async with memoranda.open(tmp_path / "other.db") as other:
        assert (
            await other.admin.import_([json.dumps(line) for line in await lines_of(book)])
        ).errors == []
        for owner in ("ann", "nobody yet"):
            assert (
                await other.admin.restriction(owner)
                == await book.admin.restriction(owner)
                is not None
            )
            assert await other.admin.reads(owner) == await book.admin.reads(owner)
        with pytest.raises(Restricted):
            await other.remember("nobody yet", "likes tea")


async def test_who_restricted_a_person_and_lifted_it_is_told_with_everything_about_them(book, told):
    await book.admin.restrict("ann")
    await book.admin.unrestrict("ann")
    await book.forget("ann", everything=True, as_owner=True)
    assert [
        (line.principal, line.verb, line.surface) for line in (await book.admin.reads("ann")).lines
    ] == [
        ("local", "restrict", "library"),
        ("local", "unrestrict", "library"),
    ]
    lines = [
        line
        for line in await lines_of(book, "ann", everything=True)
        if line.get("what") == "restricting"
    ]
    assert [(line["by"], line["verb"]) for line in lines] == [
        ("local", "restrict"),
        ("local", "unrestrict"),
    ]


def test_a_program_without_an_event_loop_restricts_in_the_same_way(tmp_path):
    with memoranda.open_sync(tmp_path / "book.db", worker=False) as book:
        book.admin.restrict("ann")
        assert book.admin.restriction("ann") is not None and book.admin.unrestrict("ann")
