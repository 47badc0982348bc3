"""Cues: what the wording of a message or a question tells besides its words, such as that it asks something."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

#: The term of a text that ends with a question mark. No word has this term.
ASKS: Final = "?"
#: The term of a text that states a standing wish: "always …", "from now on …", "when I ask about …".
WISHES: Final = "!"

_QUESTION_MARKS: Final = ("?", "？", "؟")
#: A wish stands at the beginning of a message, in so many characters.
_BEGINNING: Final = 600
#: The forms of a wish. Each begins with plain text, by which most texts are seen to hold none.
_WISH_FORMS: Final = (
    *("always", "never", "whenever", "from now on", "every time", "each time", "in future", "going forward"),
    *("i prefer", "i'd rather", "please (?:do not|don't|keep|use|make)", "when i (?:ask|say|want)"),
    *("immer", "nie", "niemals", "ab jetzt", "ab sofort", "jedes mal", "künftig", "in zukunft"),
    *("ich bevorzuge", "wenn ich .{1,20}(?:frage|sage)"),
    *(
        "siempre",
        "nunca",
        "a partir de ahora",
        "cada vez",
        "prefiero",
        "cuando (?:te )?(?:pida|pregunte|diga)",
    ),
    *("toujours", "jamais", "désormais", "dorénavant", "chaque fois", "je préfère"),
    *("sempre", "mai", "d'ora in poi", "ogni volta", "preferisco", "de agora em diante"),
    *("altijd", "nooit", "voortaan", "elke keer"),
)
#: Forms in a script that does not divide words.
_WISH_SIGNS: Final = ("以后", "从现在起", "每次", "总是", "永远不要", "请")
_WISH: Final = re.compile(rf"\b(?:{'|'.join(_WISH_FORMS)})\b|{'|'.join(_WISH_SIGNS)}", re.IGNORECASE)
_WISH_BEGINNINGS: Final = (*(form.partition("(")[0].partition(".")[0] for form in _WISH_FORMS), *_WISH_SIGNS)
#: Letters that a regular expression takes for i or s, as they are in lower case: \u0130 leaves its dot.
_OTHER_CASES: Final = ("\u0307", "\u0131", "\u017f")
_YOU: Final = re.compile(
    r"\b(?:you|your|we|us|our|assistant|suggest\w*|recommend\w*|advis\w*|plan|explain\w*|answer\w*|said|told|"
    r"du|dir|dein\w*|sie|ihr\w*|wir|uns|empfohlen|vorgeschlagen|erklärt|plan|"
    r"tú|te|usted|nosotros|nos|recomendaste|sugeriste|explicaste|dijiste|"
    r"tu|vous|votre|nous|conseillé|expliqué|lei|noi|você|nós|jij|jullie|wij)\b|你|您|我们|建议|计划",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"\b(?:now|current\w*|latest|newest|these days|today|at the moment|still|anymore|"
    r"jetzt|aktuell\w*|derzeit\w*|momentan|heute|inzwischen|ahora|actual\w*|hoy|todavía|"
    r"maintenant|actuel\w*|aujourd'hui|adesso|attuale|oggi|agora|atual\w*|nu|tegenwoordig|huidige)\b|现在|目前|最新|如今",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"\b(?:ask|asked|asking|questions?|wonder\w*|wanted to know|fragen?|fragte\w*|gefragt|wissen wollte\w*|"
    r"pregunt\w*|demandé\w*|demandai\w*|chiesto|chiesi|domanda\w*|pergunt\w*|vroeg\w*|gevraagd)\b|问",
    re.IGNORECASE,
)


class Cue(StrEnum):
    """A hint in a question about the passage that it looks for."""

    #: It asks for what the one who is asked said, or for what both made: "what did you suggest", "our plan".
    YOU = "you"
    #: It asks for what holds at the moment: "now", "the latest", "still".
    NOW = "now"
    #: It asks for what somebody asked: "what did I ask about", "which questions".
    ASKED = "asked"


_FORMS: Final = ((Cue.YOU, _YOU), (Cue.NOW, _NOW), (Cue.ASKED, _ASKED))


def marks_of(text: str) -> list[str]:
    """Return the terms that mark a text's wording: whether it asks, and whether it states a standing wish."""
    marks = [ASKS] if text.rstrip().endswith(_QUESTION_MARKS) else []
    return [*marks, WISHES] if _may_wish(text[:_BEGINNING]) and _WISH.search(text[:_BEGINNING]) else marks


def _may_wish(text: str) -> bool:
    """True if the text has the beginning of a wish; this is a quick search, and most texts have none."""
    beginnings: tuple[str, ...] = _WISH_BEGINNINGS if text.isascii() else (*_WISH_BEGINNINGS, *_OTHER_CASES)
    return any(map(text.lower().__contains__, beginnings))


def cues_of(question: str) -> frozenset[Cue]:
    """Return the cues that a question's wording gives."""
    return frozenset(cue for cue, form in _FORMS if form.search(question))
