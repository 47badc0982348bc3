"""Reads what a user's message says by itself, without quotes and questions, and whether it answers
yes or no.
"""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text
from memoranda.text.scripts import normalised
from memoranda.text.similarity import sentences_of

_QUESTION_MARKS: Final = frozenset("?？؟;\u037e⁇")
#: A quote of fewer words is a name or a value that the user gives, and one of at most so many may
#: be a title.
_LEAST_QUOTED, _LONGEST_TITLE = 4, 6
#: The words of a title but small ones begin with capitals, and say neither what is nor what to do.
_TITLE: Final = re.compile(r"[^\w]?(?:(?:[A-ZÀ-Þ\d][\w'’&-]*|[a-zà-ÿ]{1,4}|&)(?: |[^\w]?$))+")
_SAYING: Final = re.compile(
    r"\b(?:say|says|said|state|states|stated|tell|tells|told|write|writes|wrote|answer\w*|repl(?:y|ies|ied)|claim\w*|quote\w*"
    r"|it reads|sagt\w*|steht|stand|schreib\w*|schrieb|meint\w*|dice|dijo|escrib\w*|dit|écri\w*)(?: \w+)?$",
    re.IGNORECASE,
)
_SAYS_SOMETHING: Final = re.compile(
    r"[.!?:;,]|\b(?:i|you|we|he|she|they|is|are|am|was|were|has|have|will|must|should|can|may|do|does|not|all"
    r"|ich|du|wir|ist|sind|hat|haben|wird|muss|soll|kann|nicht|yo|es|son|está|tiene|debe|puede|je|est|sont|doit|peut)\b",
    re.IGNORECASE,
)
_MASKED: Final = re.compile(f"{MASK}+")

_YES: Final = re.compile(
    r"^(?:(?:oh|well|hm+|ah|great|good|thanks?|thank you|super|danke|gracias|merci|please|bitte|por favor|for (?:me|us)|für (?:mich|uns)|para mí)[,.! ]+)*"
    r"(?:(?:good|great|nice) idea|gute idee|buena idea|bonne idée|(?:please|bitte|por favor)(?=[.!]*$)|yes|yep|yeah|yup|sure|ok(?:ay)?|alright|all right|fine|agreed|exactly|right|correct|true|absolutely|definitely"
    r"|of course|certainly|please do|go ahead|do (?:it|that|so)|let's do|sounds good|works for me|perfect|indeed|both"
    r"|ja|jawohl|jo|jep|klar|gern(?:e)?|genau|stimmt|richtig|einverstanden|natürlich|mach (?:das|es)|in ordnung|passt"
    r"|s[ií]|claro|vale|exacto|correcto|de acuerdo|por supuesto|desde luego|hazlo|adelante|perfecto"
    r"|oui|ouais|d'accord|bien sûr|exactement|tout à fait|volontiers|vas-y|c'est (?:ça|cela)|parfait)\b"
)
_RIGHT: Final = re.compile(
    r"^(?:yes|yep|yeah|right|correct|exactly|true|indeed|that's (?:right|correct|true)|ja|jawohl|genau|stimmt|richtig|s[ií]|exacto"
    r"|correcto|cierto|oui|exactement|c'est (?:ça|exact|juste))\b(?!,? (?:but not|aber nicht))"
)
#: The words of a yes to a question about the user; an okay is none.
_CONFIRMS: Final = re.compile(
    r"\W*(?:(?:oh|well|ja|oui)[, ]+)?(?:yes|yep|yeah|yup|right|correct|exactly|true|indeed|that's (?:right|correct|true)"
    r"|i (?:do|am|have)|ja|jawohl|jep|genau|stimmt|richtig|sí|exacto|correcto|cierto|oui|ouais|exactement|c'est (?:ça|exact|juste))\b"
    r"(?:,? (?:it is|i (?:do|am|have)|you're right|that's right|genau|klar|claro|exactement|tout à fait))?(?=\W|$)\W*",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^(?:(?:oh|well|hm+|ah|thanks?|sorry|interesting|danke|gracias|merci)[,.! ]+(?:but |aber |pero |mais )?)*"
    r"(?:no|nope|nah|not|never|don't|do not|rather not|nein|nee|nicht|lieber nicht|bloß nicht|nunca|mejor no|non|pas|plutôt pas)\b"
)
#: What takes a yes back at once.
_TAKEN_BACK: Final = re.compile(
    r"\b(?:no,? wait|wait|hold on|let me (?:ask|think|check)|not (?:yet|sure)|nein|warte|moment mal|espera|déjame|attends)\b"
)
#: Questions that ask for a change.
_REQUEST: Final = re.compile(
    r"^(?:(?:please|and|ok(?:ay)?|hi|hey|bitte|und|por favor|y)[, ]+)*"
    r"(?:(?:can|could|would|will) (?:you|we)|kannst du|könntest du|können wir|könnten wir|puedes|podrías|podemos|peux-tu)\b"
)
_REQUESTS_ANYWHERE: Final = re.compile(r"[,;:.] (?=(?:can|could|would|will) (?:you|we)\b)")
#: Thanks and praise; what follows them orders nothing unless it says so.
_THANKS: Final = re.compile(
    r"^(?:nice|thanks?|thank you|great|perfect|cool|awesome|good (?:one|job|work)|well done|super|danke|gracias|merci|genial)\b"
)
_ORDERS: Final = re.compile(
    r"\b(?:but|please|always|never|next time|from now|don't|do not|use|make sure|remember|aber|bitte|immer|nie|pero|siempre|nunca)\b"
)
#: Requests that ask to be shown something; they change and state nothing.
_ASKS_TO_SEE: Final = re.compile(
    r"^(?:(?:please|and|now|ok(?:ay)?|hi|hey|bitte|und|por favor|y|et|s'il te plaît)[, ]+)*"
    r"(?:(?:can|could|would|will) you |kannst du |könntest du |puedes |podrías |peux-tu |pourrais-tu )?"
    r"(?:show|check|read|look|find|tell|list|open|search|load|pull|track|run|describe|summari[sz]e|get|give|fetch|see|scan"
    r"|parse|extract|classify|refresh|sync|what|where|when|who|which|how|why|status|any|is|are|am|do|does|did|has|have"
    r"|zeig\w*|prüf\w*|lies|lese|schau\w*|such\w*|finde|sag|öffne|lade|fasse|was|wo|wann|wer|welche\w*|wie|warum|gibt"
    r"|muestra|comprueba|lee|busca|mira|dime|abre|consulta|qu[eé]|d[oó]nde|cu[aá]ndo|qui[eé]n|cu[aá]l|c[oó]mo|hay"
    r"|montre|vérifie|lis|cherche|regarde|dis|ouvre|que|quoi|où|quand|qui|quel\w*|comment|pourquoi)\b"
)

