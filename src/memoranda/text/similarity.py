"""Compares statements: do two say the same, and how much of a statement does a text contain?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from memoranda.first_use import expression
from memoranda.text.scripts import comparable_text, normalised, pieces
from memoranda.text.terms import query_groups, term_hash, terms_of

#: Words that do not change what a statement says. Never a word that negates or limits it.
_FILLERS: Final = frozenset(
    "a an the is am are be i i'm me my mine myself user users user's he's she's they're their they "
    "really very also just that does do".split()
)
_ONE_FORM: Final = {"has": "have"}
_NOT: Final = (
    (expression(r"\bcan(?:'t|not)\b"), "can not"),
    (expression(r"\bwon't\b"), "will not"),
)
_CONTRACTED: Final = expression(r"n't\b")
_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
#: Dates are compared by day and month, in whichever form they are written.
_DAY: Final = r"(?:on )?(?:the )?"
_NUMBER: Final = r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_DATES: Final = (
    expression(rf"\b{_DAY}(?P<month>{_MONTHS})\.? (?:the )?{_NUMBER}\b"),
    expression(rf"\b{_DAY}{_NUMBER} (?:of )?(?P<month>{_MONTHS})\b"),
)
#: Only words longer than this lose a final s.
_SHORTEST: Final = 3
#: With at least this many words, a phrase may move from the end to the front. In shorter statements
#: order matters.
_LEAST_TO_REORDER: Final = 4
#: Characters of one text that are compared; longer texts are pasted, not said.
_MOST_COMPARED: Final = 40_000
_MOST_PARTS: Final = 400
#: A text contains a statement if it covers at least this share of it.
CONTAINED_COVERAGE: Final = 0.75
_PART_END: Final = expression(r"(?<=[.!?…。！？؟।])\s+|[\n\r\u2028\u2029]+|(?<=[。！？])")


def same_statement(one: str, other: str) -> bool:
    """True if two statements say the same, apart from filler words and a phrase that moved to the
    front.
    """
    if comparable_text(one) == comparable_text(other):
        return True
    first, second = content_words(one), content_words(other)
    if not first or len(first) != len(second):
        return False
    if first == second:
        return True
    turns = range(1, len(first)) if len(first) >= _LEAST_TO_REORDER else ()
    return any(first[turn:] + first[:turn] == second for turn in turns)


@lru_cache(maxsize=4_096)
def content_words(statement: str) -> tuple[str, ...]:
    """Return the words of a statement in order, without filler words and without a plural or
    third-person s.

    Stems would be too coarse: "lived" and "lives" have the same stem.
    """
    return tuple(_words(statement))


def _words(text: str) -> list[str]:
    words = pieces(_normalise_spelling(normalised(text).casefold()))
    return [_ONE_FORM.get(word, _singular(word)) for word in words if word not in _FILLERS]


def _normalise_spelling(text: str) -> str:
    """Return a text with "not" as a separate word and with days of a month in one form."""
    for found, plain in _NOT:
        text = found.sub(plain, text)
    text = _CONTRACTED.sub(" not", text)
    for date in _DATES:
        text = date.sub(_short_date, text)
    return text


def _short_date(date: re.Match[str]) -> str:
    day = next(group for group in date.groups() if group.isdigit())
    return f"{day} {date['month'][:3]}"


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") and word.isalpha() else word


def clear_similarity_caches() -> None:
    """Clear the caches of compared texts, because they may hold erased content."""
    for clear in _CLEARING:
        clear()


def clears_with_similarity(*cached: Any) -> None:
    """Clear these cached functions together with the caches of compared texts."""
    _CLEARING.extend(one.cache_clear for one in cached)


def coverage(statement: str, text: str) -> float:
    """Return the share of a statement's words that occur in a text, from 0 to 1; 0 for a statement
    without words.
    """
    return _share(_word_forms(statement), terms_in(text[:_MOST_COMPARED]))


@lru_cache(maxsize=2_048)
def terms_in(text: str) -> frozenset[int]:
    """Return the hashes of the terms in a text."""
    text = text[:_MOST_COMPARED]
    return frozenset(map(term_hash, (*terms_of(text), *_words(text))))


def sentences_of(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [part for part in _PART_END.split(text[:_MOST_COMPARED])[:_MOST_PARTS] if part.strip()]


def densest_coverage(statement: str, text: str) -> float:
    """Return the highest coverage of a statement by any two consecutive sentences of a text."""
    return densest_share(_word_forms(statement), text)


def densest_share(wanted: tuple[frozenset[int], ...], text: str) -> float:
    """Return the highest share of words, given by their forms, in any two consecutive sentences of
    a text.
    """
    return max(
        (_share(wanted, part) for part in _sentence_pairs(text[:_MOST_COMPARED])), default=0.0
    )


def _share(wanted: tuple[frozenset[int], ...], terms: frozenset[int]) -> float:
    return sum(not word.isdisjoint(terms) for word in wanted) / len(wanted) if wanted else 0.0


def _word_forms(statement: str) -> tuple[frozenset[int], ...]:
    """Return for each word its possible forms: the word itself and its stems in all likely
    languages.

    The language of a short statement is uncertain, and a text may be detected as another one.
    """
    return tuple(forms for _, forms in words_with_forms(statement))


@lru_cache(maxsize=2_048)
def words_with_forms(statement: str) -> tuple[tuple[str, frozenset[int]], ...]:
    """Return the words of a statement without filler words, each with the hashes of its possible
    forms.
    """
    groups = query_groups(_without_fillers(statement))
    return tuple(
        (group.word, frozenset((*group.hashes, *map(term_hash, _words(group.word)))))
        for group in groups
    )


def _without_fillers(statement: str) -> str:
    kept = [
        word for word in statement.split() if word.casefold().strip(".,!?;:\"'") not in _FILLERS
    ]
    return " ".join(kept)


@lru_cache(maxsize=256)
def _sentence_pairs(text: str) -> tuple[frozenset[int], ...]:
    return tuple(_joined_pairs([terms_in(part) for part in sentences_of(text)]))


def _joined_pairs(parts: list[frozenset[int]]) -> Iterator[frozenset[int]]:
    for place, part in enumerate(parts):
        yield part | parts[place + 1] if place + 1 < len(parts) else part


#: Clear the caches that hold compared texts.
_CLEARING: Final[list[Callable[[], None]]] = []
clears_with_similarity(content_words, words_with_forms, terms_in, _sentence_pairs)
