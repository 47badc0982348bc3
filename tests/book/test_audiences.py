"""Audiences: who reads what an agent writes, and who may change that."""

from __future__ import annotations

import pytest

import memoranda
from memoranda import Erased, NotAllowed, NotFound
from memoranda.model.memories import Memory
from tests.conftest import HandClock


async def standing(book: memoranda.Book, **who: object) -> set[str]:
    page = await book.list("bea", types="memory", only={"statuses": ["active"]}, **who)  # type: ignore[arg-type]
    return {record.content for record in page.records if isinstance(record, Memory)}


# ── the key of a group ───────────────────────────────────────────────────────────────────────────────────────────


async def test_one_group_does_not_replace_what_another_keeps_under_the_same_key(book: memoranda.Book) -> None:
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
    assert (await book.verify()).faults == ()


# ── what an agent concludes ──────────────────────────────────────────────────────────────────────────────────────


async def test_what_an_agent_concludes_from_a_global_message_is_its_own(book: memoranda.Book) -> None:
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
    await (await book.thread("bea", agent="a1", audience="global")).remember("Seems unhappy at work")
    mine = await book.thread("bea", agent="a1", groups=["blue"], audience="group")
    await mine.remember("Avoids the red team")
    assert await standing(book, agent="a2", groups=["blue"]) == set()
    assert await standing(book, agent="a1") == {"Seems unhappy at work", "Avoids the red team"}


async def test_what_is_formed_has_the_audience_of_its_thread(book: memoranda.Book, clock: HandClock) -> None:
    thread = await book.thread("bea", agent="a1", audience="global")
    await thread.append("user", "I live in Boston.")
    clock.advance(hours=1)
    await book.worker.drain()
    assert await standing(book, agent="a2") == {"Lives in Boston"}


# ── who may take readers from a statement ────────────────────────────────────────────────────────────────────────


async def test_another_agent_does_not_hide_what_an_agent_shared(book: memoranda.Book) -> None:
    nuts = await book.remember("bea", "Allergic to nuts", agent="doctor", audience="global")
    for readers, groups in (("self", []), ("group", ["clowns"])):
        with pytest.raises(NotAllowed, match="not this agent's own"):
            await book.share("bea", nuts.id, readers, agent="clown", groups=groups)
    assert await standing(book, agent="nurse") == {"Allergic to nuts"}


async def test_the_author_and_the_person_narrow_a_statement(book: memoranda.Book) -> None:
    nuts = await book.remember("bea", "Allergic to nuts", agent="doctor", audience="global")
    await book.share("bea", nuts.id, "self", agent="doctor")
    assert await standing(book, agent="nurse") == set()
    await book.share("bea", nuts.id, "global", agent="doctor")
    await book.share("bea", nuts.id, memoranda.Audience.of_agent("doctor"), view="owner")
    assert await standing(book, agent="nurse") == set()


async def test_an_agent_shares_what_it_sees_with_more_readers(book: memoranda.Book) -> None:
    group = memoranda.Audience.of_groups(["ward"])
    nuts = await book.remember("bea", "Allergic to nuts", agent="doctor", groups=["ward"], audience=group)
    await book.share("bea", nuts.id, "global", agent="nurse", groups=["ward"])
    assert await standing(book, agent="cook") == {"Allergic to nuts"}


# ── what answers tell of the unseen ──────────────────────────────────────────────────────────────────────────────


async def test_the_experience_for_one_user_names_no_other_user(book: memoranda.Book) -> None:
    learnt = {}
    for user in ("alice", "bob", "carl"):
        told = await book.remember(user, "Wanted the printer restarted", agent="guide")
        learnt[user] = [told.id]
    line = await book.experience.add("guide", "heuristics", "Restart the printer first", evidence=learnt)
    await book.experience.approve("guide", line.id)
    for user, ids in learnt.items():
        (shown,) = await book.experience.list("guide", for_user=user)
        assert [(part.owner.id, list(part.sources)) for part in shown.evidence] == [(user, ids)]
    (stranger,) = await book.experience.list("guide", for_user="dora")
    assert (stranger.evidence, stranger.past, stranger.line) == ((), (), "Restart the printer first")
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
        await book.undo("bea", gone.position, view="owner")


async def test_an_agent_asks_for_its_own_operations_only(book: memoranda.Book) -> None:
    made = await book.remember("bea", "Is ill", agent="a1", operation="one", audience="global")
    again = await book.operation("bea", "one", agent="a1")
    assert again is not None and again.ids() == made.ids()
    assert await book.operation("bea", "one", agent="a2") is None
    assert await book.operation("bea", "one", view="owner") is not None
