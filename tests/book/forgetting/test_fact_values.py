"""Tests of the value of a fact: which spellings hold it, which words and numbers only look like it,
and what is cut for it.
"""

from __future__ import annotations

import pytest

from memoranda.book.forgetting.cuts import cuts
from memoranda.book.forgetting.fact_values import Value
from memoranda.book.forgetting.facts import fact_of
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, Owner
from memoranda.model.redactions import TAKEN, cut
from memoranda.model.values import Span, new_id, utc_now
from memoranda.text.number_words import in_words

NAMES = frozenset({"ana", "user"})


def a_memory(content: str) -> Memory:
    return Memory(
        id=new_id(),
        owner=Owner(id="ana"),
        audience=EVERYONE,
        content=content,
        observed_at=utc_now(),
    )


def left_of(text: str, content: str, *others: str, repeats: bool = True) -> str:
    """Return what is left of the assistant's words, or of the user's, once a fact is forgotten."""
    fact = fact_of([a_memory(content)], NAMES, [a_memory(one) for one in others])
    found = cuts(fact, text, repeats=repeats)
    return cut(text, [Span(start=start, end=end) for (start, end), why in found if why in TAKEN])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "Earns 65,000 euros a year",
            "65k · 65.000 € · 65 000 · $65k · €65,000.00 · sixty-five thousand",
        ),
        ("Verdient 58.000 Euro", "58k · achtundfünfzigtausend · 58 000"),
        ("Owes 18,500 dollars", "$18.5k · eighteen and a half thousand"),
        ("Paie 890 euros de loyer", "890,00 € · huit cent quatre-vingt-dix"),
        ("Pesa 71 kilos", "71 kg · setenta y un kilos"),
        ("Is 42 years old", "I'm 42 · age: 42 · forty-two years · At 42,"),
        ("Was born on 9 May 1988", "09/05/1988 · 1988-05-09 · May 9, 1988 · May 9th · 9. Mai"),
        ("Phone number is 0161 496 0142", "0161 4960142 · +44 161 496 0142 · (0161) 496-0142"),
        ("Phone number is +49 171 2345678", "0171 2345678 · +49 (0)171/2345678 · 0171-234 56 78"),
        ("Phone number is 601 234 987", "601234987 · +34 601 23 49 87 · 601.234.987"),
        (
            "Email is ida.k@post.example",
            "ida.k@post.example · Ida.K@post.example · ida.k at post dot example",
        ),
        ("Account is @ida_k", "@ida_k · ida_k"),
        ("Works at ver.di", "ver.di · Ver.di"),
        ("Alarm code is 83K20", "83 K 20 · 83K20 · 83-k-20"),
        (
            "Has dinner at 19:45",
            "7:45 pm · 19.45 · 19h45 · quarter to eight · ocho menos cuarto · Viertel vor acht",
        ),
        ("Has dinner at 18:30", "half past six · halb sieben · seis y media · six heures et demie"),
        ("Takes a pill at 7:00", "seven o'clock · 7 Uhr · 7 am"),
        ("Hired on 2021-03-14", "14 March 2021 · 14.03.2021"),
        ("Is getting a divorce", "the divorce · divorced"),
        ("Trägt ein Hörgerät", "Hörgerätebatterien"),
        ("Es celíaca", "celiaquía"),
        ("Es vegano", "vegana"),
        ("Wears shoe size 43", "shoe size: 43"),
        ("Speaks German at level B2", "the B2"),
        ("Hat am 3. Mai Geburtstag", "am dritten Mai · 03.05."),
        ("Wedding is on 14 September", "the fourteenth of September · September fourteenth"),
        ("Was born on the third of May", "3 May · 3.5."),
        ("Su cita es el 21 de noviembre", "veintiuno de noviembre · el 21/11"),
        ("Rendez-vous le 1er juin", "le premier juin"),
        ("Owes 1.5 million dollars", "$1.5M · 1,500,000 dollars · 1.5 million"),
        ("Hat 2 Millionen Euro", "2 Mio. Euro · zwei Millionen · €2m · 2.000.000 Euro"),
        ("Earns 65k a year", "65,000 euros · sixty-five thousand"),
        ("IBAN is DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("License plate is M-AB 1234", "MAB1234 · M AB 1234"),
        ("Pèse 92 kilos", "À 92 kg · quatre-vingt-douze kilos"),
        ("Ist 1988 geboren", "Jahrgang 1988"),
        ("Is training for the Berlin marathon", "the Berlin race"),
        ("Lives in Turin", "Turin"),
        ("Likes milk", "the milk"),
        ("Favourite colour is turquoise", "something turquoise"),
        ("Est intolérante au lactose", "sans lactose"),
        ("Is married to Will", "Will's tie · Will is late · your husband Will"),
        ("Lives in the US", "US taxes"),
    ],
)
def test_a_value_is_held_in_each_of_its_spellings(content: str, text: str) -> None:
    value = Value([a_memory(content)], NAMES)
    assert [one for one in text.split(" · ") if value.held_by(one) < 1] == []
    fact = fact_of([a_memory(content)], NAMES)
    assert [one for one in text.split(" · ") if not fact.touches(f"So {one}, yes.")] == []


