"""Audiences: who reads what an agent writes, and who may change that."""

from __future__ import annotations

import pytest

import memoranda
from memoranda import Erased, NotAllowed, NotFound, OperationReused
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock


async def standing(book: memoranda.Book, **who: object) -> set[str]:
    page = await book.records.list("bea", types="memory", only={"statuses": ["active"]}, **who)  # type: ignore[arg-type]
    return {record.content for record in page.records if isinstance(record, Memory)}


# ── the key of a group ────────────────────────────────────────────────────────────────────────────


async def test_one_group_does_not_replace_what_another_keeps_under_the_same_key(
    book: memoranda.Book,
) -> None:
    blue = await book.remember(
        "bea", "Blue meets on Monday", key="meeting", agent="pm", groups=["blue"], audience="group"
    )
    red = await book.remember(
        "bea", "Red meets on Friday", key="meeting", agent="pm", groups=["red"], audience="group"
    )
    assert red.ids() == (red.id,)
    assert blue.id not in {part.id for part in red.ignored}
    assert await standing(book, agent="clerk", groups=["blue"]) == {"Blue meets on Monday"}
    assert await standing(book, agent="clerk", groups=["red"]) == {"Red meets on Friday"}
    await book.remember(
        "bea", "Red meets on Sunday", key="meeting", agent="pm", groups=["red"], audience="group"
    )
    assert await standing(book, agent="clerk", groups=["red"]) == {"Red meets on Sunday"}
    undone = await book.undo("bea", red.position + 1, agent="pm", groups=["red"])
    assert len(undone.items) == 2
    assert (await book.admin.verify()).faults == ()


# ── what an agent concludes ───────────────────────────────────────────────────────────────────────


