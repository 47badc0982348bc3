"""The routes of a person's rights erase and export everything, for that person or an
administrator.
"""

from __future__ import annotations

import memoranda
from memoranda.access.principal import Principal
from memoranda.model.records import Owner, OwnerKind
from memoranda.operations import Role
from tests.compatible.conftest import Clients

GDPR = "/admin/gdpr"


async def _told(book: memoranda.Book) -> None:
    thread = await book.thread("ann", name="chat")
    await thread.append([{"role": "user", "content": "I am allergic to pomelo"}])
    await book.remember("ann", "allergic to pomelo", key="allergy", agent="chef", audience="self")
    await book.items.put("ann", ["notes"], "n", {"text": "pomelo"})
    await book.remember("bob", "likes pomelo")


async def test_an_erasure_leaves_nothing_of_the_user_and_says_how_much_went(
    clients: Clients, book: memoranda.Book
) -> None:
    await _told(book)
    client = clients()
    entries = len(await book.records.ledger("ann", as_owner=True))
    for memories, conversations, audited in ((1, 1, entries), (0, 0, 0)):
        answer = await client.delete(f"{GDPR}/ann")
        assert answer.status_code == 200
        told = answer.json()
        assert (told["userId"], told["memoriesDeleted"]) == ("ann", memories)
        assert told["conversationsDeleted"] == conversations and told["completedAt"].endswith("Z")
        assert told["auditEntriesPseudonymized"] == audited
        assert told["logsPseudonymized"] == told["conversationMappingsDeleted"] == 0
    assert (
        await book.records.count("ann", as_owner=True),
        await book.records.count("bob", as_owner=True),
    ) == (0, 1)


async def test_a_team_is_erased_exported_and_restricted_as_a_team(
    clients: Clients, book: memoranda.Book
) -> None:
    team, client = Owner(kind=OwnerKind.GROUP, id="kitchen"), clients()
    await book.remember(team, "meets on Monday", key="day")
    await book.remember("kitchen", "likes tea")
    exported = await client.get(f"{GDPR}/group:kitchen/export")
    assert "meets on Monday" in str(exported.json()["records"])
    assert (await client.post(f"{GDPR}/group:kitchen/restrict")).json()["restricted"]
    assert await book.admin.restriction(team) and not await book.admin.restriction("kitchen")
    assert (await client.delete(f"{GDPR}/group:kitchen")).json()["memoriesDeleted"] == 1
    left = [await book.records.count(one, as_owner=True) for one in (team, "kitchen")]
    assert left == [0, 1]


async def test_an_export_has_the_entries_and_every_record(
    clients: Clients, book: memoranda.Book
) -> None:
    await _told(book)
    answer = await clients().get(f"{GDPR}/ann/export")
    assert answer.status_code == 200
    told = answer.json()
    assert told["userId"] == "ann" and [one["key"] for one in told["memories"]] == ["allergy"]
    assert answer.text.count("I am allergic to pomelo") == 1
    assert "likes pomelo" not in answer.text
    assert len(told["records"]) > 4


async def test_only_the_person_and_an_administrator_may_erase_and_export(
    clients: Clients, book: memoranda.Book
) -> None:
    await _told(book)
    editor = clients(Principal("app", "default", Role.EDITOR))
    bob = clients(Principal("bob", "default", Role.EDITOR, owners=frozenset({"bob"}), person="bob"))
    for client in (editor, bob):
        assert (await client.delete(f"{GDPR}/ann")).status_code == 403
        assert (await client.get(f"{GDPR}/ann/export")).status_code == 403
    assert await book.records.count("ann", as_owner=True) > 0
    assert (await bob.get(f"{GDPR}/bob/export")).status_code == 200
    assert (await bob.delete(f"{GDPR}/bob")).status_code == 200


async def test_a_restricted_user_is_neither_written_nor_found_until_it_is_lifted(
    clients: Clients, book: memoranda.Book
) -> None:
    await _told(book)
    client = clients()
    entry = {
        "userId": "ann",
        "key": "city",
        "value": "Porto",
        "category": "fact",
        "visibility": "global",
    }
    for _ in range(2):
        answer = await client.post(f"{GDPR}/ann/restrict")
        assert (answer.status_code, answer.json()["restricted"]) == (200, True)
    refused = await client.put("/usermemorystore/memories/", json=entry)
    assert (refused.status_code, refused.json()) == (403, {"error": "processing_restricted"})
    assert (await client.get(f"{GDPR}/ann/restrict")).json()["restricted"] is True
    assert (await client.delete(f"{GDPR}/ann/restrict")).json()["restricted"] is False
    assert (await client.put("/usermemorystore/memories/", json=entry)).status_code == 200
    assert (await client.get(f"{GDPR}/ann/restrict")).json()["restricted"] is False
