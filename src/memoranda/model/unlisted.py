"""Unlisted sources: a record stores their number and a digest of them, and the table of links
stores their ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeAlias
from uuid import UUID

from pydantic import Field

from memoranda.model.values import Value

#: As many sources does a record, or a value of a profile, list itself.
MOST_LISTED = 8
#: Of more sources, it lists the first and the last ones, and between them the best one.
FIRST, _LAST = 3, 4
_SIZE = 16


def _digest(sources: Iterable[UUID]) -> int:
    return sum(int.from_bytes(blake2b(id.bytes, digest_size=_SIZE).digest()) for id in sources)


class Unlisted(Value):
    """A group of unlisted sources; a record lists its id like a source."""

    id: UUID
    #: How many sources it has.
    count: int = Field(ge=1)
    #: The sum of their digests, by which ``verify`` finds a lost link.
    digest: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: True of the group of what only earlier versions of the record have as sources.
    past: bool = False
    #: The version of the record that changed the group last, and the sources that it added and
    #: dropped. A version that makes a group names none.
    version: int = Field(ge=1)
    added: tuple[UUID, ...] = ()
    dropped: tuple[UUID, ...] = ()

    @classmethod
    def of(
        cls, id: UUID, sources: Collection[UUID], version: int, *, past: bool = False
    ) -> Unlisted:
        """Return a new group of these sources."""
        return cls(
            id=id, count=len(sources), digest=_hex(_digest(sources)), version=version, past=past
        )

    def has(self, sources: Collection[UUID]) -> bool:
        """True if these are the sources of the group."""
        return self.count == len(sources) and self.digest == _hex(_digest(sources))

    def grown(self, sources: Iterable[UUID], version: int) -> Unlisted:
        """Return the group with more sources, which it does not have yet."""
        more = tuple(sources)
        before = self.added if self.version == version else ()
        made_here = self.version == version and not (self.added or self.dropped)
        return self.model_copy(
            update={
                "count": self.count + len(more),
                "digest": _hex(int(self.digest, 16) + _digest(more)),
                "version": version,
                "added": () if made_here else (*before, *more),
                "dropped": self.dropped if self.version == version else (),
            }
        )

    def settled(self, version: int) -> Unlisted:
        """Return the group without an earlier version's additions and removals, for a version that
        did not change it.
        """
        if self.version == version or not (self.added or self.dropped):
            return self
        return self.model_copy(update={"added": (), "dropped": ()})


def _hex(total: int) -> str:
    return f"{total % (1 << 8 * _SIZE):0{2 * _SIZE}x}"


class SourcePage(NamedTuple):
    """A part of the unlisted sources of a record: those among some ids, if given; those after one
    id, up to a limit.
    """

    among: Sequence[UUID] | None = None
    after: UUID = UUID(int=0)
    limit: int = 2**31 - 1


#: All unlisted sources of a record.
ALL_SOURCES = SourcePage()
#: Sources, each after the id of its group.
Grouped: TypeAlias = list[tuple[UUID, UUID]]


def unlisted_of(record: object) -> tuple[Unlisted, ...]:
    """Return the groups of a record's unlisted sources, those of earlier versions as well; most
    records have none.
    """
    found: tuple[Unlisted, ...] = getattr(record, "unlisted", ())
    return found


def are_counted(record: object, members: Mapping[UUID, Collection[UUID]]) -> bool:
    """True if these are the groups of a record's unlisted sources, each with as many and the same
    as the record says.
    """
    groups = unlisted_of(record)
    return members.keys() == {group.id for group in groups} and all(
        g.has(members[g.id]) for g in groups
    )


def with_earlier(groups: tuple[Unlisted, ...], earlier: object) -> tuple[Unlisted, ...]:
    """Return the groups of a next version: its own, and those that only the version before it
    has.
    """
    own = {group.id for group in groups}
    return (*groups, *(group for group in unlisted_of(earlier) if group.id not in own))


def to_list(sources: Sequence[UUID], best: UUID | None) -> tuple[UUID, ...]:
    """Return the sources to list: all where they are few, else the first, the best of those
    between, and the last.
    """
    if len(sources) <= MOST_LISTED:
        return tuple(sources)
    middle = () if best is None else (best,)
    return (*sources[:FIRST], *middle, *sources[-_LAST:])


def between(sources: Sequence[UUID]) -> Sequence[UUID]:
    """Return the sources of which the best one is listed: neither the first ones nor the last
    ones.
    """
    return sources[FIRST:-_LAST] if len(sources) > MOST_LISTED else ()


def listed_again(
    entry: tuple[UUID, ...], groups: MutableMapping[UUID, frozenset[UUID]]
) -> tuple[UUID, ...]:
    """Return an entry that lists as many sources as it should after some were lost: the group gives
    its oldest ones.

    The entry ends with the id of its group, if there is one; a group that is left without sources
    leaves the entry.
    """
    own = next((id for id in entry if id in groups), None)
    if own is None:
        return entry
    listed = [id for id in entry if id != own]
    taken = sorted(groups[own])[: MOST_LISTED - len(listed)]
    groups[own] -= frozenset(taken)
    listed = sorted((*listed, *taken)) if taken else listed
    return (*listed, own) if groups[own] else tuple(listed)
