"""Terms: the unit of recall by words. They are made once, when a text is written, and stored packed."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final, Generic, TypeVar

from memoranda.text import scripts
from memoranda.text.languages import (
    MOST_ALTERNATIVES,
    alternatives,
    is_stop_word,
    language_for,
    languages_of,
    likely_languages,
    word_terms,
)
from memoranda.text.units import LONGEST, Unit, units_of

#: The version of the rule that makes terms of text; stored with them. Every change to a term raises it.
RULE: int = 1

_MOST_HASHES: Final = 131_072
_MOST_WORDS: Final = 16_384
_MOST_TABLES: Final = 8
#: Signs around a word that are not part of it.
_AROUND: Final = '.,;:!?()"'

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A word of a question with the terms that it may have in a text."""

    #: The word as it was written.
    word: str
    #: Distinct, the most likely first, at most twelve: a text with one of them contains the word.
    hashes: tuple[int, ...]


def terms_of(text: str) -> list[str]:
    """Return a text's terms, in order, with repetitions.

    A word becomes its stem in the likely language of the text, without accents; if a question without accents would
    miss that stem, the plain word follows. Joined words (e-mail, v1.2, addresses) become terms as a whole and in
    parts. Korean becomes overlapping pairs of syllables; Chinese, Japanese, Thai, Lao, Khmer and Burmese overlapping
    pairs of characters. Chinese characters are terms by themselves, too, so that a question may consist of one and
    need not divide words as the text does: about half as many terms more.
    Stop words are left out, unless there is nothing else.
    """
    words = scripts.normalised(text).lower().split()
    table = _terms_in(*languages_of(words))
    terms = [term for word in words for term in table[word]]
    return terms or _of_stop_words(words)


def pack_text(text: str) -> bytes:
    """Return the packed terms directly; the result is that of ``pack(terms_of(text))``."""
    words = scripts.normalised(text).lower().split()
    table = _hashes_in(*languages_of(words))
    counts = Counter(chain.from_iterable(map(table.__getitem__, words)))
    return _packed(counts) if counts else pack(_of_stop_words(words))


def _of_stop_words(words: list[str]) -> list[str]:
    return [scripts.folded(unit.text) for word in words for unit in _units(word)]


@lru_cache(maxsize=_MOST_HASHES)
def term_hash(term: str) -> int:
    """Return a hash of 64 bits for a term, the same in every process and on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def pack(terms: Iterable[str]) -> bytes:
    """Pack terms: the distinct hashes of 8 bytes each, ascending, then one byte each for how often they occur."""
    return _packed(Counter(map(term_hash, terms)))


def _packed(counts: Counter[int]) -> bytes:
    hashes = sorted(counts)
    capped = [min(255, count) for count in map(counts.__getitem__, hashes)]
    return struct.pack(f"<{len(hashes)}Q", *hashes) + bytes(capped)


def query_groups(text: str) -> tuple[TermGroup, ...]:
    """Return a question's words, distinct and in order, without stop words unless there is nothing else.

    If the question's language is recognised, a word has its stems in that language and in English, and the plain
    word; if the question is too short for that, the stems of all languages.
    """
    words = scripts.normalised(text).split()
    languages, arabic = likely_languages([word.lower() for word in words])
    table = _groups_in(languages, arabic)
    groups = [group for word in words for group in table[word]]
    return _distinct(groups or [_group(unit, languages) for word in words for unit in _units(word)])


def forget_words() -> None:
    """Empty the caches of words: they may contain words of erased texts."""
    for cache in (_terms_in, _hashes_in, _groups_in, term_hash, alternatives, word_terms):
        cache.cache_clear()


def _units(word: str) -> Iterator[Unit]:
    """Yield the units of the text between two spaces; terms are made of one such word at a time."""
    return (unit for piece in scripts.pieces(word) for unit in units_of(piece))


class _Table(dict[str, tuple[Value, ...]], Generic[Value]):
    """Cache of the values made of recent words; emptied when full. Threads share it and may compute a value twice."""

    def __init__(self, make: Callable[[str], tuple[Value, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> tuple[Value, ...]:
        value = self._make(word)
        if len(word) <= 64 and len(value) <= 4:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = value
        return value


@lru_cache(maxsize=_MOST_TABLES)
def _terms_in(latin: str, arabic: str) -> _Table[str]:
    def terms_of_unit(unit: Unit) -> tuple[str, ...]:
        if not unit.is_word:
            return () if unit.is_stop else (unit.text,)
        language = language_for(unit.text, latin, arabic)
        return () if is_stop_word(unit.text, language) else word_terms(unit.text, language)

    def terms_of_word(word: str) -> tuple[str, ...]:
        plain = word.strip(_AROUND)
        if plain.isascii() and plain.isalpha() and len(plain) <= LONGEST:
            # Nearly all words are such. The general code gives the same result.
            return () if is_stop_word(plain, latin) else word_terms(plain, latin)
        return tuple(term for unit in _units(word) for term in terms_of_unit(unit))

    return _Table(terms_of_word)


@lru_cache(maxsize=_MOST_TABLES)
def _hashes_in(latin: str, arabic: str) -> _Table[int]:
    terms = _terms_in(latin, arabic)
    return _Table(lambda word: tuple(map(term_hash, terms[word])))


@lru_cache(maxsize=_MOST_TABLES)
def _groups_in(languages: tuple[str, ...], arabic: str) -> _Table[TermGroup]:
    def is_stop(unit: Unit) -> bool:
        if not unit.is_word:
            return unit.is_stop
        return is_stop_word(unit.text, language_for(unit.text, languages[0], arabic))

    return _Table(lambda word: tuple(_group(unit, languages) for unit in _units(word) if not is_stop(unit)))


def _group(unit: Unit, languages: tuple[str, ...]) -> TermGroup:
    terms = alternatives(unit.text, languages) if unit.is_word else (unit.text,)
    return TermGroup(unit.written, tuple(dict.fromkeys(map(term_hash, terms))))


def _distinct(groups: list[TermGroup]) -> tuple[TermGroup, ...]:
    """Join words whose most likely term is the same, with the terms of all of them."""
    found: dict[int, TermGroup] = {}
    for group in groups:
        first = group.hashes[0]
        same = found.get(first)
        if same is None:
            found[first] = group
        elif same.hashes != group.hashes:
            hashes = tuple(dict.fromkeys((*same.hashes, *group.hashes)))[:MOST_ALTERNATIVES]
            found[first] = TermGroup(same.word, hashes)
    return tuple(found.values())
