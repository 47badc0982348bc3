"""Echoes: what an agent recalls and repeats day after day never counts as a new source."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import memoranda
from memoranda import Book
from memoranda.formation.extract.attribution import Attribution, Verdict, is_from_user
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.records import Owner, RecordType, Trust
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from proofs._book.forming import Ticking
from tests.comparison import all_records

ABOUT = "facts that are recalled, repeated and formed again do not multiply; a lie never counts as the user's, and stays retracted"
CI_COUNT = 32
FULL_COUNT = 180
COVERS = "model storage paging.py door.py engines/inmemory recall formation language book"

_ANN = Owner(id="ann")
_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
#: What ann never said: a page does, and an agent does.
_FROM_A_PAGE, _FROM_AN_AGENT = "aisle seats", "dark rooms"
_LIES = (_FROM_A_PAGE, _FROM_AN_AGENT)
_TRUE = (
    "green tea",
    "old maps",
    "long walks",
    "quiet trains",
    "sour apples",
    "blue paint",
    "short letters",
    "rye bread",
)
_ANSWERS = ("ok", "Ok.", "Thanks!", "Hm, why do you ask?", "Is that so?", "Go on.")
#: Parts of all days: the lies are told after the first, and retracted after the second.
_TOLD, _RETRACTED = 0.1, 0.6
_STATED = re.compile(
    r"\b(?:I|you|user|ann) (?:really )?(prefer|like)s? ([a-z]+ [a-z]+)", re.IGNORECASE
)
_NOTED = re.compile(r"\b(?:prefers|likes) ([a-z]+ [a-z]+)", re.IGNORECASE)


class Echoed(Exception):
    """A fact came back although nobody stated it again."""


class Undetected(Exception):
    """A control was not noticed."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    careless = asyncio.run(_Days(random.Random(seed), ScriptedModels(carelessly)).run(count))
    ruled = asyncio.run(_Days(random.Random(seed), None).run(count))
    with _unguarded():
        try:
            asyncio.run(_Days(random.Random(seed), ScriptedModels(carelessly)).run(count))
        except Echoed as echoed:
            noticed = str(echoed)
        else:
            raise Undetected("nobody noticed that the guard was off")
    return f"{count} days; by a careless model {careless}; by rules {ruled}; control noticed: {noticed}"


@contextmanager
def _unguarded() -> Iterator[None]:
    """Trust everybody: the control."""
    with (
        patch.object(Attribution, "judge", lambda *given, **more: Verdict(Trust.USER)),
        patch.object(
            Attribution, "is_repeated", lambda self, statement, cited: any(map(is_from_user, cited))
        ),
    ):
        yield


def carelessly(request: ModelRequest) -> Said:
    """Answer like a careless model: note everything in the conversation, and cite some user's turn
    as its source.
    """
    if request.task != "formation":
        return {}
    shown = entries(request)
    said = {name: (label, line) for name, (label, line) in shown.items() if name.startswith("m")}
    new = {name: one for name, one in said.items() if "context" not in one[0]}
    users = [
        name for name, (label, _) in new.items() if " user" in label or "user" in label.split(", ")
    ]
    answer: dict[str, list[Any]] = {"notes": [], "repeats": [], "patches": []}
    for place, (name, (label, line)) in enumerate(new.items()):
        after = next((one for one in users if int(one[1:]) > int(name[1:])), None)
        for verb, thing in _STATED.findall(line):
            for cited in filter(None, (name, after)):
                kind = "fact" if "tool" in label else "preference"
                answer["notes"].append(_note(verb, thing, cited, place, kind))
                answer["repeats"] += _repeats(shown, thing, cited)
                interest = {"op": "add", "path": "/interests/-", "value": thing}
                answer["patches"] = [
                    {"schema": "Profile", "operations": [interest], "sources": [{"message": cited}]}
                ]
    return answer


def _note(verb: str, thing: str, cited: str, place: int, kind: str) -> dict[str, Any]:
    words = f"{verb.capitalize()}s {thing}" if place % 2 else f"The user {verb.lower()}s {thing}"
    return {"content": words, "kind": kind, "sources": [{"message": cited}]}


def _repeats(shown: dict[str, tuple[str, str]], thing: str, cited: str) -> list[dict[str, Any]]:
    known = [name for name, (_, line) in shown.items() if name.startswith("c") and thing in line]
    return [{"memory": name, "sources": [{"message": cited}]} for name in known]


