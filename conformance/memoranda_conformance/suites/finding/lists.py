"""Tests of lists, counts and kinds of passages, which recall's index and the engine answer
alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from memoranda.model.changes import Retract
from memoranda.model.query import Filter
from memoranda.model.records import PASSAGE_TYPES, WHOLE, RecordType, View
from memoranda.ports import Engine
from memoranda.recall.recall import Recall
from memoranda_conformance.builders import ANN, AT_A, AT_B, FOR_A, FOR_B, START, Pen
from memoranda_conformance.suite import Suite

_NOW = START + timedelta(days=1)
_MEMORIES = Filter(types=frozenset({RecordType.MEMORY}))
_PASSAGES = Filter(types=PASSAGE_TYPES)


class ListSuite(Suite):
    """Tests that an index lists and counts exactly what the engine does, at any moment of a
    book.
    """

    async def test_passages_are_listed_newest_first_in_pages_by_offset(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        made = [
            await pen.remember(f"statement {n}", observed_at=at) for n, at in enumerate(_times(9))
        ]
        expected = [id for _, id in sorted(zip(_times(9), made, strict=True), reverse=True)]
        both = Both(engine)
        for limit, offset in ((3, 0), (3, 3), (4, 7), (20, 0), (1, 8), (5, 9), (2, 50)):
            found = await both.newest(_MEMORIES, limit=limit, offset=offset)
            assert found == expected[offset : offset + limit]

    async def test_a_scan_may_leave_out_what_fails_a_test_of_its_content(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, ANN)
        thread = await pen.open()
        (said,) = await pen.say(thread, "Tea at five")
        await pen.say(thread, *(f"Nothing {number}" for number in range(5)))
        told = [await pen.remember("Likes tea"), await pen.remember('Says "tea"\nand no more')]
        for number in range(5):
            await pen.remember(f"Likes number {number}")
        written = await pen.remember("Has a document", data={"notes": "tea"})
        only = Filter(
            types=frozenset({RecordType.MEMORY, RecordType.MESSAGE}),
            touches=lambda text: "ea" in text,
        )
        for limit in (1, 2, 3, 100):
            cursor, found = None, list[UUID]()
            while True:
                page = await engine.scan(ANN, WHOLE, only, cursor, limit)
                found += [record.id for record in page.records]
                cursor = page.cursor
                if cursor is None:
                    break
            assert {said, *told, written} <= set(found) and len(found) == len(set(found))
        page = await engine.scan(ANN, WHOLE, only, None, 100)
        assert len(page.records) <= 5, (
            "what fails the test is left out, but for the last record of the page"
        )

    async def test_kinds_are_counted_and_chosen_by_their_beginning(self, engine: Engine) -> None:
        pen = Pen(engine)
        kinds = ["a b", "a bc", "a", "b a", "a_b", "a%", "A b", "ä", "a b"]
        made = [await pen.remember(f"statement {n}", kind=kind) for n, kind in enumerate(kinds)]
        both = Both(engine)
        assert await both.kinds(_MEMORIES) == Counter(kinds)
        for prefix in ("a", "a ", "a b", "a_", "a%", "%", "_", "A", "ä", "", "b a and more", "z"):
            only = replace(_MEMORIES, kind_prefix=prefix)
            chosen = [id for id, kind in zip(made, kinds, strict=True) if kind.startswith(prefix)]
            assert set(await both.newest(only, limit=20)) == set(chosen)
            assert await both.count(only) == len(chosen)
            assert sum((await both.kinds(only)).values()) == len(chosen)
            assert await both.pages(only, 2) == sorted(chosen)

    async def test_a_list_follows_every_write_and_shows_each_view_its_own(
        self, engine: Engine
    ) -> None:
        pen, both = Pen(engine), Both(engine)
        everyones = await pen.remember("for all")
        assert await both.newest(_PASSAGES, limit=9) == [everyones]
        thread = await pen.open(audience=FOR_A)
        said, answered = await pen.say(thread, "hello", "good day")
        his = await pen.remember("for b", audience=FOR_B)
        assert await both.newest(_PASSAGES, limit=9) == [his, answered, said, everyones]
        assert await both.newest(_PASSAGES, limit=9, view=AT_A) == [answered, said, everyones]
        assert await both.newest(_PASSAGES, limit=1, offset=1, view=AT_B) == [everyones]
        assert await both.kinds(_PASSAGES, view=AT_A) == {"user": 2, "fact": 1}
        await pen.write(Retract(everyones))
        still = replace(_MEMORIES, statuses=frozenset({"active"}))
        assert await both.newest(still, limit=9) == [his]
        assert await both.newest(_MEMORIES, limit=9) == [his, everyones]
        await pen.erase(said)
        assert await both.newest(_PASSAGES, limit=9, view=AT_A) == [answered, everyones]
        await pen.erase_all()
        assert await both.newest(_PASSAGES, limit=9) == [] and await both.count(_PASSAGES) == 0
        assert await both.kinds(_PASSAGES) == {} and await both.pages(_PASSAGES, 3) == []

    async def test_what_has_expired_is_in_no_list(self, engine: Engine) -> None:
        pen = Pen(engine)
        soon, late = START + timedelta(hours=1), START + timedelta(days=3)
        await pen.remember("gone", expires_at=soon)
        ended = await pen.remember("ended and kept", valid_to=soon)
        kept = await pen.remember("kept", expires_at=late)
        both = Both(engine)
        assert await both.newest(_MEMORIES, limit=9) == [kept, ended]
        assert (await both.count(_MEMORIES), await both.kinds(_MEMORIES)) == (2, {"fact": 2})
        assert await both.pages(_MEMORIES, 1) == [ended, kept]
        current = replace(_MEMORIES, current_at=_NOW)
        assert await both.newest(current, limit=9) == [kept]


def _times(number: int) -> list[datetime]:
    """Return moments in no order, some of them equal."""
    return [START + timedelta(minutes=(7 * n) % 5) for n in range(number)]


class Both:
    """Asks an index and the engine, and checks that they agree; the view is that of the whole owner
    where none is given.
    """

    def __init__(self, engine: Engine) -> None:
        engine.clock = lambda: _NOW
        self.engine = engine
        self.index = Recall(engine)

    async def newest(
        self, only: Filter, *, limit: int, offset: int = 0, view: View = WHOLE
    ) -> list[UUID]:
        """Return the ids of the newest passages."""
        found = await self.index.newest(ANN, view, only, limit, offset)
        told = await self.engine.newest(ANN, view, only, limit, offset)
        assert found == told
        return [record.id for record in found]

    async def count(self, only: Filter, view: View = WHOLE) -> int:
        """Return the number of passages."""
        found = await self.index.count(ANN, view, only)
        assert found == await self.engine.count(ANN, view, only)
        return found

    async def kinds(self, only: Filter, view: View = WHOLE) -> dict[str | None, int]:
        """Return the kinds of passages."""
        found = await self.index.kinds(ANN, view, only)
        assert found == await self.engine.kinds(ANN, view, only)
        return found

    async def pages(self, only: Filter, limit: int, view: View = WHOLE) -> list[UUID]:
        """Return the ids of all pages, in both orders."""
        found: list[UUID] = []
        for filter in (replace(only, newest_first=True), only):
            found, cursor = [], None
            while True:
                page = await self.index.scan(ANN, view, filter, cursor, limit)
                assert page == await self.engine.scan(ANN, view, filter, cursor, limit)
                found += [record.id for record in page]
                cursor = page.cursor
                if cursor is None:
                    break
        return found
