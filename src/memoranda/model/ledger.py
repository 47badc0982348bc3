"""The ledger: the ordered changes of one owner, without their content; and the receipts of writes
and erasures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from memoranda.errors import NotFound
from memoranda.first_use import dataclass
from memoranda.model.language_models import Usage
from memoranda.model.records import Owner, OwnerKind, Record, RecordType, Trust, View
from memoranda.model.redactions import Erasures as Erasures
from memoranda.model.redactions import Redaction, Trace, Traces
from memoranda.model.values import SIZE


class Verb(StrEnum):
    """The kinds of change to one record, as the ledger stores them."""

    OPEN = "open"
    APPEND = "append"
    REMEMBER = "remember"
    SUPERSEDE = "supersede"
    CONFIRM = "confirm"
    RETRACT = "retract"
    #: A memory left the lists and limits of active ones; and it came back.
    ARCHIVE = "archive"
    RESTORE = "restore"
    AMEND = "amend"
    SHARE = "share"
    SET = "set"
    #: A thread's watermark or summary moved on, and nothing else of it changed.
    FORM = "form"
    PUT = "put"
    PATCH = "patch"
    ADD = "add"
    RETIRE = "retire"
    REVOKE = "revoke"
    UNDO = "undo"
    IMPORT = "import"
    UNSOURCE = "unsource"
    #: A record, or a part of it, was taken out of every read; an undo restores it until it is
    #: erased.
    HIDE = "hide"
    ERASE = "erase"
    #: Parts of a message were taken out for good.
    REDACT = "redact"
    #: A message was removed by age; records derived from it stay.
    AGE = "age"


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change: the owner, an agent, the application, or the book itself."""

    kind: Literal["owner", "agent", "application", "system"] = "application"
    id: str | None = None
    #: The trust with which it acts at most; it is not stored.
    trust: Trust = field(
        default=Trust.OPERATOR, repr=False, compare=False, metadata={"internal": True}
    )


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger entry: a record's versions before and after the change; 0 means that it
    did not exist.
    """

    verb: Verb
    type: RecordType
    id: UUID
    before: int
    after: int
    #: Keyed digest of the version's content; None once it was erased.
    hash: bytes | None = None
    erased: bool = False


#: The note of an entry that language models were asked for, and what that used.
USED = "used"
#: In the note of a forming operation: the version of the prompt that the model answered.
PROMPT = "prompt"
#: In the note of a forming operation: the tokens of the messages that the prompt did not show.
TOKENS_CUT = "tokens_cut"
#: In the note of a forming operation: the place and the code of each part of an answer that was
#: left out.
LEFT_OUT = "left_out"
#: The name in an entry's note of the portable digests of its operation's id and request, in
#: hexadecimal.
OPERATION = "operation"
#: The digest of a request in such a note once something that the operation wrote was erased.
NO_REQUEST = "0" * (2 * SIZE)
#: The note of an entry by which messages left: each thread, and how many of its lines are its
#: messages.
AGED = "aged"
#: The note of an entry that took parts out of messages: each message with the places, as the
#: message was said.
REDACTED = "redacted"
#: The note of an entry whose operation also changed records of other owners: the kind and the id of
#: each, and the position in that ledger.
ALSO = "also"
#: The note of an entry that hid records until somebody decides: true.
HIDDEN = "hidden"

#: Why a part of a model's answer was left out, by its code.
LEFT_OUT_BECAUSE = {
    "agent": "the conversation has no agent that could learn it",
    "audience": "the document has more readers than the conversation",
    "beside": "it says that both hold, so it replaces nothing",
    "bounded": "a temporary statement does not replace a permanent one",
    "claimed": "no user's words say so",
    "content": "its text is missing or too long",
    "context": "it cites a message that was shown as context only",
    "data": "its data does not follow its schema",
    "echo": "it repeats a recalled memory, and no user said it again",
    "field": "it has a field that does not exist",
    "invalid": "it is not valid",
    "key": "its key is too long",
    "kind": "its kind does not exist",
    "line": "a line of experience needs a known field and a text that is not too long",
    "many": "there are more entries than are read",
    "misquoted": "its quote does not occur in the message",
    "older": "what it would replace was said later",
    "partial": "a statement for some occasions does not replace one for others",
    "patch": "the operation cannot be applied to the document",
    "pinned": "a person set this field; only people change it",
    "polarity": "it says the opposite of the cited words, or that what it would replace still holds",
    "quoted": "the user only quotes these words",
    "readers": "a memory for fewer readers replaces none for more",
    "recurring": "a recurring event replaces nothing",
    "refused": "it was refused when it was written, such as by a limit",
    "reported": "what a tool or a web page says of the user has no key",
    "retired": "the agent has the same line, and it was retired",
    "secret": "it tells a secret",
    "shape": "it does not have the form that was asked for",
    "stale": "somebody else changed the same field or memory in the meantime",
    "stranger": "the words of a tool or a web page direct nobody and teach nothing",
    "subject": "it is about another subject than what it would replace, and does not name that",
    "time": "the words of its time could not be read",
    "trust": "what it would replace is more trusted, or comes from another source",
    "unseen": "it answers what the model was not shown of the assistant's turn",
    "unwanted": "the user asked not to keep it",
    "unusable": "nothing of the model's answers could be used; it is asked again, and its messages stay",
    "unasked": "it was not asked for",
    "unknown": "it names something that was not shown",
    "unread": "no rule reads a statement in it: state it with remember, or name a language model in the settings, [models]",
    "unsourced": "it cites no new message that was shown",
}
#: Why a part of a request was left undone; the receipt says it in words.
IGNORED = {
    "self": "a memory cannot supersede itself",
    "unknown": "no memory under this id that this view may see",
    "superseded": "it was superseded before",
    "retracted": "it is not active any more",
    "protected": "an operator or the person wrote it, it is pinned, or it rests on the user's words: less trust does not change it",
    "disputed": "the new statement is disputed, and replaces nothing",
    "readers": "more agents read it than the new statement, which is kept beside it",
    "cycle": "it is the newest memory of a circle of supersessions, and stays",
    "not_formed_again": "the same statement from the same sources was retracted or undone before",
    "pinned": "a person set this field; only people change it",
    "unchanged": "it already has this value",
    "grounded": "it has other sources, and stays",
    "immutable": "an episode cannot be changed",
    "not_a_source": "no active statement was made from it or from what it tells of, so there is nothing to retract",
    "retired": "it was retired, and stays retired",
    "enough": "it has as much evidence as a line keeps",
    "present": "the same record exists already",
    "differs": "another record has this id",
    "place": "another message has its place in the thread",
    "taken": "another record has this key, name or external id",
    "erased": "it was forgotten, and cannot be added again",
    "changed": "it was changed since, and stays as it is",
    "cited": "an active record cites it, so it stays active",
    "not_archived": "it is not archived",
    "empty": "it is empty, and replaces nothing",
    "sourceless": "its sources are not in this book",
    "about": "it tells what others hold about the owner, and is no record of the owner's",
}


@dataclass(frozen=True, slots=True)
class Ignored:
    """A part of a request that was not applied, and the reason; a ``name`` that no record has is in
    the writer's receipt alone.
    """

    #: The place of the change in the request, from 0.
    item: int
    code: str
    id: UUID | None = None
    field: str | None = None
    name: str | None = None

    @property
    def reason(self) -> str:
        """The reason in words."""
        return IGNORED[self.code]


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation on one owner's records."""

    owner: Owner | None
    era: UUID
    position: int
    at: datetime
    actor: Actor
    lines: tuple[Line, ...]
    ignored: tuple[Ignored, ...] = ()
    #: Small facts of the operation itself: what an undo reversed, what an erasure counted.
    note: dict[str, Any] = field(default_factory=dict)
    #: Keyed digests of the operation's id and request; None where no id was given.
    operation: bytes | None = None
    request: bytes | None = None

    def scrubbed(
        self,
        gone: frozenset[UUID] | None,
        stripped: frozenset[UUID] = frozenset(),
        redacted: frozenset[UUID] = frozenset(),
    ) -> Entry:
        """Return the entry without the digests of erased records (None: of all) and of stripped
        ones, which stay.
        """
        about = {line.id for line in self.lines} | {part.id for part in self.ignored}
        touched = about if gone is None else (about & gone) | (about & stripped)
        lines = tuple(
            replace(line, hash=None, erased=line.id not in stripped) if line.id in touched else line
            for line in self.lines
        )
        ignored = tuple(
            replace(part, field=None) if part.id in touched else part for part in self.ignored
        )
        if gone is not None:
            note = self.note
            if OPERATION in note and any(
                line.id in gone or line.id in redacted for line in self.lines
            ):
                # Its key is the operation's id, so whoever knows that could check a guess of what
                # was erased.
                note = {**note, OPERATION: [note[OPERATION][0], NO_REQUEST]}
            return replace(self, lines=lines, ignored=ignored, note=note)
        note = {name: value for name, value in self.note.items() if name not in (OPERATION, ALSO)}
        return replace(self, lines=lines, ignored=ignored, actor=Actor(self.actor.kind), note=note)