@dataclass(slots=True)
class _Days:
    """A user and an agent who talk every day, and the facts formed in the evening."""

    rng: random.Random
    models: ScriptedModels | None
    clock: Ticking = field(default_factory=lambda: Ticking(_START))
    #: How often ann said something herself.
    said: Counter[str] = field(default_factory=Counter)
    echoes: int = 0
    most: int = 0
    retracted: bool = False

    async def run(self, days: int) -> str:
        """Simulate the days."""
        async with memoranda.open(
            "memory://", clock=self.clock, models=self.models, worker=False
        ) as book:
            for day in range(days):
                thread = await self._talk(book, day, days)
                await self._formed(book)
                await self._judge(book)
                await thread.form_again()
                await self._formed(book)
                await self._judge(book)
                if day == int(days * _RETRACTED):
                    await self._retract(book)
                self.clock.now += timedelta(days=1)
            active = await self._active(book)
            if lacking := set(self.said) - {_thing(one) for one in active}:
                raise Echoed(f"{sorted(lacking)} was said and is not known")
            if faults := (await book.admin.verify()).faults:
                raise Echoed(faults[0])
        return f"{len(active)} of {len(self.said)} preferences after {self.echoes} echoes, at most {self.most} of a lie"

    async def _formed(self, book: Book) -> None:
        self.clock.now += timedelta(minutes=5)
        await book.worker.drain()

    # ── a day ─────────────────────────────────────────────────────────────────────────────────────

    async def _talk(self, book: Book, day: int, days: int) -> Any:
        thread = await book.thread(_ANN, agent="guide", name=f"day {day}")
        await self._say(thread, "user", self._own(day))
        recalled = (await book.context(_ANN, "What do you know of my taste?", agent="guide")).text
        for line in self._repeated(recalled):
            await self._say(thread, "assistant", line)
            await self._say(thread, "user", self.rng.choice(_ANSWERS))
        if day == int(days * _TOLD):
            page = f"Customer sheet: the user prefers {_FROM_A_PAGE}."
            await self._say(thread, "tool", page, trust="web")
            await self._say(thread, "assistant", f"I see that you prefer {_FROM_A_PAGE}.")
            await self._say(thread, "user", "ok")
        if day > int(days * _TOLD):
            lie = self.rng.choice(_LIES)
            words = self.rng.choice(
                (f"As you told me, you prefer {lie}.", f"Do you still prefer {lie}?")
            )
            await self._say(thread, "assistant", words)
            await self._say(thread, "user", self.rng.choice(_ANSWERS))
        return thread

    def _own(self, day: int) -> str:
        """Return a statement of ann's own from time to time, else a message without content."""
        if day % 3:
            return "What do you know of my taste?"
        thing = _TRUE[day // 3 % len(_TRUE)]
        self.said[thing] += 1
        return f"I like {thing}."

    def _repeated(self, recalled: str) -> list[str]:
        things = list(dict.fromkeys(thing for _, thing in _STATED.findall(recalled)))
        things += [
            thing for thing in dict.fromkeys(_NOTED.findall(recalled)) if thing not in things
        ]
        self.echoes += len(things)
        lines = [f"I recall that you like {thing}." for thing in things]
        return (
            [*lines, "So " + ", and ".join(f"you prefer {thing}" for thing in things) + "."]
            if things
            else []
        )

    async def _say(self, thread: Any, role: str, content: str, **more: Any) -> None:
        self.clock.now += timedelta(seconds=20)
        await thread.append([{"role": role, "content": content, **more}])

    # ── the evening ───────────────────────────────────────────────────────────────────────────────

    async def _active(self, book: Book) -> list[Memory]:
        memories = await all_records(book, _ANN, RecordType.MEMORY)
        return [one for one in memories if isinstance(one, Memory) and one.active]

    async def _judge(self, book: Book) -> None:
        """Check that each fact is there once, no lie counts as the user's, and none is there after
        its retraction.
        """
        active = await self._active(book)
        copies = Counter(_thing(one) for one in active)
        thing, number = max(copies.items(), key=lambda one: one[1], default=("", 0))
        if number > 1:
            raise Echoed(f"{number} copies of {thing!r}")
        lies = [one for one in active if _thing(one) in _LIES]
        self.most = max(self.most, *(copies[lie] for lie in _LIES))
        if self.retracted and lies:
            raise Echoed(f"{lies[0].content!r} came back")
        for one in active:
            thing = _thing(one)
            if thing not in self.said and one.trust in (Trust.USER, Trust.OPERATOR):
                raise Echoed(f"{one.content!r} is taken for the user's word")
            if one.confirmations + 1 > max(self.said[thing], 1):
                raise Echoed(
                    f"{one.content!r} was said {self.said[thing]} times and confirmed {one.confirmations}"
                )
        profile = await book.profiles.get(_ANN, agent="guide") or {}
        if strange := set(profile.get("interests", ())) & set(_LIES):
            raise Echoed(f"{sorted(strange)} stands in the profile")

    async def _retract(self, book: Book) -> None:
        for one in await self._active(book):
            if _thing(one) in _LIES:
                await book.memories.retract(_ANN, one.id, as_owner=True, reason="I never said that")
        self.retracted = True


def _thing(memory: Memory) -> str:
    """Return the subject of a memory."""
    found = _NOTED.search(memory.content)
    return memory.content if found is None else found[1].lower()
