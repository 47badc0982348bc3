"""Groups of topics that a way of taking back ends, for every language."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import TOPICS

HOME: Final = frozenset({"home", "moved"})
WORK: Final = frozenset({"work"})
TASTE: Final = frozenset({"likes"})
DISLIKED: Final = frozenset({"dislikes"})
DIET: Final = frozenset({"diet"})
ALLERGY: Final = frozenset({"allergies"})
BODY: Final = frozenset({"allergies", "health"})
FAMILY: Final = frozenset({"family"})
PET: Final = frozenset({"pet"})
THING: Final = frozenset({"possession"})
OWNED: Final = frozenset({"pet", "possession"})
LANGUAGE: Final = frozenset({"language"})
ORDER: Final = frozenset({"instruction"})
NOTE: Final = frozenset({"remember"})
#: What somebody is, where, and from where: ended by "I'm not …".
BEING: Final = frozenset({"work", "diet", "family", "origin", "home", "moved", "name", "nickname"})
#: What somebody does for a time: ended by "I'm done with …". Health and allergies need words of
#: their own.
PASSING: Final = frozenset(
    {"likes", "diet", "language", "possession", "instruction", "home", "moved"}
)
ANY: Final = frozenset(TOPICS)
