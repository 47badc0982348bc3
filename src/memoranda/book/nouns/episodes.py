"""The verbs of a book over episodes (records of finished runs): record, list, and ask what was
tried before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, Unpack, cast
from uuid import UUID

from memoranda.book.input import (
    Only,
    Who,
    as_audience,
    as_limit,
    as_names,
    as_text,
    as_view,
    as_wait,
    each,
    episode_of,
    owner_named,
)
from memoranda.book.record_ids import EPISODES, record_id, with_ids
from memoranda.book.services import RecordVerbs, Services, WaitFor
from memoranda.book.verb_fields import EpisodeFields, spelled_out
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import RecordEpisode
from memoranda.model.ledger import Receipt
from memoranda.model.messages import Episode, Outcome, Overflow
from memoranda.model.query import Filter, Hits
from memoranda.model.records import (
    STRANGERS,
    Audience,
    Owner,
    RecordType,
    slot_of,
    those_of,
)
from memoranda.operations import Part, Role, W, offer
from memoranda.paging import every_page

_MOST = 1000


class Recalling(Protocol):
    """Finds passages, as ``Book.recall`` does."""

    def __call__(
        self,
        owner: str | Owner,
        query: str,
        *,
        limit: int,
        types: str,
        only: Only,
        mode: str,
        **who: Unpack[Who],
    ) -> Awaitable[Hits]: ...


@spelled_out
class Episodes(RecordVerbs, Part[W]):
    """The episodes (records of finished runs) of a book. ``search`` answers: did I already try
    this?
    """

    def __init__(self, services: Services, recall: Recalling) -> None:
        super().__init__(services)
        self._recall = recall

    @offer(Role.VIEWER, "POST /episodes/search", title="find_episodes")
    async def search(
        self,
        owner: str | Owner,
        *,
        like: str | None = None,
        outcome: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 10,
        **who: Unpack[Who],
    ) -> Hits:
        """Return the episodes most ``like`` a text, best first, with this outcome and all these
        tags, and with reasons.

        Words and meaning find them, as they find anything; without ``like`` they come newest first.
        """
        most, wanted = as_limit(limit), set(as_names(tags, "tags"))
        only: Only = {"tags": sorted(wanted) or None}
        if outcome is not None:
            only["kinds"] = [_outcome(outcome)]
        found = await self._recall(
            owner,
            "" if like is None else as_text(like, "like"),
            # Recall accepts any of several tags; episodes without all of them are removed here.
            limit=most if len(wanted) < 2 else _MOST,
            types=RecordType.EPISODE.value,
            only=only,
            mode="recent" if like is None else "hybrid",
            **who,
        )
        hits = [
            hit
            for hit in found
            if isinstance(hit.record, Episode) and wanted <= set(hit.record.tags)
        ]
        kept = Hits(hits[:most])
        kept.missing = found.missing
        kept.no_vectors_because = found.no_vectors_because
        return kept

    @offer(Role.EDITOR, "POST /episodes")
    async def record(
        self,
        owner: str | Owner,
        *,
        audience: str | Audience | None = None,
        operation: str | None = None,
        agent: str | None = None,
        groups: Sequence[str] = (),
        as_owner: bool = False,
        wait_for: WaitFor = "stored",
        **fields: Unpack[EpisodeFields],
    ) -> Receipt:
        """Store the record of a finished run: goal or summary, tool_calls, outcome, tags,
        started_at, ended_at.

        Long tool calls, and calls beyond the limit, are cut; ``overflow`` returns the rest.
        """
        waiting = as_wait(wait_for)
        reader = as_view({"agent": agent, "groups": groups, "as_owner": as_owner})
        party = owner_named(owner, self._services.tenant)
        now = self._services.door.clock()
        given, _ = await with_ids(self._services.engine, party, reader, fields)
        episode = each([given], "episode", lambda draft: episode_of(draft, party, agent, now))[0]
        readers = as_audience(audience, reader)
        if readers is None and not episode.rests_on() and episode.trust not in STRANGERS:
            readers = await self._services.forming.of_agents.common_audience(reader)
        change = RecordEpisode(episode, audience=readers)
        receipt = await self._write(
            party, reader, change, ["episode", fields, str(audience)], operation
        )
        return await self._services.embeddings.reached(receipt, waiting)

    @offer(Role.VIEWER, "GET /episodes/{id}/overflow")
    async def overflow(
        self, owner: str | Owner, id: UUID | str, **who: Unpack[Who]
    ) -> Overflow | None:
        """Return, whole, the tool calls that an episode cut or left out; None if it has all of
        them.
        """
        party, view, engine = (
            owner_named(owner, self._services.tenant),
            as_view(who),
            self._services.engine,
        )
        wanted = await record_id(engine, party, view, id, types=EPISODES)
        there = await engine.get(party, view, [wanted])
        if not isinstance(there.get(wanted), Episode):
            raise NotFound(f"no episode {wanted} that this view may see")
        slot = slot_of(RecordType.OVERFLOW, str(wanted))
        only = Filter(types=frozenset({RecordType.OVERFLOW}), slots=(slot,))
        found = await self._all(party, view, only, 1)
        return cast(Overflow, found[0]) if found else None

    @offer(Role.VIEWER, "GET /episodes")
    async def list(
        self,
        owner: str | Owner,
        *,
        outcome: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 20,
        **who: Unpack[Who],
    ) -> list[Episode]:
        """Return a view's episodes, newest first, with this outcome and all these tags."""
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        most, wanted = as_limit(limit), set(as_names(tags, "tags"))
        kinds = None if outcome is None else frozenset({_outcome(outcome)})
        only = Filter(types=frozenset({RecordType.EPISODE}), kinds=kinds, newest_first=True)
        found: list[Episode] = []
        async for page in every_page(self._services.engine, party, view, only, 200):
            found += [e for e in those_of(Episode, page.records) if wanted <= set(e.tags)]
            if len(found) >= most:
                break
        return found[:most]


def _outcome(given: str) -> str:
    try:
        return Outcome(given).value
    except ValueError:
        known = ", ".join(outcome.value for outcome in Outcome)
        raise InvalidInput(f"outcome: {given!r} is none of {known}", field="outcome") from None
