"""Links from memories to the episodes of their conversations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message
from memoranda.model.records import Record


class EpisodeLinks:
    """Episodes of one owner, by which the ``source_episode`` of memories is found."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._by_id: dict[UUID, Episode] = {}
        self._citing: defaultdict[UUID, list[Episode]] = defaultdict(list)
        self._in_thread: defaultdict[UUID, list[Episode]] = defaultdict(list)
        for episode in sorted(episodes, key=lambda one: (one.ended_at, one.recorded_at, one.id)):
            if episode.withdrawn or episode.id in self._by_id:
                continue
            self._by_id[episode.id] = episode
            for source in episode.sources:
                self._citing[source].append(episode)
            if episode.thread is not None:
                self._in_thread[episode.thread].append(episode)

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def of(self, memory: Memory, threads: Collection[UUID]) -> UUID | None:
        """Return the episode to which a memory is linked, given the threads in which it was said;
        None if there is none.

        It is a source of the memory, or else cites most of its sources. Where the memory or the
        episode cites no message, it is the first one that ended after the memory was observed, or
        else the thread's last.
        """
        direct = next((source for source in memory.sources if source in self._by_id), None)
        if direct is not None:
            return direct
        shares = Counter(
            episode.id for source in memory.sources for episode in self._citing.get(source, ())
        )
        if shares:
            # Of equals the one that was first in the book: a later one does not take the link.
            return min(shares, key=lambda id: (-shares[id], self._by_id[id].recorded_at, id))
        beside = [
            episode
            for thread in threads
            for episode in self._in_thread.get(thread, ())
            if not (episode.sources and memory.sources)
        ]
        later = (episode.id for episode in beside if episode.ended_at >= memory.observed_at)
        return next(later, beside[-1].id if beside else None)


def threads_of(memory: Memory, sources: Iterable[Record | None]) -> tuple[UUID, ...]:
    """Return the thread of a memory; if it has none, the threads of its source messages."""
    if memory.thread is not None:
        return (memory.thread,)
    return tuple(dict.fromkeys(source.thread for source in sources if isinstance(source, Message)))
