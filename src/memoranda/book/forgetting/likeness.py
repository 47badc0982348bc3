"""Scores texts by how likely they still tell a fact in other words: by its names and numbers, its words, and related words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from memoranda.book.forgetting.tellings import Fact, Words, common_beginning, plain
from memoranda.text.sentence_spans import sentence_places
from memoranda.text.similarity import terms_in
from memoranda.text.word_fields import fields_of, words_in_fields

#: Why a text may still tell a fact.
ALL_WORDS: Final = "all its words"
A_NAME: Final = "a name, a number or a rare word of it"
HALF: Final = "half of its words"
SPELLED: Final = "a word spelled nearly as one of it"
RELATED: Final = "words about the same thing"
#: At least this share of the words of a statement.
_SHARE: Final = 0.5
#: Two words begin alike if they share so many letters, and so much of the shorter one.
_LETTERS, _ALIKE = 4, 0.6
_WORD: Final = re.compile(r"[^\W_]+")
_TENS: Final = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety".split(),
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(),
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(),
}
_ONES: Final = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
    "de": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split(),
    "es": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve".split(),
}


class Likely(NamedTuple):
    """How likely a text tells a fact, from 0 to 1, and by which rule."""

    score: float
    why: str


class Likeness:
    """The rule by which a text may still tell a fact."""

    def __init__(self, fact: Fact) -> None:
        self._fact = fact
        statement = " ".join(word for words in fact.wordings for word, _ in words)
        self._fields = words_in_fields(fields_of(statement))
        self._distinctive = tuple(_distinctive(fact.wordings))
        self._spellings = tuple(
            dict.fromkeys(plain(word) for word, _ in self._distinctive if len(word) >= _LETTERS)
        )
        self._numbers = tuple(number for word, _ in self._distinctive for number in _written(word))

    @cached_property
    def _probe(self) -> re.Pattern[str]:
        letters = {spelling[:_LETTERS] for spelling in self._spellings}
        begins = [*self._fact.starts, *letters, *(plain(number)[:_LETTERS] for number in self._numbers)]
        return re.compile("|".join(map(re.escape, dict.fromkeys(begins))) or r"(?!)")

    def may_be_in(self, text: str) -> bool:
        """True if a text may be likely to tell the fact; a quick look before a close one."""
        return self._probe.search(plain(text)) is not None or self._relates(text)

    def of(self, text: str) -> Likely | None:
        """Return how likely a text tells the fact; None if it is not."""
        if self._probe.search(plain(text)) is not None:
            found = self._by_words(text) or self._by_spelling(text)
            if found is not None:
                return found
        if not self._relates(text):
            return None
        related = {found[0].casefold() for found in self._fields.finditer(text)} if self._fields else set()
        return Likely(min(0.1 + 0.05 * len(related), 0.3), RELATED)

    def _by_words(self, text: str) -> Likely | None:
        terms = terms_in(text)
        share = max((_share(words, terms) for words in self._fact.wordings), default=0.0)
        if share == 1:
            return Likely(1.0, ALL_WORDS)
        if any(not forms.isdisjoint(terms) for _, forms in self._distinctive):
            return Likely(0.6 + 0.3 * share, A_NAME)
        if share >= _SHARE:
            return Likely(0.3 + 0.3 * share, HALF)
        return None

    def _by_spelling(self, text: str) -> Likely | None:
        if any(re.search(rf"(?<!\w){number}(?!\w)", text, re.IGNORECASE) for number in self._numbers):
            return Likely(0.5, A_NAME)
        words = set(_WORD.findall(plain(text)))
        alike = any(_is_alike(spelling, word) for spelling in self._spellings for word in words)
        return Likely(0.45, SPELLED) if alike else None

    def _relates(self, text: str) -> bool:
        return self._fields is not None and self._fields.search(text) is not None

    def sentences(self, text: str) -> Iterator[tuple[str, Likely]]:
        """Yield the sentences of a text that may tell the fact, each with how likely it does."""
        if self.may_be_in(text):
            for start, end in sentence_places(text):
                likely = self.of(text[start:end])
                if likely is not None:
                    yield text[start:end], likely


def _share(words: Words, terms: frozenset[int]) -> float:
    return sum(not forms.isdisjoint(terms) for _, forms in words) / len(words) if words else 0.0


def _distinctive(wordings: tuple[Words, ...]) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the words that few other facts have: names, numbers, and words of no everyday field; all if there are none."""
    words = list(dict.fromkeys(one for each in wordings for one in each))
    rare = [one for one in words if any(map(str.isdigit, one[0])) or not fields_of(one[0])]
    yield from rare or words


def _is_alike(one: str, other: str) -> bool:
    """True if two words begin alike, differ in one letter, or one contains the other, as compounds do."""
    if len(one) < _LETTERS or len(other) < _LETTERS:
        return False
    shorter, longer = sorted((one, other), key=len)
    if shorter in longer:
        return True
    begun = len(common_beginning([one, other]))
    return (begun >= _LETTERS and begun >= _ALIKE * len(shorter)) or (
        len(shorter) > _LETTERS and _one_apart(shorter, longer)
    )


def _one_apart(shorter: str, longer: str) -> bool:
    """True if a word becomes another by one letter more, less or other, or by two that change places."""
    begun = len(common_beginning([shorter, longer]))
    rest, other = shorter[begun:], longer[begun:]
    if len(rest) == len(other):
        return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    return rest == other[1:]


def _written(word: str) -> Iterator[str]:
    """Yield the ways to write a number below a hundred in words."""
    if not word.isdecimal() or not 1 <= int(word) < 100:
        return
    tens, ones = divmod(int(word), 10)
    for language, names in _ONES.items():
        if int(word) < 20:
            yield names[int(word) - 1]
            continue
        ten, one = _TENS[language][tens - 2], names[ones - 1] if ones else ""
        if not ones:
            yield ten
        elif language == "de":
            yield f"{one}und{ten}"
        else:
            yield f"{ten}{'[ -]?' if language == 'en' else ' y '}{one}"
