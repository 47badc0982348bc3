"""Commonplace: the memory that AI agents can trust."""

from commonplace.assembly import open
from commonplace.book import Book, ThreadHandle
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
    NotABook,
    NotAllowed,
    NotFound,
    OperationReused,
    OutcomeUnknown,
    ReadOnly,
    Stale,
    StorageError,
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
from commonplace.sync import SyncBook, open_sync

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
    "VersionMismatch",
    "View",
    "Why",
    "Window",
    "open",
    "open_sync",
]
