"""A user answers the assistant's question, or corrects what they just said; no language model."""

from __future__ import annotations

import pytest

from memoranda.book import Book
from memoranda.formation.rules import answered, extract
from memoranda.model.memories import Memory
from memoranda.model.records import Trust
from memoranda.testing.clock import HandClock
from tests.formation.books import known, opened, settle


@pytest.mark.parametrize(
    ("question", "answer", "stated"),
    [
        ("Any allergies?", "yes, figs and mango", ["Is allergic to figs", "Is allergic to mango"]),
        ("Noted. So you live in Turin?", "yes", ["Lives in Turin"]),
        ("You work at Fiat, right?", "exactly", ["Works at Fiat"]),
        ("And where do you work?", "At Fiat", ["Works at Fiat"]),
        ("What's your name?", "Ida", ["Is called Ida"]),
        ("Do you prefer rice or pasta?", "rice, please", ["Prefers rice"]),
        ("What's your favourite season?", "autumn", ["Favourite season: autumn"]),
        ("Do you have any pets?", "Two parrots", ["Has two parrots"]),
        ("How many siblings do you have?", "three", ["Has three siblings"]),
        ("Are there foods you don't like?", "Olives", ["Dislikes olives"]),
        ("Wo wohnst du?", "In Jena", ["Wohnt in Jena"]),
        ("Bist du Veganer?", "Genau.", ["Ist Veganer"]),
        ("¿Dónde vives?", "En Bilbao", ["Vive en Bilbao"]),
        ("Où habitez-vous ?", "À Lille", ["Vit à Lille"]),
    ],
)
def test_an_answer_is_read_with_its_question(question: str, answer: str, stated: list[str]) -> None:
    assert [one.content for one in answered(question, answer)] == stated


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Any allergies?", "no"),
        ("Any allergies?", "not that I know"),
        ("So you live in Turin?", "no, in a hotel"),
        ("Shall I book the table in Turin?", "yes"),
        ("Do you want me to call Ida?", "yes"),
        ("Do you prefer rice or pasta?", "yes"),
        ("Do you prefer rice or pasta?", "rice or pasta"),
        ("Are you vegan, or only curious?", "yes"),
        ("Are you vegan? Shall I look for recipes?", "yes"),
        ("Where do you live?", "Why do you ask?"),
        ("Where do you live?", 'She wrote "Turin".'),
        ("Where do you live?", "On the Moon, lol"),
        ("In the story, where do you live?", "In Turin"),
        ("Where did you live?", "In Turin"),
        ("Does your sister live in Turin?", "yes"),
        ("What is the villain's name?", "Ida"),
        ("Do you like the plan?", "yes"),
        ("Are you from support?", "yes"),
        ("Are you vegan?", "sometimes"),
        ("Bist du Veganer?", "Nein."),
        ("Trinkst du lieber Tee oder Saft?", "ja"),
    ],
)
def test_an_answer_that_tells_nothing_of_the_user_is_left(question: str, answer: str) -> None:
    assert answered(question, answer) == []


@pytest.mark.parametrize("earlier", ["Let's play: you are a guard and I am Lord Pim."])
def test_a_part_in_a_game_answers_for_nobody(earlier: str) -> None:
    assert answered("Where do you live?", "In Turin", earlier=[earlier]) == []


