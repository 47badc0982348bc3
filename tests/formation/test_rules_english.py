"""English: what people state of themselves is understood, whatever else the sentence does."""

from __future__ import annotations

import pytest

from memoranda.formation.rules import Statement, extract
from memoranda.model.memories import Cardinality


def said(text: str) -> list[tuple[str, str]]:
    return [(one.about, one.value) for one in extract(text)]


def only(text: str) -> Statement:
    [one] = extract(text)
    return one


STATEMENTS = [
    ("Hello, Kwame here. Can you summarise a meeting?", ("name", "Kwame")),
    ("my name is maria, nice to meet you", ("name", "maria")),
    ("Please address me as Professor Lind.", ("nickname", "Professor Lind")),
    ("I go by Max.", ("nickname", "Max")),
    ("At 47 I still can't swim. Any lessons for adults?", ("age", "47")),
    ("I'm thirty-three. Is that too old for ballet?", ("age", "thirty-three")),
    (
        "My birthday falls on the 2nd of March, can you plan something?",
        ("birthday", "the 2nd of March"),
    ),
    ("What happened on 4 June? It's my birthday.", ("birthday", "4 June")),
    ("I've lived in Porto for ten years. What am I missing?", ("home", "Porto")),
    ("Our flat is in Bristol; how do we insulate it?", ("home", "Bristol")),
    ("i live in lagos, what time is it in tokyo", ("home", "lagos")),
    ("I moved from Hull to Leeds for work.", ("moved", "Leeds")),
    ("We relocated to Austin in May, which schools are good?", ("moved", "Austin")),
    ("I come from Ghana.", ("origin", "Ghana")),
    ("I work as a paramedic and barely sleep.", ("work", "paramedic")),
    ("I repair clocks for a living.", ("work", "repair clocks")),
    ("Korean is my first language.", ("language", "Korean")),
    ("My older brother, Tom, hates surprises.", ("family", "older brother, Tom")),
    ("My dog Bella barks at the postman.", ("pet", "dog Bella")),
    ("I've got a banjo that's out of tune.", ("possession", "banjo")),
    ("Penicillin gives me a rash.", ("allergies", "Penicillin")),
    ("I'm gluten intolerant, which beers can I drink?", ("allergies", "gluten")),
    ("I'm on a low-FODMAP diet.", ("diet", "low-FODMAP")),
    ("I can't stand loud restaurants.", ("dislikes", "loud restaurants")),
    ("Coriander isn't my thing.", ("dislikes", "Coriander")),
    ("I'm really fond of Italian cinema.", ("likes", "Italian cinema")),
    ("I want you to always cite your sources.", ("instruction", "always cite your sources")),
    ("Please use metric units at all times.", ("instruction", "use metric units")),
    ("Take note that the meeting moved to room 4.", ("remember", "the meeting moved to room 4")),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_a_statement_is_understood_with_its_value(text: str, expected: tuple[str, str]) -> None:
    assert said(text) == [expected]


SILENT = {
    "question": [
        "Do I like opera?",
        "Is it true that I'm allergic to cats?",
        "I'm allergic to cats, right?",
    ],
    "hypothetical": [
        "If I were vegan, what would I eat?",
        "Suppose I moved to Oslo; what would rent be?",
        "If it is cold and I live in Oslo, who pays?",
    ],
    "quote": [
        "The kid announced 'well, I hate peas!' and left.",
        'He always says "I hate golf".',
        "As the letter put it: I live in the greenest town.",
        "> I love pizza",
    ],
    "negation": [
        "I'm not allergic to nuts.",
        "I don't live in Oslo any more.",
        "It isn't true that I own a boat.",
    ],
    "other": [
        "My colleague is allergic to nuts.",
        "Her husband is a nurse.",
        "I have a friend who has a parrot.",
    ],
    "past": [
        "I used to live in Paris.",
        "I was a teacher for ten years.",
        "My first dog was called Rex.",
    ],
    "fiction": [
        "Pretend this is an interview. I own a bakery.",
        "I'm a wizard and you're my cat. Begin.",
        "Song lyrics: I love the night.",
        "Let's pretend I'm 70.",
    ],
    "sarcasm": [
        "Sure, I own a castle.",
        "Oh great, I love waiting in line.",
        "I love Mondays. Not.",
        "I adore queues /s",
    ],
    "figure": [
        "I'm allergic to mornings.",
        "I live under a rock.",
        "I'm married to my work.",
        "I drive a hard bargain.",
    ],
    "momentary": [
        "I'm on the train to Leeds.",
        "I have a cold.",
        "I'm 5 minutes away.",
        "I like this answer.",
    ],
    "one-off": [
        "In this email, never use contractions.",
        "Today only, call me Boss.",
        "Never mind.",
    ],
    "translation": [
        "Translate to French: I am vegetarian.",
        "What's German for I live in a small house?",
    ],
    "code": [
        'print("I am 20 years old")',
        "```\nI like cake\n```",
        "// I am a nurse",
        "User: I live in Berlin",
    ],
    "wish": ["I wish I had a dog.", "I'd like to be a vet.", "I hope to live in Rome some day."],
}


@pytest.mark.parametrize("text", [text for texts in SILENT.values() for text in texts])
def test_what_is_not_stated_of_oneself_yields_nothing(text: str) -> None:
    assert extract(text) == []


def test_one_sentence_can_state_several_things() -> None:
    assert said("I'm Sam, 34, vegan and live in Graz, and I love chess, old maps and hiking.") == [
        ("name", "Sam"),
        ("age", "34"),
        ("diet", "vegan"),
        ("home", "Graz"),
        ("likes", "chess"),
        ("likes", "old maps"),
        ("likes", "hiking"),
    ]


def test_what_is_said_of_a_son_is_not_taken_for_the_user() -> None:
    assert said("My son Kuba, 11, wants to stop football.") == [("family", "son Kuba")]
    assert said("Our daughter Roos, a nurse, is allergic to latex.") == [
        ("family", "daughter Roos")
    ]


def test_a_comma_without_and_lists_nothing() -> None:
    assert said("I like jazz, write me a playlist and send it.") == [("likes", "jazz")]


def test_what_is_to_be_remembered_is_understood_where_it_is_a_statement() -> None:
    assert said("Please remember that I'm allergic to kiwi.") == [("allergies", "kiwi")]


def test_what_holds_one_at_a_time_has_a_key_and_the_rest_has_none() -> None:
    home, band, likes = (
        only("I live in Oslo."),
        only("My favourite band is Low."),
        only("I like jazz."),
    )
    assert (home.key, home.cardinality, home.kind) == ("home", Cardinality.ONE, "fact")
    assert (band.key, band.cardinality, band.kind) == (
        "favourite band",
        Cardinality.ONE,
        "preference",
    )
    assert (likes.key, likes.cardinality, likes.kind) == (None, Cardinality.MANY, "preference")


def test_moving_takes_the_place_of_a_home_and_a_kind_of_dwelling_does_not() -> None:
    assert only("I moved to Lisbon.").key == only("I live in Oslo.").key == "home"
    assert only("I live on the third floor.").key is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Boston.", "Lives in Boston"),
        ("I'm allergic to walnuts.", "Is allergic to walnuts"),
        ("I prefer tea to coffee.", "Prefers tea"),
        ("I run a small bakery.", "Runs a small bakery"),
        ("We have two cats.", "Has two cats"),
        ("Never use emojis.", "Never use emojis"),
        ("Remember that the gate code is 9921.", "The gate code is 9921"),
        ("Remember that my mother visits in June.", "Asked to remember: my mother visits in June"),
    ],
)
def test_what_is_kept_stands_by_itself(text: str, content: str) -> None:
    assert only(text).content == content


