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
_WISH: Final = re.compile(
    r"\b(?:always|never|whenever|from now on|(?:every|each) time|in future|going forward|i prefer|i'd rather|"
    r"please (?:do not|don't|keep|use|make)|when i (?:ask|say|want)|"
    r"immer|nie|niemals|ab jetzt|ab sofort|jedes mal|künftig|in zukunft|ich bevorzuge|wenn ich .{1,20}(?:frage|sage)|"
    r"siempre|nunca|a partir de ahora|cada vez|prefiero|cuando (?:te )?(?:pida|pregunte|diga)|"
    r"toujours|jamais|désormais|dorénavant|chaque fois|je préfère|"
    r"sempre|mai|d'ora in poi|ogni volta|preferisco|de agora em diante|altijd|nooit|voortaan|elke keer)\b"
    r"|以后|从现在起|每次|总是|永远不要|请",
    re.IGNORECASE,
)
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
    return [*marks, WISHES] if _WISH.search(text[:_BEGINNING]) else marks


def cues_of(question: str) -> frozenset[Cue]:
    """Return the cues that a question's wording gives."""
    return frozenset(cue for cue, form in _FORMS if form.search(question))