@pytest.mark.parametrize(
    ("question", "answer", "held", "denial"),
    [
        ("Hi. Any allergies?", "yes, figs", "Is allergic to figs", "I'm not allergic to figs after all."),
        ("Do you live in Turin?", "yes", "Lives in Turin", "I don't live in Turin anymore."),
        ("Any pets?", "A dog called Rex", "Has a dog called Rex", "Rex died last night."),
    ],
)  # fmt: skip
async def test_an_answer_is_the_users_own_and_can_be_taken_back(
    clock: HandClock, question: str, answer: str, held: str, denial: str
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("assistant", question)
        await thread.append("user", answer)
        await settle(book, clock)
        [memory] = await _held(book)
        assert (memory.content, memory.trust) == (held, Trust.USER)
        assert [one.quote for one in memory.quotes] == [answer]
        await thread.append("user", denial)
        await settle(book, clock)
        assert await known(book) == []


@pytest.mark.parametrize(
    ("said", "turn", "correction", "held"),
    [
        ("I'm allergic to figs.", "Noted.", "no, I meant my son", []),
        ("My name is Ida.", "Hi Ida!", "sorry, Ada, not Ida", ["Is called Ada"]),
        ("I prefer rice.", "Rice it is.", "actually make that pasta", ["Prefers pasta"]),
        ("I have five camels.", "Really?", "that was a joke", []),
        ("I'm vegan.", "Noted.", "Scratch that.", []),
        ("I live in Turin.", "Noted.", "typo, Trento", ["Lives in Trento"]),
        ("I have two dogs.", "Nice.", "oops, I mean two cats", ["Has two cats"]),
        ("My son is called Max.", "Noted.", "*Mats", ["Son's name is Mats"]),
        (
            "I like chess and I live in Turin.",
            "Noted.",
            "not Turin, I meant Trento",
            ["Likes chess", "Lives in Trento"],
        ),
        ("I live in Turin.", "Noted.", "I said Turin but meant Trento", ["Lives in Trento"]),
        ("I drive a Tesla.", "Nice.", "forget that, it's my brother's", []),
        ("Ich wohne in Jena.", "Gut.", "Quatsch, ich meinte Gera.", ["Wohnt in Gera"]),
        ("Vivo en Bilbao.", "Vale.", "Perdón, quise decir Vigo.", ["Vive en Vigo"]),
        ("J'habite à Lille.", "Bien.", "Je plaisantais.", []),
    ],
)
async def test_the_next_message_corrects_what_was_said(
    clock: HandClock, said: str, turn: str, correction: str, held: list[str]
) -> None:
    assert await _held_after(clock, said, turn, correction) == held
    assert await _held_after(clock, said, turn, correction, at_once=True) == held


@pytest.mark.parametrize(
    ("said", "turn", "then"),
    [
        ("I live in Turin.", "Noted.", "no, I meant the hotel should be in Trento"),
        ("I live in Turin. What is its oldest museum?", "The Egizio.", "Scratch that, sorry."),
        ("I live in Turin.", "Booked: Rome to Pisa.", "wait, not Pisa, I meant Lucca"),
        ("I live in Turin.", "Shall I look for trains?", "no, Trento"),
        ("I work at Fiat.", "Noted.", "Sorry, Ferrari pays much better"),
        ("I work at Fiat.", "Noted.", "No problem Ida"),
        ("I'm 34.", "A timer for 40 minutes?", "make that 50"),
        ("I prefer rice.", "Two portions ordered.", "make that three"),
        ("I'm vegan.", "A joke about vegans: …", "that was a good joke"),
        ("I drive a Volvo.", "Was that a joke?", "That was no joke."),
        ("I love chess.", "Noted.", "it was my wife's idea"),
        ("I prefer rice.", "Noted.", "no, milk"),
        ("My name is Ida.", "Hi.", "No, Thanks"),
        ("My name is Ida.", "Hi.", "Sorry, London traffic"),
        ("I live in Turin.", "Turin is nicer than Trento.", "no, Trento"),
        ("I'm vegan.", "Noted.", 'He said "that was a joke".'),
    ],
)
async def test_what_corrects_something_else_ends_nothing(
    clock: HandClock, said: str, turn: str, then: str
) -> None:
    before = await _held_after(clock, said)
    assert before and set(before) <= set(await _held_after(clock, said, turn, then))


async def test_a_correction_leaves_what_a_person_pinned_or_wrote_and_what_was_said_again(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await book.remember("ann", "Is vegan")
        await thread.append("user", "I like chess.")
        await settle(book, clock)
        for said in ("I'm vegan.", "I like chess.", "I love rowing."):
            await thread.append("user", said)
            await settle(book, clock)
            if said == "I love rowing.":
                [rowing] = [one for one in await _held(book) if "rowing" in one.content]
                await book.memories.amend("ann", rowing.id, {"pinned": True}, as_owner=True)
            await thread.append("user", "that was a joke")
            await settle(book, clock)
        assert await known(book) == ["Is vegan", "Likes chess", "Likes rowing"]


async def test_a_corrected_memory_is_superseded_by_one_that_rests_on_both_messages(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I prefer rice.")
        await settle(book, clock)
        [rice] = await _held(book)
        await thread.append("user", "sorry, I meant pasta")
        await settle(book, clock)
        [pasta] = await _held(book)
        before = await book.records.get("ann", rice.id, as_owner=True)
        assert isinstance(before, Memory) and before.superseded_by == pasta.id
        assert [one.quote for one in pasta.quotes] == ["I prefer rice", "sorry, I meant pasta"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("our team uses Kafka and Redis", ["Team uses Kafka"]),
        ("My app is hosted on Hetzner.", ["App is hosted on Hetzner"]),
        ("We use Jira at work.", ["Uses at work: Jira"]),
        ("We've just bought a flat in Turin.", ["Has a flat in Turin"]),
        ("my dad's birthday is on 3 May", ["Dad's birthday: 3 May"]),
        ("Our wedding anniversary is on 12 July.", ["Wedding anniversary: 12 July"]),
        ("my sister is a vegan", ["Sister is a vegan"]),
        ("please answer in simple French", ["answer in simple French"]),
        ("don't use emojis with me", ["don't use emojis with me"]),
        ("I'd rather have rice than pasta.", ["Prefers rice"]),
        ("I live in Turin, sorry, I mean Trento.", ["Lives in Trento"]),
        ("Unsere Firma nutzt Postgres.", ["Firma nutzt Postgres"]),
        ("Ich trinke lieber Saft als Wasser.", ["Mag lieber Saft"]),
        ("Nuestro equipo usa Kafka.", ["Equipo usa Kafka"]),
        ("Prefiero el arroz a la pasta.", ["Prefiere arroz"]),
        ("Notre équipe utilise Kafka.", ["Équipe utilise Kafka"]),
        ("Réponds en anglais, s'il te plaît.", ["Réponds en anglais"]),
        ("Does our team use Kafka?", []),
        ("Their team uses Kafka.", []),
        ("We almost bought a flat in Turin.", []),
        ("Suppose our team uses Kafka.", []),
    ],
)
def test_a_plain_sentence_is_stored_as_one_that_can_be_read_alone(
    text: str, stated: list[str]
) -> None:
    found = [one.content[:1].lower() + one.content[1:] for one in extract(text)]
    assert found == [one[:1].lower() + one[1:] for one in stated]


async def _held_after(clock: HandClock, *turns: str, at_once: bool = False) -> list[str]:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for place, turn in enumerate(turns):
            await thread.append("assistant" if place % 2 else "user", turn)
            if not at_once:
                await settle(book, clock)
        await settle(book, clock)
        return await known(book)


async def _held(book: Book) -> list[Memory]:
    page = await book.records.list(
        "ann", types="memory", only={"statuses": ["active"]}, as_owner=True
    )
    return [one for one in page.records if isinstance(one, Memory)]
