"""French: what people state of themselves is understood, and what they do not state yields
nothing.
"""

from __future__ import annotations

import pytest

from memoranda.formation.rules import extract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Je m'appelle Chloé et j'habite à Lyon.", [("name", "Chloé"), ("home", "Lyon")]),
        ("J’ai 34 ans et deux enfants.", [("age", "34"), ("family", "deux enfants")]),
        ("Je suis infirmière à l'hôpital Necker.", [("work", "infirmière à l'hôpital Necker")]),
        ("Je travaille chez Airbus.", [("work", "Airbus")]),
        (
            "Je suis allergique aux arachides et au kiwi.",
            [("allergies", "arachides"), ("allergies", "kiwi")],
        ),
        (
            "Mon médecin dit que je suis allergique à la pénicilline.",
            [("allergies", "pénicilline")],
        ),
        ("Les crevettes me donnent de l'urticaire.", [("allergies", "crevettes")]),
        ("J'ai de l'asthme.", [("health", "asthme")]),
        ("Je suis en fauteuil roulant.", [("health", "en fauteuil roulant")]),
        ("Je ne mange pas de viande.", [("diet", "Je ne mange pas de viande")]),
        ("J'aime le jazz et la randonnée.", [("likes", "jazz"), ("likes", "randonnée")]),
        ("J'aime pas le café.", [("dislikes", "café")]),
        ("Mon chien Rex a peur.", [("pet", "chien Rex")]),
        ("Que puis-je offrir à ma nièce Ana ?", [("family", "nièce Ana")]),
        ("J'ai une Peugeot 208.", [("possession", "Peugeot 208")]),
        ("Je parle français et un peu d'arabe.", [("language", "français"), ("language", "arabe")]),
        ("Je suis née à Dakar mais je vis à Paris.", [("origin", "Dakar"), ("home", "Paris")]),
        ("Mon anniversaire est le 3 mai.", [("birthday", "3 mai")]),
        ("Appelle-moi Zaza.", [("nickname", "Zaza")]),
        ("Désormais, utilise un ton formel.", [("instruction", "utilise un ton formel")]),
        ("Rappelle-toi que le vol part à 6 h.", [("remember", "le vol part à 6 h")]),
    ],
)
def test_a_french_statement_is_understood(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.about, one.value) for one in extract(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Suis-je allergique si j'ai des boutons ?",
        "Si j'étais végane, je mangerais quoi ?",
        "Mon chef dit que je suis lent.",
        "Je suis à Paris jusqu'à dimanche.",
        "J'ai une question.",
        "J'aime ta réponse.",
        "J'aimerais avoir un chien.",
        "Mon voisin est musicien.",
        "Je n'aime plus les sushis.",
        "Écris une lettre : je suis Marie et je vis à Rome.",
        "Comment dit-on « je suis allergique aux arachides » en anglais ?",
    ],
)
def test_what_is_not_stated_in_french_yields_nothing(text: str) -> None:
    assert extract(text) == []
