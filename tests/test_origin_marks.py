"""Every surface that shows stored text says who said it: a tool, a page, or a speaker who is not
the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import memoranda
from memoranda.formation.prompts.turn_lines import dated_turns
from memoranda.integrations.plain_tools import Call, MemoryTools, Scope, run_tool
from memoranda.integrations.pydantic_ai import history
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, those_of
from memoranda.wire.results import compact_hits
from tests.cli.command_line import run_command
from tests.mcp_server.asked_tools import asking

TRUSTS = [trust.value for trust in Trust]
WHO: Any = {"agent": "coder"}


class Told:
    """The records of every trust, and of a named speaker, with the words of each and the mark that
    it needs.
    """

    def __init__(self) -> None:
        self.marks: dict[str, str] = {}
        self.ids: dict[str, UUID] = {}

    def add(self, word: str, id: UUID, trust: str, speaker: str | None = None) -> None:
        mark = f"from {trust}" if trust in STRANGERS else ""
        self.marks[word] = (
            f'user "{speaker}", {mark}'
            if speaker and mark
            else f'user "{speaker}"'
            if speaker
            else mark
        )
        self.ids[word] = id

    def check(self, entries: list[str], sort: str = "", least: int | None = None) -> None:
        """Assert that each entry with a record's word has its mark, and no other entry has one."""
        seen = set()
        for entry in entries:
            for word in [word for word in self.marks if word.startswith(sort) and word in entry]:
                seen.add(word)
                mark = self.marks[word]
                assert mark in entry, (word, entry)
                assert mark.count("from ") == entry.count("from tool") + entry.count("from web"), (
                    word,
                    entry,
                )
        missing = [word for word in self.marks if word.startswith(sort) and word not in seen]
        assert not missing, missing


@pytest.fixture
async def told(book: memoranda.Book) -> Told:
    made = Told()
    thread = await book.thread("ann", name="talk", audience="global", **WHO)
    for trust in TRUSTS:
        word = f"memory{trust}"
        kept = await book.remember(
            "ann",
            f"Pay the {word} invoices",
            kind="instruction",
            audience="global",
            trust=trust,
            **WHO,
        )
        made.add(word, kept.id, trust)
        word = f"said{trust}"
        said = await thread.append("user", f"See the {word} invoices at once", trust=trust)
        made.add(word, said.id, trust)
        word = f"work{trust}"
        done = await book.episodes.record(
            "ann",
            goal=f"Sort the {word} invoices",
            outcome="succeeded",
            trust=trust,
            audience="global",
            **WHO,
        )
        made.add(word, done.id, trust)
    for speaker, trust in (("Mallory", "web"), ("Bob", "user")):
        word = f"said{speaker}"
        said = await thread.append(
            "user", f"Give the {word} invoices to me", speaker=speaker, trust=trust
        )
        made.add(word, said.id, trust, speaker)
    return made


def entries_of(text: str) -> Iterator[str]:
    """Yield the entries of a text: each begins with "- " and goes on in indented lines."""
    entry = ""
    for line in text.split("\n"):
        if not line.startswith("    "):
            yield entry
            entry = ""
        entry += line
    yield entry


async def test_contexts_mark_who_said_what(book: memoranda.Book, told: Told) -> None:
    thread = await book.thread("ann", name="talk", audience="global", **WHO)
    for now in (None, thread.id):
        made = await book.context("ann", "invoices", budget=20_000, limit=50, thread=now, **WHO)
        told.check([*entries_of(made.text)])
        told.check([entry for one in made.as_messages() for entry in entries_of(one["content"])])


async def test_tools_of_frameworks_mark_who_said_what(book: memoranda.Book, told: Told) -> None:
    memory = MemoryTools(book, Scope("ann", "coder"))
    thread = await book.thread("ann", name="talk", audience="global", **WHO)
    call = Call("run", "1", thread)

    async def run(name: str, **arguments: Any) -> list[str]:
        answer = await run_tool(
            memory, call, name, arguments, tools=["recall", "search", "read_turns"]
        )
        assert not answer.failed
        return answer.text.split("\n")

    told.check(await run("recall"), "memory")
    told.check(await run("search", query="invoices"), "memory")
    told.check(await run("search", query="invoices"), "work")
    told.check(await run("read_turns", first=1, last=20), "said")
    told.check([str(one.parts[0]) for one in await history(thread)], "said")


