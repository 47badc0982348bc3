"""Finds the numbers in a text, in digits or spelled out, and returns them as digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from memoranda.language.words import numbers as spelled_out
from memoranda.language.words import words
from memoranda.text.scripts import folded

#: The languages whose numbers are read; where two have the same word, the last one's value counts.
_LANGUAGES: Final = ("en", "de", "pt", "es", "fr")
#: Words between the parts of a number.
_BETWEEN: Final = frozenset({"and", "e", "y", "et", "und"})
_HAN: Final = {one: value for value, one in enumerate("〇一二三四五六七八九")} | {"零": 0}
_HAN_PLACES: Final = {"十": 10, "百": 100, "千": 1000}

_DIGITS: Final = re.compile(r"\d(?:[\s().,\-/:+]{0,3}\d)*")
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Numbers in which letters stand for digits.
_MIXED: Final = re.compile(r"(?<![^\W_])(?=\d*[a-z])[\doilzsbgq]{3,}(?![^\W_])")
_TWINS: Final = (str.maketrans("oilzsbgq", "01125899"), str.maketrans("oilzsbgq", "01125669"))
_MOSTLY_DIGITS: Final = 3
_HAN_RUN: Final = re.compile(r"[〇零一二三四五六七八九十百千]{2,}")
#: A single digit identifies nobody.
_FEWEST: Final = 2


@cache
def _values() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for language in _LANGUAGES:
        found |= {folded(name): value for value, name in spelled_out(language)}
        for name, value in (("hundred", 100), ("thousand", 1000)):
            found |= {folded(one): value for one in words(language)[name].split("|")}
    return found


@lru_cache(maxsize=16_384)
def word_value(word: str) -> int | None:
    """Return the value of a number word; None for other words."""
    return _values().get(folded(word.casefold()))


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of two or more digits as digits: each alone, and adjacent ones joined."""
    found: set[str] = set()
    for run in _DIGITS.findall(text):
        parts = ["".join(map(_digit, part)) for part in re.findall(r"\d+", run)]
        found |= {*parts, "".join(parts)}
    for mixed in _MIXED.findall(text.casefold()):
        if sum(map(str.isdigit, mixed)) >= _MOSTLY_DIGITS:
            found |= {mixed.translate(table) for table in _TWINS}
    for spelled in _spelled(text):
        found |= {"".join(map(str, _paired(spelled))), str(_summed(spelled))}
    for run in _HAN_RUN.findall(text):
        found.add(str(_summed([_HAN.get(one, _HAN_PLACES.get(one, 0)) for one in run])))
        found.add("".join(str(_HAN[one]) for one in run if one in _HAN))
    return frozenset(one for one in found if len(one) >= _FEWEST)


def numbers_in_words(text: str) -> list[int]:
    """Return the numbers that a text spells out."""
    return [_summed(spelled) for spelled in _spelled(text)]


def _digit(character: str) -> str:
    return str(unicodedata.decimal(character, 0))


def _spelled(text: str) -> Iterator[list[int]]:
    """Yield runs of adjacent number words, as values."""
    run: list[int] = []
    for word in _WORD.findall(text):
        value = word_value(word)
        if value is not None:
            run.append(value)
        elif run and word.casefold() not in _BETWEEN:
            yield run
            run = []
    if run:
        yield run


def _paired(values: list[int]) -> list[int]:
    """Return number words with each ten and its unit combined: eighty four as 84."""
    found: list[int] = []
    for value in values:
        if found and 0 < value < 10 and found[-1] in range(20, 100, 10):
            found[-1] += value
        else:
            found.append(value)
    return found


def _summed(values: list[int]) -> int:
    """Return the value of number words, where hundred and thousand multiply the words before
    them.
    """
    whole, part = 0, 0
    for value in values:
        if value == 1000:
            whole, part = (whole + part or 1) * value, 0
        elif value in (10, 100) and 0 < part < value and len(values) > 1:
            part *= value
        else:
            part += value
    return whole + part
