"""The harness's memory in a book does what its stores do, and keeps a history besides."""

from __future__ import annotations

import asyncio
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemorySearchResult,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

import memoranda
from memoranda.integrations.pydantic_harness import BookMemoryStore
from memoranda.integrations.tools import Scope
from tests.frameworks.agents.results import write_results
from tests.frameworks.killing import killed_after

ANA = Scope("ana", "coach")
SEEDS = 6
PATHS = [
    "main.md",
    "notes/a.md",
    "notes/b.md",
    "notes/deep/c.md",
    "n",
    "/".join("abcdefghijklmnopqrstuvw"),
]
WORDS = ["alpha", "beta", "alphabet", "gamma TARGET", "..."]
BOUNDS = {"limit": 10, "max_files": 10, "max_chars": 80, "max_file_chars": 1000}


class Pair:
    """The book's store beside the one in memory; each call must end alike, up to the names of
    versions.
    """

    def __init__(self, book: memoranda.Book, scope: Scope) -> None:
        self.oracle, self.ours = InMemoryStore(), BookMemoryStore(book, scope)
        #: The versions of both that stand for each other.
        self.versions: dict[str | None, str | None] = {None: None, "old": "old"}

    def known(self, found: Any) -> Any:
        """Return an answer of the store in memory with the book's name of its version."""
        if isinstance(found, MemoryFile):
            held = self.versions[found.version]
            assert held is not None
            return MemoryFile(
                found.content, held, found.operation_id, found.truncated, found.metadata
            )
        if isinstance(found, MemoryMutation):
            return MemoryMutation(self.versions[found.version], found.replayed, found.existed)
        if isinstance(found, MemorySearchResult):
            # Dots at cut ends differ in their places; paths, scores and bounds do not.
            return [(one.path, one.score) for one in found.matches], found.scanned, found.truncated
        return found

    async def same(self, verb: str, *words: Any, **named: Any) -> Any:
        answers: list[Any] = []
        for store in (self.oracle, self.ours):
            own = dict(named)
            if "expected_version" in own and store is self.ours:
                own["expected_version"] = self.versions[own["expected_version"]]
            try:
                answers.append(await getattr(store, verb)(*words, **own))
            except (MemoryConflictError, MemoryOperationConflictError, ValueError) as exc:
                answers.append(exc)
        expected, given = answers
        if isinstance(expected, Exception):
            assert type(expected) is type(given) or isinstance(given, ValueError), (
                verb,
                words,
                named,
                given,
            )
            return expected
        assert not isinstance(given, Exception), (verb, words, named, given)
        if isinstance(expected, MemoryMutation):
            self.versions.setdefault(expected.version, given.version)
        if isinstance(expected, MemorySearchResult):
            given = self.known(given)
        assert self.known(expected) == given, (verb, words, named)
        return expected


async def program(book: memoranda.Book, seed: int) -> None:
    dice = random.Random(seed)
    pair = Pair(book, Scope(f"user{seed}", "coach"))
    for number in range(80):
        path = dice.choice(PATHS)
        held = await pair.same("read", path, max_chars=dice.choice([1, 5, 1000]))
        expected = dice.choice(
            [held.version if held else None] * 4 + [None, "old", *list(pair.versions)[-3:]]
        )
        operation = dice.choice(
            [None, MemoryOperation(f"op{dice.randrange(8)}", f"f{dice.randrange(2)}")]
        )
        named = {"expected_version": expected, "operation": operation}
        what = dice.randrange(8)
        if what < 3:
            await pair.same("write", path, dice.choice(WORDS), **named)
        elif what == 3:
            metadata = dice.choice(
                [None, {}, {"by": f"run {number}"}, {"by": "x\x00"}, {"by": "x" * 5000}]
            )
            await pair.same(
                "write_with_metadata", path, dice.choice(WORDS), metadata=metadata, **named
            )
        elif what == 4:
            await pair.same("delete", path, **named)
        elif what == 5:
            await pair.same(
                "list_paths", dice.choice(["", "n", "notes/", "notes", "a/", "missing/"]), limit=3
            )
        elif what == 6 and operation is not None:
            await pair.same("get_operation", operation)
        else:
            bounds = {**BOUNDS, dice.choice(list(BOUNDS)): dice.choice([0, 1, 2, 6])}
            prefix = dice.choice(["", "notes/", "notes/deep/"])
            await pair.same(
                "search", prefix, dice.choice(["alpha", "target", "note", "", "zzz"]), **bounds
            )
        pair.ours = BookMemoryStore(book, pair.ours.scope)


async def test_random_programs_answer_as_the_store_in_memory_does(
    book: memoranda.Book, request: pytest.FixtureRequest
) -> None:
    for seed in range(SEEDS):
        await program(book, seed)
    engine = request.node.callspec.params["address"]
    results = {
        "framework": "PydanticAI's harness",
        "package": "pydantic-ai-harness",
        "version": version("pydantic-ai-harness"),
        "run": f"random programs, all verbs of its memory beside InMemoryStore, {engine}",
        "cases": SEEDS,
        "passed": SEEDS,
        "left_out": [],
    }
    write_results(f"pydantic-harness-{engine}", results)


