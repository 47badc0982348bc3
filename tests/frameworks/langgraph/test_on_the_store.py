"""Tests of langmem's tools and deepagents' files on a book, with scripted models."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import StoreBackend
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import memoranda
from memoranda.integrations.langgraph import MemorandaStore, owner_at

with warnings.catch_warnings():
    # langmem and what it stands on import names from where LangGraph no longer wants them.
    warnings.simplefilter("ignore")
    from langmem import create_manage_memory_tool, create_search_memory_tool

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Scripted(GenericFakeChatModel):
    """A chat model with scripted answers that ignores its tools."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call {name}"}])


async def test_langmems_tools_write_find_change_and_delete_memories_in_a_book(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(1))
    namespace = ("memories", "{langgraph_user_id}")
    manage, search = create_manage_memory_tool(namespace), create_search_memory_tool(namespace)
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([manage, search]))
    builder.add_edge(START, "tools")
    graph = builder.compile(store=store)

    async def call(user: str, name: str, **arguments: Any) -> str:
        said = {"messages": [calling(name, **arguments)]}
        done = await graph.ainvoke(said, {"configurable": {"langgraph_user_id": user}})
        return str(done["messages"][-1].content)

    told = await call("ana", "manage_memory", content="Ana is allergic to walnuts", action="create")
    id = told.rpartition(" ")[2]
    await call("ben", "manage_memory", content="Ben loves walnuts", action="create")
    found = json.loads(await call("ana", "search_memory", query="walnuts"))
    assert [(one["key"], one["value"], one["namespace"]) for one in found] == [
        (id, {"content": "Ana is allergic to walnuts"}, ["memories", "ana"])
    ]
    await call(
        "ana", "manage_memory", content="Ana is allergic to all nuts", action="update", id=id
    )
    item = (await book.items.list("ana"))[0]
    assert (item.value, item.version) == ({"content": "Ana is allergic to all nuts"}, 2)
    assert item.created_at < item.updated_at
    await call("ana", "manage_memory", action="delete", id=id)
    assert json.loads(await call("ana", "search_memory", query="nuts")) == []
    assert len(await book.items.list("ben")) == 1


async def test_a_deep_agents_files_are_items_with_history_in_a_book(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(0))

    async def work(user: str, *steps: AIMessage) -> list[str]:
        agent = create_deep_agent(
            model=Scripted(messages=iter([*steps, AIMessage("Done.")])),
            store=store,
            backend=StoreBackend(store=store, namespace=lambda _: (user, "filesystem")),
        )
        done = await agent.ainvoke({"messages": [("user", "Plan the trip.")]})
        return [str(one.content) for one in done["messages"] if one.type == "tool"]

    await work("ana", calling("write_file", file_path="/plan.md", content="1. Oslo\n2. Bergen\n"))
    edit = calling("edit_file", file_path="/plan.md", old_string="Bergen", new_string="Tromsø")
    told = await work(
        "ana", edit, calling("read_file", file_path="/plan.md"), calling("ls", path="/")
    )
    assert "2\tTromsø" in told[1].replace(" ", "") or "Tromsø" in told[1]
    assert "/plan.md" in told[2]
    item = (await book.items.list("ana", ("ana", "filesystem")))[0]
    assert (item.name, item.version) == ("/plan.md", 2)
    assert "Tromsø" in json.dumps(item.value, ensure_ascii=False)
    assert "plan.md" not in "".join(await work("ben", calling("ls", path="/")))
    entries = await book.records.ledger("ana", as_owner=True)
    await book.undo("ana", entries[-1].position)
    before = await book.items.get("ana", item.namespace, item.name)
    assert before is not None and "Bergen" in json.dumps(before.value)
