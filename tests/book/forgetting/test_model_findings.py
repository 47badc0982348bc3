"""A language model is asked, only where the caller wants it, if records without the value of a fact
still tell it.
"""

from __future__ import annotations

from typing import Any

import pytest

import memoranda
from memoranda import Book, Conflict, Stale
from memoranda.cli.commands.forget_commands import plan_lines
from memoranda.errors import ModelFailed
from memoranda.model.language_models import ModelRequest
from memoranda.model.redactions import BY_MODEL, Traces
from memoranda.testing.scripted_models import ScriptedModels

TOLD = (
    "My flat is in Alfama. Tea is fine.",
    "I live near the Tagus, up the hill.",
    "My sister lives in Porto.",
    "The home page is slow.",
    "I like chess.",
)


def played(*told: tuple[str, str]) -> ScriptedModels:
    """A model that finds some words told, each in the record that holds a text."""

    def answer(request: ModelRequest) -> dict[str, Any]:
        lines = [line for line in request.content.splitlines() if line.startswith("- [r")]
        found = [
            {"record": line[3 : line.index(",")], "words": words}
            for text, words in told
            for line in lines
            if text in line
        ]
        return {"told": found}

    return ScriptedModels(answer)


async def filled(book: Book, texts: tuple[str, ...] = TOLD) -> str:
    thread = await book.thread("ana", agent="guide", audience="global")
    await thread.append(
        [{"role": "user", "content": text} for text in ("I live in Lisbon.", *texts)]
    )
    await book.remember(
        "ana", "Has a home with a view of the Tagus", agent="guide", audience="global"
    )
    await book.episodes.record(
        "ana", goal="Find a home", summary="She moved to the seven hills. It rained.", outcome="succeeded",
        agent="guide", audience="global",
    )  # fmt: skip
    return str(
        (
            await book.remember(
                "ana", "Lives in Lisbon", key="home", agent="guide", audience="global"
            )
        ).id
    )


def opened(models: ScriptedModels | None) -> Any:
    return memoranda.open("memory://", embed=None, models=models, worker=False)


def found_by_model(found: Traces) -> list[str]:
    return [one.text.strip() for one in found.listed if one.why == BY_MODEL]


async def told(book: Book) -> set[str]:
    page = await book.records.list("ana", types=["message", "memory"], as_owner=True)
    return {record.content for record in page.records}  # type: ignore[attr-defined]


async def test_no_model_is_asked_until_the_caller_wants_it_and_the_plan_says_what_that_costs() -> (
    None
):
    models = played(("Tagus", "near the Tagus"))
    async with opened(models) as book:
        home = await filled(book)
        plan = (await book.forget("ana", home, dry_run=True, as_owner=True)).plan
        assert plan is not None and plan.asking is not None and models.asked == []
        asking = plan.asking
        assert (asking.asked, asking.left_out, asking.calls) == (
            False,
            0,
            1,
        ) and asking.tokens > 1000
        assert "--ask-model" in plan_lines(plan)[-1] and "1 calls" in plan_lines(plan)[-1]
        found = await book.forgetting.find_traces("ana", home, ask_model=True, as_owner=True)
        assert len(models.asked) == 1 and found.asking is not None and found.asking.asked
        assert found.asking.records == asking.records
        usage = [one.task for one in await book.admin.usage("ana")]
        assert usage == ["forgetting"]


async def test_only_records_that_share_a_word_or_a_topic_are_shown_to_it() -> None:
    models = played()
    async with opened(models) as book:
        await book.forgetting.find_traces("ana", await filled(book), ask_model=True, as_owner=True)
        (request,) = models.asked
        assert "near the Tagus" in request.content and "The home page is slow." in request.content
        assert "chess" not in request.content and "I live in Lisbon" not in request.content
        assert "<facts>\n- Lives in Lisbon\n</facts>" in request.content


async def test_what_it_finds_is_listed_in_whole_sentences_and_goes_only_if_it_is_named() -> None:
    models = played(
        ("Tagus, up", "near the Tagus"),
        ("view of the Tagus", "home"),
        ("seven hills", "seven hills"),
    )
    async with opened(models) as book:
        home = await filled(book)
        found = await book.forgetting.find_traces("ana", home, ask_model=True, as_owner=True)
        assert set(found_by_model(found)) == {
            "I live near the Tagus, up the hill.",
            "Has a home with a view of the Tagus",
            "She moved to the seven hills.",
        }
        assert {one.why for one in found.still_tells} >= {BY_MODEL}
        calls = len(models.asked)
        names = [one.name for one in found.listed if one.why == BY_MODEL]
        plan = await book.forgetting.find_traces("ana", home, take=names, as_owner=True)
        await book.forget("ana", plan=plan, as_owner=True)
        assert len(models.asked) == calls
        assert await told(book) == set(TOLD) - {"I live near the Tagus, up the hill."}
        (episode,) = await book.records.list("ana", types="episode", as_owner=True)
        assert episode.summary == "It rained."


