"""What was said in a run is kept once, in PydanticAI's own form, however the run went."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    BinaryContent,
    BinaryImage,
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope, history
from memoranda.model.records import Trust
from tests.integrations.scripted import COACH, Script, agent_of, call, prompts, said

MONDAY = Scope("ana", "coach", thread="monday")


async def reloaded(book: memoranda.Book, name: str = "monday") -> list[ModelMessage]:
    return await history(await book.thread("ana", name=name, agent="coach"))


def with_tools(script: Script, book: memoranda.Book, **settings: Any) -> Agent[Any, str]:
    agent = agent_of(script, book, MONDAY, **settings)

    @agent.tool_plain
    async def weather(city: str) -> str:
        if city == "Atlantis":
            raise ModelRetry("There is no such city.")
        if city == "Pompeii":
            raise RuntimeError("a secret of the house")
        return f"Sunny in {city}"

    @agent.tool_plain
    async def tides() -> str:
        return "High at noon"

    return agent


async def test_messages_come_back_equal_to_the_originals(book: memoranda.Book) -> None:
    script = Script(
        [ThinkingPart("Where?", signature="s1"), "One moment.", call("weather", city="Atlantis")],
        [call("weather", city="Lisbon"), call("tides"), call("remember", content="Likes Lisbon")],
        "Sunny.",
        "You are welcome.",
    )
    agent = with_tools(script, book)
    image = BinaryImage(b"\x89PNG\x00\xff", media_type="image/png")
    first = await agent.run(["How is the weather?", image])
    second = await agent.run("Thanks!", message_history=await reloaded(book))
    assert await reloaded(book) == second.all_messages()
    assert second.all_messages()[: len(first.all_messages())] == first.all_messages()


async def test_a_test_model_with_every_tool_comes_back_equal(book: memoranda.Book) -> None:
    agent = with_tools(Script(), book)
    with agent.override(model=TestModel(call_tools=["tides", "recall", "search"])):
        result = await agent.run("Go on.")
    assert await reloaded(book) == result.all_messages()


async def test_structured_output_and_its_retries_come_back_equal(book: memoranda.Book) -> None:
    class City(BaseModel):
        name: str
        people: int

    script = Script(
        call("final_result", name="Lisbon"), call("final_result", name="Lisbon", people=5)
    )
    agent = Agent(script.model, output_type=City, capabilities=[Memoranda(book, MONDAY)])
    result = await agent.run("Which city?")
    assert result.output == City(name="Lisbon", people=5)
    assert await reloaded(book) == result.all_messages()
    assert '"people":5' in (await said(book))[-2].content.replace(" ", "")


async def test_who_said_what_has_its_role_and_its_trust(book: memoranda.Book) -> None:
    script = Script([call("weather", city="Lisbon"), call("tides")], "Sunny.")
    await with_tools(script, book).run("How is the weather?")
    assert [(one.role, one.speaker, one.trust, one.content) for one in await said(book)] == [
        ("user", None, Trust.USER, "How is the weather?"),
        ("assistant", None, Trust.ASSISTANT, '(weather {"city": "Lisbon"})\n(tides {})'),
        ("tool", "weather", Trust.TOOL, "Sunny in Lisbon"),
        ("tool", "tides", Trust.TOOL, "High at noon"),
        ("assistant", None, Trust.ASSISTANT, "Sunny."),
    ]


async def test_what_memory_showed_is_no_passage_of_its_own(book: memoranda.Book) -> None:
    await book.remember("ana", "Keeps bees", agent="coach")
    await agent_of(Script(call("recall")), book).run("Go on.")
    assert [one.content for one in await said(book)] == ["Go on.", "(…)", "(…)", "Well."]


async def test_a_streamed_run_is_kept_like_any_other(book: memoranda.Book) -> None:
    agent = with_tools(Script([call("tides")], "It is high at noon"), book)
    async with agent.run_stream("When?") as streamed:
        async for _ in streamed.stream_text():
            pass
        messages = streamed.all_messages()
    assert await reloaded(book) == messages
    assert len(await said(book)) == 4


async def test_a_run_that_is_stepped_through_is_kept_once(book: memoranda.Book) -> None:
    agent = with_tools(Script([call("tides")], "At noon"), book)
    async with agent.iter("When?") as run:
        async for _ in run:
            assert await said(book) == []
    assert run.result is not None
    assert await reloaded(book) == run.result.all_messages()


async def test_a_stream_that_is_left_is_kept_as_far_as_it_came(book: memoranda.Book) -> None:
    agent = with_tools(Script("It is high at noon"), book)
    async with agent.run_stream("When?") as streamed:
        async for _ in streamed.stream_text(delta=True, debounce_by=None):
            break
    assert [one.content.strip() for one in await said(book)] == ["When?", "It"]


async def test_a_run_that_fails_keeps_what_was_said_with_an_answer_to_every_call(
    book: memoranda.Book,
) -> None:
    script = Script(["One moment.", call("weather", city="Pompeii"), call("tides")], "Well then.")
    agent = with_tools(script, book)
    with pytest.raises(RuntimeError, match="secret"):
        await agent.run("How is the weather?")
    kept = await reloaded(book)
    answers = {part.tool_name: part for part in kept[-1].parts if isinstance(part, ToolReturnPart)}
    assert answers["tides"].content == "High at noon"
    assert answers["weather"].outcome == "interrupted"
    assert answers["weather"].content == "No answer: the run ended with RuntimeError."
    assert "secret" not in str(kept)
    result = await agent.run("And now?", message_history=kept)
    assert result.output == "Well then."
    assert await reloaded(book) == result.all_messages()


async def test_a_run_that_is_cancelled_keeps_what_was_said(book: memoranda.Book) -> None:
    asked = asyncio.Event()

    async def never(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    agent = agent_of(Script(), book, MONDAY)
    running = asyncio.create_task(agent.run("When?", model=FunctionModel(never)))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [one.content for one in await said(book)] == ["When?"]
    assert prompts(await reloaded(book)) == ["When?"]


async def test_a_run_that_fails_before_a_model_is_asked_keeps_its_prompt(
    book: memoranda.Book,
) -> None:
    agent = agent_of(Script(), book, MONDAY)

    @agent.instructions
    def broken() -> str:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await agent.run("When?")
    assert [one.content for one in await said(book)] == ["When?"]


async def test_a_run_that_is_made_again_is_there_once(book: memoranda.Book) -> None:
    for answer in ("At noon.", "At one."):
        await agent_of(Script(answer), book, MONDAY).run("When?", run_id="request-7")
    assert [one.content for one in await said(book)] == ["When?", "At noon."]


async def test_a_run_that_failed_and_is_made_again_has_its_prompt_once(
    book: memoranda.Book,
) -> None:
    for answer in (RuntimeError(), RuntimeError(), "At noon."):
        script = Script(answer)
        agent = agent_of(script, book, MONDAY)
        try:
            await agent.run("When?", run_id="request-7")
        except RuntimeError:
            assert isinstance(answer, RuntimeError)
    assert [one.content for one in await said(book)] == ["When?", "At noon."]
    with pytest.raises(RuntimeError):
        await agent_of(Script(RuntimeError()), book, MONDAY).run("When?", run_id="request-7")
    assert len(await said(book)) == 2


async def test_one_run_id_in_two_threads_is_two_runs(book: memoranda.Book) -> None:
    for name in ("monday", "tuesday"):
        await agent_of(Script(), book, Scope("ana", "coach", thread=name)).run("When?", run_id="1")
    assert len(await said(book)) == 4


async def test_a_thread_is_named_by_its_id_or_by_the_conversation(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    await agent_of(Script(), book, Scope("ana", "coach", thread=thread.id)).run("Hello!")
    assert len(await history(thread)) == 2
    agent = agent_of(Script(), book, COACH)
    first = await agent.run("One")
    await agent.run("Two", message_history=first.all_messages())
    conversation = first.all_messages()[0].conversation_id
    assert conversation is not None
    assert prompts(await reloaded(book, conversation)) == ["One", "Two"]


async def test_what_no_book_keeps_is_shortened_and_told(
    book: memoranda.Book, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script([call("weather", city="x" * 2_000_000)], "a\x00b \ud800")
    agent = with_tools(script, book)
    image = BinaryContent(b"x" * 1_500_000, media_type="image/png")
    await agent.run(["Look!", image])
    messages = await said(book)
    assert [one.role for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[0].content == "Look!\n(binary)" and messages[-1].content == "ab ?"
    kept = await reloaded(book)
    assert [type(message) for message in kept] == [
        type(kept[0]),
        ModelResponse,
        type(kept[0]),
        ModelResponse,
    ]
    calls = [part for part in kept[1].parts if isinstance(part, ToolCallPart)]
    answers = [part for part in kept[2].parts if isinstance(part, ToolReturnPart)]
    assert calls[0].tool_call_id == answers[0].tool_call_id
    assert any("shortened form" in record.getMessage() for record in caplog.records)


async def test_more_messages_than_one_call_takes_are_all_kept(tmp_path: Any) -> None:
    limits = memoranda.Limits(batch=3)
    async with memoranda.open(tmp_path / "book.db", limits=limits) as book:
        script = Script([call("tides")], [call("tides")], "At noon.")
        result = await with_tools(script, book).run("When?")
        assert await reloaded(book) == result.all_messages()


async def test_messages_that_came_by_other_ways_have_their_place(book: memoranda.Book) -> None:
    thread = await book.thread("ana", name="monday", agent="coach")
    await thread.append(
        [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hello, Ana."}]
    )
    await thread.append("tool", "seen")
    await agent_of(Script("Well."), book, MONDAY).run("And now?")
    kept = await reloaded(book)
    assert prompts(kept) == ["Hello!", "And now?"]
    assert isinstance(kept[1].parts[0], TextPart) and kept[1].parts[0].content == "Hello, Ana."


async def test_a_part_of_a_message_that_was_forgotten_is_not_there(book: memoranda.Book) -> None:
    script = Script([call("weather", city="Lisbon"), call("tides")], "Sunny.")
    await with_tools(script, book).run("How is the weather?")
    gone = next(one for one in await said(book) if one.speaker == "weather")
    await book.forget("ana", gone.id, as_owner=True)
    kept = await reloaded(book)
    assert "Sunny in" not in str(kept) and "High at noon" in str(kept)
    assert len(kept) == 4


async def test_a_budget_gives_the_newest_turns_and_parts_no_answer_from_its_call(
    book: memoranda.Book,
) -> None:
    agent = with_tools(Script("Hello.", [call("tides")], "At noon."), book)
    await agent.run("Hello! " + "How long is the story? " * 900)
    await agent.run("When?")
    thread = await book.thread("ana", name="monday", agent="coach")
    kept = await history(thread, budget=3000)
    assert prompts(kept) == ["When?"] and len(kept) == 4


async def test_a_memory_may_be_given_to_one_run(book: memoranda.Book) -> None:
    await book.remember("ana", "Keeps bees", agent="coach")
    script = Script(call("recall"))
    agent: Agent[None, str] = Agent(script.model)
    await agent.run("Go on.", capabilities=[Memoranda(book, MONDAY)])
    assert "Keeps bees" in script.told and "Keeps bees" in script.answered[0]
    assert len(await said(book)) == 4
    await agent.run("Go on.")
    assert script.told == "Go on." and len(await said(book)) == 4


async def test_parallel_runs_in_one_thread_stay_whole(book: memoranda.Book) -> None:
    await book.thread("ana", name="monday", agent="coach")
    scripts = [Script([call("tides")], f"Answer {n}") for n in range(6)]
    await asyncio.gather(
        *(with_tools(one, book).run(f"Question {n}") for n, one in enumerate(scripts))
    )
    kept = await reloaded(book)
    runs = [message.run_id for message in kept]
    assert len(kept) == 24 and all(len(set(runs[n : n + 4])) == 1 for n in range(0, 24, 4))
