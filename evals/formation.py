"""Cost of forming, compared with a scheme of three calls: ``--data PATH [--json]``; with
``--model``, quality of its notes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tokenizers import Tokenizer

import memoranda
from evals.sessions import Session, sessions_of
from evals.statements import same_value
from evals.three_calls import questions
from memoranda.embedding.model_files import places
from memoranda.errors import InvalidInput
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.values import utc_now
from memoranda.models import RemoteModels
from memoranda.testing.scripted_models import handle
from tests.fakes import model_replies as replies
from tests.fakes.model_server import Asked, ModelServer

#: The default conversation; it is one of those that may be used for tuning.
CONVERSATION = "conv-26"
#: What stands before the text of a turn: its label, and the line with the day.
_LABEL = re.compile(r"^(?:- \[[^\]]*\]|## .*)", re.MULTILINE)
#: Figures of our prompt, which the other scheme has not.
_OURS_ALONE = frozenset({"fixed_tokens", "labels_share"})
#: The stub serves under this name; what it answers is scripted.
MODEL = "openai-chat:gpt-4o-mini"
OWNER, AGENT = "asker", "friend"


@dataclass(slots=True)
class Clock:
    """A clock that shows the time of the conversation."""

    now: datetime

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass(slots=True)
class Bill:
    """Requests and answers of one way of forming."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    bytes_in: int = 0
    #: Tokens of conversations, and of the labels before the text of their turns.
    turns: int = 0
    labels: int = 0
    #: The most tokens before any data.
    fixed: int = 0
    #: Tokens in, of each session.
    sessions: list[int] = field(default_factory=list)

    def told(self, messages: int) -> dict[str, Any]:
        """Return the figures for people and programs."""
        number = max(len(self.sessions), 1)
        return {
            "calls": self.calls,
            "calls_per_session": round(self.calls / number, 3),
            "tokens_in": self.tokens_in,
            "tokens_in_per_session": round(self.tokens_in / number),
            "tokens_in_per_message": round(self.tokens_in / max(messages, 1), 1),
            "bytes_in": self.bytes_in,
            "tokens_out": self.tokens_out,
            "fixed_tokens": self.fixed,
            "labels_share": round(self.labels / max(self.turns, 1), 3),
            "tokens_out_per_session": round(self.tokens_out / number),
            "tokens_in_of_each_session": self.sessions,
        }


class Measured:
    """Forms a conversation through the book, and by three calls per session, with the same stub."""

    def __init__(self, sessions: Sequence[Session], count: Any, *, one_thread: bool) -> None:
        self._sessions = sessions
        self._count = count
        self._one_thread = one_thread
        self._session = sessions[0]
        #: The calls of the other scheme that are under way, by their tasks.
        self._scheme: deque[str] = deque()
        #: What was answered and is not counted yet.
        self._answers: list[str] = []
        self.ours, self.theirs = Bill(), Bill()
        self.memories = 0

    def reply(self, asked: Asked) -> replies.Reply:
        """Return the scripted answer to either way of forming: the observations of the session."""
        if self._scheme:
            value = self._memories(self._scheme.popleft())
        elif "<turns>" in asked.content:
            value = {"summary": " ".join(text for _, text, _ in self._session.observed)}
        else:
            value = self._notes(asked)
        self._answers.append(json.dumps(value, ensure_ascii=False))
        return replies.answer(value)

    def _memories(self, task: str) -> dict[str, Any]:
        if task != "memories":
            return {}
        told = [text for _, text, _ in self._session.observed]
        return {"memories": [{"context": "", "category": "fact", "content": text} for text in told]}

    def _notes(self, asked: Asked) -> dict[str, Any]:
        """Return the observations whose turns are shown."""
        request = ModelRequest(
            task="any", instructions="-", content=asked.content, answer_schema={}, largest=1
        )
        notes = []
        for who, text, turn in self._session.observed:
            said = next((one for one in self._session.turns if one.id == turn), None)
            shown = None if said is None else handle(request, said.text.split("\n")[0][:60])
            if shown is not None:
                note = {"content": text, "applies_when": "", "sources": [{"message": shown}]}
                notes.append(note if said and said.role == "user" else {**note, "subject": who})
        if "episode" not in asked.content.rsplit("Fill:", 1)[-1]:
            return {"notes": notes}
        told = [text for _, text, _ in self._session.observed]
        episode = {
            "goal": told[0] if told else "Talk",
            "summary": " ".join(told),
            "outcome": "succeeded",
        }
        return {"notes": notes, "episode": episode}

    async def run(self, server: ModelServer, folder: Path) -> None:
        """Form session after session; a session ends by the clock."""
        clock = Clock(self._sessions[0].turns[0].at or utc_now())
        async with memoranda.open(
            folder / "formed.db", clock=clock, models=MODEL, worker=False
        ) as book:
            for session in self._sessions:
                self._session = session
                clock.now = max(clock.now, session.turns[0].at or clock.now)
                name = "all" if self._one_thread else str(session.number)
                thread = await book.thread(OWNER, name=name, agent=AGENT)
                before = len(server.asked)
                for turn in session.turns:
                    clock.now += timedelta(seconds=1)
                    await thread.append(turn.role, turn.text, speaker=turn.speaker)
                clock.now += timedelta(seconds=60)
                await book.worker.drain()
                self._charge(self.ours, server.asked[before:])
                await self._three_calls(server, session, await self._known(book))
            self.memories = len(await self._known(book))

    async def _known(self, book: memoranda.Book) -> list[Memory]:
        page = await book.records.list(OWNER, types="memory", limit=1000, as_owner=True)
        return [record for record in page.records if isinstance(record, Memory) and record.active]

    async def _three_calls(
        self, server: ModelServer, session: Session, known: Sequence[Memory]
    ) -> None:
        """Make the three calls with the same answers and with the memories known before the
        session, so that both books grow alike.
        """
        earlier = [
            memory for memory in known if memory.observed_at < (session.turns[0].at or utc_now())
        ]
        before = len(server.asked)
        models = RemoteModels(MODEL)
        try:
            for question in questions(session.turns, earlier):
                self._scheme.append(question.task)
                await models.ask(question)
        finally:
            await models.close()
        self._charge(self.theirs, server.asked[before:])

    def _charge(self, bill: Bill, asked: Sequence[Asked]) -> None:
        tokens = sum(self._count(one.body.decode()) for one in asked)
        bill.calls += len(asked)
        bill.tokens_in += tokens
        bill.sessions.append(tokens)
        bill.bytes_in += sum(len(one.body) for one in asked)
        for one in asked:
            bill.fixed = max(bill.fixed, self._count(one.said[0][1]))
            block = one.content.partition("<conversation>\n")[2].partition("\n</conversation>")[0]
            bill.turns += self._count(block)
            bill.labels += sum(map(self._count, _LABEL.findall(block)))
        bill.tokens_out += sum(map(self._count, self._answers))
        self._answers.clear()


