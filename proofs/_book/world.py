"""A book full of owners with similar names: tenants, owners, agents and groups, with records of
every type.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from memoranda import Book
from memoranda.door import Door
from memoranda.model import changes as c
from memoranda.model.changes import JobDraft
from memoranda.model.experience_lines import Evidence, ExperienceLine
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.messages import Episode, Message, Outcome, Thread, ThreadStatus, ToolCall
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.records import EVERYONE, WHOLE, Audience, Limits, Owner, OwnerKind, View
from memoranda.model.values import new_id
from proofs._book.canaries import Mint

TENANTS = ("default", "default%", "Default")
USERS = (
    *(
        "a",
        "a%",
        "a_",
        "a'",
        "A",
        "\N{CYRILLIC SMALL LETTER A}",
        "a/b",
        "a:b",
        "a b",
        "a.",
        "a..",
        "a ",
    ),
    *(
        unicodedata.normalize(form, "\N{LATIN SMALL LETTER E WITH ACUTE}")
        for form in ("NFC", "NFD")
    ),
    *("ana", "anabel", 'a"', "a;--"),
)
AGENTS = ("a", "a%", "ana")
GROUPS = ("G", "g", "g%")
VIEWS = (
    View(),
    View(agent="a"),
    View(agent="a", groups=("g",)),
    View(agent="a%", groups=("g", "g%")),
    View(agent="ana", groups=("G",)),
    WHOLE,
)
AUDIENCES = (
    EVERYONE,
    *(Audience.of_agent(agent) for agent in AGENTS),
    Audience.of_groups(["g"]),
    Audience.of_groups(["G"]),
    Audience.of_groups(["g", "g%"]),
)
KEYS = ("home", "diet", "h%")
#: Small, so that the fuzz reaches them.
MEMORIES = 12
LIMITS = Limits(memories_per_owner=MEMORIES, at_capacity="evict_oldest", writes_per_run=5)
_ROOMY = Limits(writes_per_run=1000)
START = datetime(2025, 3, 1, 9, tzinfo=UTC)


class TickingClock:
    """A clock that moves by a second each time it is looked at."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def parties(tenant: str) -> list[Owner]:
    """Every owner of a tenant: users, agents, a group of the same names, and the tenant itself."""
    return [
        *(Owner(tenant=tenant, id=name) for name in USERS),
        *(Owner(tenant=tenant, kind=OwnerKind.AGENT, id=name) for name in ("a", "ana")),
        Owner(tenant=tenant, kind=OwnerKind.GROUP, id="a"),
        Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant),
    ]


EVERYBODY = tuple(party for tenant in TENANTS for party in parties(tenant))
NUMBER_OF = {party: number for number, party in enumerate(EVERYBODY)}


