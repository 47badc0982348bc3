"""No user's private facts reach another user through an agent's experience."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import memoranda
from memoranda.formation.privacy.line_checks import PrivacyGuard
from memoranda.formation.reconcile.lesson_lines import lines_to_show
from memoranda.formation.reconcile.reconciler import CurrentRecords, reconcile
from memoranda.model.changes import AddEvidence, AddExperience
from memoranda.model.drafts import Formed, Lesson, Reading, ReadMessage
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cited
from memoranda.model.messages import Message
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, RecordType
from memoranda.model.values import new_id
from memoranda_conformance.builders import a_message

ABOUT = (
    "facts of 50 users, offered as lessons, reach no other user; without the privacy guard they do"
)
CI_COUNT = 50
FULL_COUNT = 500
COVERS = "model paging.py formation language"

_AGENT: Final = "guide"
_USERS: Final = 50
#: Users of whom the same lesson is formed: as many as a line needs, and more.
_REPEATED: Final = 4
_SYLLABLES: Final = "ba ke lo mi nu ra se to vi zu dra fle gro pli sta tru".split()
_SHARED: Final = "Ask for the date before booking a table."


class Leaked(Exception):
    """A canary was found where it must not appear."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A fact of one user, as they said it and as it is offered as a lesson."""

    user: str
    said: str
    lesson: str
    #: What must be read nowhere else.
    value: str


def run(count: int, seed: int) -> str:
    return asyncio.run(_prove(count, seed))


