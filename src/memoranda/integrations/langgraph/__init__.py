"""The store of LangGraph and everything built on it, over a book: items with history, undo,
isolation and erasure.
"""

from __future__ import annotations

from memoranda.errors import installing

try:
    import langgraph.store.base  # noqa: F401
except ImportError as exc:
    raise ImportError(f"the store of LangGraph needs it: {installing('langgraph')}") from exc

from memoranda.integrations.langgraph.chat_models import ChatModels
from memoranda.integrations.langgraph.formed_memories import FormedMemories
from memoranda.integrations.langgraph.langchain_embedder import LangChainEmbedder
from memoranda.integrations.langgraph.memoranda_store import MemorandaStore, owner_from_run
from memoranda.wire.langgraph_store import OwnerOf, owner_at

__all__ = [
    "ChatModels",
    "FormedMemories",
    "LangChainEmbedder",
    "MemorandaStore",
    "OwnerOf",
    "owner_at",
    "owner_from_run",
]
