"""Audiences: who reads what an agent writes, and who may change that."""

from __future__ import annotations

import memoranda
from memoranda.model.memories import Memory


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
