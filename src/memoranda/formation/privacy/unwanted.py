"""Requests not to keep something, such as "don't store that", in four languages, and the sentences
that they point to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from memoranda.text.similarity import content_words

#: The most characters of a message in which requests are looked for.
_MOST_READ: Final = 20_000
#: The most requests of one message; people make one or two.
_MOST_REQUESTS: Final = 50
#: The request, with the object that it names, if it names one. What follows must end the clause:
#: "don't store that in S3" is about a program.
_AFTER: Final = (
    r"(?:[ ,]{1,2}(?:please|anywhere|either|though|ok(?:ay)?|yet|for later|about me|thanks|bitte|danke|por favor|gracias|s'il te plaît|"
    r"in (?:your|the|any) (?:memory|memories|notes?|profile|records?)|(?:in|im) (?:deinem |dein |den )?(?:gedächtnis|profil|notizen)|"
    r"en (?:tu |la )?(?:memoria|perfil|notas))){0,4}(?=\s*(?:[.!?,;:)\"”–—\n-]|$|(?:and|but|und|aber|y|pero|et|mais)\b))"
)
_THAT: Final = r"(?:that|this|it|these|those|any of (?:this|that|it)|what i (?:just )?(?:said|told you|wrote)|the (?:last|previous) (?:part|bit|message|sentence))"
_MINE: Final = r"(?:my|our|the|this|that|mein(?:e[nrsm]?)?|unser(?:e[nrsm]?)?|diese[nrs]?|den|die|das|mis?|el|la|este|esta|ese|esa|mon|ma|mes)"
_NAMED: Final = rf"{_MINE} (?P<what>[\w-]{{2,30}}(?: [\w-]{{2,30}})?)"


def _with(named: str) -> str:
    return _NAMED.replace("?P<what>", f"?P<{named}>")


_REQUEST: Final = re.compile(
    r"(?<!\w)(?:"
    # English. "I don't remember that" and "we don't store this" tell something and ask for nothing.
    r"(?<!i )(?<!we )(?<!you )(?<!they )(?<!he )(?<!she )(?<!to )(?:please )?(?:do not|don'?t|never|please not to|you (?:needn'?t|shouldn'?t|must not|mustn'?t)) "
    r"(?:ever )?(?:(?:store|save|remember|keep|(?:make|take) (?:a )?notes? of|note|record|write down|log|memori[sz]e|retain|persist|put)(?: down)? "
    rf"(?:{_THAT}(?: down)?|{_with('en')})|(?:write|jot|take) {_THAT} down)"
    r"|(?<!don't )(?<!not )(?<!never )forget (?:what i (?:just )?(?:said|told you|wrote)|(?:that )?i (?:said|mentioned|told you) (?:that|this|it)|this|that(?! [a-z]))"
    r"|(?:keep|leave) (?:that|this|it) (?:out of|off) (?:your |the )?(?:memory|notes|record|records|profile|books)"
    r"|(?:that|this|it)(?:'s| is) (?:not for|off) (?:your |the )?(?:memory|notes|record|records)|off the record"
    r"|no need to (?:store|save|remember|keep|note) (?:that|this|it)"
    # German
    rf"|(?:(?:das|dies|dieses|es|{_with('de')}) )?(?:bitte |aber |das |dir |jetzt |auch ){{0,4}}(?:nicht|nirgends|nirgendwo|nie) "
    r"(?:ab)?(?:speichern|merken|notieren|aufschreiben|festhalten|aufheben|behalten|aufzeichnen|protokollieren)"
    r"|(?:speichere?|merke?|notiere?|behalte?|schreibe?)(?: dir)?(?: bitte)? (?:das|dies|es)(?: bitte)? (?:nicht|nirgends)(?: auf| ab)?"
    r"|vergiss,? (?:das|dies|was ich (?:gerade |eben )?(?:gesagt|geschrieben) habe)(?: (?:bitte|wieder|gleich)){0,3}"
    # Spanish
    r"|no (?:me )?(?:lo|la|los|las|eso|esto)? ?(?:guardes?|guarden|recuerdes?|anotes?|almacenes?|registres?|memorices?|apuntes?|conserves?)"
    rf"(?: (?:eso|esto|nada de (?:eso|esto)|ese dato|{_with('es')}))?"
    r"|olvida (?:eso|esto|lo que (?:te )?(?:acabo de decir|dije|he dicho))"
    # French
    r"|n(?:e |')(?:le |la |les |l')?(?:retiens|retenez|écris|écrivez|enregistre|enregistrez|garde|gardez|note|notez|mémorise|mémorisez|sauvegarde|conserve) "
    rf"(?:pas|rien)(?: (?:ça|cela|ceci|{_with('fr')}))?"
    r"|oublie[zs]? (?:ça|cela|ceci|ce que (?:je viens de (?:te |vous )?dire|j'ai dit))"
    r")" + _AFTER,
    re.IGNORECASE,
)
_OF_USER: Final = re.compile(
    r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}|mis?|mon|ma|mes)\b", re.IGNORECASE
)
_END: Final = re.compile(r"[.!?…]+[)\"'”]*(?=\s|$)|\n+")
#: Words before a request that state nothing themselves.
_BARE: Final = frozenset(
    "but and please so ok okay also oh hey hi by the way just aber und bitte also ach ja pero y por favor también et mais s'il te plaît "
    "actually, sorry entschuldigung perdón pardon thanks danke gracias".split()
)
#: What follows a request that speaks of what comes next.
_NEXT: Final = re.compile(r"\A[ ]?:[ ]?\S")


class Span(NamedTuple):
    """A part of a text."""

    start: int
    end: int


class _Pointed(NamedTuple):
    """The target of a request in a message: spans of the message, or the message before it."""

    spans: tuple[Span, ...]
    before: bool
    #: What the request names, such as "salary"; empty for "that".
    named: str
    #: True if it names something of the user's: "my salary".
    of_user: bool = False


def unwanted_spans(texts: Sequence[str]) -> list[list[Span]]:
    """Return for each of a user's messages, in their order, the parts that the user asks not to
    keep.

    A request points to its own sentence, else to the sentence before it, else to the user's message
    before.
    """
    found: list[list[Span]] = [[] for _ in texts]
    for place, text in enumerate(texts):
        for one in _requests(text):
            found[place] += one.spans
            if one.before and place:
                found[place - 1] += _spoken_of(texts[place - 1], one.named, of_user=one.of_user)
    return found


def _requests(text: str) -> Iterator[_Pointed]:
    plain = text[:_MOST_READ].replace("’", "'")
    sentences = _sentences(plain)
    for found in islice(_REQUEST.finditer(plain), _MOST_REQUESTS):
        own = next(
            (one for one in sentences if one.start <= found.start() < one.end), Span(0, len(plain))
        )
        named = " ".join(value for value in found.groupdict().values() if value)
        is_first = not _states(plain[own.start : found.start()])
        request = Span(own.start if is_first else found.start(), found.end())
        following = next((one for one in sentences if one.start >= own.end), own)
        if named and (about := [one for one in _about(plain, sentences, named) if one != own]):
            yield _Pointed((*about, request), False, named)
        elif not is_first:
            yield _Pointed((Span(own.start, found.end()),), False, named)
        elif _NEXT.match(plain[found.end() :]):
            end = own.end if _states(plain[found.end() : own.end]) else following.end
            yield _Pointed((Span(found.start(), end),), False, named)
        elif named and not _OF_USER.search(found.group()):
            # "Don't keep the branch": what it names was not spoken of, so nothing else is meant.
            yield _Pointed((request,), bool(named), named)
        else:
            earlier = [
                one
                for one in sentences
                if one.end <= own.start and _states(plain[one.start : one.end])
            ]
            spans = (*earlier[-1:], request) if earlier or not named else (request, following)
            yield _Pointed(spans, not earlier, named, of_user=bool(named))


def _about(text: str, sentences: Sequence[Span], named: str) -> list[Span]:
    """Return the sentences that speak of what a request names."""
    words = set(content_words(named))
    return [one for one in sentences if words & set(content_words(text[one.start : one.end]))]


def _spoken_of(text: str, named: str, *, of_user: bool) -> list[Span]:
    """Return the parts of the message before a request that it points to: what it names, or all of
    the message.

    What a user calls "my salary" may have been said in other words, right before.
    """
    if not named:
        return [Span(0, len(text))]
    sentences = _sentences(text[:_MOST_READ])
    return _about(text, sentences, named) or (sentences[-1:] if of_user else [])


def _states(text: str) -> bool:
    """True if a text tells more than "but please"."""
    words = re.findall(r"[\w'’-]+", text.casefold())
    return sum(word not in _BARE for word in words) >= 2 or any(map(str.isdigit, text))


def _sentences(text: str) -> list[Span]:
    spans, start = [], 0
    for found in _END.finditer(text):
        spans.append(Span(start, found.end()))
        start = found.end()
    return [one for one in [*spans, Span(start, len(text))] if text[one.start : one.end].strip()]