@pytest.mark.parametrize(
    ("content", "text", "left"),
    [
        ("Lives in York", "I live in York and I love New York.", "I love New York."),
        ("Lives in New York", "I live in New York and I was born in York.", "I was born in York."),
        ("Lives in York", "York is old. New York is new.", "New York is new."),
        ("Lives in Francisco", "San Francisco is far. Francisco is near.", "San Francisco is far."),
    ],
)
def test_a_name_is_not_part_of_a_longer_one_that_begins_with_another_word(
    content: str, text: str, left: str
) -> None:
    assert left_of(text, content).strip() == left.strip()


def test_a_number_of_a_thing_stays_where_two_memories_tell_the_age() -> None:
    fact = fact_of([a_memory("Is 42 years old"), a_memory("The user is 42 years old")], NAMES)
    said = "Ticket 42 is open. You are 42. Room 42, then. Your ticket is 42. Your age is 42."
    found = [
        said[slice(*place)].strip() for place, why in cuts(fact, said, repeats=True) if why in TAKEN
    ]
    assert found == ["You are 42.", "Your age is 42."]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (21, "twenty-one · einundzwanzig · veintiuno · veinte y uno · vingt et un"),
        (81, "eighty-one · einundachtzig · ochenta y uno · quatre-vingt-un"),
        (101, "hundred and one · hunderteins · ciento uno · cent un"),
        (1200, "1.2k · 1,200 · 1200 · zwölfhundert · mil doscientas · mille deux cents"),
        (23, "veintitrés · vingt-trois"),
        (16, "dieciséis · seize"),
        (1500, "one and a half thousand · eintausendfünfhundert · mil quinientos"),
    ],
)
def test_a_quick_look_misses_no_spelling_of_a_number(number: int, text: str) -> None:
    fact = fact_of([a_memory(f"Owes {number} euros")], NAMES)
    told = [one for one in text.split(" · ") if fact.value.places_in(f"{one} euros")]
    assert len(told) >= len(text.split(" · ")) - 2
    assert [one for one in told if not fact.touches(one)] == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Earns 65,000 euros a year", "165,000 · 65 · 65,001 · ticket 65000"),
        ("Is 42 years old", "1942 · bus 42 · 420 pages · gate 142 · 42 km"),
        ("Was born on 9 May 1988", "9 June 2021 · 9:05 · 19th of May · 9 May 2021"),
        ("Sister is called Ann", "Hannah · annual · Anna · Ann Lee · Ann-Kathrin · Mary-Ann"),
        ("Lives in Rome", "Romeo · Roman"),
        ("Pesa 71 kilos", "muelle 71 · 17 kilos"),
        ("Tiene 45 años", "45 minutos · 45 páginas"),
        ("Hat am 3. Mai Geburtstag", "dreizehnten Mai · am 30. Mai"),
        ("Is married to Will", "will it fit? · Will it fit?"),
        ("Is married to Mark", "Mark my words. · Please mark it."),
        ("Lives in the US", "Join us. · let us know"),
        ("Habite à Nice", '"Nice to meet you", dit-il · It would be nice'),
        ("Daughter is called Rose", "Prices rose · A rose is red"),
        ("Arbeitet bei Bosch", "eine Bosch von 2015"),
        ("Wohnt in Essen", "nach dem Essen"),
        ("Was born in March", "the Radetzky March"),
        ("Su mujer se llama Pilar", "detrás del Pilar"),
        ("Lives at number 12", "between 12 and 14 o'clock · at home, 12 friends"),
        ("Habite au 8 rue des Ormes", "Livré le 8 à 8 h."),
        ("Runs 10 km in 52 minutes", "Run a half marathon"),
        ("Gets up at 4:40", "a £4.40 coffee"),
        ("Nació el 9 de noviembre de 1968", "Caduca el 11/09"),
        ("Email is ida.k@post.example", "ole.k@post.example"),
    ],
)
def test_what_only_looks_like_a_value_does_not_hold_it(content: str, text: str) -> None:
    value = Value([a_memory(content)], NAMES)
    assert [one for one in text.split(" · ") if value.held_by(one) >= 1] == []


