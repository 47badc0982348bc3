"""German: one more language is one more file."""

from __future__ import annotations

import pytest

from memoranda.formation.rules import extract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich heiße Anna und wohne in Hamburg.", [("name", "Anna"), ("home", "Hamburg")]),
        ("Ich bin 34 Jahre alt und Vegetarierin.", [("age", "34"), ("diet", "Vegetarierin")]),
        (
            "Ich bin allergisch gegen Nüsse und Milch.",
            [("allergies", "Nüsse"), ("allergies", "Milch")],
        ),
        ("Mein Geburtstag ist am 3. Mai.", [("birthday", "3. Mai")]),
        ("Ich bin letztes Jahr nach Leipzig gezogen.", [("moved", "Leipzig")]),
        ("Meine Schwester heißt Clara.", [("family", "Schwester heißt Clara")]),
        ("Bitte antworte immer auf Deutsch.", [("instruction", "antworte immer auf Deutsch")]),
        ("Merk dir, dass der Schlüssel unten liegt.", [("remember", "der Schlüssel unten liegt")]),
        ("Ich bin Lehrerin an einer Grundschule.", [("work", "Lehrerin an einer Grundschule")]),
        ("Hallo, ich bin Peter.", [("name", "Peter")]),
        ("Ich habe Diabetes und eine Katze.", [("health", "Diabetes")]),
        ("Ich bin im 5. Monat schwanger, was darf ich essen?", [("health", "5. Monat schwanger")]),
        ("Mein Arzt sagt, ich bin allergisch gegen Penicillin.", [("allergies", "Penicillin")]),
        ("Von Erdbeeren bekomme ich Ausschlag.", [("allergies", "Erdbeeren")]),
        ("Was schenke ich meiner Nichte Lotta?", [("family", "Nichte Lotta")]),
        ("Spinat kann ich nicht ausstehen.", [("dislikes", "Spinat")]),
        ("Ich höre gern Jazz und koche gerne.", [("likes", "Jazz")]),
        ("Ich mag Jazz und Wandern.", [("likes", "Jazz"), ("likes", "Wandern")]),
    ],
)
def test_a_german_statement_is_understood(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.about, one.value) for one in extract(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Bin ich allergisch gegen Nüsse?",
        "Wenn ich in Rom wohne, was zahle ich?",
        "Mein Nachbar mag Hunde.",
        "Ich bin nicht allergisch gegen Nüsse.",
        "Übersetze: Ich wohne in Hamburg.",
        "Früher habe ich zwei Hunde gehabt.",
        "Sie sagte „ich mag Jazz“.",
        "Bin ich laktoseintolerant, wenn mir schlecht wird?",
        "Ich mag kein Sushi mehr.",
        "Ich bin müde und hungrig.",
    ],
)
def test_what_is_not_stated_in_german_yields_nothing(text: str) -> None:
    assert extract(text) == []


def test_a_vegetarian_is_one_and_does_not_live_one() -> None:
    assert [one.content for one in extract("Ich bin Vegetarierin.")] == ["Ist Vegetarierin"]


def test_a_language_can_be_named_and_one_that_is_not_known_finds_nothing() -> None:
    assert [one.value for one in extract("Ich mag Jazz.", language="de")] == ["Jazz"]
    assert extract("Ich mag Jazz.", language="en") == []
    assert extract("I like jazz.", language="fi") == []