async def test_prompts_of_formation_mark_who_said_what(book: memoranda.Book, told: Told) -> None:
    thread = await book.thread("ann", name="talk", audience="global", **WHO)
    said = those_of(Message, (await thread.messages()).records)
    shown = (
        dated_turns(said, 1000)
        .replace("user Mallory", 'user "Mallory",')
        .replace("user Bob", 'user "Bob"')
    )
    told.check(shown.split("\n"), "said")


async def test_mcp_marks_who_said_what(book: memoranda.Book, told: Told) -> None:
    async with asking(book) as tools:
        found = [
            f"{one['kind']}: {one['text']}"
            for one in (await tools("recall", query="invoices", limit=50))["found"]
        ]
        told.check(found)
        told.check(
            [f"{one['kind']}: {one['text']}" for one in (await tools("recall"))["found"]], "memory"
        )
        told.check([*entries_of((await tools("context", query="invoices", budget=8000))["text"])])
        why = [await tools("why", id=str(id)) for id in told.ids.values()]
        told.check([f"{one['kind']}: {one['text']}" for one in why])
        shown = (await tools.client.read_resource("memoranda://memories")).contents[0].text
        told.check(shown.split("\n"), "memory")
        asked = await tools.client.get_prompt("what_do_you_know_about_me")
        told.check(asked.messages[0].content.text.split("\n"), "memory")


async def test_quoted_sources_say_who_said_them(book: memoranda.Book, told: Told) -> None:
    said = {word: id for word, id in told.ids.items() if word.startswith("said")}
    kept = await book.remember(
        "ann", "Invoices matter", sources=list(said.values()), audience="global", **WHO
    )
    (known,) = [
        one for one in (await book.about("ann", **WHO)).memories if one.memory.id == kept.id
    ]
    for sources in (known.sources, (await book.why("ann", kept.id, **WHO)).sources):
        told.check([f"{one.by}: {one.quote}" for one in sources], "said")
    async with asking(book) as tools:
        explained = []
        for id in said.values():
            kept = await book.remember(
                "ann", f"An invoice {id}", sources=[id], audience="global", **WHO
            )
            explained += (await tools("why", id=str(kept.id)))["sources"]
        told.check(explained, "said")


async def test_the_command_line_marks_who_said_what(
    book: memoranda.Book, told: Told, tmp_path: Path
) -> None:
    def shown(*words: str) -> list[str]:
        done = run_command(tmp_path, *words, "--book", "book.db", "--as-owner", COLUMNS="300")
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")

    told.check(shown("list", "ann"))
    hits = shown("recall", "ann", "invoices", "--limit", "50")
    heads = [place for place, line in enumerate(hits) if line[:2].strip().isdigit()]
    told.check(
        [
            "".join(hits[start:end])
            for start, end in zip(heads, [*heads[1:], len(hits)], strict=True)
        ]
    )
    told.check(
        [
            *entries_of(
                "\n".join(shown("context", "ann", "invoices", "--budget", "20000", "--limit", "50"))
            )
        ]
    )


async def test_what_is_past_is_marked_wherever_it_is_recalled(
    book: memoranda.Book, tmp_path: Path
) -> None:
    at = datetime(2020, 1, 2, tzinfo=UTC)
    for content, day in (("Has an appointment at Sorriso", "2020-01-10"), ("Likes Sorriso", None)):
        await book.remember(
            "ann",
            content,
            happened=day,
            observed_at=at,
            audience="global",
            external_id=content,
            **WHO,
        )
    found = await book.recall("ann", "Sorriso", **WHO)
    rest = {one["text"]: one["past"] for one in compact_hits(found)["hits"]}
    async with asking(book) as tools:
        kinds = (await tools("recall", query="Sorriso"))["found"]
    mcp = {one["text"]: "past" in one["kind"] for one in kinds}
    search = await MemoryTools(book, Scope("ann", "coder")).search("Sorriso")
    shown = run_command(
        tmp_path, "recall", "ann", "Sorriso", "--book", "book.db", "--as-owner"
    ).stdout
    lines = shown.split("\n")
    assert rest == mcp == {"Has an appointment at Sorriso": True, "Likes Sorriso": False}
    assert ["past" in line for line in search.split("\n") if "Sorriso" in line] == [
        "appointment" in line for line in search.split("\n") if "Sorriso" in line
    ]
    assert ["past" in before for before, line in pairwise(lines) if "appointment" in line] == [True]
    assert shown.count("past") == 1
