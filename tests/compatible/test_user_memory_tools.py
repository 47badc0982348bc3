"""Tests of EDDI's tools for an administrator, and their rights."""

from __future__ import annotations

from memoranda.access.principal import Principal
from memoranda.mcp_server.asker import Whose
from memoranda.operations import Role
from tests.mcp_server.asked_tools import asking

OF_EDDI = {
    "list_user_memories",
    "get_visible_memories",
    "search_user_memories",
    "get_memory_by_key",
    "count_user_memories",
    "run_dream",
    "upsert_user_memory",
    "delete_user_memory",
    "delete_all_user_memories",
    "delete_user_data",
    "export_user_data",
}


async def test_an_administrator_has_the_tools_of_eddi_and_finish_forgetting(book):
    async with asking(book, admin=True) as tools:
        names = {one.name for one in (await tools.client.list_tools()).tools}
    assert names == OF_EDDI | {
        "finish_forgetting",
        "remember",
        "recall",
        "context",
        "why",
        "forget",
    }


async def test_entries_are_stored_found_replaced_and_deleted(book):
    bob = {"userId": "bob"}
    async with asking(book, admin=True) as tools:
        made = await tools("upsert_user_memory", **bob, key="color", value="blue", agentId="bot")
        again = await tools("upsert_user_memory", **bob, key="color", value="red", agentId="bot")
        assert (made["status"], made["id"]) == ("upserted", again["id"])
        await tools(
            "upsert_user_memory", **bob, key="town", value="Ulm", agentId="x", visibility="global"
        )
        assert (await tools("get_memory_by_key", **bob, key="color"))["value"] == "red"
        assert (await tools("count_user_memories", **bob))["count"] == 2
        assert (await tools("list_user_memories", **bob, limit=1))["count"] == 1
        seen = await tools("get_visible_memories", **bob, agentId="x")
        assert [one["key"] for one in seen["memories"]] == ["town"]
        assert (await tools("search_user_memories", **bob, query="RED"))["count"] == 1
        assert (await tools("delete_user_memory", entryId=made["id"]))["status"] == "deleted"
        assert "No memory with key 'color'" in await tools.refused(
            "get_memory_by_key", **bob, key="color"
        )
        assert (await tools("delete_all_user_memories", **bob, confirmation="CONFIRM"))[
            "entriesDeleted"
        ] == 1


async def test_what_cannot_be_undone_needs_the_word_confirm(book):
    await book.remember("bob", "Bob likes tea")
    async with asking(book, admin=True) as tools:
        for name in ("delete_all_user_memories", "delete_user_data"):
            assert "confirmation='CONFIRM'" in await tools.refused(
                name, userId="bob", confirmation="yes"
            )
        assert await book.records.count("bob") == 1
        assert (await tools("export_user_data", userId="bob"))["records"][0][
            "content"
        ] == "Bob likes tea"
        assert (await tools("delete_user_data", userId="bob", confirmation="CONFIRM"))[
            "recordsDeleted"
        ] == 1
        assert await book.records.count("bob") == 0


async def test_without_the_role_the_tools_refuse_and_tell_nothing(book):
    await book.remember("bob", "Bob likes tea")
    weak = Principal("weak", book.tenant, Role.EDITOR, frozenset({"ann"}))
    async with asking(book, Whose("ann", "coder"), principal=weak, admin=True) as tools:
        for user in ("bob", "nobody"):
            text = await tools.refused("list_user_memories", userId=user)
            assert text.endswith(f"there is no owner {user} for this credential")
        assert "administrator's credential" in await tools.refused(
            "list_user_memories", userId="ann"
        )