def test_the_words_for_when_it_holds_are_kept_beside_the_value() -> None:
    assert only("I live in Berlin until June.").valid_to == "until June"
    assert only("I've lived in Porto for ten years.").valid_from == "for ten years"
    assert only("Never use emojis when you write to me.").applies_when == "when you write to me"


def test_the_span_points_to_where_it_was_said() -> None:
    text = "Can you help? Well, I live in Oslo, as you know."
    start, end = only(text).span
    assert text[start:end] == "I live in Oslo"


def test_a_quote_may_be_a_value() -> None:
    assert only('Stop calling me "user" from now on.').value == 'Stop calling me "user"'


def test_what_is_pasted_after_a_request_is_not_read_and_what_stands_before_is() -> None:
    text = "I live in Oslo. Translate this sentence: I own a boat.\nI hate rain."
    assert said(text) == [("home", "Oslo")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Shellfish makes my throat swell up.", [("allergies", "Shellfish")]),
        ("My doctor says I'm allergic to penicillin.", [("allergies", "penicillin")]),
        ("Whenever I eat mango my lips itch.", [("allergies", "mango")]),
        ("Could you call me Lex?", [("nickname", "Lex")]),
        ("My name isn't Tom, it's Thom.", [("name", "Thom")]),
        ("My new place is in Utrecht.", [("home", "Utrecht")]),
        (
            "I got promoted to head of procurement at Siemens.",
            [("work", "head of procurement at Siemens")],
        ),
        ("I'm from Ghana originally, been in Canada for years.", [("origin", "Ghana")]),
        ("I'm blind, please describe images.", [("health", "blind")]),
        ("I'm pregnant.", [("health", "pregnant")]),
        ("I'm diabetic.", [("health", "diabetic")]),
        ("I have asthma and a 5k on Saturday.", [("health", "asthma")]),
        ("I've got Crohn's and a dog.", [("health", "Crohn's"), ("pet", "dog")]),
        ("I take levothyroxine every morning.", [("health", "levothyroxine")]),
        ("I use a wheelchair.", [("health", "wheelchair")]),
        ("My 2018 Toyota Yaris won't start.", [("possession", "2018 Toyota Yaris")]),
        ("What can I get my nephew Jonas?", [("family", "nephew Jonas")]),
        ("I was born in Quito but live in Madrid.", [("origin", "Quito"), ("home", "Madrid")]),
    ],
)
def test_health_symptoms_and_what_a_doctor_says_are_understood(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I'm a teacher at Hilltop School in Leeds.", "Is a teacher at Hilltop School in Leeds"),
        ("I have a labrador, Biscuit.", "Has a labrador, Biscuit"),
        ("I'm vegan but eat honey.", "Is vegan but eat honey"),
        ("I run a small bakery in Porto.", "Runs a small bakery in Porto"),
        ("I eat vegetarian.", "Eats vegetarian"),
        ("I keep kosher.", "Keeps kosher"),
    ],
)
def test_a_statement_keeps_what_identifies_it(text: str, content: str) -> None:
    assert only(text).content == content


