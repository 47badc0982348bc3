"""When a provider fails, recall still works, jobs report their state, and no trace remains after
recovery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

import memoranda
from memoranda.book import Book
from memoranda.cli.forming_check import Forming, formation
from memoranda.model.changes import Job, JobState
from memoranda.model.forming_results import part_waits
from memoranda.model.language_models import ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import handle
from tests.comparison import differences, records_as_texts
from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Reply
from tests.fakes.model_server import Asked, ModelServer

MODEL = "openai-chat:gpt-4o-mini"
TALK = [
    {"role": "user", "content": "I live in New York and I like jazz."},
    {"role": "assistant", "content": "Noted: New York, jazz."},
    {"role": "user", "content": "Short answers helped me, thank you."},
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(well) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
        yield serving


@asynccontextmanager
async def opened(clock: HandClock, where: Path | str = "memory://") -> AsyncIterator[Book]:
    async with memoranda.open(where, clock=clock, models=MODEL, worker=False) as book:
        yield book


# ── what the provider says ────────────────────────────────────────────────────────────────────────


def good(asked: Asked) -> dict[str, Any]:
    """The answer that a well provider gives to this talk, whatever its messages are called."""

    def source(text: str) -> list[dict[str, Any]]:
        return [{"message": handle(cast(ModelRequest, asked), text)}]

    return {
        "notes": [
            {"content": "Lives in New York", "key": "home", "sources": source("I live in New York")},
            {"content": "Likes jazz", "kind": "preference", "sources": source("I live in New York")},
        ],
        "patches": [
            {
                "schema": "Profile",
                "operations": [{"op": "add", "path": "/home", "value": "New York"}],
                "sources": source("I live in New York"),
            }
        ],
        "experience": [
            {"field": "effective_strategies", "line": "Short answers help", "sources": source("Short answers")}
        ],
    }  # fmt: skip


def well(asked: Asked) -> Reply:
    return replies.answer(good(asked))


def never_shown(asked: Asked) -> Reply:
    """The right words, and ids of nothing."""
    answer = good(asked)
    for part in ("notes", "patches", "experience"):
        for one in answer[part]:
            one["sources"] = [{"message": "m99"}]
    return replies.answer(answer)


@dataclass(frozen=True)
class Ill:
    """One way in which a provider is not well, and what is to be seen of it."""

    reply: Callable[[Asked], Reply]
    #: What is told of the work.
    why: str
    #: Requests that are made in the first half hour, at most.
    asks: int
    #: The part is set aside, and asked about again after an hour.
    late: bool = False


ILL = {
    "invalid JSON": Ill(lambda asked: replies.invalid_json(), "no answer of the model could be used", 9, late=True),
    "half of an answer": Ill(lambda asked: replies.half_json(good(asked)), "no answer of the model could be used", 9, late=True),
    "a huge answer": Ill(lambda asked: replies.huge(1_100_000), "no answer of the model could be used", 9, late=True),
    "nothing but talk": Ill(lambda asked: replies.answer("Ask me another time."), "no answer of the model could be used", 9, late=True),
    "ids of nothing": Ill(never_shown, "no answer of the model could be used", 9, late=True),
    "an empty answer": Ill(lambda asked: replies.answer(""), "no answer of the model could be used", 9, late=True),
    "a refusal": Ill(lambda asked: replies.refusal(), "refuses to answer", 1, late=True),
    "a filter": Ill(
        lambda asked: replies.answer("", finish="content_filter"), "refuses to answer", 1, late=True
    ),
    "too many requests": Ill(lambda asked: replies.too_many(retry_after=120), "429", 12),
    "a server's error": Ill(lambda asked: replies.failing(500), "500", 12),
    "a busy server": Ill(lambda asked: replies.failing(503), "503", 12),
    "a broken connection": Ill(lambda asked: replies.closing_half_way(good(asked)), "did not answer", 12),
    "an answer of another protocol": Ill(lambda asked: Reply(raw=b'{"choices": 7}'), "not an answer", 12),
    "no answer in time": Ill(lambda asked: replies.silent(), "did not answer within", 12),
    "a key that is not taken": Ill(lambda asked: replies.unauthorized(), "check the key", 6),
    "a model that nobody knows": Ill(
        lambda asked: replies.failing(404, "model_not_found"), "check the name", 6
    ),
    "credit that is used up": Ill(
        lambda asked: replies.failing(429, "insufficient_quota"), "quota or credit", 6
    ),
}  # fmt: skip


# ── what is done ──────────────────────────────────────────────────────────────────────────────────


async def talked(book: Book) -> Any:
    thread = await book.thread("ann", agent="guide", name="talk")
    await thread.append(TALK)
    return thread


async def settle(book: Book, clock: HandClock, seconds: float) -> None:
    clock.advance(seconds=seconds)
    await book.worker.drain()


async def jobs(book: Book, state: JobState | None = None) -> list[Job]:
    return [job for job in await book.engine.jobs(state, 100) if job.kind in ("form", "form_late")]


async def undisturbed() -> Counter[str]:
    clock = HandClock()
    async with opened(clock) as book:
        await talked(book)
        await settle(book, clock, 31)
        assert await jobs(book) == []
        return await records_as_texts(book)


async def recovered(book: Book, clock: HandClock, server: ModelServer) -> None:
    """The provider is well again, and an hour passes."""
    server.script = well
    for _ in range(4):
        await settle(book, clock, 900)
    assert await jobs(book) == []


async def assert_nothing_is_lost_to_a_reader(book: Book) -> None:
    """Recall finds the messages unchanged."""
    found = await book.recall("ann", "jazz", agent="guide")
    assert TALK[0]["content"] in [hit.record.passage_text() for hit in found]
    assert "I like jazz" in (await book.context("ann", "What music do I like?", agent="guide")).text
    assert await book.records.count("ann", types="memory", as_owner=True) == 0


@pytest.mark.parametrize("name", ILL)
async def test_what_goes_wrong_at_a_provider_leaves_no_trace_once_it_is_well(
    name: str,
    server: ModelServer,
    clock: HandClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = await undisturbed()
    ill, before = ILL[name], len(server.asked)
    server.script = ill.reply
    with monkeypatch.context() as hasty:
        if name == "no answer in time":
            hasty.setenv("MEMORANDA_MODELS_TIMEOUT_SECONDS", "0.2")
        async with opened(clock, tmp_path / "book.db") as book:
            thread = await talked(book)
            await settle(book, clock, 31)
            assert len(server.asked) > before
            await assert_nothing_is_lost_to_a_reader(book)
            for _ in range(30):
                await settle(book, clock, 60)
            assert len(server.asked) - before <= ill.asks
            (job,) = await jobs(book)
            why = part_waits(job) if ill.late else job.error
            assert job.state is JobState.WAITING and job.tries == 0 and ill.why in why
            assert "jazz" not in why and "New York" not in why
            assert (await thread.get()).formed_through == (3 if ill.late else 0)
            await assert_nothing_is_lost_to_a_reader(book)
    async with opened(clock, tmp_path / "book.db") as book:
        await recovered(book, clock, server)
        assert differences(await records_as_texts(book), wanted) == []
        assert (await book.admin.verify()).faults == ()


@pytest.mark.parametrize("name", ["a server's error", "invalid JSON"])
async def test_the_doctor_tells_what_keeps_a_thread_from_being_formed(
    name: str, server: ModelServer, clock: HandClock
) -> None:
    ill = ILL[name]
    server.script = ill.reply
    async with opened(clock) as book:
        await talked(book)
        await settle(book, clock, 31)
        check = formation(Forming(await jobs(book), await book.jobs.who_forms()), clock())
        assert check.state == "note" and "1 thread waits" in check.found
        assert (await jobs(book))[0].error in check.found
        for _ in range(30):
            await settle(book, clock, 60)
        check = formation(Forming(await jobs(book), await book.jobs.who_forms()), clock())
        assert "1 thread waits" in check.found
        await recovered(book, clock, server)
        found = formation(Forming(await jobs(book), await book.jobs.who_forms()), clock())
        assert (found.state, found.found) == (
            "ok",
            f"no thread waits; formed with {await book.jobs.who_forms()}",
        )


async def test_an_answer_in_prose_is_as_good_as_a_bare_one(
    server: ModelServer, clock: HandClock
) -> None:
    wanted = await undisturbed()
    server.script = lambda asked: replies.in_prose(good(asked))
    async with opened(clock) as book:
        await talked(book)
        await settle(book, clock, 31)
        assert differences(await records_as_texts(book), wanted) == []


@pytest.mark.parametrize(
    "name", ["invalid JSON", "half of an answer", "a huge answer", "ids of nothing"]
)
async def test_what_is_wrong_once_is_handed_back_and_put_right_within_the_run(
    name: str, server: ModelServer, clock: HandClock
) -> None:
    wanted = await undisturbed()
    before = len(server.asked)
    wrong = ILL[name].reply
    server.script = lambda asked: wrong(asked) if len(server.asked) == before + 1 else well(asked)
    async with opened(clock) as book:
        await talked(book)
        await settle(book, clock, 31)
        assert len(server.asked) == before + 2
        assert differences(await records_as_texts(book), wanted) == []


async def test_of_an_answer_that_is_never_wholly_right_what_is_right_is_kept(
    server: ModelServer, clock: HandClock
) -> None:
    def half_right(asked: Asked) -> Reply:
        answer = good(asked)
        answer["notes"][1]["sources"] = [{"message": "m99"}]
        return replies.answer(answer)

    wanted = await undisturbed()
    before = len(server.asked)
    server.script = half_right
    async with opened(clock) as book:
        thread = await talked(book)
        await settle(book, clock, 31)
        assert await jobs(book) == [] and len(server.asked) - before == 3
        (lacking,) = differences(await records_as_texts(book), wanted)
        assert lacking.startswith("lacks: memory") and "Likes jazz" in lacking
        server.script = well
        await thread.form_again()
        await settle(book, clock, 1)
        assert differences(await records_as_texts(book), wanted) == []


async def test_a_provider_says_when_to_come_back_and_is_not_asked_before(
    server: ModelServer, clock: HandClock
) -> None:
    server.script = lambda asked: replies.too_many(retry_after=3000)
    async with opened(clock) as book:
        await talked(book)
        for _ in range(49):
            await settle(book, clock, 60)
        assert len(server.asked) == 1
        server.script = well
        await settle(book, clock, 120)
        assert await jobs(book) == [] and len(server.asked) == 2
