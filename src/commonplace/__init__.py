"""Commonplace: the memory that AI agents can trust."""

from commonplace.assembly import copy, give_up_copy, open
from commonplace.book import Book, ThreadHandle
from commonplace.book.moving import CopyReport
from commonplace.errors import (
    BuiltUpon,
    Busy,
    CommonplaceError,
    Conflict,
    Corrupt,
    EmbedderDown,
    EmbeddingFailed,
    Erased,
    Full,
    InvalidInput,
    LimitReached,
    Moved,
    NotABook,
    NotAllowed,
    NotFound,
    OperationReused,
    OutcomeUnknown,
    ReadOnly,
    Stale,
    StorageError,
    Unfinished,
    VersionMismatch,
)
from commonplace.model.erasure import ErasureReceipt
from commonplace.model.ledger import Receipt
from commonplace.model.owner import Audience, Owner, View
from commonplace.model.query import Absence, Hit, Page, Recalled, Why
from commonplace.model.trust import Limits, Trust
from commonplace.model.vectors import Embedding
from commonplace.recall.context.compose import Context
from commonplace.recall.context.window import Window
from commonplace.sync import SyncBook, copy_sync, give_up_copy_sync, open_sync

__version__ = "0.1.0.dev0"

__all__ = [
    "Absence",
    "Audience",
    "Book",
    "BuiltUpon",
    "Busy",
    "CommonplaceError",
    "Conflict",
    "Context",
    "CopyReport",
    "Corrupt",
    "EmbedderDown",
    "Embedding",
    "EmbeddingFailed",
    "Erased",
    "ErasureReceipt",
    "Full",
    "Hit",
    "InvalidInput",
    "LimitReached",
    "Limits",
    "Moved",
    "NotABook",
    "NotAllowed",
    "NotFound",
    "OperationReused",
    "OutcomeUnknown",
    "Owner",
    "Page",
    "ReadOnly",
    "Recalled",
    "Receipt",
    "Stale",
    "StorageError",
    "SyncBook",
    "ThreadHandle",
    "Trust",
    "Unfinished",
    "VersionMismatch",
    "View",
    "Why",
    "Window",
    "copy",
    "copy_sync",
    "give_up_copy",
    "give_up_copy_sync",
    "open",
    "open_sync",
]