@pytest.mark.parametrize(
    "text",
    [
        "I'm Done With This.",
        "I'm Sorry About That!",
        "I don't like sushi anymore.",
        "According to my ex, I hate commitment.",
        "This is from my mother's email > \n I moved to Malaga.",
        "Shorten this, please.\n\nDear neighbour, I am a nurse and I live in Hull.",
        "My friend Ana has epilepsy.",
        "I'm blind to her faults.",
        "I'm expecting a parcel.",
        "Had a heart attack looking at the bill.",
    ],
)
def test_what_belongs_to_others_or_is_denied_yields_nothing(text: str) -> None:
    assert said(text) == []


PLAY = "Let's role play: you're the waiter and I'm a customer."


@pytest.mark.parametrize(
    ("earlier", "text", "values"),
    [
        ([PLAY], "I'm allergic to fish.", []),
        ([PLAY, "A table for two!"], "I'm allergic to fish.", []),
        ([PLAY], "End of the game. I'm allergic to fish.", ["fish"]),
        ([PLAY, "End of the game, thanks."], "I'm allergic to fish.", ["fish"]),
        (["Write a bio for my colleague Jim."], "I'm 45 and I love golf.", []),
        (["I'll paste a letter from my tenant."], "I live in Leeds.", []),
        (["I'll paste a letter from my tenant.", "Dear Sir!"], "I live in Leeds.", ["Leeds"]),
        (["Act as my trainer."], "I love golf.", ["golf"]),
        (["You're a lifesaver, I'm so glad."], "I love golf.", ["golf"]),
    ],
)
def test_a_game_and_a_pasted_text_go_on_in_the_next_message(
    earlier: list[str], text: str, values: list[str]
) -> None:
    assert [one.value for one in extract(text, earlier=earlier)] == values


def test_somebody_who_corrects_themselves_means_the_second_place() -> None:
    assert said("I live in Ghent, no wait, Antwerp.") == [("home", "Antwerp")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "I prefer distances and weights in metric units.",
            ["distances and weights in metric units"],
        ),
        (
            "I prefer lengths and weights in metric units of measure.",
            ["lengths and weights in metric units of measure"],
        ),
        ("I prefer prices, totals and taxes in euros.", ["prices, totals and taxes in euros"]),
        (
            "I prefer answers and summaries as bullet points.",
            ["answers and summaries as bullet points"],
        ),
        ("I prefer tea and coffee without sugar", ["tea and coffee without sugar"]),
        ("I prefer short answers and long explanations.", ["short answers", "long explanations"]),
        ("I prefer tea and coffee in the morning.", ["tea", "coffee"]),
        ("I prefer tea and coffee and I work with kids.", ["tea", "coffee"]),
        ("I prefer cats and dogs as I grew up with them.", ["cats and dogs"]),
        ("Ich bevorzuge Preise und Summen in ganzen Euro.", ["Preise und Summen in ganzen Euro"]),
        ("Je préfère les prix et les totaux en euros.", ["prix et les totaux en euros"]),
        ("Prefiero precios y totales en euros.", ["precios y totales en euros"]),
    ],
)
def test_a_list_with_a_tail_that_tells_of_all_is_preferred_as_one(
    text: str, values: list[str]
) -> None:
    assert [one.value for one in extract(text)] == values
