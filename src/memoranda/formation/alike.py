"""Likeness: whether two statements say the same, and how much of a statement stands in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from memoranda.text.scripts import comparable_text, normalised, pieces
from memoranda.text.terms import query_groups, term_hash, terms_of

#: Words that a statement may have or lack and still say the same. Never one that turns it round or bounds it.
_FILLERS: Final = frozenset(
    "a an the is am are be i i'm me my mine myself user users user's he's she's they're their they "
    "really very also just that does do".split()
)
_ONE_FORM: Final = {"has": "have"}
_NOT: Final = ((re.compile(r"\bcan(?:'t|not)\b"), "can not"), (re.compile(r"\bwon't\b"), "will not"))
_CONTRACTED: Final = re.compile(r"n't\b")
_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
#: A day of a month is one day, however its date is written.
_DAY: Final = r"(?:on )?(?:the )?"
_NUMBER: Final = r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_DATES: Final = (
    re.compile(rf"\b{_DAY}(?P<month>{_MONTHS})\.? (?:the )?{_NUMBER}\b"),
    re.compile(rf"\b{_DAY}{_NUMBER} (?:of )?(?P<month>{_MONTHS})\b"),
)
#: A word that is longer may end with an s that is no part of it.
_SHORTEST: Final = 3
#: So many words may change their order: a phrase that moves from the end to the front. With fewer, order is meaning.
_TURNABLE: Final = 4
#: Characters of one text that are compared; longer ones are not said, but pasted.
_MOST_COMPARED: Final = 40_000
_MOST_PARTS: Final = 400
_PART_END: Final = re.compile(r"(?<=[.!?…。！？؟।])\s+|[\n\r\u2028\u2029]+|(?<=[。！？])")


def same(one: str, other: str) -> bool:
    """Whether two statements say the same: alike to the letter, or but for fillers and a phrase that moved to the front."""
    if comparable_text(one) == comparable_text(other):
        return True
    first, second = said(one), said(other)
    if not first or len(first) != len(second):
        return False
    if first == second:
        return True
    turns = range(1, len(first)) if len(first) >= _TURNABLE else ()
    return any(first[turn:] + first[:turn] == second for turn in turns)


@lru_cache(maxsize=4_096)
def said(statement: str) -> tuple[str, ...]:
    """The words of a statement that matter, in their order; of inflection only a final s is taken for nothing.

    Stems would say too little: "lived" and "lives" have the same.
    """
    return tuple(_words(statement))


def _words(text: str) -> list[str]:
    words = pieces(_spelt(normalised(text).casefold()))
    return [_ONE_FORM.get(word, _singular(word)) for word in words if word not in _FILLERS]


def _spelt(text: str) -> str:
    """A text with "not" as a word of its own, and with the days of months in one form."""
    for found, plain in _NOT:
        text = found.sub(plain, text)
    text = _CONTRACTED.sub(" not", text)
    for date in _DATES:
        text = date.sub(_one_date, text)
    return text


def _one_date(date: re.Match[str]) -> str:
    day = next(group for group in date.groups() if group.isdigit())
    return f"{day} {date['month'][:3]}"


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") and word.isalpha() else word


def forget_statements() -> None:
    """Let go of what was compared lately: some of it may be what was erased."""
    for remembering in _REMEMBERING:
        remembering.cache_clear()


def coverage(statement: str, text: str) -> float:
    """The part of a statement's words that a text has, from 0 to 1; 0 where the statement has none."""
    return _part(_wanted(statement), _terms(text[:_MOST_COMPARED]))


def densest(statement: str, text: str) -> float:
    """The most that any two sentences of a text, one after the other, cover of a statement."""
    wanted = _wanted(statement)
    return max((_part(wanted, part) for part in _parts(text[:_MOST_COMPARED])), default=0.0)


def _part(wanted: tuple[frozenset[int], ...], terms: frozenset[int]) -> float:
    return sum(not word.isdisjoint(terms) for word in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=1_024)
def _wanted(statement: str) -> tuple[frozenset[int], ...]:
    """What each word of a statement may stand as: its stems in the languages that it may be in, and itself.

    A short statement does not show its language, and a text may be taken to be in another.
    """
    groups = query_groups(_plain(statement))
    return tuple(frozenset((*group.hashes, *map(term_hash, _words(group.word)))) for group in groups)


def _plain(statement: str) -> str:
    kept = [word for word in statement.split() if word.casefold().strip(".,!?;:\"'") not in _FILLERS]
    return " ".join(kept)


@lru_cache(maxsize=1_024)
def _terms(text: str) -> frozenset[int]:
    return frozenset(map(term_hash, (*terms_of(text), *_words(text))))


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[frozenset[int], ...]:
    return tuple(_pairs([_terms(part) for part in _PART_END.split(text)[:_MOST_PARTS] if part.strip()]))


def _pairs(parts: list[frozenset[int]]) -> Iterator[frozenset[int]]:
    for place, part in enumerate(parts):
        yield part | parts[place + 1] if place + 1 < len(parts) else part


_REMEMBERING: Final = (said, _wanted, _terms, _parts)
