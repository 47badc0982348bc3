"""An application with models of its own for users, memories, agents and tasks, kept in a book. It
needs no key.

python examples/learning_agent.py book.db "Recommend me a movie" "I prefer action movies"
python examples/learning_agent.py book.db "Recommend me a movie"

The second process knows what the first one learnt. Steps 1 to 7 are marked below.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from pydantic_ai import Agent as Assistant
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from memoranda.book import Book, ThreadHandle
from memoranda.integrations.pydantic_ai import Memoranda, Scope, history
from memoranda.model.memories import Memory as Held

# ── the application's own models; the book fills Profile, Memory and Experience from conversations


class Profile(BaseModel):
    """The lasting facts about a user."""

    name: str = ""
    age: int | None = None
    interests: list[str] = Field(default_factory=list)
    home: str = Field(default="", description="Where the user lives: town, neighbourhood.")
    occupation: str = Field(default="", description="What the user does for a living.")
    conversation_preferences: list[str] = Field(
        default_factory=list,
        description="How the user likes to be talked to, and what to leave out.",
    )


class Memory(BaseModel):
    """One thing about a user that may help later."""

    context: str = Field(description="When this matters, and what limits it.")
    category: str = Field(description="Such as preference, fact or experience.")
    content: str = Field(description="The thing itself, in one sentence.")


class Experience(BaseModel):
    """The lessons that an agent learnt from all its users, without their names."""

    procedural_knowledge: list[str] = []
    common_scenarios: list[str] = []
    effective_strategies: list[str] = []
    known_pitfalls: list[str] = []
    tool_patterns: list[str] = []
    heuristics: list[str] = []
    user_feedback: list[str] = []
    improvement_areas: list[str] = []


class User(BaseModel):
    """A user: the profile, and the memories that were not replaced, the oldest first."""

    id: str
    profile: Profile
    memories: list[Memory] = []

    @classmethod
    async def load(cls, book: Book, id: str, agent: str) -> User:
        """Read a user's profile and memories."""
        only = {"statuses": ["active"]}
        page = await book.records.list(id, types="memory", only=only, agent=agent, limit=500)
        documents = [
            one.data["document"]
            for one in page.records
            if isinstance(one, Held)
            and isinstance(one.data, dict)
            and one.data.get("schema") == "Memory"
        ]
        profile = await book.profiles.get(id, agent=agent)
        return cls(
            id=id,
            profile=Profile.model_validate(profile),
            memories=[Memory.model_validate(one) for one in documents],
        )

    def __str__(self) -> str:
        blocks = []
        if any(self.profile.model_dump().values()):
            blocks.append(f"<user_profile>\n{self.profile.model_dump_json()}\n</user_profile>")
        if self.memories:
            lines = "\n\n".join(memory.model_dump_json() for memory in self.memories)
            blocks.append(f"<memories>\n{lines}\n</memories>")
        return "\n\n".join(blocks)


class Agent(BaseModel):
    """An agent: how it is set up, and what it has learnt."""

    name: str
    model: str = ""
    description: str = ""
    system_prompt: str = ""
    experience: Experience = Field(default_factory=Experience)

    async def save(self, book: Book) -> None:
        """Store the set-up; its experience is written by the book alone."""
        fields = self.model_dump(include={"model", "description", "system_prompt"})
        await book.agents.put(self.name, **fields)

    @classmethod
    async def load(cls, book: Book, name: str) -> Agent:
        """Read an agent with its experience."""
        held = await book.agents.get(name)
        if held is None:
            return cls(name=name)
        lines: dict[str, list[str]] = {}
        for one in await book.experience.list(name):
            lines.setdefault(str(one.field), []).append(one.line)
        set_up = {
            "model": held.model,
            "description": held.description,
            "system_prompt": held.system_prompt,
        }
        return cls(name=name, experience=Experience.model_validate(lines), **set_up)


@dataclass
class Task:
    """One task of a user with an agent; its messages and status are a thread of the book."""

    book: Book
    user: User
    agent: Agent
    thread: ThreadHandle
    created_at: datetime | None = field(default=None)

    @classmethod
    async def create(cls, book: Book, user: str, agent: str) -> Task:
        """Begin a task, with what is known by now about its user and its agent."""
        thread = await book.thread(user, agent=agent, status="created")
        started = (await thread.get()).started_at
        return cls(
            book, await User.load(book, user, agent), await Agent.load(book, agent), thread, started
        )

    async def status(self) -> str:
        """Return created, running, paused, completed or failed."""
        return str((await self.thread.get()).status)

    async def message_history(self) -> list[ModelMessage]:
        """Return the messages so far."""
        return await history(self.thread)

    def experience(self) -> str:
        """Return the system prompt's part about earlier tasks."""
        learnt = self.agent.experience.model_dump_json()
        return (
            f"<agent_experience>\n{learnt}\n</agent_experience>\n\n"
            f"<user_specific_experience>\n{self.user}\n</user_specific_experience>"
        )


