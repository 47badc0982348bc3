"""A graph that stores what a user says and answers with the notes that fit; ``langgraph dev``
serves it, without a key.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore


class State(TypedDict):
    """The state of the graph: the user's message and the notes found for it."""

    said: str
    notes: list[str]


async def note(state: State, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
    """Store what was said, and return the user's notes."""
    namespace = ("notes", config["configurable"]["user_id"])
    await store.aput(namespace, state["said"], {"text": state["said"]})
    return {"notes": [item.key for item in await store.asearch(namespace, query=state["said"])]}


builder = StateGraph(State)
builder.add_node("note", note)
builder.add_edge(START, "note")
graph = builder.compile()