async def test_without_naming_them_the_found_records_stay() -> None:
    async with opened(played(("Tagus, up", "near the Tagus"))) as book:
        home = await filled(book)
        await book.forget("ana", home, ask_model=True, as_owner=True)
        assert set(TOLD) <= await told(book)


async def test_words_that_the_record_does_not_have_mean_all_of_it_and_unknown_handles_nothing() -> (
    None
):
    models = ScriptedModels(
        [{"told": [{"record": "r1", "words": "no such words"}, {"record": "r99", "words": "x"}, 7]}]
    )
    async with opened(models) as book:
        found = await book.forgetting.find_traces(
            "ana", await filled(book), ask_model=True, as_owner=True
        )
        assert len(found_by_model(found)) == 1


async def test_a_record_that_changed_since_is_not_cut(clock: Any) -> None:
    async with opened(played(("Tagus, up", "near the Tagus"))) as book:
        home = await filled(book)
        (one,) = (
            await book.forgetting.find_traces("ana", home, ask_model=True, as_owner=True)
        ).listed[-1:]
        await book.forgetting.redact("ana", one.message, 0, 2, as_owner=True)
        with pytest.raises(Stale, match=r"take: the record of .* has changed since"):
            await book.forget("ana", home, take=[one.name], as_owner=True)


async def test_many_records_are_bounded_and_the_plan_says_how_many_are_left_out() -> None:
    models = played()
    async with opened(models) as book:
        home = await filled(book, tuple(f"My home number {at} was nice." for at in range(70)))
        found = await book.forgetting.find_traces("ana", home, ask_model=True, as_owner=True)
        assert found.asking is not None
        assert (found.asking.records, found.asking.calls, len(models.asked)) == (60, 3, 3)
        assert (
            found.asking.left_out > 0
            and f"not {found.asking.left_out} older" in plan_lines(found)[-1]
        )


async def test_a_book_without_a_model_says_so_and_a_useless_answer_forgets_nothing() -> None:
    async with opened(None) as book:
        home = await filled(book)
        assert (await book.forgetting.find_traces("ana", home, as_owner=True)).asking is None
        with pytest.raises(Conflict, match="ask_model: this book has no language model"):
            await book.forget("ana", home, ask_model=True, as_owner=True)
    async with opened(ScriptedModels(["Sure!"])) as book:
        home = await filled(book)
        with pytest.raises(ModelFailed, match="does not list what is told"):
            await book.forget("ana", home, ask_model=True, as_owner=True)
        assert set(TOLD) <= await told(book)


#: Records near "Lives in Lisbon", the words that a model copied, and if they tell it: as played by
#: a careful reader who errs once.
JUDGED = (
    ("My home is a flat in Alfama.", "a flat in Alfama", True),
    ("I live a short walk from the Tagus.", "I live a short walk from the Tagus", True),
    ("Home for me is Portugal's capital.", "Portugal's capital", True),
    ("We moved to the city of seven hills. I like it.", "the city of seven hills", True),
    ("From home I see the Belém tower.", "I see the Belém tower", True),
    ("I lived in Porto as a child.", "I lived in Porto", False),
    ("My sister lives by the sea.", "", False),
    ("The home page is slow.", "", False),
    ("Where do you live?", "", False),
    ("I want to live to be a hundred.", "", False),
)


async def test_on_played_answers_four_of_five_findings_are_right_and_none_is_lost_on_the_way() -> (
    None
):
    models = played(*((text, words) for text, words, _ in JUDGED if words))
    async with opened(models) as book:
        home = await filled(book, tuple(text for text, _, _ in JUDGED))
        found = set(
            found_by_model(
                await book.forgetting.find_traces("ana", home, ask_model=True, as_owner=True)
            )
        )
    right = {text for text, _, tells in JUDGED if tells}
    whole = {
        text if "hills" not in text else "We moved to the city of seven hills." for text in right
    }
    assert found == whole | {"I lived in Porto as a child."}
    assert len(found & whole) / len(found) >= 0.8
