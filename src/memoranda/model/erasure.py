"""Erasure: what is to be forgotten, and what forgetting did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memoranda.model.ledger import Actor
from memoranda.model.owner import Owner, View


@dataclass(frozen=True, slots=True)
class Target:
    """The records to erase: some by id (a thread includes everything in it), or all of an owner's."""

    owner: Owner
    view: View
    actor: Actor
    ids: tuple[UUID, ...] = ()
    everything: bool = False
    #: Remove messages by age: only formed messages are removed, and records derived from them stay.
    ageing: bool = False


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """The result of an erasure: what was removed, where, and which places may still contain it."""

    owner: Owner
    at: datetime
    #: Place → how many things were removed there.
    removed: Mapping[str, int]
    #: Records that rested on what is gone and on something else, and stay without it.
    kept: tuple[UUID, ...]
    #: ``complete``, or ``pending`` while the engine's own files may still contain erased data; ``scrub`` completes it.
    state: str
    pending_because: str = ""
    #: Places that still contain it, such as the book's own backups.
    still_in: tuple[str, ...] = ()
    #: What cannot be seen from here.
    unchecked: tuple[str, ...] = ()
    #: Ids that were asked for and are not there for this view.
    not_found: tuple[UUID, ...] = ()
    #: Every record that went, by id.
    ids: tuple[UUID, ...] = ()
    #: The era that ended, where everything went.
    era: UUID | None = None
    #: Older statements that what went had superseded; they stay until they are forgotten too.
    superseded: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """The result of clearing the engine's own files of erased data."""

    #: Why they may still contain erased data, and what to do; empty if they do not.
    pending_because: str = ""

    @property
    def complete(self) -> bool:
        """True if the files contain nothing that was erased."""
        return not self.pending_because


@dataclass(frozen=True, slots=True)
class Erasures:
    """The erasures of a book: whole eras, and single records."""

    eras: tuple[UUID, ...] = ()
    records: tuple[UUID, ...] = ()