#: The duties of the three readings of a finished task; the book asks for them in one call.
DUTIES: dict[str, dict[str, Any]] = {
    "Profile": {
        "parameters": Profile,
        "instructions": "Bring the profile up to date. Add rather than replace; replace what the user has corrected, as an age.",
    },
    "Memory": {
        "parameters": Memory,
        "update_mode": "insert",
        "instructions": "Note what helps in later conversations: preferences, plans with their dates, people, promises, "
        "terms the user uses. Say when each applies. A note that corrects an older one supersedes it.",
    },
    "AgentExperience": {
        "instructions": "Note what holds for all users: strategies, pitfalls, ways to use tools. Name no user. "
        "As feedback, only what a user was unhappy with.",
    },
}


# ── models that follow rules, in place of language models ─────────────────────────────────────────


def assist(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Recommend what the system prompt and the conversation speak for."""
    told = [str(getattr(part, "content", "")) for one in messages for part in one.parts]
    wish = re.findall(r"(\w+) movies", " ".join(told))
    film = f"{wish[-1]} movie" if wish else "romantic comedy"
    return ModelResponse([TextPart(f"How about this {film}?")])


def remember(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Do the three duties for a wish in the conversation."""
    text = str(messages[0].parts[-1].content)  # type: ignore[union-attr]
    wish = re.search(r"\[(m\d+) user\] I prefer (\w+) movies", text)
    if wish is None:
        return ModelResponse([TextPart("{}")])
    sources, content = [{"message": wish[1]}], f"Prefers {wish[2]} movies"
    held = re.search(r"\[(c\d+), [^\]]*\] Prefers", text)
    document = {"context": "When asking for a movie", "category": "preference", "content": content}
    note = {
        "content": content,
        "kind": "preference",
        "schema": "Memory",
        "data": document,
        "sources": sources,
    }
    if held is not None:
        note["supersedes"] = [held[1]]
    operations = [{"op": "add", "path": "/interests/-", "value": f"{wish[2]} movies"}]
    line = {
        "field": "heuristics",
        "line": "Ask for the kind of movie before proposing one.",
        "sources": sources,
    }
    patch = {"schema": "Profile", "operations": operations, "sources": sources}
    return ModelResponse(
        [TextPart(json.dumps({"notes": [note], "patches": [patch], "experience": [line]}))]
    )


# ── the seven steps ───────────────────────────────────────────────────────────────────────────────


async def main(address: str, user: str, prompts: list[str]) -> None:
    """Do one task with these prompts, and learn from it."""
    models = FunctionModel(remember, model_name="memory")
    async with memoranda.open(address, models=models, embed=None, worker=False) as book:
        await Agent(name="movies", description="Recommends movies", system_prompt="Be brief.").save(
            book
        )
        for name, duty in DUTIES.items():
            await book.schemas.put(name, **duty)
        # 1. A task begins, for a user and an agent.
        task = await Task.create(book, user, "movies")
        print(f"{await task.status()}: {task.experience()}")
        # 2. The assistant's prompt has what earlier tasks left. The capability stores the runs and recalls nothing more.
        recorder: Memoranda[Task] = Memoranda(
            book, Scope(user, "movies", thread=task.thread.id), recall=False, tools=()
        )
        assistant = Assistant(FunctionModel(assist), deps_type=Task, capabilities=[recorder])

        @assistant.system_prompt(dynamic=True)
        def prompt_of(ctx: RunContext[Task]) -> str:
            return f"{ctx.deps.agent.system_prompt}\n\n{ctx.deps.experience()}"

        # 3. They talk; the messages are stored with the task, and nothing is learnt yet.
        await task.thread.set(status="running")
        for prompt in prompts:
            said = await assistant.run(
                prompt, deps=task, message_history=await task.message_history()
            )
            print(f"> {prompt}\n{said.output}")
        # 4. The task ends, and is read: the profile, the memories, the experience. 5. What a memory supersedes gives way.
        # 6. All of it is stored in one operation.
        await task.thread.close("completed")
        await task.thread.form()
        await book.jobs.run()
        print(f"{await task.status()}: {len(await task.message_history())} messages")
        # 7. The next task begins with it, in this process or another.


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], "ann", sys.argv[2:] or ["Recommend me a movie"]))
