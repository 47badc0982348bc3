"""The SDK's own client calls the five tools of an agent."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from memoranda.errors import InvalidInput
from memoranda.mcp_server.agent_tools import ShortIds, short
from memoranda.mcp_server.asker import Asker, Whose
from memoranda.secrets.modes import SecretsMode
from tests.mcp_server.asked_tools import asking


async def test_five_tools_cost_a_model_at_most_600_tokens_and_1200_on_the_wire(book):
    async with asking(book) as tools:
        listed = await tools.client.list_tools()
    wire = listed.model_dump_json(by_alias=True, exclude_none=True)
    model = [json.dumps([one.name, one.description, one.input_schema]) for one in listed.tools]
    assert [one.name for one in listed.tools] == ["remember", "recall", "context", "why", "forget"]
    assert len(wire.encode()) / 4 <= 1200
    assert sum(len(one.encode()) for one in model) / 4 <= 600


async def test_every_tool_says_what_it_changes_and_what_it_returns(book):
    async with asking(book) as tools:
        listed = {one.name: one for one in (await tools.client.list_tools()).tools}
    reading = [name for name, one in listed.items() if one.annotations.read_only_hint]
    assert all(one.output_schema for one in listed.values())
    assert reading == ["recall", "context", "why"]
    assert listed["forget"].annotations.destructive_hint


async def test_what_is_remembered_is_recalled_explained_corrected_and_forgotten(book):
    async with asking(book) as tools:
        kept = await tools("remember", content="Ann deploys on Fridays", key="deploy day")
        assert 8 <= len(kept["id"]) < 20
        newer = await tools("remember", content="Ann deploys on Mondays", replaces=kept["id"])
        found = (await tools("recall", query="when does Ann deploy?"))["found"]
        assert found[0]["terms"].startswith("words ")
        assert [(one["id"], one["text"]) for one in found] == [
            (newer["id"], "deploy day: Ann deploys on Mondays")
        ]
        assert "Mondays" in (await tools("context", query="deploy"))["text"]
        assert (await tools("why", id=kept["id"]))["status"] == "superseded"
        assert "Taken out" in (await tools("forget", id=newer["id"]))["status"]
        assert (await tools("recall", query="deploy"))["found"] == []


async def test_an_id_that_a_model_invents_replaces_nothing_and_is_named(book):
    async with asking(book) as tools:
        for invented in ("abc-123", "my_memory", "0198c2d4-7d61-7f7a-8f6f-3a3e4a1b2c3d"):
            kept = await tools("remember", content=f"Ann owns {invented}", replaces=invented)
            assert (
                kept["status"] == f"stored; nothing was replaced: no memory has the id {invented}"
            )
        assert len((await tools("recall"))["found"]) == 3


async def test_an_answer_is_bounded_and_a_cursor_continues_it(book):
    async with asking(book) as tools:
        for number in range(5):
            await tools("remember", content=f"Rule {number} of the house")
        first = await tools("recall", query="rule of the house", limit=3)
        rest = await tools("recall", query="rule of the house", limit=3, cursor=first["cursor"])
        assert len(first["found"]) == 3
        assert len({one["id"] for one in first["found"] + rest["found"]}) == 5
        assert rest["cursor"] is None
        assert "repeat the query" in await tools.refused(
            "recall", query="other", cursor=first["cursor"]
        )


async def test_a_long_text_is_cut_to_the_part_that_answers(book):
    async with asking(book) as tools:
        await tools("remember", content=f"{'A word. ' * 55}The cellar is dry. {'A word. ' * 55}")
        text = (await tools("recall", query="cellar"))["found"][0]["text"]
        assert "The cellar is dry." in text and len(text) <= 502
        assert text[0] == text[-1] == "…"


async def test_confidence_tells_what_answers_from_what_does_not(book):
    async with asking(book) as tools:
        for content in (
            "The spare key hangs behind the red lantern",
            "Ann likes tea",
            "The gate is blue",
        ):
            await tools("remember", content=content)
        answered = (await tools("recall", query="where does the spare key hang?"))["found"][0][
            "confidence"
        ]
        unanswered = (await tools("recall", query="which bank gave the red loan?"))["found"][0][
            "confidence"
        ]
        assert 1 > answered > unanswered > 0
        assert {one["confidence"] for one in (await tools("recall"))["found"]} == {None}


async def test_a_short_id_is_found_by_another_session(book):
    async with asking(book) as one:
        kept = await one("remember", content="Ann likes tea")
    async with asking(book) as other:
        assert (await other("why", id=f"[{kept['id'].upper()}]"))["text"] == "Ann likes tea"


def test_a_short_id_never_reads_as_a_number():
    # Inspector sends 96466e85 as 9.6466e+89.
    for digits in ("0198c2d47d617f7a8f6f3a3c96466e85", "0198c2d47d617f7a8f6f3b3412345678"):
        id = UUID(digits)
        with pytest.raises(ValueError):
            float(short(id))
        assert digits.endswith(short(id))
    assert short(UUID("0198c2d47d617f7a8f6f3a3a4a1b2c3d")) == "4a1b2c3d"


async def test_a_short_id_that_stands_for_two_records_is_refused_with_both():
    ids = ["0190aaaa-0000-7000-8000-00001234abcd", "0190bbbb-0000-7000-8000-11111234abcd"]

    class Guard:
        secrets: SecretsMode = "hide"

        async def call(self, verb, /, **arguments):
            assert verb == "records.list"
            records = [type("Record", (), {"id": UUID(one)}) for one in ids]
            return type("Page", (), {"records": records, "cursor": None})

    with pytest.raises(InvalidInput) as refused:
        await ShortIds().resolved(Asker(Guard(), Whose("ann", "coder")), "1234abcd")
    assert all(one in str(refused.value) for one in ids)


async def test_a_mistake_is_answered_with_its_cure(book):
    async with asking(book) as tools:
        assert "call recall" in await tools.refused("forget", id="00000000")
        assert "give one that recall showed" in await tools.refused("why", id="the tea one")
        assert "1000" in await tools.refused("remember", content="x" * 5000)


async def test_agents_of_one_project_share_what_is_remembered_for_its_group(book):
    async with (
        asking(book, Whose("ann", "claude-code", groups=("shop",), audience="group")) as one,
        asking(book, Whose("ann", "cursor", groups=("shop",), audience="group")) as other,
        asking(book, Whose("ann", "cursor", groups=("bakery",), audience="group")) as stranger,
    ):
        kept = await one("remember", content="The tests run with make check")
        assert len((await other("recall", query="tests"))["found"]) == 1
        assert (await stranger("recall", query="tests"))["found"] == []
        assert "no memory has the id" in await stranger.refused("why", id=kept["id"])


async def test_a_model_cannot_name_another_owner(book):
    await book.remember("bob", "Bob has a secret garden")
    async with asking(book) as tools:
        for arguments in ({"query": "secret garden", "owner": "bob"}, {"owner": "bob"}):
            assert "unknown argument 'owner'." in await tools.refused("recall", **arguments)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("recall", {"question": "tea"}), "unknown argument 'question'; did you mean 'query'? recall takes query, limit, cursor"),
        (("remember", {"text": "x"}), "unknown argument 'text'; did you mean 'content'? remember takes content, kind, key, replaces"),
        (("remember", {"content": "x", "trust": "operator"}), "unknown argument 'trust'. remember takes content, kind, key, replaces"),
        (("remember", {"content": "x", "replace": "00000000"}), "unknown argument 'replace'; did you mean 'replaces'? "),
        (("context", {"question": "x"}), "unknown argument 'question'; did you mean 'query'? "),
        (("why", {"memory_id": "x"}), "unknown argument 'memory_id'; did you mean 'id'? why takes id"),
        (("forget", {"id": "x", "y" * 900: 1}), f"unknown argument '{'y' * 60}'. forget takes id"),
        (("remember", {}), "the argument 'content' is missing; give a text"),
        (("remember", {"content": None}), "content: null is not a text"),
        (("remember", {"content": ["a"] * 900}), "content: [\"a\", "),
        (("remember", {"content": "x", "kind": "secret"}), "kind: \"secret\" is not one of fact, preference, instruction, "),
        (("recall", {"limit": 1000}), "limit: 1000 is not a whole number from 1 to 50"),
        (("recall", {"limit": "many"}), "limit: \"many\" is not a whole number from 1 to 50"),
        (("search_user_memories", {"userId": "ann", "question": "tea"}), "did you mean 'query'? search_user_memories takes userId, query"),
        (("list_user_memories", {"user_id": "ann"}), "unknown argument 'user_id'; did you mean 'userId'? "),
        (("list_user_memories", {"userId": "ann", "limit": "x"}), "limit: \"x\" is not a whole number"),
        (("finish_forgetting", {"userId": "ann"}), "the argument 'position' is missing; give a whole number"),
    ],
)  # fmt: skip
async def test_wrong_arguments_are_refused_with_the_right_ones_and_nothing_is_done(
    book, call, said
):
    async with asking(book, admin=True) as tools:
        name, arguments = call
        text = await tools.refused(name, **arguments)
        assert text.startswith(f"Error executing tool {name}: ") and said in text
        assert (
            len(text) < 250
            and "pydantic" not in text
            and "http" not in text
            and "validation" not in text
        )
        assert await book.records.count("ann", as_owner=True) == 0


async def test_no_tool_takes_an_argument_that_it_does_not_list(book):
    async with asking(book, admin=True) as tools:
        for tool in (await tools.client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False
            given = dict.fromkeys([*tool.input_schema["properties"], "sudo"], "x")
            assert "unknown argument 'sudo'" in await tools.refused(tool.name, **given)


async def test_resources_and_the_prompt_show_what_is_known(book):
    async with asking(book) as tools:
        await tools("remember", content="Ann likes tea")
        read = await tools.client.read_resource("memoranda://memories")
        assert "Ann likes tea" in read.contents[0].text
        assert (await tools.client.read_resource("memoranda://profile")).contents[0].text == "{}"
        await book.profiles.patch(
            "ann", {"interests": ["tea"], "city": "Ulm"}, audience="global", as_owner=True
        )
        of_the_agent = {"city": "Graz", "pets": "a cat"}
        await book.profiles.patch("ann", of_the_agent, agent="coder", audience="self")
        shown = json.loads(
            (await tools.client.read_resource("memoranda://profile")).contents[0].text
        )
        # What Ann set herself is read before what an agent wrote.
        assert shown == {"Profile": {"interests": ["tea"], "city": "Ulm", "pets": "a cat"}}
        asked = await tools.client.get_prompt("what_do_you_know_about_me")
        assert "Ann likes tea" in asked.messages[0].content.text