class Builder:
    """Writes what the world begins with."""

    def __init__(
        self, book: Book, mint: Mint, clock: TickingClock, learn: Callable[[Receipt], None]
    ) -> None:
        self._door = Door(book.engine, _ROOMY, clock)
        self._mint = mint
        self._clock = clock
        self._learn = learn

    async def populate(self, party: Owner, taught_by: UUID | None) -> UUID | None:
        """Everything that an owner of its kind has; gives a record from which an agent may
        learn.
        """
        match party.kind:
            case OwnerKind.AGENT:
                await self._write(party, *self._experience(party, taught_by))
                # An agent's ledger is longer than its users': their positions must not be mistaken
                # for each other.
                for number in range(40):
                    settings = {"number": number}
                    await self._write(
                        party, c.PatchProfile(new_id(), "Settings", EVERYONE, settings)
                    )
            case OwnerKind.TENANT:
                await self._write(party, *self._catalogue(party))
            case _:
                return await self._life(party)
        return None

    async def _write(
        self, party: Owner, *changes: c.Change, jobs: tuple[JobDraft, ...] = ()
    ) -> None:
        self._learn(
            await self._door.write(party, WHOLE, Actor("owner"), changes, request=None, jobs=jobs)
        )

    async def _life(self, party: Owner) -> UUID:
        threads = [self._thread(party, place) for place in (0, 1, 4)]
        said = [self._message(party, thread) for thread in threads for _ in range(2)]
        memories = [self._memory(party, audience) for audience in AUDIENCES]
        derived = self._memory(party, said[2].audience, sources=(said[2].id,), agent="a")
        await self._write(
            party,
            *map(c.OpenThread, threads),
            *(
                c.Append(thread.id, tuple(m for m in said if m.thread == thread.id))
                for thread in threads
            ),
            *(c.Remember(memory, audience=memory.audience) for memory in (*memories, derived)),
            c.CloseThread(threads[1].id, ThreadStatus.COMPLETED, episode=self._episode(party)),
            *self._patches(party),
            jobs=(
                self._job(party, memories[0].id),
                # What these threads hold waits to be formed; nobody forms it here.
                *(
                    JobDraft("form", str(thread.id), {}, (thread.id,))
                    for thread in (threads[0], threads[2])
                ),
            ),
        )
        # A version that fewer may read than the one that stands.
        for tags in ((self._mint(NUMBER_OF[party], 1),), ("plain",)):
            await self._write(party, c.Amend(memories[1].id, {"tags": tags}))
        await self._write(party, c.ChangeAudience(memories[1].id, EVERYONE))
        both = self._memory(party, EVERYONE, sources=(said[0].id, memories[1].id))
        await self._write(party, c.Remember(both, audience=EVERYONE))
        await self._write(party, c.Amend(both.id, {"tags": ("twice",)}))
        newer = self._memory(party, EVERYONE, supersedes=(memories[0].id,))
        await self._write(party, c.Remember(newer, audience=EVERYONE))
        return memories[2].id

    def _word(self, party: Owner, audience: Audience) -> str:
        return self._mint(NUMBER_OF[party], AUDIENCES.index(audience))

    def _thread(self, party: Owner, place: int) -> Thread:
        readers = AUDIENCES[place]
        word = self._word(party, readers)
        return Thread(
            id=new_id(), owner=party, audience=readers, name=f"main {place}", title=word, started_at=self._clock(),
            state={"step": word}, agent="a", tags=("talk",),
        )  # fmt: skip

    def _message(self, party: Owner, thread: Thread) -> Message:
        word = self._word(party, thread.audience)
        return Message(
            id=new_id(), owner=party, thread=thread.id, role="user", content=f"we said {word} about the garden",
            audience=thread.audience, speaker="Ana", observed_at=self._clock(), native={"raw": word},
        )  # fmt: skip

    def _memory(self, party: Owner, readers: Audience, **fields: Any) -> Memory:
        word = self._word(party, readers)
        keyed: dict[str, Any] = (
            {} if fields else {"key": KEYS[AUDIENCES.index(readers) % len(KEYS)]}
        )
        # One for its agent alone, and one for a group.
        pinned = AUDIENCES.index(readers) in (1, 4)
        given = {
            "agent": readers.agent,
            "cardinality": Cardinality.ONE,
            "pinned": pinned,
            **keyed,
            **fields,
        }
        return Memory(
            id=new_id(), owner=party, audience=readers, content=f"the garden is {word} in spring", data={"w": word},
            applies_when=word, observed_at=self._clock(), **given,
        )  # fmt: skip

    def _episode(self, party: Owner) -> Episode:
        word, now = self._word(party, AUDIENCES[1]), self._clock()
        call = ToolCall(tool="shovel", inputs={"w": word}, output=f"{word} dug")
        return Episode(
            id=new_id(), owner=party, goal=f"dig {word}", summary=word, outcome=Outcome.SUCCEEDED, tool_calls=(call,),
            started_at=now, ended_at=now, agent="a",
        )  # fmt: skip

    def _patches(self, party: Owner) -> Iterator[c.Change]:
        for readers in AUDIENCES[:2]:
            yield c.PatchProfile(new_id(), "Profile", readers, {"town": self._word(party, readers)})

    def _job(self, party: Owner, about: UUID) -> JobDraft:
        word = self._word(party, EVERYONE)
        return JobDraft(kind="derive", key=str(about), payload={"word": word}, records=(about,))

    def _experience(self, party: Owner, taught_by: UUID | None) -> Iterator[c.Change]:
        user = Owner(tenant=party.tenant, id=party.id)
        for _ in range(2):
            word = self._word(party, EVERYONE)
            evidence = (Evidence(owner=user, sources=(taught_by,)),) if taught_by else ()
            yield c.AddExperience(
                ExperienceLine(
                    id=new_id(), owner=party, field="heuristics", line=f"dig {word} early", evidence=evidence,
                    observed_at=self._clock(),
                )
            )  # fmt: skip

    def _catalogue(self, party: Owner) -> Iterator[c.Change]:
        for name in AGENTS:
            word = self._word(party, EVERYONE)
            yield c.PutNamed(
                Agent(id=new_id(), owner=party, name=name, system_prompt=word, settings={"w": word})
            )
        word = self._word(party, EVERYONE)
        yield c.PutNamed(Schema(id=new_id(), owner=party, name="Profile", description=word))
        for name in USERS[:4]:
            word, opens = self._word(party, EVERYONE), Owner(tenant=party.tenant, id=name)
            digest = f"{NUMBER_OF[party]:064x}"
            yield c.PutNamed(Key(id=new_id(), owner=party, name=word, digest=digest, opens=opens))


def a_message(party: Owner, thread: UUID, content: str, at: datetime) -> Message:
    """Return a user's message."""
    return Message(
        id=new_id(), owner=party, thread=thread, role="user", content=content, observed_at=at
    )
