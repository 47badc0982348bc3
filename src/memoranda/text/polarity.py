"""Polarity: which words of a text it affirms, and which it denies or ends, in English, German,
Spanish and French.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memoranda.text.scripts import normalised
from memoranda.text.similarity import clears_with_similarity, terms_in, words_with_forms

_CLAUSE_END: Final = re.compile(
    r"[,;:.!?…。！？](?=\s|$)|[()\n—–]|\s-\s"
    r"|\b(?:but|however|although|though|while|whereas|because|and|aber|sondern|jedoch|weil|und|pero|sino|porque|y"
    r"|mais|car|et)\b"
    # What follows these words is what does not hold, or no longer.
    r"|(?=\b(?:instead of|rather than|without|anstatt|statt|ohne|en vez de|en lugar de|sin|au lieu de|plutôt que|sans)\b)"
)
#: A word that stands for a whole answer denies nothing of what follows.
_INTERJECTION: Final = re.compile(r"^\s*(?:no|nope|nah|nein|nee|non)\s*$")
_NEGATION: Final = re.compile(
    r"n't\b|\bcannot\b|\b(?:not|no|never|none|nobody|nothing|without|neither|nor|dont|doesnt|didnt|isnt|wont|cant"
    r"|instead of|rather than|nicht|kein\w*|nie|niemals|nichts|niemand|ohne|statt|anstatt"
    r"|nunca|jamás|nada|nadie|sin|en vez de|en lugar de|pas|jamais|rien|sans|au lieu de|plutôt que)\b"
    r"|\bya no\b|\bn[e'](?=[^.]*\bplus\b)"
)
_ENDING: Final = re.compile(
    r"\b(?:cancel\w*|call(?:ed|ing)? off|abandon\w*|stop(?:s|ped|ping)?|quit|drop(?:s|ped)|g[ai]ve(?:n|s)? up|scrap(?:ped|s)"
    r"|skip(?:s|ped|ping)?|(?<!the )end(?:ed)?(?! of)|terminate[ds]?|no longer|any ?more|forget|used to|former(?:ly)?|withdrawn|revoked?|lifted"
    r"|stornier\w*|storno|abgesagt|absagen|sage? .{0,40}\bab|kündig\w*|gekündigt|aufgehört|fällt (?:aus|flach)|entfällt|vergiss"
    r"|nicht mehr|beende\w*|ehemalig\w*|anul\w*|suspend\w*|dej(?:o|a|é|ó|ar|ado) de|olvid\w*|ya no"
    r"|annul\w*|résili\w*|arrêt\w*|oubli\w*|laisse tomber)\b|(?:\b(?:is|are|was|were|been)|'s|'re) (?:\w+ )?off\b"
)
#: Words that end something and contain a word that denies.
_ENDS_BY_DENYING: Final = re.compile(
    r"\bno longer\b|\bnicht mehr\b|\bya no\b|(?:n't|\bnot|\bnever|\bnobody)\b([^,;.!?]*)\bany ?more\b"
)


def _clauses(text: str) -> list[str]:
    plain = normalised(text).casefold()
    return [
        part for part in _CLAUSE_END.split(plain) if part.strip() and not _INTERJECTION.match(part)
    ]


def _denials(clause: str) -> tuple[int, int]:
    """Return how many words of a clause deny, and how many end something."""
    ended = len(_ENDS_BY_DENYING.findall(clause))
    rest = _ENDS_BY_DENYING.sub(r" \1 ", clause)
    return len(_NEGATION.findall(rest)), ended + len(_ENDING.findall(rest))


@lru_cache(maxsize=512)
def _signed(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the terms that a text affirms, and those that it denies or ends."""
    found: list[set[int]] = [set(), set()]
    for clause in _clauses(text):
        found[sum(_denials(clause)) % 2] |= terms_in(clause)
    return frozenset(found[0]), frozenset(found[1])


@lru_cache(maxsize=512)
def _signed_words(text: str) -> tuple[tuple[frozenset[int], int], ...]:
    return tuple(
        (forms, sum(_denials(clause)) % 2)
        for clause in _clauses(text)
        for _, forms in words_with_forms(clause)
    )


def opposes(statement: str, text: str) -> bool:
    """True if a text denies what a statement affirms, or affirms what it denies, for most of their
    common words.
    """
    signs = _signed(text)
    same = opposed = 0
    for forms, sign in _signed_words(statement):
        if not forms.isdisjoint(signs[sign]):
            same += 1
        elif not forms.isdisjoint(signs[1 - sign]):
            opposed += 1
    return opposed > same


def ends_something(text: str) -> bool:
    """True if a text says that something ends, or does not hold."""
    return any(sum(_denials(clause)) % 2 for clause in _clauses(text)) or bool(
        _INTERJECTION.match(normalised(text).casefold().strip(" ,.!"))
    )


def denies_an_end(text: str) -> bool:
    """True if a text says that something was not ended: “did not cancel”, “nicht gekündigt”."""
    return any(denying and ending for denying, ending in map(_denials, _clauses(text)))


clears_with_similarity(_signed, _signed_words)
