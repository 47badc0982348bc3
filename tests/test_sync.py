"""The synchronous face: every verb of the book, and no call that waits for ever."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest

import memoranda
from memoranda import (
    Book,
    InvalidInput,
    NotFound,
    StorageError,
    SyncBook,
    ThreadHandle,
    cancel_copy_sync,
    copy_sync,
    open_sync,
)
from memoranda.book.nouns.admin import Admin
from memoranda.book.nouns.agents import Agents
from memoranda.book.nouns.episodes import Episodes
from memoranda.book.nouns.experience import Experience
from memoranda.book.nouns.forgetting import Forgetting
from memoranda.book.nouns.jobs import Jobs
from memoranda.book.nouns.keys import Keys
from memoranda.book.nouns.memories import Memories
from memoranda.book.nouns.profiles import Profiles
from memoranda.book.nouns.records import Records
from memoranda.book.nouns.schemas import Schemas
from memoranda.book.services import RecordVerbs
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.ledger import Receipt
from memoranda.sync import (
    SyncAgents,
    SyncEpisodes,
    SyncExperience,
    SyncKeys,
    SyncProfiles,
    SyncSchemas,
    SyncThread,
)
from memoranda.sync.sync_parts import SyncAdmin, SyncForgetting, SyncJobs, SyncMemories, SyncRecords


@pytest.fixture
def book(tmp_path: Path) -> Iterator[SyncBook]:
    with open_sync(tmp_path / "book.db") as opened:
        yield opened


def verbs(of: type) -> set[str]:
    return {name for name, member in inspect.getmembers(of, callable) if not name.startswith("_")}


FACES = [
    (SyncThread, ThreadHandle),
    (SyncProfiles, Profiles),
    (SyncEpisodes, Episodes),
    (SyncExperience, Experience),
    (SyncMemories, Memories),
    (SyncRecords, Records),
    (SyncForgetting, Forgetting),
    (SyncAdmin, Admin),
    (SyncJobs, Jobs),
    (SyncAgents, Agents),
    (SyncSchemas, Schemas),
    (SyncKeys, Keys),
]


@pytest.mark.parametrize(("face", "behind"), FACES)
def test_every_verb_has_its_synchronous_face(face: type, behind: type):
    assert verbs(face) == verbs(behind)


def test_every_verb_of_the_book_has_its_synchronous_face(book: SyncBook):
    assert verbs(SyncBook) - {"run"} == verbs(Book)
    shelves = {name for name, of in vars(book.book).items() if isinstance(of, RecordVerbs)}
    assert shelves == {"profiles", "items", "episodes", "experience", "agents", "schemas", "keys"}
    assert all(hasattr(book, name) for name in shelves)


def parameters(of: type, verb: str) -> list[tuple[str, object, object]]:
    found = inspect.signature(getattr(of, verb)).parameters.values()
    return [(one.name, one.kind, one.default) for one in found if one.name != "self"]


APART = ["close", "context", "start_worker", "thread"]
EVERY_VERB = [
    (face, behind, verb)
    for face, behind in [(SyncBook, Book), *FACES]
    for verb in sorted(verbs(behind))
]


@pytest.mark.parametrize(("face", "behind", "verb"), EVERY_VERB)
def test_a_verb_takes_the_same_with_the_same_names_and_defaults_on_both_faces(
    face: type, behind: type, verb: str
):
    assert parameters(face, verb) == parameters(behind, verb)
    documented = getattr(face, verb).__doc__
    assert documented
    # These say what is different without an event loop.
    if (face, verb) not in {(SyncAdmin, "export"), *((SyncBook, name) for name in APART)}:
        assert documented == getattr(behind, verb).__doc__


@pytest.mark.parametrize(("face", "behind", "verb"), EVERY_VERB)
def test_no_verb_hides_what_it_takes_behind_stars(face: type, behind: type, verb: str):
    for of in (face, behind):
        kinds = {one.kind for one in inspect.signature(getattr(of, verb)).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


def test_a_search_of_episodes_hides_nothing_either():
    for of in (SyncEpisodes, Episodes):
        names = inspect.signature(of.search).parameters
        assert {"owner", "like", "agent", "as_owner"} <= set(names) and "who" not in names


@pytest.mark.parametrize(
    ("synchronous", "awaited"),
    [
        (open_sync, memoranda.open),
        (copy_sync, memoranda.copy),
        (cancel_copy_sync, memoranda.cancel_copy),
    ],
)
def test_functions_over_whole_books_take_the_same_and_are_named_apart(
    synchronous: Callable[..., Any], awaited: Callable[..., Any]
):
    assert inspect.signature(synchronous).parameters == inspect.signature(awaited).parameters
    assert synchronous.__name__ == awaited.__name__ + "_sync"


async def test_type_checkers_know_which_calls_block_and_which_are_awaited(tmp_path: Path):
    with open_sync(tmp_path / "one.db") as book:
        assert_type(book.remember("ana", "I like tea", kind="preference"), Receipt)
        assert_type(book.thread("ana").append("user", "I like tea"), Receipt)
        assert_type(book.profiles.get("ana"), dict[str, Any])
        assert_type(book.worker.drain(), int)
    async with memoranda.open(tmp_path / "two.db", worker=False) as awaited:
        assert_type(await awaited.remember("ana", "I like tea", kind="preference"), Receipt)
        assert_type(await (await awaited.thread("ana")).append("user", "I like tea"), Receipt)
        assert_type(await awaited.profiles.get("ana"), dict[str, Any])
        with pytest.raises(InvalidInput, match="kynd"):
            await awaited.remember("ana", "I like tea", kynd="preference")  # type: ignore[call-arg]


def test_an_owner_s_threads_are_formed_at_once_without_an_event_loop(book: SyncBook):
    for name in ("one", "two"):
        book.thread("ana", name=name, agent="helper").append("user", f"I live in Porto {name}")
    book.thread("ana", name="hers", agent="other").append("user", "I like tea")
    assert book.jobs.run() == 0 and book.worker.drain() == 0
    made = book.form("ana", agent="helper")
    assert [one.state for one in made.threads] == ["formed", "formed"] and len(made.memories) == 1
    assert book.form("ana", agent="helper").threads == ()
    assert len(book.form("ana", wait=False, as_owner=True).threads) == 1
    assert book.jobs.run(1) == 1 and book.worker.drain() == 0
    assert not book.forms_by_model and "words alone" in book.no_vectors_because


def test_a_day_with_the_synchronous_book(book: SyncBook, tmp_path: Path):
    thread = book.thread("ana", title="Trip")
    thread.append("user", "I moved to Porto", operation="said")
    assert thread.owner.id == "ana" and thread.get().title == "Trip"
    assert [message.content for message in thread.newest()] == ["I moved to Porto"]
    assert len(thread.messages().records) == 1
    thread.set(title="Move")
    old = thread.remember("Lives in Lisbon").id
    new = book.remember("ana", "Lives in Porto").id
    book.memories.supersede("ana", old, new)
    book.memories.confirm("ana", new, sources=[thread.newest()[0].id])
    book.memories.amend("ana", new, {"pinned": True})
    book.memories.share("ana", new, "global")
    assert book.memories.mark_used("ana", [new]) == 1
    assert book.recall("ana", "Porto")[0].record.id in {new, thread.newest()[0].id}
    assert "Porto" in book.context("ana", thread=thread, budget=500).text
    assert thread.window(500).messages[0].content == "I moved to Porto"
    assert book.records.count("ana", types="memory") == len(
        book.records.list("ana", types="memory").records
    )
    assert book.why("ana", new).record == book.records.get("ana", new)
    assert len(book.records.history("ana", new)) > 1
    assert book.records.ledger("ana", as_owner=True)
    assert book.records.operation("ana", "said") is not None
    book.profiles.patch("ana", {"city": "Porto"})
    assert (
        book.profiles.get("ana") == {"city": "Porto"} and len(book.profiles.documents("ana")) == 1
    )
    book.agents.put("helper")
    book.keys.put("door", digest="0" * 64)
    assert [agent.name for agent in book.agents.list()] == ["helper"]
    assert book.agents.get("helper") is not None and book.schemas.get("none") is None
    line = book.experience.add("helper", "heuristics", "be brief").id
    book.experience.retire("helper", line)
    assert book.experience.list("helper") == []
    book.episodes.record("ana", goal="move", summary="moved", outcome="succeeded")
    assert len(book.episodes.list("ana")) == 1
    thread.close()
    assert (
        book.admin.owners()
        and book.admin.rebuild() is not None
        and book.admin.verify().faults == ()
    )
    book.admin.backup(tmp_path / "copy.db")
    assert book.forget("ana", new, as_owner=True).removed
    assert book.admin.facts().engine == "sqlite"


def test_an_export_of_one_book_goes_into_another_line_by_line(book: SyncBook, tmp_path: Path):
    for number in range(0, 600, 10):
        messages = [{"role": "user", "content": f"message {number + one}"} for one in range(10)]
        book.thread("ana").append(messages)
    lines = book.admin.export()
    assert iter(lines) is lines
    with open_sync(tmp_path / "other.db") as other:
        report = other.admin.import_(lines)
        assert report.records["message"] == 600
        assert list(other.admin.export("ana"))[1:] == list(book.admin.export("ana"))[1:]
    with pytest.raises(InvalidInput):
        book.admin.export("")


def test_a_closed_book_closes_again_and_refuses_the_rest_with_words(tmp_path: Path):
    book = open_sync(tmp_path / "book.db")
    thread = book.thread("ana")
    book.close()
    book.close()
    later: list[Callable[[], Any]] = [
        book.admin.facts,
        lambda: thread.append("user", "hello"),
        book.agents.list,
        lambda: next(book.admin.export()),
    ]
    for call in later:
        with pytest.raises(StorageError, match="closed: open it again"):
            call()


def test_a_call_from_the_books_own_thread_is_refused_instead_of_waiting_for_itself(book: SyncBook):
    async def inside() -> list[str]:
        told = []
        for call in (book.admin.facts, book.close):
            with pytest.raises(StorageError, match="own thread") as caught:
                call()
            told.append(str(caught.value))
        return told

    assert len(book.run(inside())) == 2
    assert book.admin.facts().engine == "sqlite"


def loops() -> int:
    return sum(thread.name == "memoranda" for thread in threading.enumerate())


def test_an_opening_that_fails_leaves_no_thread_behind(tmp_path: Path):
    before = loops()
    with pytest.raises(InvalidInput):
        open_sync("other://x")
    with pytest.raises(TypeError):
        open_sync(tmp_path / "book.db", unknown=1)  # type: ignore[call-arg]
    assert loops() == before


def test_a_closing_that_fails_leaves_no_thread_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = loops()
    book = open_sync(tmp_path / "book.db")
    close = SqliteEngine.close

    async def failing(engine: SqliteEngine) -> None:
        await close(engine)
        raise StorageError("the disk")

    monkeypatch.setattr(SqliteEngine, "close", failing)
    with pytest.raises(StorageError, match="the disk"):
        book.close()
    assert loops() == before
    with pytest.raises(StorageError, match="open it again"):
        book.admin.facts()


def test_what_still_runs_when_the_book_closes_is_told_so(tmp_path: Path):
    book = open_sync(tmp_path / "book.db")
    begun, told = threading.Event(), []

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    def wait() -> None:
        try:
            book.run(endless())
        except StorageError as exc:
            told.append(str(exc))

    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    book.close()
    waiting.join(10)
    assert told == ["the book is closed: open it again"]


def test_errors_arrive_as_they_are(book: SyncBook):
    with pytest.raises(NotFound):
        book.records.get("ana", "00000000-0000-0000-0000-000000000000")


def test_an_inherited_book_is_refused_in_a_forked_child(
    book: SyncBook, monkeypatch: pytest.MonkeyPatch
):
    own = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: own + 1)
    with pytest.raises(StorageError, match="another process"):
        book.admin.facts()
    book.close()
    monkeypatch.undo()
    assert book.admin.facts().engine == "sqlite"
