"""Tests of long turns of the assistant: a model is shown their ends, and nothing rests on what it
was not shown.
"""

from __future__ import annotations

import pytest

from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.prompt import Prompt, compose
from memoranda.model.drafts import Formed
from memoranda.model.language_models import FORMATION, ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from memoranda.text.token_count import estimate
from tests.formation.books import notes, opened, settle
from tests.formation.readings import talk

HOTELS = " ".join(
    f"{place}. Hotel {name} near the {sight}, with breakfast, a quiet garden and rooms at about {90 + place} euros."
    for place, (name, sight) in enumerate(
        [
            (name, sight)
            for name in ("Adler", "Beaumont", "Cervantes", "Dolder", "Esplanade", "Fontana")
            for sight in ("station", "harbour", "old market")
        ],
        start=1,
    )
)
ASKING = f"Here is what I found for you. {HOTELS} Which of these shall I book for the weekend?"


def shown(*turns: tuple[str, str]) -> Prompt:
    prompt = compose(talk(*turns))
    assert prompt is not None
    return prompt


def noted(prompt: Prompt, content: str, *handles: str, **fields: object) -> Formed:
    sources = [{"message": handle} for handle in handles]
    return read_answer({"notes": [{"content": content, "sources": sources, **fields}]}, prompt)


def test_of_a_long_turn_of_the_assistant_only_the_ends_are_shown_and_marked():
    prompt = shown(
        ("user", "Where shall we stay in Basel?"), ("assistant", ASKING), ("user", "No idea. " * 9)
    )
    line = next(line for line in prompt.content.split("\n") if line.startswith("- [m2 assistant]"))
    assert line.startswith("- [m2 assistant] Here is what I found for you.")
    assert line.endswith("shall I book for the weekend?") and "… (cut) …" in line
    assert "Cervantes" not in line and estimate(line) < 110
    # What a user or a tool says is shown whole, and so is a short turn.
    assert ASKING in shown(("user", ASKING)).content and ASKING in shown(("tool", ASKING)).content
    assert (
        "(cut)"
        not in shown(
            ("assistant", "word " * 60), ("user", "Thanks for all of that, it helped me a lot")
        ).content
    )


def test_what_a_user_answers_in_a_word_is_shown_whole_up_to_a_limit():
    advice = "Take the train at nine, and change in Olten. " * 20
    assert 80 < estimate(advice) < 400
    long = "I have read all of this, and will think about it tomorrow."
    assert "(cut)" not in shown(("assistant", advice), ("user", "The early one, please")).content
    assert "(cut)" in shown(("assistant", advice), ("user", long)).content
    assert "(cut)" in shown(("assistant", advice * 3), ("user", "Yes")).content


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        ("Yes, the second one", "Wants the second one booked for the weekend"),
        ("Yes, the second one", "Stays at Hotel Beaumont"),
        ("The last one please", "Wants the last hotel for the weekend"),
        ("Option 4", "Chose option 4, Hotel Dolder"),
        ("3", "Chose number 3"),
        ("All of them!", "Wants all of these hotels booked"),
        ("I'd take the third, it sounds lovely", "Would take the third hotel, which sounds lovely"),
        ("Ja, das zweite bitte", "Möchte das zweite Hotel"),
        ("Sí, la segunda por favor", "Quiere reservar la segunda"),
        ("Oui, le deuxième", "Veut le deuxième hôtel"),
    ],
)
@pytest.mark.parametrize("subject", [None, "weekend"])
def test_an_answer_to_what_was_cut_makes_no_note(reply: str, note: str, subject: str | None):
    prompt = shown(("user", "Find us a hotel in Basel"), ("assistant", ASKING), ("user", reply))
    for handles in (("m3",), ("m2", "m3")):
        formed = noted(prompt, note, *handles, subject=subject)
        assert not formed.notes
        assert formed.left_out[-1].code == "unseen"


def test_what_a_user_says_beside_it_is_noted():
    prompt = shown(
        ("assistant", ASKING), ("user", "Yes, the second one. And I am allergic to feathers.")
    )
    (note,) = noted(prompt, "Is allergic to feathers", "m2").notes
    assert note.trust == "user"


