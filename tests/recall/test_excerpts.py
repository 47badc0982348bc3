"""Excerpts: the part of a long text that answers, in hits, contexts and quotes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

import memoranda
from memoranda import Book, Hit
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import Message
from memoranda.model.quotations import quote
from memoranda.model.records import Owner
from memoranda.model.values import new_id
from memoranda.text.excerpts import LENGTH, LONG, find_excerpt
from memoranda.text.origins import source_of
from memoranda.wire.results import from_json, schema_of, to_json

ANA = Owner(id="ana")
NOON = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
BEFORE = "The weather in the mountains changes quickly and nobody can plan a whole week. " * 15
ANSWER = "The spare key of the cellar lies under the blue flowerpot."
AFTER = "\n\nMost travellers carry a small umbrella and a second pair of shoes. " * 15


@pytest.fixture
async def book() -> AsyncIterator[Book]:
    async with memoranda.open("memory://", embed=None) as opened:
        yield opened


async def _found(book: Book, text: str, question: str) -> Hit:
    thread = await book.thread("ana")
    await thread.append([{"role": "assistant", "content": text}])
    hits = await book.recall("ana", question)
    excerpt = hits[0].excerpt
    assert hits[0].text == text and text[excerpt.start : excerpt.end] == excerpt.text.strip("…")
    return hits[0]


async def test_the_part_of_a_long_text_that_answers_is_its_excerpt(book: Book) -> None:
    hit = await _found(book, f"{BEFORE}{ANSWER}{AFTER}", "Where are the keys of the cellar?")
    assert ANSWER in str(hit.excerpt) and len(hit.excerpt.text) <= LENGTH + 2
    assert hit.excerpt.text[0] == hit.excerpt.text[-1] == "…"
    # It begins and ends with whole sentences.
    assert hit.excerpt.text[1:].startswith("The weather") and hit.excerpt.text[:-1].endswith(
        "shoes."
    )


async def test_a_short_text_is_its_own_excerpt(book: Book) -> None:
    text = f"{ANSWER}  {BEFORE}"[:LONG]
    hit = await _found(book, text, "cellar key")
    assert (hit.excerpt.text, hit.excerpt.start, hit.excerpt.end) == (text, 0, len(text))


async def test_without_a_word_of_the_question_the_excerpt_is_the_beginning(book: Book) -> None:
    await _found(book, f"{BEFORE}{ANSWER}{AFTER}", "cellar")
    excerpt = (await book.recall("ana", "", mode="recent"))[0].excerpt
    assert (
        excerpt.start == 0 and LENGTH - 100 < excerpt.end <= LENGTH and excerpt.text.endswith(".…")
    )


async def test_a_part_with_a_word_near_the_questions_is_the_excerpt(book: Book) -> None:
    text = f"{BEFORE}My physician is called Okafor. {AFTER}"
    hit = await _found(book, text, "Who is my doctor?")
    assert not hit.words and "physician" in hit.excerpt.text


async def test_a_word_that_stands_everywhere_counts_less_than_one_that_stands_once(
    book: Book,
) -> None:
    parts = "Check every part by its number. " * 30
    hit = await _found(
        book, f"{parts}{BEFORE}Drip grid: 996530. {AFTER}", "part number of the drip grid"
    )
    assert "996530" in hit.excerpt.text


def test_of_equal_parts_the_first_is_the_excerpt() -> None:
    text = f"{BEFORE}{ANSWER} One. {AFTER}{ANSWER} Two. {AFTER}"
    shares = (("cellar", 1.5), ("flowerpot", 1.0))
    assert text.index("One") < find_excerpt(text, shares, ()).end < text.index("Two")


async def test_a_text_without_spaces_has_an_excerpt(book: Book) -> None:
    text = (
        "今天天气很好我们去散步。" * 60 + "备用钥匙在蓝色花盆下面。" + "明天会下雨请带上雨伞。" * 60
    )
    hit = await _found(book, text, "备用钥匙在哪里")
    assert "备用钥匙在蓝色花盆下面。" in hit.excerpt.text and len(hit.excerpt.text) <= LENGTH + 2


async def test_a_block_of_code_that_fits_is_not_torn(book: Book) -> None:
    code = "```python\n" + "value = 1\n" * 20 + "def open_cellar_door(): ...\n```"
    hit = await _found(book, f"{BEFORE}\n{code}\n{AFTER}", "open_cellar_door")
    assert code in hit.excerpt.text


async def test_of_a_block_of_code_that_is_too_long_the_excerpt_has_whole_lines(book: Book) -> None:
    code = (
        "```\n"
        + "    value = compute(1)\n" * 60
        + "    open_cellar_door()\n"
        + "    x = 2\n" * 60
        + "```"
    )
    excerpt = (await _found(book, f"Look:\n{code}", "open_cellar_door")).excerpt
    lines = excerpt.text.strip("…").split("\n")
    assert "    open_cellar_door()" in lines and {*lines} <= {*code.split("\n")}


async def test_a_text_of_one_endless_word_is_cut_and_still_has_an_excerpt(book: Book) -> None:
    hit = await _found(book, f"{'x' * 2000} cellar {'y' * 2000}", "cellar")
    assert "cellar" in hit.excerpt.text and len(hit.excerpt.text) <= LENGTH + 2


async def test_the_excerpt_is_the_same_behind_a_service(book: Book) -> None:
    await _found(book, f"{BEFORE}{ANSWER}{AFTER}", "cellar key")
    hits = await book.recall("ana", "cellar key")
    sent, excerpt = to_json(hits), hits[0].excerpt
    told = {"text": excerpt.text, "start": excerpt.start, "end": excerpt.end}
    assert sent["hits"][0]["excerpt"] == told
    assert [hit.excerpt for hit in from_json("recall", sent)] == [excerpt]
    schema = schema_of("recall")["$defs"]
    assert schema["Hit"]["properties"]["excerpt"] == {"$ref": "#/$defs/Excerpt"}
    assert schema["Excerpt"]["required"] == ["text", "start", "end"]


@pytest.mark.parametrize("budget", [400, 1000])
async def test_a_context_shows_the_part_that_answers_within_its_budget(
    book: Book, budget: int
) -> None:
    await _found(book, f"{BEFORE * 4}{ANSWER}{AFTER * 4}", "cellar key")
    context = await book.context("ana", "Where is the key of the cellar?", budget=budget)
    assert ANSWER in context.text and context.tokens <= budget
    (placed,) = [one for block in context.blocks for one in block.placed]
    assert placed.cut and placed.text.startswith("…") and placed.text.endswith("…")


async def test_a_context_shows_the_part_of_an_episode_that_answers(book: Book) -> None:
    summary = f"{BEFORE * 2}{ANSWER}{AFTER * 2}"
    await book.episodes.record(
        "ana", goal="Look after the house", summary=summary, outcome="succeeded"
    )
    context = await book.context("ana", "Where is the key of the cellar?", budget=600)
    (placed,) = [one for block in context.blocks for one in block.placed]
    assert ANSWER in placed.text and placed.cut


async def test_a_memory_in_a_context_does_not_change_with_the_question(book: Book) -> None:
    await book.remember("ana", f"{BEFORE[:450]}{ANSWER}{AFTER[:450]}")
    asked = [
        await book.context("ana", question, budget=600)
        for question in ("the cellar key", "an umbrella")
    ]
    assert asked[0].blocks[0].text == asked[1].blocks[0].text and asked[0].blocks[0].placed[0].cut


async def test_a_context_shows_the_part_of_a_message_that_a_memory_cites(book: Book) -> None:
    thread = await book.thread("ana")
    text = f"{BEFORE * 4}{ANSWER} The dog is called Bruno. {AFTER * 4}"
    said = (await thread.append([{"role": "user", "content": text}])).ids("message")
    await book.remember("ana", "Keeps the cellar's key under a flowerpot", sources=said)
    hits = await book.recall("ana", "Where is the key of the cellar?")
    assert [one.record.id for one in hits[0].folded] == [*said]
    context = await book.context("ana", "Where is the key of the cellar?", budget=600)
    assert ANSWER in context.text


def test_a_source_is_quoted_with_the_words_that_the_memory_keeps_of_it() -> None:
    text = f"{BEFORE}{ANSWER}{AFTER}"
    said = {
        "id": new_id(),
        "owner": ANA,
        "thread": new_id(),
        "seq": 1,
        "role": "user",
        "content": text,
    }
    message = Message.model_validate({**said, "observed_at": NOON})
    told = {"id": new_id(), "owner": ANA, "content": "Keeps a key", "observed_at": NOON}
    kept = {"sources": [message.id], "quotes": [Cited(message=message.id, quote=ANSWER)]}
    source = source_of(message, Memory.model_validate({**told, **kept}))
    assert (
        ANSWER in source.quote
        and len(source.quote) <= 300
        and source.quote[0] == source.quote[-1] == "…"
    )
    assert source_of(
        message, Memory.model_validate({**told, "sources": [message.id]})
    ).quote == quote(text)


@pytest.mark.parametrize("around", ["", "not there", "one two", "eight"])
def test_a_quote_keeps_to_its_length(around: str) -> None:
    text = "one two three four five six seven eight"
    shown = quote(text, 20, around=around)
    assert len(shown) <= 20 and (around not in text or around in shown)
    assert quote(text, 39, around=around) == text
