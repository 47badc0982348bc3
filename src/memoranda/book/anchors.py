"""Looks up the days from which a question counts, such as the asker's birthday, among what the book knows."""

from __future__ import annotations

from datetime import datetime

from memoranda.book.rooms import Rooms
from memoranda.model.owner import Owner, View
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter, Times
from memoranda.model.records import RecordType
from memoranda.model.trust import Trust
from memoranda.ports import Finder
from memoranda.recall.anchors import Anchored, anchored, day_told, stretches_from
from memoranda.recall.dates import Day

_PROFILES = Filter(types=frozenset({RecordType.PROFILE}))
#: Statements before conversations: what was concluded before what was said in passing.
_MEMORIES, _MESSAGES = frozenset({RecordType.MEMORY}), frozenset({RecordType.MESSAGE})
#: What a tool or a page says is no one's birthday.
_STATED = Filter(trust=frozenset({Trust.OPERATOR.value, Trust.USER.value, Trust.ASSISTANT.value}))
_SAID = Filter(kinds=frozenset({"user"}), trust=_STATED.trust)
_MOST = 5
_PROFILES_READ = 100


class Anchors:
    """Finds days for questions that count from them; other questions cost nothing."""

    def __init__(self, rooms: Rooms, finder: Finder) -> None:
        self._rooms = rooms
        self._finder = finder

    async def times_of(self, owner: Owner, view: View, question: str) -> Times:
        """The times that a question counts from days which the view may know."""
        times = []
        now = self._rooms.door.clock()
        for one in anchored(question):
            day = one.day or await self._day(owner, view, one, now)
            if day is not None:
                times.append((one.phrase, stretches_from(one, day, now)))
        return times

    async def _day(self, owner: Owner, view: View, one: Anchored, now: datetime) -> Day | None:
        page = await self._rooms.engine.scan(owner, view, _PROFILES, None, _PROFILES_READ)
        for document in page.records:
            assert isinstance(document, ProfileDocument)
            for name, value in document.body.items():
                day = day_told(f"{name.replace('_', ' ')}: {value}", one)
                if day is not None:
                    return day
        for types, only in ((_MEMORIES, _STATED), (_MESSAGES, _SAID if one.mine else _STATED)):
            hits = await self._finder.find(
                owner, view, one.sought, limit=_MOST, types=types, only=only, mode="words", now=now
            )
            for hit in hits:
                others = one.mine and getattr(hit.record, "subject", None) is not None
                if not others and (day := day_told(hit.text, one)) is not None:
                    return day
        return None
