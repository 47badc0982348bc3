"""Cues: what the wording of a message or a question tells besides its words, such as that it asks something."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

#: The term of a text that ends with a question mark. No word has this term.
ASKS: Final = "?"
#: The term of a text that states a standing wish: "always …", "from now on …", "when I ask about …".
WISHES: Final = "!"

_WORD: Final = re.compile(r"\w+")
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
_YOU: Final = (
    "you|your|we|us|our|assistant|suggest*|recommend*|advis*|plan|explain*|answer*|said|told|"
    "du|dir|dein*|sie|ihr|ihre*|wir|uns|empfohlen|vorgeschlagen|erklärt|plan|"
    "tú|te|usted|nosotros|nos|recomendaste|sugeriste|explicaste|dijiste|"
    "tu|vous|votre|nous|conseillé|expliqué|lei|noi|você|nós|jij|jullie|wij"
)
_NOW: Final = (
    "now|current*|latest|newest|these days|today|at the moment|still|anymore|"
    "jetzt|aktuell*|derzeit*|momentan|heute|inzwischen|ahora|actual*|hoy|todavía|"
    "maintenant|actuel*|aujourd'hui|adesso|attuale|oggi|agora|atual*|nu|tegenwoordig|huidige"
)
_ASKED: Final = (
    "ask|asked|asking|question|questions|wonder*|wanted to know|frage|fragen|fragte*|gefragt|wissen wollte*|"
    "pregunt*|demandé*|demandai*|chiesto|chiesi|domanda*|pergunt*|vroeg*|gevraagd"
)


class Cue(StrEnum):
    """A hint in a question about the passage that it looks for."""

    #: It asks for what the one who is asked said, or for what both made: "what did you suggest", "our plan".
    YOU = "you"
    #: It asks for what holds at the moment: "now", "the latest", "still".
    NOW = "now"
    #: It asks for what somebody asked: "what did I ask about", "which questions".
    ASKED = "asked"


#: So many letters of a word are compared first; no word that a star may continue is shorter.
_HEAD: Final = 4


class _Form(NamedTuple):
    """The wording that gives a cue."""

    cue: Cue
    wording: re.Pattern[str]
    #: The first letters of its words. An ASCII question without them does not have the wording: this is quicker to see.
    heads: frozenset[str]

    @classmethod
    def of(cls, cue: Cue, words: str, signs: str) -> _Form:
        """Return the form of words, of which a star may continue one, and of signs in scripts that do not divide words."""
        words_or_more = words.replace("*", r"\w*")
        wording = re.compile(rf"\b(?:{words_or_more})\b|{signs}", re.IGNORECASE)
        heads = frozenset(word[:_HEAD] for word in re.findall(r"(?:^|\|)(\w+)", words))
        return cls(cue, wording, heads)


_FORMS: Final = (
    _Form.of(Cue.YOU, _YOU, "你|您|我们|建议|计划"),
    _Form.of(Cue.NOW, _NOW, "现在|目前|最新|如今"),
    _Form.of(Cue.ASKED, _ASKED, "问"),
)


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
    if not question.isascii():
        return frozenset([form.cue for form in _FORMS if form.wording.search(question)])
    heads = {word[:_HEAD] for word in _WORD.findall(question.lower())}
    return frozenset(
        [form.cue for form in _FORMS if not form.heads.isdisjoint(heads) and form.wording.search(question)]
    )
