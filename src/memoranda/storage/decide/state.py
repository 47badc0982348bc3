"""The state of a batch while it is decided, and the digests that recognise a repeated request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoranda.errors import Conflict, Erased, InvalidInput, NotFound, OperationReused, Stale
from memoranda.model.changes import Batch, JobDraft
from memoranda.model.items import Item
from memoranda.model.language_models import Usage
from memoranda.model.ledger import (
    NO_REQUEST,
    OPERATION,
    USED,
    Actor,
    Entry,
    Ignored,
    Line,
    Receipt,
    ReceiptItem,
    Verb,
)
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.records import Owner, Record, owner_digest_parts
from memoranda.model.values import gone, keyed, micros, operation_key
from memoranda.storage.questions import EndOf, Holders, Load, ThreadEnd
from memoranda.storage.use_case import Deciding, ask


@dataclass(frozen=True, slots=True)
class OperationDigests:
    """The digests of an operation id and its request."""

    id: bytes
    request: bytes
    #: The digests that the book stores if another book applied the operation.
    brought_id: bytes
    brought_request: bytes
    #: The digests that go into exports: each book understands them, but only with the operation id
    #: itself.
    portable: tuple[bytes, bytes]

    def is_of(self, entry: Entry) -> bool:
        """True if the entry was made by the same request."""
        return entry.request == (self.brought_request if self._is_brought(entry) else self.request)

    def is_erased_in(self, entry: Entry) -> bool:
        """True if another book applied the operation, and something that it wrote was erased."""
        return self._is_brought(entry) and NO_REQUEST in entry.note.get(OPERATION, ())

    def _is_brought(self, entry: Entry) -> bool:
        return entry.operation == self.brought_id


def operation_of(secret: bytes, owner: Owner, operation: str, request: bytes) -> OperationDigests:
    """Return the digests of an operation id and its request."""
    key = operation_key(operation.encode())
    portable = keyed(key, "operation"), keyed(key, "request", request)
    return OperationDigests(
        # Under the book's key, so that they reveal nothing without it.
        keyed(secret, "operation", owner_digest_parts(owner), operation.encode()),
        keyed(secret, "request", request),
        *brought(secret, owner, portable),
        portable,
    )


def actors_operation(operation: str, actor: Actor) -> str:
    """Return the id under which an actor's operation is stored if another actor used the same id
    before.
    """
    return "\0".join((operation, actor.kind, actor.id or ""))


def brought(secret: bytes, owner: Owner, portable: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Return the digests under which a book stores an operation that another book applied."""
    id, request = portable
    return keyed(secret, "brought op", owner_digest_parts(owner), id), keyed(
        secret, "brought request", request
    )


def repeated(entry: Entry, owner: Owner, operation: OperationDigests, *, ended: bool) -> Receipt:
    """Return the first receipt of a repeated operation; raise an error if it may not be
    repeated.
    """
    if ended:
        raise Erased(
            "this operation was applied before its owner was erased; it cannot be applied again"
        )
    if operation.is_erased_in(entry):
        raise Erased(
            "something that this operation wrote was forgotten; it cannot be written again"
        )
    if not operation.is_of(entry):
        raise OperationReused(
            "this operation id belongs to another request; use a new id for a new request"
        )
    if entry.lines and all(line.erased for line in entry.lines):
        raise Erased("what this operation wrote was forgotten; it cannot be written again")
    return receipt_of(entry, owner, repeated=True)


def receipt_of(entry: Entry, owner: Owner, *, repeated: bool = False) -> Receipt:
    """Return the receipt of an entry; it is the same for the first request and every repetition."""
    items = tuple(
        ReceiptItem(line.verb, line.type, line.id, line.after, line.erased) for line in entry.lines
    )
    used = Usage.model_validate(entry.note[USED]) if USED in entry.note else Usage()
    return Receipt(
        owner, entry.position, entry.at, items, entry.ignored, usage=used, repeated=repeated
    )


def refuse_old_era(wanted: UUID | None, era: UUID | None) -> None:
    """Raise ``Erased`` if work was begun before the erasure of its owner."""
    if wanted is not None and wanted != era:
        raise Erased(
            "this work began before its owner's records were erased; it is stopped. Begin again if it is still wanted"
        )


def load_all(ids: Iterable[UUID]) -> Deciding[dict[UUID, Record]]:
    """Return records by id; asks the engine nothing if no id is given."""
    wanted = tuple(dict.fromkeys(ids))
    if not wanted:
        return {}
    return (yield from ask(Load(wanted)))


def load_erasable(ids: Sequence[UUID]) -> Deciding[dict[UUID, Record]]:
    """Return records by id, with stand-ins for those that cannot be read."""
    return (yield from ask(Load(tuple(dict.fromkeys(ids)), damaged=True))) if ids else {}


def holders(records: Iterable[Record]) -> Deciding[dict[bytes, Record]]:
    """Return the stored records that have the unique keys or names of these records now, by
    slot.
    """
    slots = tuple(slot for record in records if (slot := record.slot()) is not None)
    return (yield from ask(Holders(slots))) if slots else {}


