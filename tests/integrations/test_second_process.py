"""Tests that an agent in a second process knows what the first one was told, before anything is
formed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from tests.integrations.scripted import Script, agent_of

TOLD = ["I'm Ana, I live in Boston and I'm allergic to walnuts.", "I moved to Lisbon last week."]
ASKED = "What may I not eat?"
PROGRAM = """
import asyncio, sys, memoranda
from memoranda.integrations.pydantic_ai import Scope
from memoranda.testing.embedder import StubEmbedder
from tests.integrations.scripted import Script, agent_of

async def main():
    path, how, thread, *prompts = sys.argv[1:]
    async with memoranda.open(path, models=None, embed=StubEmbedder() if how == "meaning" else None) as book:
        script = Script()
        agent, history = agent_of(script, book, Scope("ana", "coach", thread=thread)), []
        for prompt in prompts:
            history = (await agent.run(prompt, message_history=history)).all_messages()
        print(script.told)

asyncio.run(main())
"""


def ran(*given: str) -> str:
    """Return what the model was told last by an agent in a new process."""
    command = [sys.executable, "-c", PROGRAM, *given]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=90).stdout


@pytest.mark.parametrize("how", ["words", "meaning"])
def test_a_second_process_answers_with_what_the_first_was_told(tmp_path: Path, how: str) -> None:
    path = str(tmp_path / "book.db")
    first = ran(path, how, "monday", *TOLD)
    # The model has its own conversation as its history; it is not told again.
    assert first.count("walnuts") == 1 and "other_conversations" not in first
    second = ran(path, how, "friday", ASKED)
    assert second.count("allergic to walnuts") == second.count("moved to Lisbon") == 1
    assert second.index("walnuts") < second.rindex(ASKED)


async def test_the_runs_own_thread_is_not_told_again_in_later_runs(book: memoranda.Book) -> None:
    script = Script("Hello.", "Yes.", "Walnuts.")
    agent = agent_of(script, book)
    history = (await agent.run(TOLD[0])).all_messages()
    await agent.run("Is it Monday?", message_history=history)
    assert "other_conversations" not in script.told
    await agent.run(ASKED)
    assert "<other_conversations>" in script.told and script.told.count("walnuts") == 1