#: Words that point at one of several things that the turn before named.
_PLACES: Final = (
    "ones? first second third fourth fifth sixth last latter former others? two three erste[nrs]? zweite[nrs]? dritte[nrs]? "
    "vierte[nrs]? letzte[nrs]? andere[nrs]? beiden primer[oa]? segund[oa] tercer[oa]? cuart[oa] últim[oa]s? otr[oa]s? "
    "premi(?:er|ère) deuxième seconde? troisième quatrième derni(?:er|ère) autres? deux"
)
_POINTS: Final = re.compile(
    rf"\b(?:the|die|der|das|den|la|el|los|las|le|les)(?: \w+)? (?:{'|'.join(_PLACES.split())})"
    r"(?=\W*$|[,.;:!)]| (?:one|option|idea|suggestion|of|please|bitte|von|vorschlag|opción|idée|por|de|s'il)\b)"
    r"|\b(?:option|number|nummer|no\.|nr\.|plan|choice|item|opción|número|numéro|variante?) ?#?(?:\d{1,2}|[a-h])\b"
    r"|#\d{1,2}\b|^\W*(?:\d{1,2}|[a-h]|both|all|beides?|alle|amb[oa]s|tod[oa]s|tou[st])\W*$"
    r"|\b(?:that|this) one\b|\b(?:all|both|any|each|none|either|most) of (?:them|these|those)\b"
)


def points_at_something(text: str) -> bool:
    """True if a sentence points at something that another turn named, and does not name it: "yes,
    the second one".
    """
    return _POINTS.search(_plain(text)) is not None


def own_words(text: str) -> str:
    """Return a message without the texts that it quotes or pastes."""
    start = readable_text(text)
    masked = mask_quoted(start)
    kept = list(start)
    for found in _MASKED.finditer(masked):
        count = len(start[found.start() : found.end()].split())
        if count >= _LEAST_QUOTED and not (
            count <= _LONGEST_TITLE and _is_title(start, *found.span())
        ):
            kept[found.start() : found.end()] = " " * (found.end() - found.start())
    return "".join(kept)


def _is_title(text: str, begin: int, end: int) -> bool:
    """True if a quote is a title, such as that of a book, in a sentence of the user's own."""
    quoted = text[begin:end]
    before = text[:begin].rstrip()
    return (
        before[-1:].isalpha()
        and _SAYING.search(before[-40:]) is None
        and _TITLE.fullmatch(quoted) is not None
        and _SAYS_SOMETHING.search(quoted) is None
        and _ORDERS.search(quoted.casefold()) is None
    )


def asks(text: str) -> bool:
    """True if a text has a question mark."""
    return not _QUESTION_MARKS.isdisjoint(text)


def stated_words(text: str) -> str:
    """Return what a message says in its own words, without its questions; a question that asks for
    a change stays.
    """
    return "\n".join(
        part for part in sentences_of(own_words(text)) if not asks(part) or _asks_for_change(part)
    )


def _asks_for_change(question: str) -> bool:
    parts = _REQUESTS_ANYWHERE.split(_plain(question))
    return any(_REQUEST.match(part) and not asks_to_see(part) for part in parts)


def only_thanks(text: str) -> bool:
    """True if a message thanks or praises, and orders nothing."""
    plain = _plain(text)
    return _THANKS.match(plain) is not None and _ORDERS.search(plain) is None


def says_yes(text: str) -> bool:
    """True if a message answers a question with yes."""
    plain = _plain(text)
    return _YES.match(plain) is not None and _TAKEN_BACK.search(plain) is None and not says_no(text)


def calls_it_right(text: str) -> bool:
    """True if a message confirms a statement; an okay does not."""
    return _RIGHT.match(_plain(text)) is not None and not says_no(text)


def only_yes_before(text: str) -> str | None:
    """Return what follows the yes with which a message begins; None if it does not confirm."""
    match = _CONFIRMS.match(text)
    return None if match is None or says_no(text) else text[match.end() :]


def says_no(text: str) -> bool:
    """True if a message answers a question with no."""
    return _NO.match(_plain(text)) is not None


def asks_to_see(text: str) -> bool:
    """True if a message only asks for something to be shown, looked up or run."""
    return _ASKS_TO_SEE.match(_plain(text)) is not None


def _plain(text: str) -> str:
    return normalised(text).casefold().strip(" \n\t\"'«»“”„¡¿*_")
