"""Tests that scheduled work survives a kill before it is formed, in a program and in LangGraph's
server.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

import memoranda

TEMPLATE = Path(__file__).parents[4] / "templates/memory_service"

SAYS = """
import asyncio, os, signal, sys
from langgraph.checkpoint.memory import InMemorySaver
from memory_service import books, chatbot

async def main():
    async with books.make_store() as store:
        bot = chatbot.builder.compile(store=store, checkpointer=InMemorySaver())
        context = {"user_id": "ann", "delay_seconds": 1}
        run = {"configurable": {"thread_id": "talk"}}
        await bot.ainvoke({"messages": [("user", "My name is Bob. Remember that I bake.")]}, run, context=context)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def around(book: Path) -> dict[str, str]:
    """Return the variables of a process of the template over this book."""
    paths = [str(TEMPLATE / "src"), *sys.path]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LANGSMITH", "LANGCHAIN"))
    }
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "MEMORANDA_BOOK": str(book),
        "MEMORY_MODEL": "demo",
    }


async def until(found: Any, seconds: float = 30) -> Any:
    """Return the first answer of a function that is not empty."""
    async with asyncio.timeout(seconds):
        while not (answer := await found()):  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.1)
        return answer


def ends_killed(book: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", SAYS], env=around(book), check=False)
    return done.returncode == -signal.SIGKILL


@pytest.mark.works_by_itself
async def test_what_a_killed_chatbot_scheduled_is_formed_by_the_next_process_by_the_same_types(
    tmp_path: Path,
):
    from memory_service.chat import chat_model  # noqa: PLC0415

    from memoranda.integrations.langgraph import ChatModels  # noqa: PLC0415

    assert await asyncio.to_thread(ends_killed, tmp_path / "book.db")
    # Any process that may form the book does it, here one that knows nothing of the template's
    # graphs.
    async with memoranda.open(tmp_path / "book.db", models=ChatModels(chat_model("demo"))) as book:

        async def formed() -> Any:
            return await book.profiles.get("ann", "User", agent="chatbot")

        assert await until(formed) == {"user_name": "Bob"}
        thread = await book.thread("ann", agent="chatbot", name="talk", audience="global")
        (part,) = await thread.formed()
        assert part.schemas == ("User", "Note") and await thread.scheduled() is None


def _readme(url: str) -> str:
    """Return what the programs of the template's page print, run one after the other against a
    server.
    """
    page = (TEMPLATE / "README.md").read_text("utf-8")
    told = io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(told):
        for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(program.replace("http://127.0.0.1:2024", url), names)
    names["client"].close()
    return told.getvalue()


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Any, subprocess.Popen[bytes]]]:
    """Start ``langgraph dev`` in a copy of the template, and yield its client and its process."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    program = str(Path(sys.executable).parent / "langgraph")
    command = [program, "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(  # noqa: ASYNC220
            command, cwd=folder, env=around(folder / "book.db"), stdout=log, stderr=log
        )
    client = get_client(url=f"http://127.0.0.1:{port}", api_key=None)
    try:

        async def answers() -> bool:
            try:
                return bool(await client.assistants.search())
            except OSError:
                return False
            except Exception as exc:
                if "Connect" in type(exc).__name__ or "Read" in type(exc).__name__:
                    return False
                raise

        await until(answers, 120)
        yield client, process
    finally:
        await client.aclose()
        process.kill()
        await asyncio.to_thread(process.wait)


async def say(client: Any, text: str, **context: Any) -> str:
    thread = await client.threads.create()
    said = {"messages": [{"role": "user", "content": text}]}
    run = await client.runs.wait(thread["thread_id"], "chatbot", input=said, context=context)
    return str(run["messages"][-1]["content"])


async def test_the_server_of_langgraph_runs_the_copied_template_and_a_kill_loses_nothing(
    tmp_path: Path,
):
    folder = tmp_path / "copy"
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (folder / ".env").write_text("")
    async with served(folder) as (client, process):
        await say(
            client,
            "My name is Bob. Remember that my sister visits on Fridays.",
            user_id="bob",
            delay_seconds=4,
        )
        process.send_signal(signal.SIGKILL)
    async with served(folder) as (client, _):

        async def held() -> Any:
            # Types are read one after the other, so a search during forming may see only the first
            # of them.
            found = (await client.store.search_items(("memories", "bob")))["items"]
            items = {item["namespace"][-1]: item["value"] for item in found}
            return items if {"User", "Note"} <= items.keys() else None

        items = await until(held)
        assert items["User"] == {"user_name": "Bob"} and items["Note"]["content"].startswith(
            "My sister"
        )
        assert "user_name: Bob" in await say(client, "Who visits on Fridays?", user_id="bob")
        assert "I know nothing" in await say(client, "Who am I?", user_id="ann")
        types = [
            {
                "name": "User",
                "parameters": {"type": "object", "properties": {"user_name": {"type": "string"}}},
            }
        ]
        made = await client.assistants.create(
            "memory_graph", context={"user_id": "ann", "memory_types": types}
        )
        said = {"messages": [{"role": "user", "content": "Call me Ann. Remember that I bake."}]}
        thread = await client.threads.create()
        run = await client.runs.wait(thread["thread_id"], made["assistant_id"], input=said)
        assert [one["value"] for one in run["written"]] == [{"user_name": "Ann"}]
        (trace,) = run["trace"]
        assert trace["memory_types"] == ["User"] and trace["model"]["calls"] == 1
        # The run is read back later, with its trace.
        state = await client.threads.get_state(thread["thread_id"])
        assert json.dumps(state["values"]["trace"]) == json.dumps(run["trace"])
        told = await asyncio.to_thread(_readme, str(client.http.client.base_url))
        assert "My sister visits on Fridays" in told and "'memory_types': ['User', 'Note']" in told
        await client.store.put_item(
            ["memories", "bob", "User"], key="User", value={"user_name": "Robert"}
        )
        item = await client.store.get_item(["memories", "bob", "User"], key="User")
        assert item["value"] == {"user_name": "Robert"}