async def _prove(count: int, seed: int) -> str:
    rng = random.Random(seed)
    planted = tried = 0
    for world in range(max(count // _USERS, 1)):
        canaries = _flock(rng, f"user-{world}")
        found, looked = await _leaks(canaries, rng, guarded=True)
        if found:
            raise Leaked(f"{len(found)} of {looked} looks found a canary: {found[0]}")
        planted, tried = planted + len(canaries), tried + looked
    caught, _ = await _leaks(_flock(rng, "control"), rng, guarded=False)
    if not caught:
        raise Leaked("with the guard off nothing was found: this proof would not notice a leak")
    return f"{planted} canaries in {_USERS} users' talks, {tried} looks, 0 leaks; guard off: {len(caught)} leaks"


async def _leaks(
    canaries: Sequence[Canary], rng: random.Random, *, guarded: bool
) -> tuple[list[str], int]:
    """Plant canaries, form the lessons, and search as every user for the others' canaries."""
    async with memoranda.open("memory://", embed=None, worker=False) as book:
        for canary in canaries:
            await _talk(book, canary, [canary.lesson, _SHARED], guarded=guarded)
            # With other users behind the same lesson, the line reaches the required number of
            # users.
            for other in rng.sample([one for one in canaries if one is not canary], _REPEATED):
                plain = Canary(
                    other.user, "please remember what works", canary.lesson, canary.value
                )
                await _talk(book, plain, [canary.lesson], guarded=guarded)
        found: list[str] = []
        taught = await _taught(book)
        strangers = [f"stranger-{number}" for number in range(_USERS // 5)]
        for reader in [*(canary.user for canary in canaries), *strangers]:
            read = await _read(book, reader, rng.choice(canaries))
            found += [
                f"{canary.value!r} of {canary.user} read by {reader}"
                for canary in canaries
                if reader not in taught[canary.lesson]
                and canary.value.casefold() in read.casefold()
            ]
            if _SHARED not in read:
                raise Leaked(
                    f"{reader} is not served the lesson that tells nothing: the guard lets nothing pass"
                )
        return found, len(canaries) * (len(canaries) + len(strangers))


async def _talk(
    book: memoranda.Book, canary: Canary, lessons: Sequence[str], *, guarded: bool
) -> None:
    """Have one conversation, and learn its lessons."""
    owner = Owner(id=canary.user)
    handle = await book.thread(owner, agent=_AGENT)
    await handle.append("user", canary.said)
    messages = await handle.newest()
    reading = Reading(
        thread=await handle.get(),
        messages=tuple(ReadMessage(message=message) for message in messages),
        now=datetime(2026, 3, 1, tzinfo=UTC),
    )
    formed = Formed(experience=tuple(_lesson(messages[-1], line) for line in lessons))
    known = await _lines(book)
    offered = reconcile(formed, reading, CurrentRecords(experience=tuple(known))).experience
    now = reading.now
    changes = (
        await PrivacyGuard(book.engine).with_results(offered, known, now)
        if guarded
        else _unguarded(offered, now)
    )
    if changes:
        await book.door.write(
            Owner(kind=OwnerKind.AGENT, id=_AGENT),
            WHOLE,
            Actor("system"),
            changes,
            request=list(lessons),
        )


def _lesson(message: Message, line: str) -> Lesson:
    return Lesson(field="heuristics", line=line, cited=(Cited(message=message.id),))


def _unguarded(
    changes: Sequence[AddExperience | AddEvidence], now: datetime
) -> list[AddExperience | AddEvidence]:
    """Return the changes as if every check had passed: the control."""
    found: list[AddExperience | AddEvidence] = []
    for change in changes:
        if isinstance(change, AddEvidence):
            passed = change.evidence.model_copy(update={"guarded_at": now})
            found.append(AddEvidence(change.line, passed))
        else:
            parts = tuple(
                part.model_copy(update={"guarded_at": now}) for part in change.line.evidence
            )
            found.append(AddExperience(change.line.changed(evidence=parts)))
    return found


async def _lines(book: memoranda.Book) -> list[ExperienceLine]:
    agent = Owner(kind=OwnerKind.AGENT, id=_AGENT)
    only = Filter(types=frozenset({RecordType.EXPERIENCE}))
    page = await book.engine.scan(agent, WHOLE, only, None, 10_000)
    return [record for record in page.records if isinstance(record, ExperienceLine)]


async def _taught(book: memoranda.Book) -> dict[str, set[str]]:
    """Return each line with the users from whom it was learnt, who may read it."""
    return {line.line: {part.owner.id for part in line.evidence} for line in await _lines(book)}


async def _read(book: memoranda.Book, reader: str, asked: Canary) -> str:
    """Return all that an agent gets for a user (context, hits, experience), and the lines that the
    user's extractor sees.
    """
    context = await book.context(reader, asked.said, agent=_AGENT, budget=50_000)
    hits = await book.recall(reader, asked.said, agent=_AGENT)
    lines = [*await book.experience.list(_AGENT, for_user=reader)]
    # The words of the lesson itself make its line the likeliest to be shown as one that the user
    # may confirm.
    said = a_message(Owner(id=reader), new_id(), asked.lesson)
    lines += lines_to_show(await _lines(book), Owner(id=reader), _REPEATED * _USERS, [said])
    return "\n".join([context.text, *(hit.text for hit in hits), *(line.line for line in lines)])


def _flock(rng: random.Random, users: str) -> list[Canary]:
    """Return a canary for each user; none of their values is part of another's."""
    found: list[Canary] = []
    while len(found) < _USERS:
        drawn = _canary(rng, f"{users}-{len(found)}")
        # In any case of letters, as they are searched for: Ranuzu is part of Dranuzu.
        value, said = drawn.value.casefold(), drawn.said.casefold()
        if not any(value in one.said.casefold() or one.value.casefold() in said for one in found):
            found.append(drawn)
    return found


def _canary(rng: random.Random, user: str) -> Canary:
    name = "".join(rng.choices(_SYLLABLES, k=3)).capitalize()
    number = str(rng.randrange(10_000, 100_000_000))
    said, lesson, value = rng.choice(
        [
            (f"my name is {name}, keep it brief", f"{name} wants brief answers", name),
            (f"I live in {name} since the spring", f"Offer trains from {name} first", name),
            (
                f"my account is {number}, please check it",
                f"Check account {number} before answering",
                number,
            ),
            (
                f"write to {name}@mail.example when done",
                f"Send results to {name}@mail.example",
                name,
            ),
            (f"we had the {name}itis diagnosed", f"Mention {name.lower()}itis with care", name),
            (
                f"my cat {name} walks over the keys",
                f"Expect typing mistakes, {name.upper()} walks on keys",
                name,
            ),
            (
                f"meet me at {name}gasse {number[:2]}",
                f"Meetings are at {name}gasse {number[:2]}",
                name,
            ),
        ]
    )
    return Canary(user, said, lesson, value)