async def test_what_an_agent_concludes_from_a_global_message_is_its_own(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("bea", agent="a1", audience="global")
    said = (await thread.append("user", "I had wine at lunch again")).id
    await book.remember("bea", "Perhaps an alcoholic", agent="a2", sources=[said])
    assert await standing(book, agent="a3") == set()
    assert await standing(book, agent="a2") == {"Perhaps an alcoholic"}
    await book.remember("bea", "Drinks wine", agent="a2", sources=[said], audience="global")
    assert await standing(book, agent="a3") == {"Drinks wine"}


async def test_what_an_agent_remembers_in_a_global_or_a_groups_thread_is_its_own(
    book: memoranda.Book,
) -> None:
    await (await book.thread("bea", agent="a1", audience="global")).remember(
        "Seems unhappy at work"
    )
    mine = await book.thread("bea", agent="a1", groups=["blue"], audience="group")
    await mine.remember("Avoids the red team")
    assert await standing(book, agent="a2", groups=["blue"]) == set()
    assert await standing(book, agent="a1") == {"Seems unhappy at work", "Avoids the red team"}


async def test_what_is_formed_has_the_audience_of_its_thread(
    book: memoranda.Book, clock: HandClock
) -> None:
    thread = await book.thread("bea", agent="a1", audience="global")
    await thread.append("user", "I live in Boston.")
    clock.advance(hours=1)
    await book.worker.drain()
    assert await standing(book, agent="a2") == {"Lives in Boston"}


# ── who may take readers from a statement ─────────────────────────────────────────────────────────


async def test_another_agent_does_not_hide_what_an_agent_shared(book: memoranda.Book) -> None:
    nuts = await book.remember("bea", "Allergic to nuts", agent="doctor", audience="global")
    for readers, groups in (("self", []), ("group", ["clowns"])):
        with pytest.raises(NotAllowed, match="not this agent's own"):
            await book.memories.share("bea", nuts.id, readers, agent="clown", groups=groups)
    assert await standing(book, agent="nurse") == {"Allergic to nuts"}


async def test_the_author_and_the_person_narrow_a_statement(book: memoranda.Book) -> None:
    nuts = await book.remember("bea", "Allergic to nuts", agent="doctor", audience="global")
    await book.memories.share("bea", nuts.id, "self", agent="doctor")
    assert await standing(book, agent="nurse") == set()
    await book.memories.share("bea", nuts.id, "global", agent="doctor")
    await book.memories.share("bea", nuts.id, memoranda.Audience.of_agent("doctor"), as_owner=True)
    assert await standing(book, agent="nurse") == set()


async def test_an_agent_shares_what_it_sees_with_more_readers(book: memoranda.Book) -> None:
    group = memoranda.Audience.of_groups(["ward"])
    nuts = await book.remember(
        "bea", "Allergic to nuts", agent="doctor", groups=["ward"], audience=group
    )
    await book.memories.share("bea", nuts.id, "global", agent="nurse", groups=["ward"])
    assert await standing(book, agent="cook") == {"Allergic to nuts"}


# ── what answers tell of the unseen ───────────────────────────────────────────────────────────────


async def test_the_experience_for_one_user_names_no_other_user(book: memoranda.Book) -> None:
    learnt = {}
    for user in ("alice", "bob", "carl"):
        told = await book.remember(user, "Wanted the printer restarted", agent="guide")
        learnt[user] = [told.id]
    line = await book.experience.add(
        "guide", "heuristics", "Restart the printer first", evidence=learnt
    )
    await book.experience.approve("guide", line.id)
    for user, ids in learnt.items():
        (shown,) = await book.experience.list("guide", for_user=user)
        assert [(part.owner.id, list(part.sources)) for part in shown.evidence] == [(user, ids)]
    (stranger,) = await book.experience.list("guide", for_user="dora")
    assert (stranger.evidence, stranger.past, stranger.line) == (
        (),
        (),
        "Restart the printer first",
    )
    (whole,) = await book.experience.list("guide")
    assert len(whole.evidence) == 3


async def test_undo_does_not_tell_an_unseen_operation_from_none(book: memoranda.Book) -> None:
    thread = await book.thread("bea", agent="a1")
    said = await thread.append("user", "hello")
    private = await book.remember("bea", "Is ill", agent="a1")
    gone = await book.remember("bea", "Was ill", agent="a1")
    await book.forget("bea", gone.id, agent="a1")
    answers = set()
    for position in (said.position, private.position, gone.position, gone.position + 1, 999):
        with pytest.raises(NotFound) as refused:
            await book.undo("bea", position, agent="a2")
        answers.add(str(refused.value).replace(str(position), "N"))
    assert len(answers) == 1
    with pytest.raises(Erased):
        await book.undo("bea", gone.position, agent="a1")
    with pytest.raises(Erased):
        await book.undo("bea", gone.position, as_owner=True)


async def test_an_agent_asks_for_its_own_operations_only(book: memoranda.Book) -> None:
    made = await book.remember("bea", "Is ill", agent="a1", operation="one", audience="global")
    again = await book.records.operation("bea", "one", agent="a1")
    assert again is not None and again.ids() == made.ids()
    assert await book.records.operation("bea", "one", agent="a2") is None
    assert await book.records.operation("bea", "one", as_owner=True) is not None


async def test_an_operation_id_of_another_is_unknown_and_free(book: memoranda.Book) -> None:
    private = await book.remember("bea", "Is ill", agent="a1", operation="one")
    assert await book.records.operation("bea", "one") is None
    own = await book.remember("bea", "Is well", agent="a2", operation="one")
    assert not own.repeated
    again = await book.remember("bea", "Is well", agent="a2", operation="one")
    assert (again.repeated, again.ids()) == (True, own.ids())
    with pytest.raises(OperationReused):
        await book.remember("bea", "Is better", agent="a2", operation="one")
    first, second = [
        await book.records.operation("bea", "one", agent=agent) for agent in ("a1", "a2")
    ]
    assert first is not None and second is not None
    assert (first.ids(), second.ids()) == (private.ids(), own.ids())


async def test_a_forgotten_operation_of_another_is_unknown_too(book: memoranda.Book) -> None:
    private = await book.remember("bea", "Is ill", agent="a1", operation="one")
    await book.forget("bea", private.id, agent="a1")
    assert not (await book.remember("bea", "Is well", agent="a2", operation="one")).repeated
    with pytest.raises(Erased):
        await book.remember("bea", "Is ill", agent="a1", operation="one")


async def test_a_receipt_of_forgetting_counts_to_an_agent_only_what_it_may_see(
    book: memoranda.Book, clock: HandClock
) -> None:
    counted = []
    for owner, others in (("bea", True), ("ben", False)):
        thread = await book.thread(owner, agent="a1", audience="global")
        tea, cake = (
            await thread.append([{"role": "user", "content": c} for c in ("Tea.", "Cake.")])
        ).ids()
        if others:
            drunk = await book.remember(owner, "Drinks too much", agent="a2", sources=[tea])
            await book.remember(owner, "Eats at noon", agent="a2", sources=[tea, cake])
        receipt = await book.forget(owner, tea, agent="a1")
        counted.append((receipt.removed, receipt.kept, receipt.ids, receipt.superseded))
        assert receipt.ids == (tea,)
    assert counted[0][0] == counted[1][0]
    assert [one[1] for one in counted] == [(), ()]
    with pytest.raises(NotFound):
        await book.records.get("bea", drunk.id, as_owner=True)
    assert await standing(book, agent="a2") == {"Eats at noon"}


async def test_no_answer_names_a_source_that_was_made_private_since(book: memoranda.Book) -> None:
    wine = await book.remember("bea", "Drinks wine at lunch", agent="a1", audience="global")
    late = await book.remember("bea", "Sleeps at two", agent="a1", audience="global")
    # With another source it stays public; what rests on the statement alone would be narrowed with
    # it.
    grounds = [wine.id, late.id]
    tired = await book.remember(
        "bea", "Is often tired", agent="a1", sources=grounds, audience="global"
    )
    await book.memories.share("bea", wine.id, "self", agent="a1")
    for agent, sources in (("a1", (wine.id, late.id)), ("a2", (late.id,))):
        record = await book.records.get("bea", tired.id, agent=agent)
        (listed,) = [
            one
            for one in await book.records.list("bea", types="memory", agent=agent)
            if one.id == record.id
        ]
        (hit,) = [
            one
            for one in await book.recall("bea", "tired", agent=agent)
            if one.record.id == record.id
        ]
        why = await book.why("bea", tired.id, agent=agent)
        steps = await book.records.history("bea", tired.id, agent=agent)
        answers = [record, listed, hit.record, why.record, *(step.record for step in steps)]
        assert {one.sources for one in answers if isinstance(one, Memory)} == {sources}
        assert tuple(source.id for source in why.sources) == sources
        assert str(wine.id) not in repr(hit) or agent == "a1"


async def test_a_private_correction_leaves_others_the_statement_that_they_read(
    book: memoranda.Book,
) -> None:
    old = await book.remember("bea", "Lives in York", agent="a1", audience="global")
    new = await book.remember("bea", "Lives in Rome", agent="a2", supersedes=[old.id])
    assert [(part.code, part.id) for part in new.ignored] == [("readers", old.id)]
    assert "kept beside it" in new.ignored[0].reason
    assert await standing(book, agent="a3") == {"Lives in York"}
    assert await standing(book, agent="a2") == {"Lives in York", "Lives in Rome"}
