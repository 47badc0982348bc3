"""Wires a book from what is configured; no other room knows engines, embedders and models together."""

from memoranda.assembly.book_setup import Opening, RecallSettings, open
from memoranda.assembly.copying import copy, give_up_copy
from memoranda.assembly.engine_addresses import MEMORY, open_engine, read_address
from memoranda.assembly.job_handlers import upkeep

__all__ = [
    "MEMORY",
    "Opening",
    "RecallSettings",
    "copy",
    "give_up_copy",
    "open",
    "open_engine",
    "read_address",
    "upkeep",
]
