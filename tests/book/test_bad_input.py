"""What bad input gets: a typed error that names the field, and nothing stored."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import Conflict, InvalidInput, LimitReached, NotABook, NotAllowed, NotFound, Owner
from commonplace.model.ids import new_id


async def nothing_is_stored(book: commonplace.Book) -> bool:
    facts = await book.facts()
    return not facts.records and not facts.owners


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": "   \n"}, "content"),
        ({"content": "nul \x00 inside"}, "content"),
        ({"content": "half \ud83d of a pair"}, "content"),
        ({"content": "x" * 1001}, "content"),
        ({"content": "x", "kind": "gossip"}, "kind"),
        ({"content": "x", "key": "k" * 101}, "key"),
        ({"content": "x", "key": " "}, "key"),
        ({"content": "x", "key": "line\nbreak"}, "key"),
        ({"content": "x", "observed_at": datetime(2026, 1, 1)}, "observed_at"),
        ({"content": "x", "data": {"f": float("nan")}}, "data"),
        ({"content": "x", "data": {1: "not text"}}, "data"),
        ({"content": "x", "tags": ["ok", ""]}, "tags"),
        ({"content": "x", "colour": "red"}, "colour"),
        ({"content": "x", "cardinality": "few"}, "cardinality"),
        ({"content": "x", "trust": "me"}, "trust"),
        ({"content": 7}, "content"),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_a_malformed_statement_is_refused_by_the_name_of_its_field(
    book: commonplace.Book, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await book.remember_all("ana", [fields], agent="coach")
    assert field in (refused.value.field or "")
    assert field in str(refused.value)
    assert await nothing_is_stored(book)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


async def test_data_that_is_too_deep_or_too_large_is_refused(book: commonplace.Book) -> None:
    for data in (nested(40), nested(5000), {"big": "x" * 2_000_000}):
        with pytest.raises(InvalidInput, match="data"):
            await book.remember("ana", "x", agent="coach", data=data)
    assert await nothing_is_stored(book)


async def test_a_batch_reports_every_bad_item_and_stores_none(book: commonplace.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    messages = [
        {"role": "user", "content": "good"},
        {"role": "boss", "content": "bad role"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "naive", "observed_at": datetime(2026, 1, 1)},
    ]
    with pytest.raises(InvalidInput) as refused:
        await thread.append(messages)
    assert [(error.item, error.field) for error in refused.value.errors] == [
        (1, "messages[1].role"),
        (2, "messages[2].content"),
        (3, "messages[3].observed_at"),
    ]
    assert (await thread.messages()).records == ()


async def test_a_message_of_a_megabyte_is_kept_and_found_and_a_longer_one_refused(
    book: commonplace.Book,
) -> None:
    thread = await book.thread("ana", agent="coach")
    text = "ordinary words " * 69_000 + "needle"
    assert len(text) > 1_000_000
    said = await thread.append("user", text)
    hits = await book.recall("ana", "needle", agent="coach")
    assert [hit.id for hit in hits] == [said.id]
    assert hits[0].text == text
    with pytest.raises(LimitReached, match="Maximum 1048576"):
        await thread.append("user", "x" * 1_048_577)


HOSTILE = [
    "a%",
    "a_",
    "a'",
    'a"',
    "a\\",
    "a/b",
    "a:b",
    "a|b",
    "a.b",
    "a b",
    "%",
    "_",
    "*",
    "а",
    "a\u0301",
    "á",
    "A",
    "ａ",
]


async def test_names_are_just_characters(book: commonplace.Book) -> None:
    for name in ["a", "ab", *HOSTILE]:
        await book.remember(name, f"belongs to {name!r}", agent=name, key=name, tags=[name])
    for name in ["a", "ab", *HOSTILE]:
        page = await book.list(name, agent=name)
        assert [record.content for record in page.records] == [f"belongs to {name!r}"]  # type: ignore[attr-defined]
        assert [hit.record.owner.id for hit in await book.recall(name, "belongs", agent=name)] == [name]
    assert len(await book.owners()) == len(HOSTILE) + 2


@pytest.mark.parametrize("owner", ["", "  ", "x" * 256, "nul\x00", "tab\t", "\ud800"])
async def test_an_owner_that_is_no_name_is_refused(book: commonplace.Book, owner: str) -> None:
    for call in (
        book.remember(owner, "x", agent="coach"),
        book.recall(owner, "x"),
        book.list(owner),
        book.forget(owner, everything=True, view="owner"),
    ):
        with pytest.raises(InvalidInput, match="owner"):
            await call


async def test_another_tenants_owner_is_refused(book: commonplace.Book) -> None:
    with pytest.raises(NotAllowed):
        await book.recall(Owner(tenant="other", id="ana"), "x", view="owner")


async def test_a_view_that_is_none_is_refused(book: commonplace.Book) -> None:
    for who in ({"view": "admin"}, {"view": "owner", "agent": "a"}, {"groups": ["g"]}, {"agent": ""}):
        with pytest.raises(InvalidInput):
            await book.list("ana", **who)  # type: ignore[arg-type]


async def test_an_id_of_another_owner_is_as_unknown_as_any(book: commonplace.Book) -> None:
    theirs = (await book.remember("ben", "Likes chess", agent="coach")).id
    messages = []
    for id in (theirs, new_id()):
        for call in (
            book.get("ana", id, view="owner"),
            book.why("ana", id, view="owner"),
            book.history("ana", id, view="owner"),
            book.retract("ana", id, view="owner"),
            book.remember("ana", "x", agent="coach", sources=[id]),
        ):
            with pytest.raises(NotFound) as refused:
                await call
            messages.append(str(refused.value).replace(str(id), "ID"))
    assert messages[: len(messages) // 2] == messages[len(messages) // 2 :]
    receipt = await book.remember("ana", "Likes go", agent="coach", supersedes=[theirs])
    assert [(ignored.code, ignored.id) for ignored in receipt.ignored] == [("unknown", theirs)]
    assert (await book.get("ben", theirs, agent="coach")).status == "active"  # type: ignore[attr-defined]


async def test_an_id_given_twice_is_refused_whole(book: commonplace.Book) -> None:
    id = new_id()
    with pytest.raises(Conflict, match="id"):
        await book.remember_all(
            "ana", [{"content": "one", "id": id}, {"content": "two", "id": id}], agent="coach"
        )
    await book.remember("ana", "one", id=id, agent="coach")
    for owner in ("ana", "ben"):
        with pytest.raises(Conflict, match="id"):
            await book.remember(owner, "again", id=id, agent="coach")
    assert await book.count("ana", view="owner") == 1


async def test_malformed_ids_cursors_and_limits_name_themselves(book: commonplace.Book) -> None:
    for call, field in (
        (book.get("ana", "no-id", view="owner"), "id"),
        (book.list("ana", cursor="nonsense", view="owner"), "cursor"),
        (book.list("ana", limit=0), "limit"),
        (book.list("ana", limit=10_000), "limit"),
        (book.list("ana", types="dreams"), "types"),
        (book.recall("ana", "x", types="thread"), "types"),
        (book.list("ana", only={"since": datetime(2026, 1, 1)}), "since"),
        (book.forget("ana", view="owner"), "ids"),
        (book.thread("ana", status="completed", agent="a"), "status"),  # type: ignore[arg-type]
        (book.remember("ana", "x", operation=""), "operation"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await call
        assert field in (refused.value.field or ""), field


async def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my diary, not a database " * 500)
    with pytest.raises(NotABook):
        await commonplace.open(foreign)
    assert foreign.read_text() == "my diary, not a database " * 500


async def test_an_address_of_no_engine_is_refused(tmp_path: Path) -> None:
    for address in ("redis://x", "sqlite://host/x", "sqlite:///"):
        with pytest.raises(InvalidInput, match="address"):
            await commonplace.open(address)