async def test_the_store_has_the_harness_s_three_protocols(book: memoranda.Book) -> None:
    store = BookMemoryStore(book, ANA)
    assert isinstance(store, MemoryStore)
    assert isinstance(store, MetadataMemoryStore)
    assert isinstance(store, SearchableMemoryStore)


async def test_a_version_is_never_used_again_not_even_for_the_same_text(
    book: memoranda.Book,
) -> None:
    store = BookMemoryStore(book, ANA)
    seen = set()
    for _ in range(3):
        made = await store.write("main.md", "same", expected_version=None)
        again = await store.write("main.md", "same", expected_version=made.version)
        assert again.existed
        for stale in (made.version, "1"):
            with pytest.raises(MemoryConflictError):
                await store.write("main.md", "stale", expected_version=stale)
            with pytest.raises(MemoryConflictError):
                await store.delete("main.md", expected_version=stale)
        await store.delete("main.md", expected_version=again.version)
        seen |= {made.version, again.version}
    assert len(seen) == 6


async def test_a_repeated_operation_gets_its_first_result_and_another_s_fingerprint_is_refused(
    book: memoranda.Book,
) -> None:
    store = BookMemoryStore(book, ANA)
    operation = MemoryOperation("run:call", "write main.md")
    first = await store.write("main.md", "one", expected_version=None, operation=operation)
    later = await store.write("main.md", "two", expected_version=first.version)
    again = await BookMemoryStore(book, ANA).write(
        "main.md", "one", expected_version=None, operation=operation
    )
    assert again == MemoryMutation(first.version, replayed=True, existed=False)
    held = await store.read("main.md", max_chars=100)
    assert held is not None and (held.content, held.version) == ("two", later.version)
    with pytest.raises(MemoryOperationConflictError):
        await store.delete(
            "main.md", expected_version=later.version, operation=MemoryOperation("run:call", "x")
        )
    missing = MemoryOperation("run:other", "delete")
    assert not (await store.delete("missing.md", expected_version=None, operation=missing)).existed
    assert (await store.delete("missing.md", expected_version=None, operation=missing)).replayed


async def test_snippets_are_cut_around_the_words_and_stay_within_their_bounds(
    book: memoranda.Book,
) -> None:
    store = BookMemoryStore(book, ANA)
    await store.write(
        "a", "The first half, then walnuts, then the other half", expected_version=None
    )
    for most in range(1, 60):
        found = await store.search("", "WALNUTS", **{**BOUNDS, "max_chars": most})
        assert sum(len(one.path) + len(one.snippet) for one in found.matches) <= most
        assert found.truncated == (not found.matches)
    (cut,) = (await store.search("", "walnuts", **{**BOUNDS, "max_chars": 25})).matches
    assert (
        cut.snippet.startswith("...") and cut.snippet.endswith("...") and "walnuts" in cut.snippet
    )
    (whole,) = (await store.search("", "walnuts", **BOUNDS)).matches
    assert whole.snippet == "The first half, then walnuts, then the other half"
    (stem,) = (await store.search("", "walnut halves", **BOUNDS)).matches
    assert stem.path == "a"


async def test_the_folder_of_a_search_is_no_match(book: memoranda.Book) -> None:
    store = BookMemoryStore(book, ANA)
    await store.write("tenant/main/note.md", "prefix TARGET", expected_version=None)
    assert (await store.search("tenant/main/", "tenant", **BOUNDS)).matches == []
    cut = await store.search("tenant/main/", "target", **{**BOUNDS, "max_file_chars": 6})
    assert (cut.matches, cut.truncated) == ([], True)


async def test_of_two_instances_that_write_at_once_one_wins(tmp_path: Path) -> None:
    async with (
        memoranda.open(tmp_path / "book.db") as one,
        memoranda.open(tmp_path / "book.db") as two,
    ):
        stores = [BookMemoryStore(one, ANA), BookMemoryStore(two, ANA)]
        for place in range(5):
            path = f"{place}.md"
            made = await stores[0].write(path, "first", expected_version=None)
            for expected, target in ((made.version, path), (None, f"new-{path}")):
                writes = (
                    store.write(target, f"{store}", expected_version=expected) for store in stores
                )
                done = await asyncio.gather(*writes, return_exceptions=True)
                assert sorted(type(one).__name__ for one in done) == [
                    "MemoryConflictError",
                    "MemoryMutation",
                ]
        operation = MemoryOperation("once", "f")
        same = (
            store.write("o", "x", expected_version=None, operation=operation) for store in stores
        )
        done = await asyncio.gather(*same)
        assert sorted(each.replayed for each in done) == [False, True]
        assert done[0].version == done[1].version


async def test_an_operation_that_is_done_between_two_reads_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        store, operation = BookMemoryStore(book, ANA), MemoryOperation("once", "f")
        first = await store.write("o", "x", expected_version=None, operation=operation)
        look, looks = store.get_operation, [0]

        async def late(asked: MemoryOperation) -> MemoryMutation | None:
            looks[0] += 1
            return None if looks[0] == 1 else await look(asked)

        monkeypatch.setattr(BookMemoryStore, "get_operation", lambda _, asked: late(asked))
        again = await store.write("o", "x", expected_version=None, operation=operation)
        assert (again.replayed, again.version) == (True, first.version)


