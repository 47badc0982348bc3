"""The memory service as a graph: it forms a conversation at once, by the memory types of this
request, and says what came of it.
"""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.runtime import Runtime

from memory_service.books import record, thread_of
from memory_service.configuration import Configuration


class State(TypedDict, total=False):
    """A conversation, and what was formed from it."""

    messages: Annotated[list[AnyMessage], add_messages]
    #: The id of the conversation's thread; without it, the thread of this run.
    thread_id: str
    #: Namespace, key and value of each memory that this run wrote or changed.
    written: list[dict[str, Any]]
    #: The trace: what was left out of the model's answer and why, for which memory types, and what
    #: the model used.
    trace: list[dict[str, Any]]


async def form(
    state: State, config: RunnableConfig, runtime: Runtime[Configuration]
) -> dict[str, Any]:
    """Store the messages that are new, form the thread by the memory types of this request, and
    return what was written.
    """
    chosen = Configuration.of(config, runtime.context)
    thread = await thread_of(
        chosen.user_id, state.get("thread_id") or config["configurable"]["thread_id"]
    )
    if state.get("messages"):
        await record(thread, state["messages"])
    formed = (await thread.form(schemas=chosen.schemas())).threads
    for found in formed:
        if found.state != "formed":
            raise RuntimeError(f"the conversation is not formed yet: {found.because}")
    parts = [part for found in formed for part in found]
    written = [item for part in parts for item in part.written]
    return {
        "written": await _items(chosen.user_id, written, runtime),
        "trace": [_trace(part) for part in parts],
    }


async def _items(
    user_id: str, written: list[Any], runtime: Runtime[Configuration]
) -> list[dict[str, Any]]:
    """Return the items that were written, as the store shows them."""
    if runtime.store is None:
        return []
    ids = {str(item.id) for item in written}
    changed = {item.type.value for item in written}
    items = await runtime.store.asearch(("memories", user_id), limit=1000)
    return [
        {"namespace": list(one.namespace), "key": one.key, "value": one.value}
        for one in items
        if one.key in ids or ("profile" in changed and one.key == one.namespace[-1])
    ]


def _trace(part: Any) -> dict[str, Any]:
    return {
        "at": part.at.isoformat(),
        "through": part.through,
        "memory_types": list(part.schemas),
        "written": [
            {"verb": one.verb.value, "type": one.type.value, "id": str(one.id)}
            for one in part.written
        ],
        "left_out": [
            {"part": one.part, "code": one.code, "reason": one.reason} for one in part.left_out
        ],
        "model": part.usage.model_dump(mode="json", exclude_none=True),
    }


builder = StateGraph(State, context_schema=Configuration)
builder.add_node(form)
builder.add_edge(START, "form")
builder.add_edge("form", END)
graph = builder.compile(name="memory_graph")
