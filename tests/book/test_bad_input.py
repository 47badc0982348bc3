"""Bad input raises a typed error that names the field, and nothing is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import (
    Audience,
    Conflict,
    InvalidInput,
    LimitReached,
    NotABook,
    NotAllowed,
    NotFound,
    OperationReused,
    Owner,
)
from memoranda.model.changes import Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import WHOLE
from memoranda.model.values import new_id

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NAIVE = NOW.replace(tzinfo=None)


async def nothing_is_stored(book: memoranda.Book) -> bool:
    facts = await book.admin.facts()
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
        ({"content": "x", "observed_at": NAIVE}, "observed_at"),
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
    book: memoranda.Book, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await book.memories.remember_all("ana", [fields], agent="coach")
    assert field in (refused.value.field or "")
    assert field in str(refused.value)
    assert await nothing_is_stored(book)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tags": "vegan"}, "tags: give a list, not str"),
        ({"sources": str(new_id())}, "sources: give a list, not str"),
        ({"supersedes": str(new_id())}, "supersedes: give a list, not str"),
        ({"valid_from": "2024-01-01"}, "valid_from: add a time zone, such as 2024-01-01T00:00:00Z"),
    ],
)
async def test_what_is_wrong_with_a_field_comes_with_what_to_give(
    book: memoranda.Book, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await book.remember("ana", **{"content": "Is vegan", **fields})
    assert words in str(refused.value)


async def test_a_statement_without_a_text_is_told_what_is_missing(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match="content: it is missing"):
        await book.remember("ana", None)  # type: ignore[arg-type]


async def test_a_message_without_a_role_is_told_what_is_missing(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    with pytest.raises(InvalidInput, match=r"content: it is missing; .* append\('user', "):
        await thread.append("hello")


async def test_an_unknown_type_is_named_with_the_nearest_one(book: memoranda.Book) -> None:
    with pytest.raises(
        InvalidInput, match="memories: there is no such type; did you mean memory"
    ) as refused:
        await book.recall("ana", "tea", types=["message", "memories"])
    assert refused.value.field == "types"
    with pytest.raises(InvalidInput, match="x: there is no such type; give thread, message"):
        await book.recall("ana", "tea", types="x")


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


async def test_data_that_is_too_deep_or_too_large_is_refused(book: memoranda.Book) -> None:
    for data in (nested(40), nested(5000), {"big": "x" * 2_000_000}):
        with pytest.raises(InvalidInput, match="data"):
            await book.remember("ana", "x", agent="coach", data=data)
    assert await nothing_is_stored(book)


async def test_a_batch_reports_every_bad_item_and_stores_none(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "good"},
        {"role": "boss", "content": "bad role"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "naive", "observed_at": NAIVE},
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
    book: memoranda.Book,
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


async def test_names_are_just_characters(book: memoranda.Book) -> None:
    for name in ["a", "ab", *HOSTILE]:
        await book.remember(name, f"belongs to {name!r}", agent=name, key=name, tags=[name])
    for name in ["a", "ab", *HOSTILE]:
        page = await book.records.list(name, agent=name)
        assert [record.content for record in page.records] == [f"belongs to {name!r}"]  # type: ignore[attr-defined]
        assert [hit.record.owner.id for hit in await book.recall(name, "belongs", agent=name)] == [
            name
        ]
    assert len(await book.admin.owners()) == len(HOSTILE) + 2


@pytest.mark.parametrize("owner", ["", "  ", "x" * 256, "nul\x00", "tab\t", "\ud800"])
async def test_an_owner_that_is_no_name_is_refused(book: memoranda.Book, owner: str) -> None:
    for call in (
        book.remember(owner, "x", agent="coach"),
        book.recall(owner, "x"),
        book.records.list(owner),
        book.forget(owner, everything=True, as_owner=True),
    ):
        with pytest.raises(InvalidInput, match="owner"):
            await call


async def test_another_tenants_owner_is_refused(book: memoranda.Book) -> None:
    with pytest.raises(NotAllowed):
        await book.recall(Owner(tenant="other", id="ana"), "x", as_owner=True)


async def test_a_view_that_is_none_is_refused(book: memoranda.Book) -> None:
    for who in (
        {"as_owner": "admin"},
        {"as_owner": True, "agent": "a"},
        {"groups": ["g"]},
        {"agent": ""},
    ):
        with pytest.raises(InvalidInput):
            await book.records.list("ana", **who)


async def test_an_id_of_another_owner_is_as_unknown_as_any(book: memoranda.Book) -> None:
    theirs = (await book.remember("ben", "Likes chess", agent="coach")).id
    messages = []
    for id in (theirs, new_id()):
        for call in (
            book.records.get("ana", id, as_owner=True),
            book.why("ana", id, as_owner=True),
            book.records.history("ana", id, as_owner=True),
            book.memories.retract("ana", id, as_owner=True),
            book.remember("ana", "x", agent="coach", sources=[id]),
        ):
            with pytest.raises(NotFound) as refused:
                await call
            messages.append(str(refused.value).replace(str(id), "ID"))
    assert messages[: len(messages) // 2] == messages[len(messages) // 2 :]
    receipt = await book.remember("ana", "Likes go", agent="coach", supersedes=[theirs])
    assert [(ignored.code, ignored.id) for ignored in receipt.ignored] == [("unknown", theirs)]
    assert (await book.records.get("ben", theirs, agent="coach")).status == "active"  # type: ignore[attr-defined]


async def test_ids_are_made_here_alone(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match="id"):
        await book.remember("ana", "one", id=new_id(), agent="coach")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="id"):
        await book.agents.put("coach", id=new_id())  # type: ignore[call-arg]
    id = new_id()
    memories = [
        Memory(id=id, owner=Owner(id="ana"), content=text, observed_at=NOW)
        for text in ("one", "two")
    ]
    changes = [Remember(memory) for memory in memories]
    with pytest.raises(Conflict, match="id"):
        await book.door.write(Owner(id="ana"), WHOLE, Actor(), changes, request=["twice"])
    assert await nothing_is_stored(book)


async def test_a_reason_that_cannot_be_kept_is_refused(book: memoranda.Book) -> None:
    told = await book.remember("ana", "Likes tea", agent="coach")
    for reason in ("nul \x00", "half \ud83d", "x" * 1001):
        with pytest.raises(InvalidInput, match="reason"):
            await book.memories.retract("ana", told.id, reason=reason, agent="coach")
    assert (await book.records.get("ana", told.id, agent="coach")).version == 1


async def test_keys_of_documents_are_checked_like_their_values(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    for key in ("nul\x00", "\ud800"):
        with pytest.raises(InvalidInput):
            await thread.set(state={key: 1})
        with pytest.raises(InvalidInput):
            await book.profiles.patch("ana", {key: 1}, agent="coach")


async def test_moments_beyond_the_calendar_are_refused(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    for said in (
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=12))),
    ):
        with pytest.raises(InvalidInput, match="observed_at"):
            await thread.append("user", "x", observed_at=said)
    await thread.append("user", "long ago", observed_at=datetime(1, 1, 1, tzinfo=UTC))


async def test_an_agent_writes_nothing_for_readers_that_it_is_not_among(
    book: memoranda.Book,
) -> None:
    own = await book.remember("ana", "Likes tea", agent="coach")
    theirs = Audience.of_agent("tutor")
    for call in (
        book.remember("ana", "planted", agent="coach", audience=theirs),
        book.thread("ana", agent="coach", audience=theirs),
        book.episodes.record("ana", goal="x", outcome="failed", agent="coach", audience=theirs),
        book.memories.share("ana", own.id, theirs, agent="coach"),
    ):
        with pytest.raises(InvalidInput, match="audience"):
            await call
    assert await book.records.count("ana", agent="tutor") == 0
    await book.memories.share("ana", own.id, theirs, as_owner=True)
    assert await book.records.count("ana", agent="tutor") == 1


async def test_a_write_that_changes_nothing_names_no_position_of_another(
    book: memoranda.Book,
) -> None:
    first = await book.remember("ana", "Likes tea", agent="coach")
    await book.memories.retract("ana", first.id, agent="coach")
    await book.remember("ana", "Likes coffee", agent="coach")
    nothing = await book.memories.retract("ana", first.id, agent="coach")
    assert (nothing.position, nothing.items, nothing.id) == (0, (), first.id)
    with pytest.raises(InvalidInput, match="position"):
        await book.undo("ana", nothing.position, agent="coach")


async def test_an_operation_id_belongs_to_its_agent(book: memoranda.Book) -> None:
    first = await book.remember("ana", "Likes tea", agent="coach", operation="op")
    other = await book.remember("ana", "Likes tea", agent="tutor", operation="op")
    assert not other.repeated and other.id != first.id
    with pytest.raises(OperationReused):
        await book.remember("ana", "Likes coffee", agent="coach", operation="op")


async def test_what_is_of_another_type_is_refused_by_its_name(book: memoranda.Book) -> None:
    wrong: list[tuple[Any, str]] = [
        (book.remember("ana", "x", operation="\ud800"), "operation"),
        (book.remember("ana", "x", operation=5), "operation"),  # type: ignore[arg-type]
        (book.remember("ana", "x", run="\ud800"), "run"),
        (book.remember("ana", "x", expect={"no": 1}), "expect"),  # type: ignore[dict-item]
        (book.undo("ana", 2**70, as_owner=True), "position"),
        (book.undo("ana", "1", as_owner=True), "position"),  # type: ignore[arg-type]
        (book.records.ledger("ana", after=2**70, as_owner=True), "after"),
        (book.records.list("ana", cursor=5), "cursor"),  # type: ignore[arg-type]
        (book.records.list("ana", agent="a", groups=5), "groups"),  # type: ignore[arg-type]
        (book.records.list("ana", agent="a", groups=[1]), "groups"),  # type: ignore[list-item]
        (book.records.list("ana", types=5), "types"),  # type: ignore[arg-type]
        (book.records.list("ana", only=5), "only"),  # type: ignore[arg-type]
        (book.records.list("ana", only={"colour": "red"}), "only"),
        (book.records.list("ana", only={"statuses": ["bogus"]}), "statuses"),
        (book.forget("ana", None, as_owner=True), "ids"),  # type: ignore[arg-type]
        (book.memories.share("ana", new_id(), None), "audience"),  # type: ignore[arg-type]
        (book.agents.get("\ud800"), "name"),
        (book.agents.put("x", withdrawn=True), "withdrawn"),  # type: ignore[call-arg]
        (book.profiles.patch("ana", unset="abc"), "unset"),
        (book.thread("ana", tags="abc"), "tags"),
        (book.experience.add("coach", "heuristics", "x", evidence={"ana": [new_id()]}), "evidence"),
    ]
    for call, field in wrong:
        with pytest.raises(memoranda.MemorandaError, match=field):
            await call
    assert await nothing_is_stored(book)


async def test_what_a_person_says_in_their_own_view_is_theirs(book: memoranda.Book) -> None:
    told = await book.remember("ana", "I am left-handed", as_owner=True)
    step = (await book.records.history("ana", told.id, as_owner=True))[0]
    assert step.actor.kind == "owner"
    assert await book.records.count("ana", agent="anyone") == 1


async def test_malformed_ids_cursors_and_limits_name_themselves(book: memoranda.Book) -> None:
    for call, field in (
        (book.records.get("ana", " ", as_owner=True), "id"),
        (book.records.get("ana", "no\0id", as_owner=True), "id"),
        (book.records.get("ana", 7, as_owner=True), "id"),  # type: ignore[arg-type]
        (book.records.list("ana", cursor="nonsense", as_owner=True), "cursor"),
        (book.records.list("ana", limit=0), "limit"),
        (book.records.list("ana", limit=10_000), "limit"),
        (book.records.list("ana", types="dreams"), "types"),
        (book.recall("ana", "x", types="thread"), "types"),
        (book.records.list("ana", only={"since": NAIVE}), "since"),
        (book.forget("ana", as_owner=True), "ids"),
        (book.thread("ana", status="completed", agent="a"), "status"),  # type: ignore[arg-type]
        (book.remember("ana", "x", operation=""), "operation"),
        (book.remember(b"ana", "x"), "owner"),  # type: ignore[arg-type]
        (book.memories.amend("ana", new_id(), {}), "fields"),
        (book.memories.amend("ana", new_id(), None), "fields"),  # type: ignore[arg-type]
        (book.admin.backup("a\0b"), "target"),
        (book.admin.backup(""), "target"),
        (book.admin.backup(None), "target"),  # type: ignore[arg-type]
        (book.admin.import_(None), "lines"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput) as refused:
            await call
        assert field in (refused.value.field or ""), field


async def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my diary, not a database " * 500)
    with pytest.raises(NotABook):
        await memoranda.open(foreign)
    assert foreign.read_text() == "my diary, not a database " * 500


async def test_an_address_of_no_engine_is_refused(tmp_path: Path) -> None:
    for address in ("redis://x", "sqlite://host/x", "sqlite:///"):
        with pytest.raises(InvalidInput, match="address"):
            await memoranda.open(address)
