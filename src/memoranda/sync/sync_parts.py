"""The parts of a synchronous book, a class for each noun; ``SyncPart`` makes their calls block."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from memoranda.book import ThreadHandle
from memoranda.book.nouns.admin import Admin
from memoranda.book.nouns.agents import Agents
from memoranda.book.nouns.dreams import Dreams
from memoranda.book.nouns.episodes import Episodes
from memoranda.book.nouns.experience import Experience
from memoranda.book.nouns.forgetting import Forgetting
from memoranda.book.nouns.items import Items
from memoranda.book.nouns.jobs import Jobs
from memoranda.book.nouns.keys import Keys
from memoranda.book.nouns.memories import Memories
from memoranda.book.nouns.profiles import Profiles
from memoranda.book.nouns.records import Records
from memoranda.book.nouns.schemas import Schemas
from memoranda.book.verb_fields import spelled_out
from memoranda.model.records import Owner
from memoranda.operations import Blocking
from memoranda.sync.background_loop import Loop, SyncPart
from memoranda.worker import Worker

#: Lines of an export that are fetched at once.
_LINES = 256


class SyncThread(SyncPart, ThreadHandle[Blocking]):
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: Loop) -> None:
        ThreadHandle.__init__(
            self, handle._services, handle.owner, handle.id, handle._view, handle._agent
        )
        SyncPart.__init__(self, handle, loop)


class SyncWorker(SyncPart, Worker[Blocking]):
    """The worker of a synchronous book; ``start_worker`` lets it run beside the program."""


class SyncMemories(SyncPart, Memories[Blocking]):
    """The memories of a synchronous book."""


class SyncRecords(SyncPart, Records[Blocking]):
    """The records of a synchronous book, of any type."""


class SyncForgetting(SyncPart, Forgetting[Blocking]):
    """What a synchronous book forgets."""


class SyncProfiles(SyncPart, Profiles[Blocking]):
    """The profiles of a synchronous book."""


class SyncEpisodes(SyncPart, Episodes[Blocking]):
    """The episodes of a synchronous book."""


class SyncDreams(SyncPart, Dreams[Blocking]):
    """The nights of a synchronous book."""


class SyncItems(SyncPart, Items[Blocking]):
    """The items of a synchronous book."""


class SyncExperience(SyncPart, Experience[Blocking]):
    """The experience of agents (lines they learnt) in a synchronous book."""


class SyncAgents(SyncPart, Agents[Blocking]):
    """The agents of a synchronous book."""


class SyncSchemas(SyncPart, Schemas[Blocking]):
    """The schemas of a synchronous book."""


@spelled_out
class SyncAdmin(SyncPart, Admin[Blocking]):
    """The operator's operations of a synchronous book."""

    def export(  # type: ignore[override]
        self, owner: str | Owner | None = None, *, masked: bool = False, everything: bool = False
    ) -> Iterator[str]:
        """Yield the lines of the book, or of one owner's part; up to 256 are fetched from the loop
        at once.

        With ``masked`` it is for people to read: secrets are masked, and it cannot be imported.
        With ``everything`` it also has what stands elsewhere about the owner.
        """
        return self._each(self._behind.export(owner, masked=masked, everything=everything))

    def _each(self, lines: AsyncIterator[str]) -> Iterator[str]:
        """Iterate over asynchronous lines, reading a batch at a time."""
        while batch := self._wait(_some(lines)):
            yield from batch


async def _some(lines: AsyncIterator[str]) -> list[str]:
    batch: list[str] = []
    async for line in lines:
        batch.append(line)
        if len(batch) == _LINES:
            break
    return batch


class SyncJobs(SyncPart, Jobs[Blocking]):
    """The background jobs of a synchronous book."""


class SyncKeys(SyncPart, Keys[Blocking]):
    """The keys of a synchronous book."""
