"""Experience: what an agent learnt of one user serves others only when it cannot tell who that
was.
"""

from __future__ import annotations

import pytest

import memoranda
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.records import Limits


async def learnt(book, line, *users):
    """A line that was learnt from these users, each of whom said something of their own."""
    evidence = {}
    for user in users:
        thread = await book.thread(user, agent="guide")
        evidence[user] = [(await thread.append("user", f"I am {user}, and I like it brief")).id]
    first, *others = users
    id = (
        await book.experience.add("guide", "heuristics", line, evidence={first: evidence[first]})
    ).id
    for user in others:
        await book.experience.add_evidence("guide", id, {user: evidence[user]})
    return id


async def lines_for(book, user):
    block = (await book.context(user, "How long should it be?", agent="guide")).text
    listed = [line.line for line in await book.experience.list("guide", for_user=user)]
    assert all(line in block for line in listed)
    return listed, block


async def test_a_line_serves_others_only_once_it_stems_from_three():
    async with memoranda.open("memory://", embed=None) as book:
        id = await learnt(book, "Keep it short", "ana", "ben")
        assert (
            (await lines_for(book, "ana"))[0]
            == (await lines_for(book, "ben"))[0]
            == ["Keep it short"]
        )
        listed, block = await lines_for(book, "carl")
        assert listed == [] and "Keep it short" not in block
        said = await (await book.thread("dora", agent="guide")).append("user", "be brief")
        await book.experience.add_evidence("guide", id, {"dora": [said.id]})
        assert (await lines_for(book, "carl"))[0] == ["Keep it short"]
        assert [line.id for line in await book.experience.list("guide")] == [id]


async def test_a_line_that_falls_below_the_bar_serves_others_no_more_at_once():
    async with memoranda.open("memory://", embed=None) as book:
        await learnt(book, "Keep it short", "ana", "ben", "carl")
        assert (await lines_for(book, "dora"))[0] == ["Keep it short"]
        await book.forget("ben", everything=True, as_owner=True)
        assert (await lines_for(book, "dora"))[0] == []
        assert (await lines_for(book, "ana"))[0] == ["Keep it short"]


async def test_a_line_that_names_one_of_those_from_whom_it_stems_serves_them_alone_until_it_is_approved():
    async with memoranda.open("memory://", embed=None) as book:
        id = await learnt(book, "Ben likes it short", "ana", "ben", "carl")
        assert (await lines_for(book, "carl"))[0] == ["Ben likes it short"]
        assert (await lines_for(book, "dora"))[0] == []
        assert (await book.experience.check_privacy("guide", id)).items == ()
        await book.experience.approve("guide", id)
        assert (await lines_for(book, "dora"))[0] == ["Ben likes it short"]
        await book.experience.approve("guide", id, approved=False)
        assert (await lines_for(book, "dora"))[0] == []
        await book.forget("ben", everything=True, as_owner=True)
        assert await book.experience.list("guide") == []


async def test_what_an_operator_adds_is_approved_and_what_is_retired_serves_nobody():
    async with memoranda.open("memory://", embed=None) as book:
        id = (await book.experience.add("guide", "heuristics", "Be kind")).id
        assert (await lines_for(book, "ana"))[0] == ["Be kind"]
        await book.experience.retire("guide", id)
        assert (await lines_for(book, "ana"))[0] == []
        assert (await book.experience.approve("guide", id)).ignored[0].code == "retired"
        assert [line.id for line in await book.experience.list("guide", retired=True)] == [id]


async def test_how_many_users_a_line_needs_is_a_setting():
    async with memoranda.open(
        "memory://", embed=None, limits=Limits(experience_min_users=1)
    ) as book:
        await learnt(book, "Keep it short", "ana")
        assert (await lines_for(book, "ben"))[0] == ["Keep it short"]


async def test_a_line_is_guarded_again_when_the_user_has_forgotten_what_it_told():
    async with memoranda.open(
        "memory://", embed=None, limits=Limits(experience_min_users=1)
    ) as book:
        home = (await book.remember("ana", "Lives in Ullapool")).id
        id = await learnt(book, "Ullapool has few trains", "ana")
        assert (await lines_for(book, "ben"))[0] == []
        await book.forget("ana", home, as_owner=True)
        await book.experience.check_privacy("guide", id)
        assert (await lines_for(book, "ben"))[0] == ["Ullapool has few trains"]


async def test_evidence_that_is_one_text_is_refused_with_what_to_give():
    async with memoranda.open("memory://", embed=None) as book:
        said = await book.remember("ana", "Likes it brief")
        given = {"ana": str(said.id)}
        with pytest.raises(InvalidInput, match="evidence: give a list of ids"):
            await book.experience.add("guide", "heuristics", "Keep it short", evidence=given)
        id = (await book.experience.add("guide", "heuristics", "Keep it short")).id
        with pytest.raises(InvalidInput, match="evidence: give a list of ids"):
            await book.experience.add_evidence("guide", id, given)
        line = {"field": "heuristics", "line": "Keep it short", "evidence": given}
        with pytest.raises(InvalidInput, match="evidence: give a list of ids"):
            await book.records.save("ana", agent="guide", experience=[line])


async def test_evidence_that_is_not_there_is_refused():
    async with memoranda.open("memory://", embed=None) as book:
        id = (await book.experience.add("guide", "heuristics", "Be kind")).id
        nothing = "01900000-0000-7000-8000-000000000000"
        with pytest.raises(NotFound):
            await book.experience.add_evidence("guide", id, {"ana": [nothing]})
        with pytest.raises(InvalidInput):
            await book.experience.add_evidence("guide", id, {"ana": []})
        for call in (book.experience.check_privacy, book.experience.approve):
            with pytest.raises(NotFound):
                await call("guide", nothing)
