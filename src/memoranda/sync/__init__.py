"""The synchronous book, for programs without an event loop."""

from memoranda.sync.sync_book import SyncBook, cancel_copy_sync, copy_sync, open_sync
from memoranda.sync.sync_parts import (
    SyncEpisodes,
    SyncExperience,
    SyncKeys,
    SyncNamed,
    SyncProfiles,
    SyncThread,
)

__all__ = [
    "SyncBook",
    "SyncEpisodes",
    "SyncExperience",
    "SyncKeys",
    "SyncNamed",
    "SyncProfiles",
    "SyncThread",
    "cancel_copy_sync",
    "copy_sync",
    "open_sync",
]
