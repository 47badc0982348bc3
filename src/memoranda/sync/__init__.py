"""The synchronous book, for programs without an event loop."""

from memoranda.sync.sync_book import SyncBook, cancel_copy_sync, copy_sync, open_sync
from memoranda.sync.sync_parts import (
    SyncAgents,
    SyncEpisodes,
    SyncExperience,
    SyncItems,
    SyncKeys,
    SyncProfiles,
    SyncSchemas,
    SyncThread,
    SyncWorker,
)

__all__ = [
    "SyncAgents",
    "SyncBook",
    "SyncEpisodes",
    "SyncExperience",
    "SyncItems",
    "SyncKeys",
    "SyncProfiles",
    "SyncSchemas",
    "SyncThread",
    "SyncWorker",
    "cancel_copy_sync",
    "copy_sync",
    "open_sync",
]