def test_a_yes_lends_the_words_that_were_shown_and_no_others():
    turns = (("assistant", f"{HOTELS} Shall I cancel the trip to Porto?"), ("user", "Yes please"))
    assert noted(shown(*turns), "The trip to Porto is cancelled", "m1", "m2").notes
    assert not noted(
        shown(*turns), "Wants Hotel Cervantes near the harbour", "m1", "m2", kind="preference"
    ).notes


def test_a_quote_over_a_cut_is_refused():
    prompt = shown(
        ("assistant", ASKING), ("user", "I am vegan, and we come with two dogs and a parrot.")
    )
    whole = prompt.reading.messages[0].message.content
    for quote in (whole[100:700], "what I found for you. … (cut) … Which of these"):
        source = {"message": "m1", "quote": quote}
        given = {"content": "Is vegan", "sources": [{"message": "m2"}, source]}
        formed = read_answer({"notes": [given]}, prompt)
        assert "misquoted" in {one.code for one in formed.left_out}
        assert all(not one.quote for note in formed.notes for one in note.cited)


async def test_a_thread_says_how_many_tokens_were_left_out(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(notes("Is vegan"))) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I am vegan. Where do we stay?")
        await thread.append("assistant", ASKING)
        await settle(book, clock)
        (part,) = await thread.formed()
        assert estimate(ASKING) - 100 < part.tokens_cut < estimate(ASKING) - 60


async def test_a_talk_of_long_advice_costs_a_fifth_of_its_text(clock: HandClock):
    models = ScriptedModels(lambda request: {})
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        for turn in range(12):
            await thread.append(
                "user", f"Question {turn}: what else should I think of before we move house?"
            )
            await thread.append("assistant", f"{ASKING} {ASKING}")
        await settle(book, clock)
        asked = [estimate(one.content) for one in models.asked if one.task == FORMATION]
        assert len(asked) == 1 and asked[0] * 5 < 24 * estimate(ASKING)


def told(request: ModelRequest) -> Said:
    """A model that fills what the last line asks for."""
    fill = request.content.rsplit("Fill:", 1)[-1]
    episode = {
        "episode": {"goal": "Move house", "outcome": "abandoned", "summary": "They plan a move."}
    }
    return {
        **(episode if "episode" in fill else {}),
        **({"summary": "They plan a move in spring."} if "summary" in fill else {}),
    }


async def test_a_summary_comes_with_what_is_formed_and_is_not_asked_for_again(clock: HandClock):
    models = ScriptedModels(told)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        for session in range(2):
            for turn in range(4):
                await thread.append(
                    "user",
                    f"Session {session}, question {turn}: what else should I plan for the move?",
                )
                await thread.append("assistant", f"{ASKING} {ASKING}")
            await settle(book, clock)
            record = await thread.get()
            assert record.summary == "They plan a move in spring."
            # The newest turns stay as they were said.
            assert 0 < record.summary_through < 8 * (session + 1)
        assert [one.task for one in models.asked] == [FORMATION, FORMATION]
        asked = models.asked[1].content
        assert "[summary so far] They plan a move in spring." in asked


async def test_a_thread_whose_user_asks_not_to_keep_something_gets_its_summary_without_it(
    clock: HandClock,
):
    models = ScriptedModels(
        lambda request: {"summary": "They plan."} if request.task == "summary" else {}
    )
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            "user", "My sister has lost her job at the mill, but please don't store that."
        )
        for turn in range(4):
            await thread.append("user", f"Question {turn}: what should I plan for the move?")
            await thread.append("assistant", f"{ASKING} {ASKING}")
        await settle(book, clock)
        formed, summarised = models.asked
        assert "summary" not in formed.content.rsplit("Fill:", 1)[-1]
        assert summarised.task == "summary" and "mill" not in summarised.content


async def test_an_episode_that_was_prepared_is_not_asked_for_at_the_close(clock: HandClock):
    models = ScriptedModels(told)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Let us plan the move.")
        await thread.append("assistant", "Fine.")
        await settle(book, clock)
        assert len(models.asked) == 1
        await thread.close("completed")
        await settle(book, clock)
        assert len(models.asked) == 1
        (episode,) = await book.episodes.list("ann", as_owner=True)
        assert (episode.goal, episode.outcome) == ("Move house", "succeeded")
        assert len(episode.sources) == 2
