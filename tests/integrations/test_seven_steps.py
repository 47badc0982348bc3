"""The seven steps of a memory that learns, over two processes, with an agent of PydanticAI's and
scripted models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

#: 1 a user begins; 2 the agent gets what is known; 3 they talk, and it is recorded; 4 the
#: conversation is read; 5 what it supersedes gives way; 6 it is saved; 7 another task, in another
#: process, knows.
PROGRAM = """
import asyncio, json, re, sys
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope

path, prompt = sys.argv[1:3]

def said(messages):
    return json.dumps([str(getattr(part, "content", "")) for one in messages for part in one.parts])

def answer(messages, info):
    seen.append(said(messages))
    film = "an action movie" if "action movies" in seen[-1] else "a romantic comedy"
    return ModelResponse(parts=[TextPart(f"How about {film}?")])

def remember(messages, info):
    text = str(messages[0].parts[-1].content)
    wish = re.search(r"\\\\[(m\\\\d+) user\\\\] I prefer (\\\\w+ movies)", text)
    held = re.search(r"\\\\[(c\\\\d+), [^\\\\]]*\\\\] Prefers", text)
    if wish is None:
        return ModelResponse(parts=[TextPart("{}")])
    sources = [{"message": wish[1]}]
    note = {"content": f"Prefers {wish[2]}", "kind": "preference", "sources": sources}
    if held:
        note["supersedes"] = [held[1]]
    line = {"field": "heuristics", "line": "Ask which kind of movie before proposing one.", "sources": sources}
    patch = {"schema": "Profile", "operations": [{"op": "add", "path": "/interests/-", "value": wish[2]}]}
    value = {"notes": [note], "patches": [{**patch, "sources": sources}], "experience": [line]}
    return ModelResponse(parts=[TextPart(json.dumps(value))])

seen = []

async def main():
    model = FunctionModel(remember, model_name="memory")
    async with memoranda.open(path, models=model, embed=None, worker=False) as book:
        memory = Memoranda(book, Scope(owner="ann", agent="movies", thread=prompt[:20]))
        agent = Agent(FunctionModel(answer), capabilities=[memory])
        told = await agent.run(prompt)
        thread = await book.thread("ann", name=prompt[:20], agent="movies")
        await thread.form()
        await book.worker.drain()
        memories = (await book.records.list("ann", types="memory", only={"statuses": ["active"]}, agent="movies")).records
        print(json.dumps({
            "answer": told.output,
            "seen": seen[0],
            "memories": [one.content for one in memories],
            "profile": await book.profiles.get("ann", agent="movies"),
            "experience": [line.line for line in await book.experience.list("movies")],
        }))

asyncio.run(main())
"""


def step(path: Path, prompt: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("\\\\", "\\"), str(path), prompt],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_what_one_process_learnt_another_one_goes_by(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    first = step(path, "Recommend me a movie")
    assert first["answer"] == "How about a romantic comedy?" and first["memories"] == []
    told = step(path, "I prefer romance movies")
    assert told["memories"] == ["Prefers romance movies"]
    corrected = step(path, "I prefer action movies")
    assert corrected["memories"] == ["Prefers action movies"]
    last = step(path, "Recommend me a movie for tonight")
    assert last["answer"] == "How about an action movie?"
    # The profile tells of action movies, so that the memory that says the same is not told again.
    assert "action movies" in str(last["seen"]) and "Prefers romance movies" not in str(
        last["seen"]
    )
    assert last["profile"] == {"interests": ["romance movies", "action movies"]}
    assert last["experience"] == ["Ask which kind of movie before proposing one."]