def held_gain(before: Record | None, after: Record | None) -> int:
    """Return the difference that a write makes to the owner's count of active memories: -1, 0 or
    1.
    """
    was = isinstance(before, Memory) and before.counts
    now = isinstance(after, Memory) and after.counts
    return int(now) - int(was)


def item_gain(before: Record | None, after: Record | None) -> int:
    """Return the difference that a write makes to the owner's count of items: -1, 0 or 1."""
    return int(_is_item(after)) - int(_is_item(before))


def _is_item(record: Record | None) -> bool:
    return isinstance(record, Item) and not record.withdrawn


@dataclass(slots=True)
class Put:
    """A record to be stored: a new one, or the next version of one that exists."""

    record: Record
    before: Record | None
    verb: Verb
    #: Packed terms of a new passage; those of an existing one stay.
    terms: bytes | None = None
    run: bytes | None = None
    #: Pairs of a group of unlisted sources, and a source that joins or leaves it.
    linked: Sequence[tuple[UUID, UUID]] = ()
    unlinked: Sequence[tuple[UUID, UUID]] = ()


@dataclass(slots=True)
class Decision:
    """The decision about a batch. An engine stores all of it, with a ledger entry made from the
    records to store.
    """

    puts: list[Put] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    #: Thread → the last place given out in it.
    tails: dict[UUID, int] = field(default_factory=dict)
    jobs: tuple[JobDraft, ...] = ()
    note: dict[str, Any] = field(default_factory=dict)

    def lines(self, hashes: Iterable[bytes]) -> tuple[Line, ...]:
        """Return the lines of the batch's ledger entry, given the content hashes of the stored
        records in order.
        """
        return tuple(
            Line(
                put.verb,
                put.record.type,
                put.record.id,
                put.before.version if put.before else 0,
                put.record.version,
                h,
            )
            for put, h in zip(self.puts, hashes, strict=True)
        )


