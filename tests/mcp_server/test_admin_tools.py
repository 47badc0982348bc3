"""Tests of the tool that only an administrator has."""

from __future__ import annotations

from tests.mcp_server.asked_tools import asking


async def test_an_administrator_erases_what_forget_took_out(book):
    async with asking(book, admin=True) as tools:
        kept = await tools("remember", content="Ann lives in Ulm")
        position = (await tools("forget", id=kept["id"]))["position"]
        finish = {"userId": "ann", "position": position}
        assert "confirmation='CONFIRM'" in await tools.refused("finish_forgetting", **finish)
        done = await tools("finish_forgetting", **finish, confirmation="CONFIRM")
        assert done == {"userId": "ann", "recordsDeleted": 1, "status": "erased"}