@pytest.mark.parametrize(
    ("content", "text", "left"),
    [
        ("Earns 72,000 dollars", "At 38, with $72k a year, you could borrow 300k.", "At 38, you could borrow 300k."),
        ("Earns 72,000 dollars", "- Pay: 72.000\n- Age: 38\n", "- Age: 38\n"),
        ("Earns 72,000 dollars", "| You | 72,000 | 38 |\n| Mia | 65,000 | 40 |", "| You |  | 38 |\n| Mia | 65,000 | 40 |"),
        ("Lives in Rome", "In Rome, where you live, the market has peppers.", "the market has peppers."),
        ("Works at Kestrel", 'Draft: "Employed at Kestrel, since 2017 in York."', 'Draft: "since 2017 in York."'),
        ("Is 38 years old", "At 38 years you are fit. Years ago the old route took 38 minutes.", "Years ago the old route took 38 minutes."),
        ("Lives in Rome", "1. Paris, 9 euros\n2. Rome, 12 euros", "1. Paris, 9 euros\n2. 12 euros"),
        ("Hat am 3. Mai Geburtstag", "3. Mai, wie immer, mit Kuchen und Kerzen.", "wie immer, mit Kuchen und Kerzen."),
        ("Heißt Rosa", "Rosa, du wohnst am Fluss.", "du wohnst am Fluss."),
        ("Wohnt in Rom", "Deine Schwester weiß, dass du in Rom wohnst.", "Deine Schwester weiß."),
        ("Fille s'appelle Fleur", "Fleur est là et elle dessine une fleur par jour.", "elle dessine une fleur par jour."),
        ("Has asthma", "Wear a mask (asthma, dusty room) and keep the window open.", "Wear a mask and keep the window open."),
        ("Arbeitet bei Kestrel", "Bei Kestrel können Sie ein Rad leihen.", "können Sie ein Rad leihen."),
        ("Is a nurse", "As a nurse you can ask for a health check.", "you can ask for a health check."),
        ("Lives in Rome", "Ida Berg | Rome | +49 171 2345678", "Ida Berg | +49 171 2345678"),
        ("Travaille chez Orage", "Reposez-vous après 18 h. Chez Orage, parlez au médecin.", "Reposez-vous après 18 h. parlez au médecin."),
        ("Weighs 92 kilos", "92 for you, and 20 for the tent.", "20 for the tent."),
    ],
)  # fmt: skip
def test_what_the_assistant_repeats_loses_the_parts_with_the_value(
    content: str, text: str, left: str
) -> None:
    assert left_of(text, content) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('Tell them: "My address is in Rome, order 5518."', 'Tell them: "order 5518."'),
        ('Tell them: "Order 5518, my address is in Rome."', 'Tell them: "Order 5518."'),
        ('"In Rome, the tea is at four."', '"the tea is at four."'),
        ('"I live in Rome", they say, "since May".', 'they say, "since May".'),
        ('Use "Rome (home)" and "Paris (work)".', '"Paris (work)".'),
        ('Put this in the letter to him: "I live in Rome."', "Put this in the letter to him"),
    ],
)
def test_a_quotation_mark_beside_a_part_goes_with_it_only_if_its_partner_does(
    text: str, left: str
) -> None:
    assert left_of(text, "Lives in Rome").strip() == left


def test_somebody_elses_namesake_stays() -> None:
    for content, text, left in (
        ("Boss is called Sarah", "Your boss is Sarah. The neighbour Sarah has a dog.", "The neighbour Sarah has a dog."),
        ("Fils Hugo est asthmatique", "Votre fils Hugo tousse. Le cousin Hugo fait du judo.", "Le cousin Hugo fait du judo."),
        ("Hermana Luz está enferma", "Tu hermana Luz está enferma. Tu amiga Luz se casa.", "Tu amiga Luz se casa."),
        ("Is a vegetarian", "You are a vegetarian. Priya from sales is a vegetarian.", "Priya from sales is a vegetarian."),
        ("Earns 65,000 euros", "Your 65k is fine. Marta's salary is 65,000 euros.", "Marta's salary is 65,000 euros."),
        ("Lives in Rome", "You live in Rome. The plumber lives in Rome.", "The plumber lives in Rome."),
        ("Dad has dementia", "Dad has dementia. The neighbour's dad has dementia.", "The neighbour's dad has dementia."),
        ("Es abogado", "Siendo abogado, lo sabes. Tu cuñado es abogado.", "Tu cuñado es abogado."),
    ):  # fmt: skip
        assert left_of(text, content).strip() == left


def test_a_summary_says_he_or_they_of_the_owner() -> None:
    for content, text in (
        ("Möchte 12 Kilo abnehmen", "Er möchte 12 Kilo abnehmen."),
        ("Étudie à Rennes", "L'utilisatrice étudie à Rennes."),
        ("Heißt Wolf", "Der Schüler heißt Wolf."),
    ):
        fact = fact_of([a_memory(content)], NAMES)
        assert [why in TAKEN for _, why in cuts(fact, text, made=True)] == [True]