def counter() -> Any:
    """Return a counter of tokens that uses the local embedding model's tokenizer."""
    for place in places():
        file = None if place.folder is None else place.folder / "tokenizer.json"
        if file is not None and file.exists():
            tokenizer = Tokenizer.from_file(str(file))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
    raise InvalidInput(
        "tokenizer: run `memoranda weights install` first; its tokenizer counts", field="data"
    )


async def measure(path: Path, name: str, folder: Path, *, one_thread: bool) -> dict[str, Any]:
    """Measure the cost of forming one conversation."""
    sessions = sessions_of(path, name)
    measured = Measured(sessions, counter(), one_thread=one_thread)
    with ModelServer(measured.reply) as server, _surroundings(server.environment):
        await measured.run(server, folder)
    messages = sum(len(session.turns) for session in sessions)
    ours, theirs = measured.ours.told(messages), measured.theirs.told(messages)
    return {
        "conversation": name,
        "sessions": len(sessions),
        "messages": messages,
        "threads": 1 if one_thread else len(sessions),
        "memories": measured.memories,
        "calls_per_session": ours["calls_per_session"],
        "input_ratio": round(measured.ours.tokens_in / max(measured.theirs.tokens_in, 1), 4),
        "bytes_ratio": round(measured.ours.bytes_in / max(measured.theirs.bytes_in, 1), 4),
        "ours": ours,
        "three_calls": theirs,
    }


@contextmanager
def _surroundings(environment: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


async def judge(path: Path, model: str, items: int) -> dict[str, Any]:
    """Measure how many of a model's notes match a labelled statement, and how many statements it
    finds.
    """
    labelled = json.loads(path.read_text("utf-8"))["items"][:items]
    right = found = expected = 0
    for item in labelled:
        async with memoranda.open("memory://", models=model, worker=False, embed=None) as book:
            thread = await book.thread(OWNER, agent=AGENT)
            await thread.append("user", item["text"])
            await thread.form()
            await book.worker.drain()
            page = await book.records.list(OWNER, types="memory", limit=1000, as_owner=True)
            stated = [same_value(note.content) for note in page.records if isinstance(note, Memory)]
        wanted = [same_value(one["value"]) for one in item["expect"]]
        right += sum(any(value in note for note in stated) for value in wanted)
        found += sum(not any(value in note for value in wanted) for note in stated)
        expected += len(wanted)
    return {
        "model": model,
        "texts": len(labelled),
        "stated": expected,
        "precision": round(right / max(right + found, 1), 3),
        "recall": round(right / max(expected, 1), 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the result."""
    parser = argparse.ArgumentParser(prog="python -m evals.formation", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="LoCoMo's file; with --model, a labelled set"
    )
    parser.add_argument("--conversation", default=CONVERSATION)
    parser.add_argument("--one-thread", action="store_true", help="all sessions in one thread")
    parser.add_argument(
        "--model", help="provider:model, with its key in the environment: scores its notes"
    )
    parser.add_argument(
        "--items", type=int, default=100, help="texts of the labelled set that are asked"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memoranda-forming-") as folder:
        if given.model:
            work = judge(given.data, given.model, given.items)
        else:
            work = measure(
                given.data, given.conversation, Path(folder), one_thread=given.one_thread
            )
        try:
            found = asyncio.run(work)
        except InvalidInput as exc:
            parser.error(str(exc))
    print(json.dumps(found, indent=2) if given.json else told(found))
    return 0


def told(found: Mapping[str, Any]) -> str:
    """Return the figures as lines."""
    if "precision" in found:
        return "  ".join(f"{name} {value}" for name, value in found.items())
    lines = [
        (
            f"{found['conversation']}: {found['sessions']} sessions, {found['messages']} messages, "
            f"{found['threads']} threads, {found['memories']} memories at the end"
        ),
        f"{'':<24}{'forming':>12}{'three calls':>14}",
    ]
    for name in (
        "calls_per_session",
        "fixed_tokens",
        "labels_share",
        "tokens_in_per_session",
        "tokens_in_per_message",
        "tokens_out_per_session",
    ):
        theirs = "" if name in _OURS_ALONE else found["three_calls"][name]
        lines.append(f"{name:<24}{found['ours'][name]:>12}{theirs:>14}")
    lines.append(
        f"input_ratio {found['input_ratio']:.1%} of tokens, {found['bytes_ratio']:.1%} of bytes"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
