"""The synchronous threads, profiles, episodes, experience, agents, schemas and keys of a book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from memoranda.book import ThreadHandle
from memoranda.book.verbs.documents import Keys, Named, Profiles
from memoranda.book.verbs.episodes import Episodes
from memoranda.book.verbs.experience import Experience
from memoranda.formation.schemas.definitions import DocumentReport
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Receipt
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.profiles import Agent, Key, ProfileDocument, Schema
from memoranda.model.query import Hits, Page
from memoranda.model.records import Owner
from memoranda.recall.context.composer import Window
from memoranda.sync.background_loop import Loop, SyncPart

N = TypeVar("N", Agent, Schema, Key)


class SyncThread(SyncPart):
    """A thread of a synchronous book."""

    def __init__(self, handle: ThreadHandle, loop: Loop) -> None:
        super().__init__(loop)
        self.handle = handle
        self.owner = handle.owner
        self.id = handle.id

    def append(
        self, role_or_messages: str | Sequence[Mapping[str, Any]], content: str | None = None, **how: Any
    ) -> Receipt:
        return self._run(self.handle.append(role_or_messages, content, **how))

    def remember(self, content: str, **how: Any) -> Receipt:
        return self._run(self.handle.remember(content, **how))

    def get(self) -> Thread:
        return self._run(self.handle.get())

    def messages(self, **how: Any) -> Page:
        return self._run(self.handle.messages(**how))

    def newest(self, limit: int = 20) -> list[Message]:
        return self._run(self.handle.newest(limit))

    def window(self, budget: int = 2000, **how: Any) -> Window:
        return self._run(self.handle.window(budget, **how))

    def set(self, **how: Any) -> Receipt:
        return self._run(self.handle.set(**how))

    def close(self, status: str = "completed", **how: Any) -> Receipt:
        return self._run(self.handle.close(status, **how))

    def form_now(self) -> bool:
        return self._run(self.handle.form_now())

    def form_again(self) -> None:
        self._run(self.handle.form_again())


class SyncProfiles(SyncPart):
    """The profiles of a synchronous book."""

    def __init__(self, profiles: Profiles, loop: Loop) -> None:
        super().__init__(loop)
        self._profiles = profiles

    def get(self, owner: str | Owner, schema: str = "Profile", **who: Any) -> dict[str, Any]:
        return self._run(self._profiles.get(owner, schema, **who))

    def documents(self, owner: str | Owner, schema: str = "Profile", **who: Any) -> list[ProfileDocument]:
        return self._run(self._profiles.documents(owner, schema, **who))

    def report(
        self, owner: str | Owner, schema: str = "Profile", **who: Any
    ) -> list[tuple[ProfileDocument, DocumentReport]]:
        return self._run(self._profiles.report(owner, schema, **who))

    def put(self, owner: str | Owner, body: Mapping[str, Any], **how: Any) -> Receipt:
        return self._run(self._profiles.put(owner, body, **how))

    def patch(self, owner: str | Owner, set: Mapping[str, Any] | None = None, **how: Any) -> Receipt:
        return self._run(self._profiles.patch(owner, set, **how))


class SyncEpisodes(SyncPart):
    """The episodes of a synchronous book."""

    def __init__(self, episodes: Episodes, loop: Loop) -> None:
        super().__init__(loop)
        self._episodes = episodes

    def __call__(self, owner: str | Owner, **how: Any) -> Hits:
        return self._run(self._episodes(owner, **how))

    def overflow(self, owner: str | Owner, id: UUID | str, **who: Any) -> Overflow | None:
        return self._run(self._episodes.overflow(owner, id, **who))

    def record(self, owner: str | Owner, **how: Any) -> Receipt:
        return self._run(self._episodes.record(owner, **how))

    def list(self, owner: str | Owner, **how: Any) -> list[Episode]:
        return self._run(self._episodes.list(owner, **how))


class SyncExperience(SyncPart):
    """The experience of agents (lines they learnt) in a synchronous book."""

    def __init__(self, experience: Experience, loop: Loop) -> None:
        super().__init__(loop)
        self._experience = experience

    def add(self, agent: str, field: str, line: str, **how: Any) -> Receipt:
        return self._run(self._experience.add(agent, field, line, **how))

    def add_evidence(
        self, agent: str, line: UUID | str, evidence: Mapping[str, Sequence[UUID | str]], **how: Any
    ) -> Receipt:
        return self._run(self._experience.add_evidence(agent, line, evidence, **how))

    def check_privacy(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.check_privacy(agent, line, **how))

    def approve(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.approve(agent, line, **how))

    def list(self, agent: str, **how: Any) -> list[ExperienceLine]:
        return self._run(self._experience.list(agent, **how))

    def retire(self, agent: str, line: UUID | str, **how: Any) -> Receipt:
        return self._run(self._experience.retire(agent, line, **how))


class SyncNamed(SyncPart, Generic[N]):
    """The agents, schemas or keys of a synchronous book."""

    def __init__(self, named: Named[N], loop: Loop) -> None:
        super().__init__(loop)
        self._named: Named[N] = named

    def put(self, name: str, **fields: Any) -> Receipt:
        return self._run(self._named.put(name, **fields))

    def get(self, name: str) -> N | None:
        return self._run(self._named.get(name))

    def list(self, limit: int = 1000) -> list[N]:
        return self._run(self._named.list(limit))


class SyncKeys(SyncNamed[Key]):
    """The keys of a synchronous book."""

    def __init__(self, keys: Keys, loop: Loop) -> None:
        super().__init__(keys, loop)
        self._keys = keys

    def issue(self, name: str, secret: str, **fields: Any) -> Receipt:
        return self._run(self._keys.issue(name, secret, **fields))

    def revoke(self, id: UUID | str, **how: Any) -> Receipt:
        return self._run(self._keys.revoke(id, **how))