def test_the_users_own_words_tell_a_value_beside_a_word_that_says_what_it_is() -> None:
    said = "J'habite à Nantes depuis 2019 et j'ai deux enfants."
    assert left_of(said, "Vit à Nantes", repeats=False) == "j'ai deux enfants."
    for other in ("On part de Nantes à 8h.", "I visited Nantes in May."):
        assert left_of(other, "Vit à Nantes", repeats=False) == other


def test_somebody_elses_fact_with_the_same_value_stays() -> None:
    text = "Your income is €70k and Jelena's income is €70k, so it changes nothing."
    left = left_of(text, "Earns 70,000 euros", "Wife Jelena earns 70,000 euros")
    assert left == "Jelena's income is €70k, so it changes nothing."
    kept = "Anna Petrov answered, and Anna P. from payroll called."
    assert left_of(kept, "Is married to Anna", "Anna Petrov does the payroll") == kept


@pytest.mark.parametrize(
    ("content", "text", "left", "others"),
    [
        ("Arbeitet bei Bosch", "Bei dem Gerät Bosch 2015 lohnt es sich.", None, ["Hat eine Waschmaschine von Bosch aus 2015"]),
        ("Has been to prison", "Watch the prison drama.", None, ["Loves prison dramas"]),
        ("Has been to prison", "Your time in prison is spent.", "", ["Loves prison dramas"]),
        ("Is a vegetarian", "Mia eats vegetarian food.", None, ["Mia is a vegetarian"]),
    ],
)  # fmt: skip
def test_what_another_memory_says_with_the_value_stays(
    content: str, text: str, left: str | None, others: list[str]
) -> None:
    assert left_of(text, content, *others) == (text if left is None else left)


def test_what_is_called_yours_is_the_owners_behind_a_part_about_somebody_else() -> None:
    said = "Visit his care home in Dundee, then meet your Dundee friends."
    left = left_of(said, "Went to school in Dundee", "Father lives in a care home in Dundee")
    assert left == "Visit his care home in Dundee."


def test_a_number_of_one_person_alone_goes_whoever_is_named_beside_it() -> None:
    said = "- Father: 0170 1111111\n- Parent to call: 0151/234567 89\n"
    assert left_of(said, "Phone number is 0151 23456789") == "- Father: 0170 1111111\n"
    his = left_of(said, "Phone number is 0151 23456789", "The parent has number 0151 23456789")
    assert his == said


def test_a_colleague_at_a_firm_tells_that_the_owner_is_there_and_a_relative_does_not() -> None:
    for text, left in (
        ("my manager at Kestrel is kind", ""),
        ("my uncle in Kestrel is kind", "my uncle in Kestrel is kind"),
    ):
        assert left_of(text, "Works at Kestrel", repeats=False) == left


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Arbeitet bei Kestrel", "Ihr Vater ging, und heute arbeiten Sie bei Kestrel."),
        ("Trabaja en Kestrel", "Su padre se fue y hoy usted trabaja en Kestrel."),
        ("Has asthma", "Worker has asthma."),
        ("Daughter is called Rose", "For Rose you could buy a kite."),
        ("Went to school in Dundee", "Visit his home, then meet your Dundee friends."),
        ("First name is Martin", "Kind regards, Martin Eastwood"),
        ("Boss is called Berg", "Please ask Mr Berg tomorrow."),
        ("Wohnt in Kestrel", "Der Bus zur Halle Kestrel hält bei dir."),
        ("Paga 950 euros", "950 € al mes son el 45 % de tus ingresos."),
        ("Ist 58 Jahre alt", "Mit 58 bist du jung."),
    ],
)
def test_the_owner_is_known_by_a_role_a_polite_word_and_the_name(content: str, text: str) -> None:
    assert left_of(text, content) != text


def test_every_number_below_a_million_is_written_once_in_each_language() -> None:
    for number in (2, 21, 80, 97, 101, 999, 1000, 1200, 21_021, 999_999):
        ways = list(in_words(number))
        assert len(ways) == 4 and len(set(ways)) >= 3
    assert list(in_words(1_000_000)) == list(in_words(1)) == []


def test_a_verb_at_the_beginning_of_a_sentence_is_no_name_of_somebody_else() -> None:
    said = "Hablo tres idiomas y toco el piano."
    assert left_of(said, "Habla tres idiomas", repeats=False) == "toco el piano."
    assert left_of("Contains peanuts.", "Is allergic to peanuts") == ""


def test_a_small_word_with_digits_is_no_code_that_only_the_owner_has() -> None:
    said = "I ordered rope12, bolt31, sail99 and kite40."
    assert left_of(said, "Sold bolt31 cam45x disk59 flag73", repeats=False) == said
    assert left_of("It is 83 K 20.", "Door code is 83K20", repeats=False) == ""
