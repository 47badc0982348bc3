"""The export of everything about one person: what it adds to the person's own records, and whom it
does not name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal, local_admin
from memoranda.access.read_audit import ReadAudit
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.operations import Role
from memoranda.testing.clock import HandClock
from memoranda_conformance.suites.background.formation import started_call


@pytest.fixture
async def told(book: memoranda.Book) -> memoranda.Book:
    """A book in which records of an agent, keys, reads and usage are about Ann and about Ben."""
    tea, rum = (
        (await book.remember("ann", "likes tea")).id,
        (await book.remember("ben", "likes rum")).id,
    )
    await book.experience.add(
        "guide", "heuristics", "Ben likes it short", evidence={"ann": [tea], "ben": [rum]}
    )
    await book.experience.add("guide", "heuristics", "serve tea", evidence={"ann": [tea]})
    await book.experience.add("guide", "heuristics", "serve rum", evidence={"ben": [rum]})
    await book.keys.create("shop", role="editor", owners=("ann", "ben"))
    await book.keys.create("ben-phone", role="editor", owners=("ann", "ben"), person="ben")
    await book.admin.restrict("ben")
    for owner in ("ann", "ben"):
        await book.engine.note_spent(started_call(memoranda.Owner(id=owner)))
    async with ReadAudit(book) as audit:
        for name in ("shop", "ben-phone", "ben"):
            await Guard(book, Principal(name, "default", Role.ADMIN), "rest", audit).call(
                "records.list", owner="ann"
            )
        await Guard(book, local_admin("default"), "rest", audit).call("records.list", owner="ben")
    return book


async def lines_of(lines: AsyncIterator[str]) -> list[dict[str, Any]]:
    """Return lines without the digests and the key, which are the book's own."""
    found = [json.loads(line) for line in [line async for line in lines]]
    return [
        {name: value for name, value in line.items() if name not in ("digest", "key")}
        for line in found
    ]


def kinds(lines: list[dict[str, Any]]) -> Counter[str]:
    return Counter(line["what"] for line in lines if line["line"] == "about")


async def test_it_adds_what_others_hold_and_who_read_to_the_export_of_an_owner(
    told: memoranda.Book,
) -> None:
    await told.admin.restrict("ann")
    own = await lines_of(told.admin.export("ann"))
    whole = await lines_of(told.admin.export("ann", everything=True))
    assert [line for line in whole if line["line"] != "about"] == own
    assert kinds(whole) == {"held": 4, "restriction": 1, "restricting": 1, "read": 3, "usage": 1}
    held = [
        line["record"] | {"goes": line["goes_with_the_owner"]}
        for line in whole
        if line.get("what") == "held"
    ]
    assert [one.get("line") for one in held if one["type"] == "experience"] == [None, "serve tea"]
    assert [one["goes"] for one in held] == [False, True, False, False]
    assert [line["by"] for line in whole if line.get("what") == "read"] == ["shop", None, None]


async def test_it_names_nobody_else_and_tells_nothing_of_theirs(told: memoranda.Book) -> None:
    text = "\n".join([line async for line in told.admin.export("ann", everything=True)])
    assert "serve tea" in text and "shop" in text
    for word in ("ben", "Ben", "rum", "short"):
        assert word not in text


async def test_an_import_skips_the_lines_and_takes_the_owner_as_without_them(
    told: memoranda.Book,
) -> None:
    lines = [line async for line in told.admin.export("ann", everything=True)]
    async with memoranda.open("memory://") as other:
        report = await other.admin.import_(lines)
        assert not report.errors and report.adopted == 1
        assert report.ignored == {"about": sum('"line": "about"' in line for line in lines)}
        assert await lines_of(other.admin.export("ann")) == await lines_of(told.admin.export("ann"))


async def test_after_an_erasure_of_everything_it_tells_of_that_and_of_the_restriction(
    book: memoranda.Book, clock: HandClock
) -> None:
    tea, rum = (
        (await book.remember("ann", "likes tea")).id,
        (await book.remember("ben", "likes rum")).id,
    )
    await book.experience.add("guide", "heuristics", "serve", evidence={"ann": [tea]})
    await book.experience.add("guide", "heuristics", "be brief", evidence={"ben": [rum]})
    await book.keys.create("ann-phone", role="editor", owners=("ann",), person="ann")
    await book.admin.restrict("ann")
    bens = [line async for line in book.admin.export("ben", everything=True)]
    receipt = await book.forget("ann", everything=True, as_owner=True)
    left = await lines_of(book.admin.export("ann", everything=True))
    assert [(line["line"], line.get("what")) for line in left] == [
        ("head", None), ("about", "restriction"), ("about", "restricting"), ("about", "erasure"), ("last", None),
    ]  # fmt: skip
    assert left[3] == {
        "line": "about",
        "what": "erasure",
        "at": receipt.at.isoformat(),
        "everything": True,
    }
    assert [line async for line in book.admin.export("ben", everything=True)] == bens


async def test_an_erasure_of_one_record_is_told_with_its_time_and_without_its_content(
    book: memoranda.Book,
) -> None:
    tea = (await book.remember("ann", "likes tea")).id
    await book.remember("ann", "likes cake")
    receipt = await book.forget("ann", [tea], as_owner=True)
    lines = await lines_of(book.admin.export("ann", everything=True))
    assert [line for line in lines if line.get("what") == "erasure"] == [
        {"line": "about", "what": "erasure", "at": receipt.at.isoformat(), "erased": {"memory": 1}}
    ]


async def test_a_masked_one_shows_masks_also_in_records_of_others(book: memoranda.Book) -> None:
    tea = (await book.remember("ann", "likes tea")).id
    await book.experience.add(
        "guide", "heuristics", "password: hunter2xyz", evidence={"ann": [tea]}
    )
    text = "\n".join([line async for line in book.admin.export("ann", everything=True)])
    masked = "\n".join(
        [line async for line in book.admin.export("ann", everything=True, masked=True)]
    )
    assert "hunter2xyz" in text and "hunter2xyz" not in masked and '"what": "held"' in masked


async def test_everything_is_about_one_owner_and_a_flag(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match="everything: name the owner"):
        book.admin.export(everything=True)
    with pytest.raises(InvalidInput, match="everything"):
        book.admin.export("ann", everything="yes")  # type: ignore[arg-type] # on purpose


async def test_it_needs_the_credential_of_the_person_or_of_an_administrator(
    told: memoranda.Book,
) -> None:
    for owners in (None, frozenset({"ann"})):
        editor = Principal("app", "default", Role.EDITOR, owners=owners)
        with pytest.raises(NotAllowed, match="needs the person's or an administrator's credential"):
            Guard(told, editor).stream("admin.export", owner="ann", everything=True)
    person = Principal("ann", "default", Role.VIEWER, owners=frozenset({"ann"}), person="ann")
    for principal in (person, local_admin("default")):
        found = await lines_of(
            Guard(told, principal).stream("admin.export", owner="ann", everything=True)
        )
        assert kinds(found)["held"] == 4
