"""Every error that Memoranda raises, as one tree; each message says what to do next.

MemorandaError
├── InvalidInput            what was given is malformed; ``field`` names the part
│   └── LimitReached        a guardrail or a quota refused the write
├── NotFound                nothing there that this view may see
├── NotAllowed              the view sees it, but may not change it
│   └── Restricted          the processing of this owner's data is restricted
├── Conflict                the write contradicts what is stored
│   ├── Stale               a record or a thread has changed since the caller read it
│   ├── OperationReused     another request already used this operation id
│   └── HasDependents       an undo would break later changes; they are listed
├── Erased                  it was forgotten and cannot be restored
├── EmbeddingFailed         no vectors were computed; recall by words still works
│   ├── EmbedderDown        the provider did not answer
│   └── WeightsUnfit        the local model's files are not the published ones
├── ModelFailed             a language model gave no answer; the work that needs it waits
│   ├── ModelDown           it may answer later; ``retry_after`` says when, if the provider does
│   └── ModelRefused        it will not answer this request until something changes; ``reason`` says what
└── StorageError            the engine could not do its work
    ├── OutcomeUnknown      the write may be stored or not: the server was lost in the commit
    ├── Busy                another process holds the book; try again
    ├── ReadOnly            the book, its folder or its server refuses writes
    │   └── Moved           the book is elsewhere now; ``address`` says where
    ├── UnfinishedCopy      a copy into this book has not ended; finish it, or delete it
    ├── StorageFull         no room left
    ├── Corrupt             the file is damaged
    ├── NotABook            there is something at the address that is not a book
    └── VersionMismatch     the book is newer or older than this program
"""

from __future__ import annotations

from collections.abc import Sequence


def installing(extra: str) -> str:
    """Return the command that installs this package with an extra, for a message. No package index
    has the package.
    """
    return f"pip install 'PATH[{extra}]', PATH being a checkout or a wheel of Memoranda"


def no_such(what: str, name: str, known: Sequence[str]) -> str:
    """Return a message about an argument or a field that there is not, with the nearest one or
    all.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for this message

    near = get_close_matches(name, known, 1, 0.7)
    meant = f"did you mean {near[0]}?" if near else f"give {', '.join(known)}"
    return f"{name}: there is no such {what}; {meant}"


class MemorandaError(Exception):
    """The root: catch it to catch everything that Memoranda raises on purpose."""

    #: A stable word for programs: it is what surfaces translate to exit codes and statuses.
    code = "error"


class InvalidInput(MemorandaError, ValueError):
    """An argument is malformed; nothing was written."""

    code = "invalid"

    def __init__(self, message: str, *, field: str | None = None, item: int | None = None) -> None:
        super().__init__(message)
        #: The part that is wrong, as a path such as ``content`` or ``messages[3].role``.
        self.field = field
        #: The position in a batch, where the call was one.
        self.item = item
        #: In a batch, every item that was refused, this one first.
        self.errors: tuple[InvalidInput, ...] = (self,)


class LimitReached(InvalidInput):
    """A guardrail or a quota refused the write; the message names the limit and the way on."""

    code = "limit"


class NotFound(MemorandaError, LookupError):
    """No record with this id exists, or the view may not see it."""

    code = "not_found"


class NotAllowed(MemorandaError, PermissionError):
    """The view sees the record, but may not change it."""

    code = "not_allowed"


class Restricted(NotAllowed):
    """The processing of this owner's data is restricted: nothing new is stored until that is
    lifted.
    """

    code = "restricted"


class Conflict(MemorandaError):
    """The write contradicts the current state of the book; nothing was written."""

    code = "conflict"


class Stale(Conflict):
    """A record or a thread has moved on since the caller read it: read again, then decide."""

    code = "stale"


class OperationReused(Conflict):
    """This operation id belongs to another request: choose a new id for a new request."""

    code = "operation_reused"


class HasDependents(Conflict):
    """Later changes depend on the operation to undo; undo them together with it, or first."""

    code = "has_dependents"

    def __init__(self, message: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(message)
        #: Ledger positions of the later changes, oldest first.
        self.positions = tuple(positions)


class Erased(MemorandaError):
    """The records that this write belongs to were forgotten; they cannot be restored."""

    code = "erased"


class StorageError(MemorandaError):
    """The engine failed; nothing of the failed write is stored, unless the error says otherwise."""

    code = "storage"


class OutcomeUnknown(StorageError):
    """The server was lost during a commit: all of the write is stored, or nothing. Repeat it with
    the same operation id.
    """

    code = "outcome_unknown"


class Busy(StorageError):
    """Another process locked the book for too long: try again."""

    code = "busy"


class ReadOnly(StorageError):
    """The book, its folder or its server refuses writes."""

    code = "read_only"


class Moved(ReadOnly):
    """The book is being moved or has moved: it takes no more writes here."""

    code = "moved"

    def __init__(self, message: str, address: str = "") -> None:
        super().__init__(message)
        #: Where it is now, without a password.
        self.address = address


class UnfinishedCopy(StorageError):
    """A copy into this book has not finished: run the same copy again, or delete the book."""

    code = "unfinished"


class StorageFull(StorageError):
    """There is no room left where the book lives."""

    code = "full"


class Corrupt(StorageError):
    """Stored data could not be read: verify the book. If it is damaged, restore a backup, or export
    what can still be read.
    """

    code = "corrupt"


class NotABook(StorageError):
    """There is something at this address, and it is not a Memoranda book."""

    code = "not_a_book"


class VersionMismatch(StorageError):
    """The book was written by another version of Memoranda than this program can serve."""

    code = "version"


class EmbeddingFailed(MemorandaError):
    """No vectors were computed. Stored records are safe, and recall by words still works."""

    code = "embedding"


class EmbedderDown(EmbeddingFailed):
    """The provider of the embedding model did not answer, or was too busy: try again later."""


class WeightsUnfit(EmbeddingFailed):
    """The local model's files are not the ones published for this version."""


class ModelFailed(MemorandaError):
    """A language model gave no answer; what is stored is safe, and the work that needs the answer
    waits.
    """

    code = "model"


class ModelDown(ModelFailed):
    """The provider did not answer, or was too busy: ask again later."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        #: Seconds that the provider asks to wait; None where it does not say.
        self.retry_after = retry_after


class ModelRefused(ModelFailed):
    """The provider refuses the request; asking the same again will be refused, too."""

    def __init__(self, message: str, *, reason: str = "request") -> None:
        super().__init__(message)
        #: ``credentials``, ``model`` or ``quota``: everything that this model is asked is refused
        #: until a person acts; ``content``, ``length`` or ``request``: another question may be
        #: answered.
        self.reason = reason