@dataclass(slots=True)
class BatchState:
    """The state of one batch while it is decided: the records it has read, and those it will
    write.
    """

    batch: Batch
    #: The change that is being settled, from 0.
    item: int = 0
    loaded: dict[UUID, Record] = field(default_factory=dict)
    _puts: dict[UUID, Put] = field(default_factory=dict)
    ignored: list[Ignored] = field(default_factory=list)
    tails: dict[UUID, int] = field(default_factory=dict)
    note: dict[str, Any] = field(default_factory=dict)
    _ends: dict[UUID, ThreadEnd] = field(default_factory=dict)
    #: Slot → the record that took it last, on this state.
    _slots: dict[bytes, UUID] = field(default_factory=dict)
    #: Record → the pairs of a group of unlisted sources and a source that this batch links, and
    #: those that it unlinks.
    _links: dict[UUID, tuple[set[tuple[UUID, UUID]], set[tuple[UUID, UUID]]]] = field(
        default_factory=dict
    )

    def current(self, id: UUID) -> Record | None:
        """Return the record with this batch's changes, whether the view may see it or not."""
        put = self._puts.get(id)
        return put.record if put else self.loaded.get(id)

    def fetch(self, ids: Iterable[UUID]) -> Deciding[None]:
        """Load the records that this state does not have yet."""
        missing = [id for id in ids if id not in self.loaded and id not in self._puts]
        self.loaded.update((yield from load_all(missing)))

    def find(self, id: UUID) -> Deciding[Record | None]:
        """Return a record if the batch's view may see it, else None."""
        yield from self.fetch((id,))
        record = self.current(id)
        if record is None or record.withdrawn or gone(record, self.batch.at):
            return None
        if not record.audience.readable_by(self.batch.view):
            return None
        return record

    def need(self, id: UUID, what: type[Record], field: str) -> Deciding[Any]:
        """Return a record of one type that the batch's view may see; raise ``NotFound`` if there is
        none.
        """
        record = yield from self.find(id)
        if not isinstance(record, what):
            name = "record" if what is Record else what.type.value
            raise NotFound(f"{field}: no {name} {id} that this view may see")
        return record

    def verb_of(self, id: UUID) -> Verb | None:
        """Return the verb of this batch's latest write of a record; None if it has not written the
        record.
        """
        put = self._puts.get(id)
        return put.verb if put else None

    def made(self, id: UUID) -> bool:
        """True if this batch creates the record."""
        put = self._puts.get(id)
        return put is not None and put.before is None

    def holder(self, of: Record) -> Deciding[Record | None]:
        """Return the record that has this one's unique key or name now, even one that the view may
        not see.
        """
        slot = of.slot()
        if slot is None:
            return None
        taken = self._puts.get(self._slots[slot]) if slot in self._slots else None
        if taken is not None and taken.record.slot() == slot:
            return taken.record
        stored = (yield from holders((of,))).get(slot)
        if stored is None or stored.id in self._puts:
            return None
        self.loaded[stored.id] = stored
        return stored

    def make(
        self, record: Record, verb: Verb, *, terms: bytes | None = None, run: bytes | None = None
    ) -> None:
        """Add a new record; raise ``Conflict`` if its id exists."""
        if self.current(record.id) is not None:
            raise Conflict(
                f"id: {record.id} is given twice or exists already; let the book make ids"
            )
        if gone(record, self.batch.at):
            raise InvalidInput("expires_at: it has passed; give a later moment", field="expires_at")
        if record.owner is not self.batch.owner:
            record = record.changed(owner=self.batch.owner)
        self.put(record, verb, terms=terms, run=run)

    def put(
        self, record: Record, verb: Verb, *, terms: bytes | None = None, run: bytes | None = None
    ) -> None:
        """Write the next version of a record; its version number and time are set here."""
        slot = record.slot()
        if slot is not None:
            self._slots[slot] = record.id
        earlier = self._puts.get(record.id)
        before = earlier.before if earlier else self.loaded.get(record.id)
        version = before.version + 1 if before else 1
        if record.version != version or record.recorded_at != self.batch.at:
            record = record.changed(version=version, recorded_at=self.batch.at)
        if groups := getattr(record, "unlisted", ()):
            record = record.changed(unlisted=tuple(group.settled(version) for group in groups))
        if earlier is not None:
            earlier.record = record
            earlier.verb = verb if before else earlier.verb
        else:
            self._puts[record.id] = Put(record, before, verb, terms, run)

    def keep(self, record: Record, terms: bytes | None) -> None:
        """Write an imported record with its own version and times."""
        slot = record.slot()
        if slot is not None:
            self._slots[slot] = record.id
        self._puts[record.id] = Put(record, None, Verb.IMPORT, terms)

    def puts(self) -> list[Put]:
        """Return the writes of this batch so far."""
        for id, (linked, unlinked) in self._links.items():
            if id in self._puts:
                self._puts[id].linked, self._puts[id].unlinked = sorted(linked), sorted(unlinked)
        return list(self._puts.values())

    def next_version(self, id: UUID) -> int:
        """Return the version that this batch gives to a record."""
        put = self._puts.get(id)
        if put is not None:
            return put.record.version
        return self.loaded[id].version + 1 if id in self.loaded else 1

    def link(self, record: UUID, group: UUID, sources: Iterable[UUID]) -> None:
        """Add sources to a group of unlisted sources of a record."""
        linked, unlinked = self._links.setdefault(record, (set(), set()))
        for source in sources:
            linked.add((group, source))
            unlinked.discard((group, source))

    def unlink(self, record: UUID, group: UUID, sources: Iterable[UUID]) -> None:
        """Remove sources from a group of unlisted sources of a record."""
        linked, unlinked = self._links.setdefault(record, (set(), set()))
        for source in sources:
            unlinked.add((group, source))
            linked.discard((group, source))

    def links_of(self, record: UUID) -> tuple[set[tuple[UUID, UUID]], set[tuple[UUID, UUID]]]:
        """Return the pairs of a group and a source that this batch has linked to a record so far,
        and those it has unlinked.
        """
        return self._links.get(record, (set(), set()))

    def ignore(self, code: str, id: UUID | None = None, field: str | None = None) -> None:
        """Skip a part of the current change, and report it in the receipt."""
        self.ignored.append(Ignored(self.item, code, id, field))

    def end_of(self, thread: UUID) -> Deciding[ThreadEnd | None]:
        """Return the end of a thread that the batch's view may see; None if there is no such
        thread.
        """
        end = self._ends.get(thread)
        if end is None:
            made = self.current(thread)
            if isinstance(made, Thread) and self.made(thread):
                ends = None if made.expires_at is None else micros(made.expires_at)
                end = ThreadEnd(made.audience, made.agent, 0, ends)
            else:
                end = yield from ask(EndOf(thread))
            if end is None or not end.audience.readable_by(self.batch.view):
                return None
            self._ends[thread] = end
        return end

    def next_place(self, thread: UUID, end: ThreadEnd) -> int:
        """Reserve the next place (position of a message) in a thread."""
        place = self.tails.get(thread, end.tail) + 1
        self.tails[thread] = place
        return place

    def check_expectations(self) -> Deciding[None]:
        """Raise ``Stale`` if the versions or thread ends that the caller has read have changed."""
        expect = self.batch.expect
        yield from self.fetch(expect.versions)
        for id, version in expect.versions.items():
            record = yield from self.find(id)
            if record is None or record.version != version:
                now = "gone" if record is None else f"at version {record.version}"
                raise Stale(
                    f"record {id} was expected at version {version} and is {now}; read it again, then decide"
                )
        for thread, last in expect.last.items():
            end = yield from self.end_of(thread)
            if end is None:
                raise Stale(
                    f"thread {thread} was expected to end at message {last} and does not exist any more; begin a new one"
                )
            tail = end.tail
            if tail != last:
                raise Stale(
                    f"thread {thread} was expected to end at message {last} and ends at {tail}; "
                    "read its newest messages, then decide"
                )
