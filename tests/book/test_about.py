"""``about`` returns in one call all that a view may know about a person."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, open_sync


async def test_what_is_known_comes_with_sources_readers_and_counts(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    said = await thread.append("user", "I keep bees")
    kept = await book.remember("ana", "Keeps bees", agent="coach", sources=[said.id])
    shared = await book.remember("ana", "Speaks Spanish", agent="tutor", audience="global")
    old = await book.remember("ana", "Lives in Lisbon", key="home", agent="coach")
    await book.remember("ana", "Lives in Porto", key="home", agent="coach")
    # What the person sets is a memory that all agents read, in the words that an agent had for it.
    home = await book.profiles.patch("ana", {"home": "Porto"}, as_owner=True)
    await book.experience.add(
        "coach", "heuristics", "Ask about bees first.", evidence={"ana": [said.id]}
    )

    owners = await book.about("ana", as_owner=True)
    assert [known.memory.content for known in owners.memories] == [
        "Lives in Porto",
        "Speaks Spanish",
        "Keeps bees",
    ]
    by_id = {known.memory.id: known for known in owners.memories}
    assert [source.quote for source in by_id[kept.id].sources] == ["I keep bees"]
    assert by_id[kept.id].memory.audience.agent == "coach" and old.id not in by_id
    assert [known.memory.id for known in owners.shared] == [home.id, shared.id]
    assert owners.total == 3 and owners.records == {"thread": 1, "message": 1, "memory": 5}
    assert owners.unseen == {"experience": 1}
    assert owners.profile[0].body == {"home": "Porto"}
    assert (
        repr(owners)
        == "<About ana: profiles 1, memories 3 of 3; 1 conversation waits to be formed>"
    )


async def test_an_agent_is_told_nothing_of_what_it_may_not_see(book: memoranda.Book) -> None:
    await book.remember("ana", "Keeps bees", agent="coach")
    await book.remember("ana", "Speaks Spanish", agent="coach", audience="global")
    found = await book.about("ana", agent="tutor")
    assert [known.memory.content for known in found.memories] == ["Speaks Spanish"]
    assert (found.total, found.records, found.unseen) == (1, {"memory": 1}, None)
    nobody = await book.about("ben", as_owner=True)
    assert (nobody.memories, nobody.profile, nobody.records) == ((), (), {})


async def test_the_newest_memories_come_first_up_to_a_limit(book: memoranda.Book) -> None:
    for number in range(5):
        await book.remember("ana", f"Fact {number}", agent="coach")
    found = await book.about("ana", limit=2, agent="coach")
    assert [known.memory.content for known in found.memories] == [
        "Fact 4",
        "Fact 3",
    ] and found.total == 5
    with pytest.raises(InvalidInput, match="limit"):
        await book.about("ana", limit=0)


def test_the_synchronous_book_tells_the_same(tmp_path: Path) -> None:
    with open_sync(tmp_path / "book.db") as book:
        book.remember("ana", "Keeps bees", agent="coach")
        assert book.about("ana", agent="coach").total == 1