#: Writes one file again and again, and prints the number of each write that was acknowledged.
WRITING = """
import asyncio, sys
import memoranda
from memoranda.integrations.pydantic_harness import BookMemoryStore
from memoranda.integrations.tools import Scope
from pydantic_ai_harness.memory import MemoryOperation

async def main():
    async with memoranda.open(sys.argv[1], embed=None) as book:
        store, version = BookMemoryStore(book, Scope("ana", "coach")), None
        for number in range(1000):
            operation = MemoryOperation(f"op{number}", "f")
            done = await store.write("main.md", f"text {number}", expected_version=version, operation=operation)
            version = done.version
            print(number, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledged", [1, 5])
async def test_a_killed_process_loses_no_write_and_its_repetition_is_a_replay(
    tmp_path: Path, acknowledged: int
) -> None:
    with killed_after(WRITING, tmp_path / "book.db", acknowledged) as lines:
        last = max(map(int, lines))
    async with memoranda.open(tmp_path / "book.db") as book:
        store = BookMemoryStore(book, ANA)
        held = await store.read("main.md", max_chars=100)
        assert held is not None and held.content in (f"text {last}", f"text {last + 1}")
        again = await store.write(
            "main.md", "other", expected_version=None, operation=MemoryOperation(f"op{last}", "f")
        )
        assert again.replayed
        assert held == await store.read("main.md", max_chars=100)


async def test_a_book_that_is_down_is_an_error_and_not_an_empty_store(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        store = BookMemoryStore(book, ANA)
        made = await store.write("main.md", "one", expected_version=None)
    for asked in (
        store.read("main.md", max_chars=10),
        store.list_paths(limit=10),
        store.write("main.md", "two", expected_version=made.version),
        store.delete("main.md", expected_version=made.version),
    ):
        with pytest.raises(memoranda.MemorandaError):
            await asked


async def test_scopes_and_tenants_do_not_see_each_other_s_files(tmp_path: Path) -> None:
    place = tmp_path / "book.db"
    async with memoranda.open(place) as book, memoranda.open(place, tenant="other") as other:
        own = BookMemoryStore(book, ANA)
        made = await own.write("a/secret.md", "alpha", expected_version=None)
        shared = BookMemoryStore(book, Scope("ana", "coach", audience="global"))
        for store in (
            BookMemoryStore(book, Scope("ben", "coach")),
            BookMemoryStore(book, Scope("ana", "cook")),
            shared,
            BookMemoryStore(other, ANA),
        ):
            assert await store.read("a/secret.md", max_chars=10) is None
            assert await store.list_paths(limit=10) == []
            assert (await store.search("a/", "alpha", **BOUNDS)).scanned == 0
            with pytest.raises(MemoryConflictError):
                await store.delete("a/secret.md", expected_version=made.version)
        await shared.write("all.md", "for all", expected_version=None)
        theirs = BookMemoryStore(book, Scope("ana", "cook", audience="global"))
        assert await theirs.list_paths(limit=10) == ["all.md"]
        for path in (
            "../a/secret.md",
            "/a",
            "a//b",
            "a/./secret.md",
            "a\x1fb",
            "",
            "a b",
            "x" * 201,
        ):
            with pytest.raises(ValueError):
                await own.read(path, max_chars=10)


async def test_the_book_keeps_a_file_s_history_and_forgets_it_on_request(
    book: memoranda.Book,
) -> None:
    store = BookMemoryStore(book, ANA)
    made = await store.write("main.md", "one", expected_version=None)
    later = await store.write("main.md", "two", expected_version=made.version)
    (item,) = await book.items.list("ana", agent="coach")
    steps = await book.records.history("ana", item.id, agent="coach")
    assert len(steps) == 2
    assert "two" in str(
        (await book.recall("ana", "two", types="item", agent="coach"))[0].record.passage_text()
    )
    await book.forget("ana", item.id, agent="coach")
    assert await store.read("main.md", max_chars=10) is None
    with pytest.raises(MemoryConflictError):
        await store.write("main.md", "three", expected_version=later.version)


async def test_an_agent_with_the_harness_s_memory_finds_its_notebook_again(tmp_path: Path) -> None:
    told: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(str(messages) + str(info.instructions))
        tools = {tool.name: tool for tool in info.function_tools}
        if len(messages) == 1 and "walnuts" not in told[-1]:
            (name,) = [one for one in tools if "write" in one]
            required = tools[name].parameters_json_schema["required"]
            texts = dict.fromkeys(required, "Allergic to walnuts")
            return ModelResponse([ToolCallPart(name, texts)])
        return ModelResponse([TextPart("Done.")])

    for _ in range(2):
        async with memoranda.open(tmp_path / "book.db") as book:
            memory: Any = Memory(store=BookMemoryStore(book, ANA))
            await Agent(FunctionModel(model), capabilities=[memory]).run("Hello")
    assert len(told) == 3
    assert "walnuts" in told[-1]
