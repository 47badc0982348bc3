"""What models read over MCP has masks in place of secrets, unless the setting keeps those."""

from __future__ import annotations

import pytest

import memoranda
from memoranda.mcp_server.asker import Whose
from tests.mcp_server.asked_tools import asking

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SAID = f"My GitHub token is {TOKEN} for the deploy"
#: The token ends behind the 600 characters that a tool shows of a text.
LONG = f"{'Once more. ' * 52}{SAID}"


@pytest.fixture(params=["hide", "keep"])
async def book(request):
    async with memoranda.open("memory://", secrets=request.param, embed=None) as opened:
        yield opened


def seen(book, text):
    assert (TOKEN in text, "ghp_" in text) == ((book.secrets == "keep"),) * 2, text


async def test_why_resources_and_the_prompt_show_secrets_as_the_mode_says(book):
    thread = await book.thread("ann", agent="coder")
    said = (await thread.append("user", SAID)).items[0].id
    kept = (await book.remember("ann", SAID, agent="coder", sources=[said])).items[0].id
    await book.profiles.patch("ann", {"occupation": SAID}, agent="coder", audience="self")
    async with asking(book, Whose("ann", "coder")) as tools:
        why = await tools("why", id=str(kept))
        texts = [why["text"], why["sources"][0]]
        for name in ("profile", "memories"):
            read = await tools.client.read_resource(f"memoranda://{name}")
            texts.append(read.contents[0].text)
        prompt = await tools.client.get_prompt("what_do_you_know_about_me")
        texts += [
            prompt.messages[0].content.text,
            (await tools("recall", query="token"))["found"][0]["text"],
        ]
    for text in texts:
        seen(book, text)


async def test_a_secret_that_the_end_of_a_text_cuts_is_hidden(book):
    kept = (await book.remember("ann", LONG, agent="coder")).items[0].id
    async with asking(book, Whose("ann", "coder")) as tools:
        text = (await tools("why", id=str(kept)))["text"]
    assert ("ghp_" in text) == (book.secrets == "keep")


async def test_tools_of_an_administrator_show_secrets_as_the_mode_says(book):
    bob = {"userId": "bob"}
    await book.items.put("bob", ["notes"], "one", {"text": SAID}, agent="x")
    async with asking(book, admin=True) as tools:
        await tools("upsert_user_memory", **bob, key="token", value=SAID, agentId="x")
        for name, more in (
            ("list_user_memories", {}),
            ("get_visible_memories", {"agentId": "x"}),
            ("search_user_memories", {"query": "github"}),
            ("get_memory_by_key", {"key": "token"}),
            ("export_user_data", {}),
        ):
            seen(book, str(await tools(name, **bob, **more)))
