"""A statement that is made many times stays small in the book, and each of its messages can be read
and forgotten.
"""

from __future__ import annotations

import pytest

import memoranda
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.testing.clock import HandClock

TIMES = 130


async def test_what_a_user_says_very_often_is_one_memory_and_one_interest_with_all_its_messages(
    clock: HandClock,
):
    async with memoranda.open(
        "memory://", clock=clock, embed=None, models=None, worker=False
    ) as book:
        thread = await book.thread("ana", agent="helper")
        said = (await thread.append([{"role": "user", "content": "I like tea."}] * TIMES)).ids()
        await thread.form()
        await book.jobs.run()
        (memory,) = await book.records.list("ana", types="memory", agent="helper")
        (profile,) = await book.records.list("ana", types="profile", agent="helper")
        assert isinstance(memory, Memory) and isinstance(profile, ProfileDocument)
        assert (memory.source_count, len(memory.sources)) == (TIMES, 8)
        assert profile.body == {"interests": ["tea"]} and len(profile.grounds["interests"][0]) == 9
        # One version for each portion that was formed.
        assert memory.version == profile.version == 3
        found: set[object] = set()
        for record in (memory, profile):
            why = await book.why("ana", record.id, agent="helper", limit=50)
            pages = [why.sources]
            while why.cursor is not None:
                why = await book.why("ana", record.id, agent="helper", limit=50, cursor=why.cursor)
                pages.append(why.sources)
            found = {source.id for page in pages for source in page}
            assert (len(pages), why.source_count, found) == (3, TIMES, set(said))
        await thread.form_again()
        await book.jobs.run()
        assert (await book.records.get("ana", memory.id, agent="helper")) == memory
        await book.forget("ana", ids=said[1:], as_owner=True)
        (left,) = await book.records.list("ana", types="memory", agent="helper")
        assert isinstance(left, Memory) and (left.sources, left.unlisted) == ((said[0],), ())
        await book.forget("ana", ids=said[:1], as_owner=True)
        assert await book.records.count("ana", types=["memory", "profile"], agent="helper") == 0


async def test_a_cursor_that_no_page_gave_is_refused():
    async with memoranda.open("memory://", embed=None, worker=False) as book:
        thread = await book.thread("ana", agent="helper")
        said = (await thread.append([{"role": "user", "content": "I like tea."}] * 12)).ids()
        made = await book.remember("ana", "likes tea", sources=said, agent="helper")
        with pytest.raises(memoranda.InvalidInput, match="cursor"):
            await book.why("ana", made.id, agent="helper", cursor="no cursor")
