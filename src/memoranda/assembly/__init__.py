"""Wires a book from what is configured; no other room knows engines, embedders and models together."""

from memoranda.assembly.copying import copy, give_up_copy
from memoranda.assembly.engines import MEMORY, open_engine, read_address
from memoranda.assembly.opening import Opening, RecallSettings, open
from memoranda.assembly.upkeep import upkeep

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
