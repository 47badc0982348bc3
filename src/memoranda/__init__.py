"""Memoranda: the memory that AI agents can trust."""

from typing import TYPE_CHECKING

from memoranda.package_names import names_of

if TYPE_CHECKING:
    from memoranda.assembly import cancel_copy, copy, open
    from memoranda.book import Book, ThreadHandle
    from memoranda.book.admin.book_copy import CopyReport
    from memoranda.book.nouns.items import ItemPut
    from memoranda.book.verb_fields import EpisodeFields, ToolCallFields
    from memoranda.errors import (
        Busy,
        Conflict,
        Corrupt,
        EmbedderDown,
        EmbeddingFailed,
        Erased,
        HasDependents,
        InvalidInput,
        LimitReached,
        MemorandaError,
        Moved,
        NotABook,
        NotAllowed,
        NotFound,
        OperationReused,
        OutcomeUnknown,
        ReadOnly,
        Stale,
        StorageError,
        StorageFull,
        UnfinishedCopy,
        VersionMismatch,
    )
    from memoranda.installed_version import __version__ as __version__
    from memoranda.model.items import Item
    from memoranda.model.ledger import ErasureReceipt, Receipt
    from memoranda.model.query import Hit, Hits, MissingHit, Page, Why
    from memoranda.model.records import Audience, Limits, Owner, Trust, View
    from memoranda.model.vectors import Embedding
    from memoranda.recall.context.result import Context
    from memoranda.recall.context.turns import Window
    from memoranda.sync import SyncBook, cancel_copy_sync, copy_sync, open_sync
else:
    # A program loads what it uses: a name is imported when it is first used.
    __getattr__, __dir__ = names_of(
        __name__,
        {
            "memoranda.installed_version": "__version__",
            "memoranda.assembly": "cancel_copy copy open",
            "memoranda.book": "Book ThreadHandle",
            "memoranda.book.admin.book_copy": "CopyReport",
            "memoranda.book.nouns.items": "ItemPut",
            "memoranda.book.verb_fields": "EpisodeFields ToolCallFields",
            "memoranda.errors": "Busy Conflict Corrupt EmbedderDown EmbeddingFailed Erased HasDependents InvalidInput LimitReached MemorandaError Moved NotABook NotAllowed NotFound OperationReused OutcomeUnknown ReadOnly Stale StorageError StorageFull UnfinishedCopy VersionMismatch",
            "memoranda.model.items": "Item",
            "memoranda.model.ledger": "ErasureReceipt Receipt",
            "memoranda.model.query": "Hit Hits MissingHit Page Why",
            "memoranda.model.records": "Audience Limits Owner Trust View",
            "memoranda.model.vectors": "Embedding",
            "memoranda.recall.context.result": "Context",
            "memoranda.recall.context.turns": "Window",
            "memoranda.sync": "SyncBook cancel_copy_sync copy_sync open_sync",
        },
    )

__all__ = [
    "Audience",
    "Book",
    "Busy",
    "Conflict",
    "Context",
    "CopyReport",
    "Corrupt",
    "EmbedderDown",
    "Embedding",
    "EmbeddingFailed",
    "EpisodeFields",
    "Erased",
    "ErasureReceipt",
    "HasDependents",
    "Hit",
    "Hits",
    "InvalidInput",
    "Item",
    "ItemPut",
    "LimitReached",
    "Limits",
    "MemorandaError",
    "MissingHit",
    "Moved",
    "NotABook",
    "NotAllowed",
    "NotFound",
    "OperationReused",
    "OutcomeUnknown",
    "Owner",
    "Page",
    "ReadOnly",
    "Receipt",
    "Stale",
    "StorageError",
    "StorageFull",
    "SyncBook",
    "ThreadHandle",
    "ToolCallFields",
    "Trust",
    "UnfinishedCopy",
    "VersionMismatch",
    "View",
    "Why",
    "Window",
    "cancel_copy",
    "cancel_copy_sync",
    "copy",
    "copy_sync",
    "open",
    "open_sync",
]
