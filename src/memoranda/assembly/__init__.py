"""Assembly: builds a book from its settings; only this package knows engines, embedders and models together."""

from memoranda.assembly.book_setup import Opening, RecallSettings, open
from memoranda.assembly.copy_setup import cancel_copy, copy
from memoranda.assembly.engine_addresses import (
    DEFAULT_FILE,
    MEMORY,
    open_engine,
    read_address,
)
from memoranda.assembly.job_handlers import upkeep
from memoranda.assembly.service_setup import service_settings

__all__ = [
    "DEFAULT_FILE",
    "MEMORY",
    "Opening",
    "RecallSettings",
    "cancel_copy",
    "copy",
    "open",
    "open_engine",
    "read_address",
    "service_settings",
    "upkeep",
]
