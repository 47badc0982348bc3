"""Excerpts: the part of a long text that holds most of a question's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from memoranda.first_use import expression
from memoranda.model.quotations import Excerpt, Shares, excerpt_at
from memoranda.text.near_words import near_words
from memoranda.text.sentence_spans import Place, sentence_places
from memoranda.text.terms import hashes_of_parts, query_groups

#: A text of more characters than this is long.
LONG: Final = 700
#: Most characters of an excerpt.
LENGTH: Final = 500
_CODE: Final = expression(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINE: Final = expression(r"[^\n]*\S[^\n]*")


def find_excerpt(text: str, words: Shares, near: Shares) -> Excerpt:
    """Return the excerpt of a text by the question's words that it holds, and by those of which it
    holds a near word.
    """
    if len(text) <= LONG:
        return excerpt_at(text, 0, len(text))
    return excerpt_at(text, *AnsweringPart(text, words, near).within(LENGTH))


class AnsweringPart:
    """Finds the part of a text that holds most of a question's words, for any length."""

    def __init__(self, text: str, words: Shares, near: Shares) -> None:
        self._text = text
        sought = [(_hashes_of(word), share) for word, share in words]
        sought += [
            (frozenset(near_words(tuple(sorted(_hashes_of(word))))), share) for word, share in near
        ]
        self._sought = [(hashes, share) for hashes, share in sought if hashes]
        self._read: dict[int, tuple[list[Place], list[frozenset[int]]]] = {}

    def within(self, length: int) -> Place:
        """Return the place of the part that has at most so many characters: sentences and lines, if
        they fit.

        A word that many sentences hold counts less in each of them. Of equal parts it is the first;
        it is the beginning where no word is found.
        """
        units, held = self._units(max(min(length, LENGTH), 1))
        holders = Counter(chain.from_iterable(held))
        shares = [share / max(holders[word], 1) for word, (_, share) in enumerate(self._sought)]
        first = last = 0
        most = 0.0
        # The next place from here on that holds each word.
        upcoming: dict[int, int] = {}
        for begin in reversed(range(len(units))):
            if not held[begin]:
                continue
            upcoming |= dict.fromkeys(held[begin], begin)
            within = {
                word: place
                for word, place in upcoming.items()
                if units[place][1] - units[begin][0] <= length
            }
            if (value := sum(shares[word] for word in sorted(within))) >= most:
                first, last, most = begin, max(within.values()), value
        return _widened(units, first, last, length) if units else (0, 0)

    def _units(self, length: int) -> tuple[list[Place], list[frozenset[int]]]:
        """Return the places of units of at most this length, and which of the words each one
        holds.
        """
        if length not in self._read:
            units = list(_units(self._text, length))
            self._read[length] = units, self._held([self._text[start:end] for start, end in units])
        return self._read[length]

    def _held(self, parts: Sequence[str]) -> list[frozenset[int]]:
        """Return for each part which of the words it holds, by their numbers."""
        every = frozenset[int]().union(*(hashes for hashes, _ in self._sought))
        return [
            frozenset(
                word
                for word, (hashes, _) in enumerate(self._sought)
                if not hashes.isdisjoint(there)
            )
            if there
            else there
            for there in map(
                every.intersection, hashes_of_parts(parts) if every else [()] * len(parts)
            )
        ]


def _hashes_of(word: str) -> frozenset[int]:
    """Return the hashes of the terms that a question's word may have in a text."""
    return frozenset(
        hash for group in query_groups(word) if group.word == word for hash in group.hashes
    )


def _units(text: str, length: int) -> Iterator[Place]:
    """Yield the places of a text's blocks of code, sentences and lines; what is longer than
    ``length`` is divided.
    """
    done = 0
    for code in _CODE.finditer(text):
        yield from _divided(text, _sentences(text, done, code.start()), length)
        done = code.end()
        if done - code.start() <= length:
            yield code.span()
        else:
            lines = (line.span() for line in _LINE.finditer(text, code.start(), done))
            yield from _divided(text, lines, length)
    yield from _divided(text, _sentences(text, done, len(text)), length)


def _sentences(text: str, start: int, end: int) -> Iterator[Place]:
    return ((start + begin, start + upto) for begin, upto in sentence_places(text[start:end]))


def _divided(text: str, places: Iterator[Place], length: int) -> Iterator[Place]:
    """Divide places that are longer than ``length``, between words where there are spaces."""
    for start, end in places:
        while end - start > length:
            cut = text.rfind(" ", start + 1, start + length)
            cut = start + length if cut < 0 else cut
            yield start, cut
            start = cut + (text[cut] == " ")
        if start < end:
            yield start, end


def _widened(units: Sequence[Place], first: int, last: int, length: int) -> Place:
    """Return the place from one unit to another with as many units around as fit, by turns after
    and before.
    """
    grown = True
    while grown:
        grown = False
        if last + 1 < len(units) and units[last + 1][1] - units[first][0] <= length:
            last, grown = last + 1, True
        if first and units[last][1] - units[first - 1][0] <= length:
            first, grown = first - 1, True
    return units[first][0], units[last][1]
