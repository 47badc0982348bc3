"""The chatbot: it answers with what is known of the user, and schedules the forming of what was
said.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from memory_service.books import record, thread_of
from memory_service.chat import chat_model
from memory_service.configuration import Configuration

#: The most notes that one answer sees.
_NOTES = 10
#: Seconds that an answer may take before what the user said is formed without it.
_ANSWERING = 60


class State(TypedDict):
    """The messages of one conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


async def answer(
    state: State, config: RunnableConfig, runtime: Runtime[Configuration]
) -> dict[str, Any]:
    """Store what the user said, recall what is known, and answer."""
    chosen = Configuration.of(config, runtime.context)
    thread = await thread_of(chosen.user_id, config["configurable"]["thread_id"])
    # First, so that a crash before the answer leaves no message that would be formed by other
    # types.
    await thread.schedule(after=chosen.delay_seconds + _ANSWERING, schemas=chosen.schemas())
    await record(thread, _newest(state["messages"]))
    known = await recalled(runtime.store, chosen, state["messages"])
    now = f"It is {datetime.now(UTC):%A, %d %B %Y, %H:%M} UTC."
    system = "\n\n".join(filter(None, (chosen.system_prompt, known, now)))
    reply = await chat_model(chosen.model).ainvoke(
        [SystemMessage(system), *state["messages"]], config
    )
    return {"messages": [reply]}


async def schedule(state: State, config: RunnableConfig, runtime: Runtime[Configuration]) -> None:
    """Store the answer, and schedule the forming of the conversation; it replaces what was
    scheduled before.
    """
    chosen = Configuration.of(config, runtime.context)
    thread = await thread_of(chosen.user_id, config["configurable"]["thread_id"])
    await record(thread, state["messages"][-1:])
    await thread.schedule(after=chosen.delay_seconds, schemas=chosen.schemas())


async def recalled(
    store: BaseStore | None, chosen: Configuration, messages: Sequence[AnyMessage]
) -> str:
    """Return the user's documents, and the notes that fit what was said last, as a block for the
    prompt.
    """
    if store is None:
        return ""
    namespace, said = ("memories", chosen.user_id), _newest(messages)
    names = [one.name for one in chosen.memory_types if one.update_mode == "patch"]
    documents = [await store.aget((*namespace, name), name) for name in names]
    question = "\n".join(str(message.content) for message in said)[-1000:]
    notes = await store.asearch(namespace, query=question, limit=_NOTES) if question else []
    found = [one for one in documents if one] + [
        note for note in notes if note.key != note.namespace[-1]
    ]
    lines = [
        f"[{one.namespace[-1]}, {one.updated_at:%Y-%m-%d}] {_line(one.value)}" for one in found
    ]
    return (
        "\n".join(["What is known of the user:", "<memories>", *lines, "</memories>"])
        if lines
        else ""
    )


def _line(value: dict[str, Any]) -> str:
    """Return a value on one line, without characters that could end its block."""
    told = "; ".join(f"{name}: {one}" for name, one in value.items() if one not in ("", None, []))
    return " ".join(told.split()).replace("<", "‹").replace(">", "›")


def _newest(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the messages after the last answer."""
    answers = [place for place, one in enumerate(messages) if isinstance(one, AIMessage)]
    return list(messages[answers[-1] + 1 :] if answers else messages)


builder = StateGraph(State, context_schema=Configuration)
builder.add_node(answer)
builder.add_node(schedule)
builder.add_edge(START, "answer")
builder.add_edge("answer", "schedule")
builder.add_edge("schedule", END)
graph = builder.compile(name="chatbot")
