"""What a program concluded from a conversation is stored together: a profile, memories and what the
agent learnt, all or nothing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal
from memoranda.errors import (
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    OperationReused,
    Restricted,
)
from memoranda.model.records import Limits, Owner, OwnerKind
from memoranda.operations import Role

PROFILE = {"interests": ["action films"]}
MEMORY = {"content": "Ann prefers action films", "kind": "preference"}
LINE = {"field": "heuristics", "line": "Ask for the genre first"}


@pytest.fixture
async def book():
    async with memoranda.open(
        "memory://", worker=False, embed=None, limits=Limits(content_length=200)
    ) as opened:
        yield opened


async def stored(book, agent="guide"):
    """Everything that the three verbs read: profile, memories, lines."""
    page = await book.records.list("ann", types="memory", only={"statuses": "active"}, agent=agent)
    lines = await book.experience.list(agent)
    return (
        (await book.profiles.get("ann", agent=agent)).get("interests", []),
        [memory.content for memory in page.records],
        [line.line for line in lines],
    )


async def save(book, **given):
    given = {"profile": PROFILE, "memories": [MEMORY], "experience": [LINE], **given}
    return await book.records.save("ann", agent="guide", **given)


ALL = (["action films"], ["Ann prefers action films"], ["Ask for the genre first"])
NOTHING: tuple[list[str], ...] = ([], [], [])


async def test_a_profile_memories_and_experience_are_stored_by_one_call(book):
    receipt = await save(book)
    assert await stored(book) == ALL
    assert [item.type for item in receipt.items] == ["memory", "profile", "experience"]
    (line,) = await book.experience.list("guide")
    assert line.id == receipt.ids("experience")[0] and line.approved_at is not None
    assert [len(await book.records.ledger("ann", as_owner=True)), receipt.position] == [1, 1]


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"experience": [LINE, {**LINE, "line": "x" * 201}]}, LimitReached, "line"),
        (
            {"experience": [LINE, {"field": "wisdom", "line": "x"}]},
            InvalidInput,
            "experience[1].field",
        ),
        ({"experience": [{**LINE, "why": 1}]}, InvalidInput, "experience[0].why"),
        ({"experience": [{**LINE, "evidence": [memoranda.Owner(id="x").id]}]}, NotFound, None),
        ({"profile": {"interests": "films"}}, InvalidInput, "set/interests"),
        ({"memories": [MEMORY, {"content": ""}]}, InvalidInput, "memories[1].content"),
        ({"memories": [MEMORY, {"content": "y", "kind": "gossip"}]}, LimitReached, "kind"),
    ],
)
async def test_nothing_is_stored_if_a_part_is_refused(book, given, error, field):
    with pytest.raises(error) as refused:
        await save(book, **given)
    assert field is None or refused.value.field == field
    assert await stored(book) == NOTHING


async def test_a_repeated_call_changes_nothing_and_another_request_is_refused(book):
    first = await save(book, operation="talk 7")
    again = await save(book, operation="talk 7")
    assert again.repeated and again.items == first.items and again.position == first.position
    assert (await book.records.operation("ann", "talk 7", agent="guide")).items == first.items
    assert await stored(book) == ALL
    for part, left in (("profile", {}), ("memories", []), ("experience", [])):
        with pytest.raises(OperationReused):
            await save(book, operation="talk 7", **{part: left})


async def test_one_undo_takes_it_all_back_and_one_more_restores_it(book):
    receipt = await save(book)
    undone = await book.undo("ann", receipt.position, agent="guide")
    assert await stored(book) == NOTHING
    await book.undo("ann", undone.position, agent="guide")
    assert await stored(book) == ALL
    with pytest.raises(NotFound):
        await book.undo("ann", receipt.position, agent="other")


async def test_experience_alone_is_saved_and_undone_too(book):
    receipt = await save(book, profile=None, memories=[])
    assert await stored(book) == ([], [], ALL[2])
    with pytest.raises(NotAllowed, match="taught agent guide"):
        await book.undo("ann", receipt.position, agent="other")
    await book.undo("ann", receipt.position)
    assert await stored(book) == NOTHING


async def test_what_it_lacks_is_named(book):
    with pytest.raises(InvalidInput, match="nothing to save"):
        await book.records.save("ann", agent="guide")
    with pytest.raises(InvalidInput) as refused:
        await book.records.save("ann", experience=[LINE])
    assert refused.value.field == "agent"
    guide = Owner(kind=OwnerKind.AGENT, id="guide")
    with pytest.raises(InvalidInput, match="name a user"):
        await book.records.save(guide, agent="guide", experience=[LINE])


async def test_a_line_that_tells_of_the_user_is_held_against_what_is_saved_with_it(book):
    said = await (await book.thread("ann", agent="guide")).append("user", "what shall I watch?")
    given = [
        {**LINE, "line": line, "evidence": [said.id]}
        for line in ("Tell Zephyrine the length of a film", "Tell the length of a film")
    ]
    await save(book, memories=[{"content": "Her sister is called Zephyrine"}], experience=given)
    told, general = await book.experience.list("guide")
    assert [part.owner.id for part in told.evidence] == ["ann"]
    assert told.evidence[0].guarded_at is None and general.evidence[0].guarded_at is not None
    assert told.approved_at is None and general.approved_at is None


async def test_secrets_are_masked_in_every_part():
    key = "sk-" + "abcd1234" * 6
    async with memoranda.open("memory://", worker=False, embed=None, secrets="mask") as book:
        await save(
            book,
            profile={"interests": [key]},
            memories=[{"content": f"the key is {key}"}],
            experience=[{**LINE, "line": f"use {key}"}],
        )
        found = json.dumps(await stored(book))
        assert key not in found and found.count("[") > 3


async def test_a_limit_counts_all_parts_together():
    async with memoranda.open("memory://", embed=None, limits=Limits(batch=3)) as book:
        await save(book)
        with pytest.raises(LimitReached, match="4 changes"):
            await save(book, experience=[LINE, {**LINE, "line": "Be brief"}])


async def test_nothing_is_learnt_of_a_user_whose_processing_is_restricted(book):
    for appends in ("refuse", "keep_unread"):
        await book.admin.restrict("ann", appends=appends)
        with pytest.raises(Restricted):
            await save(book)
        assert await book.experience.list("guide") == []
    await save(book, experience=[])
    assert len((await book.records.list("ann", types="memory", as_owner=True)).records) == 1


async def test_a_limited_key_saves_what_is_its_owners_and_teaches_no_agent(book):
    eve = Principal("eve", "default", Role.EDITOR, frozenset({"eve"}), frozenset({"guide"}))
    any_user = Principal("all", "default", Role.EDITOR, agents=frozenset({"guide"}))
    viewer = Principal("reader", "default", Role.VIEWER)
    given = {"memories": [MEMORY], "profile": PROFILE}
    with pytest.raises(NotFound):
        await Guard(book, eve).call("records.save", owner="ann", **given)
    with pytest.raises(NotAllowed, match="serves all users"):
        await Guard(book, eve).call("records.save", owner="eve", experience=[LINE], **given)
    with pytest.raises(NotFound, match="no agent"):
        await Guard(book, any_user).call(
            "records.save", owner="ann", agent="boss", experience=[LINE], **given
        )
    with pytest.raises(NotAllowed):
        await Guard(book, viewer).call("records.save", owner="ann", **given)
    assert await stored(book) == NOTHING and await stored(book, "boss") == NOTHING
    own = await Guard(book, eve).call("records.save", owner="eve", **given)
    assert [item.type for item in own.items] == ["memory", "profile"]
    learnt = await Guard(book, any_user).call(
        "records.save", owner="eve", experience=[LINE], **given
    )
    # It is no administrator's word, so nobody is served before it is approved.
    assert [line.approved_at for line in await book.experience.list("guide")] == [None]
    with pytest.raises(NotAllowed, match="also taught"):
        await Guard(book, eve).call("undo", owner="eve", position=learnt.position)
    await Guard(book, any_user).call("undo", owner="eve", position=learnt.position)
    assert await book.experience.list("guide") == []


async def test_moments_may_be_given_and_one_vector_is_made_for_each_memory(book):
    at = datetime(2026, 1, 2, tzinfo=UTC)
    receipt = await save(book, memories=[{**MEMORY, "observed_at": at}], wait_for="embedded")
    (memory,) = (await book.records.list("ann", types="memory", agent="guide")).records
    assert memory.observed_at == at and receipt.no_vectors_because