def also_of(entry: Entry, tenant: str) -> list[tuple[Owner, int]]:
    """Return the other owners whose records an operation changed, each with the position in that
    ledger; an import may bring a note that no book wrote.
    """
    with suppress(ValueError, TypeError):
        return [
            (Owner(tenant=tenant, kind=OwnerKind(kind), id=id), int(position))
            for kind, id, position in entry.note.get(ALSO, ())
        ]
    return []


def aged_of(entry: Entry) -> dict[UUID, UUID]:
    """Return the messages an entry removed because of their age, each with its thread, in the order
    of the note.
    """
    threads = (UUID(thread) for thread, count in entry.note.get(AGED, ()) for _ in range(count))
    return dict(
        zip((line.id for line in entry.lines if line.verb is Verb.AGE), threads, strict=False)
    )


@dataclass(frozen=True, slots=True)
class ReceiptItem:
    """The change of one record by a write."""

    verb: Verb
    type: RecordType
    id: UUID
    version: int
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a write. When the caller has it, the write is durable."""

    owner: Owner
    #: The operation's place in the owner's ledger; 0 where nothing was applied and none was kept.
    position: int
    at: datetime
    items: tuple[ReceiptItem, ...]
    ignored: tuple[Ignored, ...] = ()
    #: ``stored``: recall finds it by words; ``embedded``: recall finds it by vectors, too. This and
    #: the next are of the moment, not of the ledger: receipts of one operation are equal without
    #: them.
    state: Literal["stored", "embedded"] = field(default="stored", compare=False)
    #: Why passages of this write have no vectors, and are found by their words alone; empty where
    #: nothing is amiss.
    no_vectors_because: str = field(default="", compare=False)
    #: What failed after the commit, and how to complete it; empty if nothing is left.
    left_to_do: str = field(default="", compare=False)
    usage: Usage = field(default_factory=Usage)
    #: The same request had been applied before; this is its first receipt.
    repeated: bool = False
    #: Nothing was written: this is what the write would do.
    dry_run: bool = False

    def __repr__(self) -> str:
        counted = Counter(f"{item.verb.value} {item.type.value}" for item in self.items)
        done = [what if count == 1 else f"{what} ×{count}" for what, count in counted.items()]
        first = f", first id {self.items[0].id}" if self.items else ""
        ignored = "".join(
            f"; ignored: {code}" for code in dict.fromkeys(part.code for part in self.ignored)
        )
        again = ", applied before" if self.repeated else ""
        done = [f"would {what}" for what in done] if self.dry_run else done
        return (
            f"<Receipt for {self.owner}{f' at position {self.position}' if self.position else ''}: "
            f"{', '.join(done) or 'nothing changed'}{first}{f', {self.state}' if done else ''}{again}{ignored}>"
        )

    @property
    def id(self) -> UUID:
        """The id of the record that the write made or changed first, or else of one that it left
        unchanged.
        """
        found = [item.id for item in self.items] or [
            part.id for part in self.ignored if part.id is not None
        ]
        if not found:
            raise NotFound("this write changed nothing; see receipt.ignored")
        return found[0]

    def ids(self, kind: RecordType | str | None = None) -> tuple[UUID, ...]:
        """Return the ids of the written records, of one type or of all."""
        return tuple(item.id for item in self.items if kind is None or item.type == kind)


@dataclass(frozen=True, slots=True)
class Target:
    """The records to erase: some by id (a thread includes everything in it), or all of an
    owner's.
    """

    owner: Owner
    view: View
    actor: Actor
    ids: tuple[UUID, ...] = ()
    everything: bool = False
    #: Remove messages by age: only formed messages are removed, and records derived from them stay.
    ageing: bool = False
    #: Parts of messages to take out, and threads whose summaries and formed titles are emptied;
    #: they stay.
    redactions: tuple[Redaction, ...] = ()
    emptied: tuple[UUID, ...] = ()
    #: The position of the operation that hid what is to be erased now; 0: none.
    hidden: int = 0
    #: True: change nothing, and say what would go. ``expected``: the records that go as far as the
    #: view sees them; None: any.
    dry_run: bool = False
    expected: frozenset[UUID] | None = None


@dataclass(frozen=True, slots=True)
class SeenErasure:
    """The part of an erasure that a view may see: nothing of records of other agents that depended
    on it.
    """

    removed: Mapping[str, int]
    kept: tuple[UUID, ...]
    ids: tuple[UUID, ...]
    superseded: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """The result of an erasure: what was removed, where, and which places may still contain it."""

    owner: Owner
    at: datetime
    #: Place → how many things were removed there.
    removed: Mapping[str, int]
    #: Records that rested on what is gone and on something else, and stay without it.
    kept: tuple[UUID, ...]
    #: ``planned`` after a dry run; ``complete``, or ``pending`` while the engine's own files may
    #: still contain erased data; ``scrub`` completes it.
    state: str
    pending_because: str = ""
    #: Places that still contain it, such as the book's own backups.
    still_in: tuple[str, ...] = ()
    #: What cannot be seen from here.
    unchecked: tuple[str, ...] = ()
    #: Ids that were asked for and had been erased before; ``state`` is of that erasure, too.
    repeated: tuple[UUID, ...] = ()
    ids: tuple[UUID, ...] = ()
    #: The era that ended, where everything went.
    era: UUID | None = None
    #: Older statements that what went had superseded; they stay until they are forgotten too.
    superseded: tuple[UUID, ...] = ()
    #: The parts that were taken out of messages that stay, as places in the messages as they were
    #: said.
    redacted: tuple[Redaction, ...] = ()
    #: What stays and has to do with a forgotten fact, such as somebody else's with the same value,
    #: and how many more texts.
    still_tells: tuple[Trace, ...] = ()
    more: int = 0
    #: Of a dry run: what would go, and the records that would stay without a part, as they would
    #: be.
    plan: Traces | None = None
    left: Mapping[UUID, Record] = field(
        default_factory=dict, repr=False, metadata={"internal": True}
    )
    #: What failed after the commit, and how to complete it; empty if nothing is left.
    left_to_do: str = ""
    #: The part that the target's view may see: what ``as_seen`` takes over. None if the view sees
    #: all of it.
    seen: SeenErasure | None = field(default=None, repr=False, metadata={"internal": True})

    def as_seen(self) -> ErasureReceipt:
        """Return the receipt as the view may read it that asked for the erasure."""
        if self.seen is None:
            return self
        return replace(
            self,
            removed=self.seen.removed,
            kept=self.seen.kept,
            ids=self.seen.ids,
            superseded=self.seen.superseded,
            left={id: record for id, record in self.left.items() if id in self.seen.kept},
            seen=None,
        )

    def __repr__(self) -> str:
        parts = [
            "removed "
            + (", ".join(f"{place} {n}" for place, n in self.removed.items()) or "nothing")
        ]
        parts += [f"{len(self.kept)} kept for other sources"] if self.kept else []
        parts += [f"{len(self.repeated)} forgotten before"] if self.repeated else []
        parts += [f"still in {', '.join(self.still_in)}"] if self.still_in else []
        parts += (
            [f"may still be told by {len(self.still_tells) + self.more}"]
            if self.still_tells
            else []
        )
        return f"<ErasureReceipt for {self.owner}, {self.state}: {'; '.join(parts)}>"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """The result of clearing the engine's own files of erased data."""

    #: Why they may still contain erased data, and what to do; empty if they do not.
    pending_because: str = ""

    @property
    def complete(self) -> bool:
        """True if the files contain nothing that was erased."""
        return not self.pending_because
