"""Finds days of a year in a text, in digits or in words, whatever their order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from memoranda.formation.privacy.numerals import word_value
from memoranda.language.words import table
from memoranda.text.scripts import folded

_LANGUAGES: Final = ("en", "de", "es", "fr", "pt")
#: A Spanish abbreviation that is a far more frequent word: "3 days ago".
_NO_NAME: Final = "ago"
#: Words between a day and its month.
_BETWEEN: Final = frozenset("of de the den der am le st nd rd th".split())
_TOKEN: Final = re.compile(r"\d+|[^\W\d_]+")
_NUMERIC: Final = re.compile(r"(?<![\d.])(\d{1,2})[./-](\d{1,2})(?:[./-](?:\d{4}|\d{2})|\.)(?!\d)")
_ISO: Final = re.compile(r"(?<!\d)\d{4}[./-](\d{1,2})[./-](\d{1,2})(?!\d)")
_LAST_DAY, _LAST_MONTH = 31, 12


@cache
def _places(meaning: str) -> Mapping[str, int]:
    """Return the words of a table in every language, each with its place."""
    return {
        folded(name): place
        for language in _LANGUAGES
        for place, names in enumerate(table(language, meaning), start=1)
        for name in names
        if name != _NO_NAME
    }


def dates(text: str) -> frozenset[tuple[int, int]]:
    """Return the days that a text names, each as its month and day; an ambiguous one is read both
    ways.
    """
    pairs = [(int(one), int(other)) for one, other in _NUMERIC.findall(text)]
    found = {*pairs, *((other, one) for one, other in pairs)}
    found |= {(int(month), int(day)) for month, day in _ISO.findall(text)}
    tokens = [folded(token.casefold()) for token in _TOKEN.findall(text)]
    for place, token in enumerate(tokens):
        month = _places("months").get(token)
        if month is not None:
            before = [one for one in tokens[max(place - 4, 0) : place] if one not in _BETWEEN]
            after = [one for one in tokens[place + 1 : place + 4] if one not in _BETWEEN]
            found |= {(month, day) for day in (_last(before), _first(after))}
    return frozenset(
        (month, day) for month, day in found if 0 < month <= _LAST_MONTH and 0 < day <= _LAST_DAY
    )


def _last(tokens: list[str]) -> int:
    """Return the number with which these words end, or 0."""
    ten = _value(tokens[-2]) if len(tokens) > 1 else 0
    return _joined(ten, _value(tokens[-1]) if tokens else 0)


def _first(tokens: list[str]) -> int:
    """Return the number with which these words begin, or 0."""
    first = _value(tokens[0]) if tokens else 0
    return _joined(first, _value(tokens[1])) if first in (20, 30) and len(tokens) > 1 else first


def _joined(ten: int, unit: int) -> int:
    return ten + unit if ten in (20, 30) and 0 < unit < 10 else unit or ten


def _value(token: str) -> int:
    if token.isdigit():
        return int(token) if len(token) < 3 else 0
    for name in (token, token.removesuffix("n"), token.removesuffix("r")):
        if day := _places("ordinals").get(name):
            return day
    return word_value(token) or 0
