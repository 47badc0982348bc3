"""Wires a book from what is configured; no other room knows engines, embedders and models together."""

from commonplace.assembly.copying import copy
from commonplace.assembly.engines import open_engine
from commonplace.assembly.opening import Opening, RecallSettings, open
from commonplace.assembly.upkeep import upkeep

__all__ = ["Opening", "RecallSettings", "copy", "open", "open_engine", "upkeep"]
