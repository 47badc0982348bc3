"""The numbers, dates, telephone numbers and codes of a statement, in any usual spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from memoranda.book.forgetting.other_people import LANGUAGES
from memoranda.first_use import expression
from memoranda.language.words import numbers as spelled_out
from memoranda.language.words import table
from memoranda.text.number_words import in_words


@cache
def _months(month: int) -> str:
    """Return the names of a month as a pattern."""
    return "|".join(name for language in LANGUAGES for name in table(language, "months")[month - 1])


_ORDINAL: Final = r"(?:st|nd|rd|th|er|\.)?"


@cache
def _days() -> dict[str, int]:
    """Return the days of a month in words, each with its number."""
    found: dict[str, int] = {}
    for language in LANGUAGES:
        for day, names in enumerate(table(language, "ordinals"), start=1):
            found |= dict.fromkeys(names, day)
        found |= {name: day for day, name in spelled_out(language) if 0 < day < 32}
    return {re.sub(r"[\s-]", "-", name): day for name, day in found.items()}


def _day_in_words(day: int = 0) -> str:
    """Return the pattern of a day of a month in words; with 0 that of any."""
    names = sorted((name for name, one in _days().items() if day in (0, one)), reverse=True)
    return "|".join(names).replace("-", r"[\s-]+")


@cache
def _dates(month: int) -> re.Pattern[str]:
    """Return the pattern of the days of a month."""
    names, digits = _months(month), rf"\d{{1,2}}(?!\d){_ORDINAL}|{_day_in_words()}"
    return re.compile(
        rf"(?<!\w)(?:(?P<day>{digits})\s+(?:of\s+|de\s+)?(?:{names})(?!\w)|(?:{names})\.?\s+(?:the\s+)?(?P<on>{digits})(?!\w))"
        r"\.?(?:,?\s+(?:de\s+)?(?P<year>\d{4}))?",
        re.IGNORECASE,
    )


_PHONE: Final = expression(r"(?<!\w)\+?\(?\d[\d ()/-]{6,}\d(?!\w)")
_NUMBER: Final = expression(r"\d{1,3}(?:[., \u00a0\u202f’']\d{3})+(?![\d])|\d+(?:[.,]\d+)?(?![\d])")
_THOUSAND: Final = r"(?:k|thousand|tausend|mil|mille)"
_MILLIONS: Final = r"(?:mn|mio\.?|milli?on(?:s|en|es)?|millón)"
_SCALED: Final = expression(
    rf"(?:[$€£]\s?\d+(?:[.,]\d+)?\s?m|\d+(?:[.,]\d+)?\s?(?:{_THOUSAND}|{_MILLIONS}))(?!\w)",
    re.IGNORECASE,
)
#: Six capital letters and digits in groups, one of them a digit.
_CODE: Final = expression(
    r"(?<![\w-])(?=[A-Z -]*\d)(?=(?:[ -]?[A-Z\d]){6})[A-Z][A-Z\d]{0,4}(?:[ -][A-Z\d]{1,5})+(?![\w-])"
)
_SEPARATORS: Final = "[., \u00a0\u202f’']?"
_FEWEST_DIGITS: Final = 3
_WORD: Final = expression(r"[^\W\d_]{3,}")


class Part(NamedTuple):
    """One name, number or word of a value."""

    weight: float
    #: Of a number: its spellings.
    spellings: re.Pattern[str] | None = None
    #: Letters or digits one of which each spelling has.
    hints: tuple[str, ...] = ("",)
    is_date: bool = False
    is_phone: bool = False
    #: Of a word: the hashes of its forms.
    forms: frozenset[int] = frozenset()
    is_name: bool = False
    #: The word before it that makes it another name, such as "new" in “New York”.
    before: str = ""
    #: Of a word that is no name: its letters without a last vowel, which may be another one
    #: (“vegano”, “vegana”).
    stem: str = ""

    def is_bare_in(self, found: str) -> bool:
        """True if the number was found in digits alone, as the number of a ticket or a bus may be
        written.
        """
        return found.isdecimal() and not (self.is_date or self.is_phone)


def numbers_of(said: str) -> Iterator[tuple[Part, tuple[int, int]]]:
    """Yield the dates, telephone numbers and other numbers of a statement with their places, in
    their order.
    """
    taken: list[tuple[Part, tuple[int, int]]] = []
    for month in range(1, 13):
        named = re.search(_months(month), said, re.IGNORECASE) is not None
        for found in _dates(month).finditer(said) if named else ():
            said_day = (found["day"] or found["on"]).lower()
            day = _days().get(re.sub(r"[\s-]+", "-", said_day)) or int(re.sub(r"\D", "", said_day))
            taken.append((Part(1.0, _date(day, month, found["year"]), is_date=True), found.span()))
    for pattern, made in (
        (_CODE, _code),
        (_PHONE, _phone),
        (_SCALED, _scaled),
        (_NUMBER, quantity),
    ):
        for found in pattern.finditer(said):
            start, end = found.span()
            inside = any(start < last and first < end for _, (first, last) in taken)
            glued = said[start - 1 : start].isalpha() or said[end : end + 1].isalpha()
            part = None if inside or glued else made(found[0])
            if part is not None:
                taken.append((part, found.span()))
    return iter(sorted(taken, key=lambda one: one[1]))


def _code(written: str) -> Part:
    """Return a code of several groups, such as an IBAN, with and without the gaps between them."""
    return Part(1.0, re.compile(r"[\s-]*".join(re.findall(r"[^\W_]", written)), re.IGNORECASE))


def _scaled(written: str) -> Part:
    """Return a number of thousands or millions."""
    count = re.sub(r"[^\d.]", "", written.replace(",", ".").rstrip("."))
    factor = 1000 if re.search(rf"\d\s?{_THOUSAND}$", written, re.IGNORECASE) else 1_000_000
    return quantity(str(round(float(count) * factor)))


def _phone(written: str) -> Part | None:
    digits = re.sub(r"\D", "", written)
    if len(digits) < 7 or re.fullmatch(r"\d{1,3}(?: \d{3})+", written):
        return None
    gap = r"[\s()./-]*"
    if written.startswith("+"):
        # Where the code of the country ends is not known.
        ways = [
            rf"(?:\+?{gap.join(digits[:at])}{gap}(?:\(0\))?|\(?0){gap}{gap.join(digits[at:])}"
            for at in (1, 2, 3)
        ]
        return Part(1.0, re.compile(rf"(?<![\w+])\(?(?:{'|'.join(ways)})(?!\d)"), is_phone=True)
    bare = digits.lstrip("0")
    return Part(
        1.0,
        re.compile(
            rf"(?<![\w+])(?:\(?\+\d{{1,3}}\)?{gap}(?:\(0\))?|\(?0{{0,2}}){gap}{gap.join(bare)}(?!\d)"
        ),
        is_phone=True,
    )


def _date(day: int, month: int, year: str | None) -> re.Pattern[str]:
    names, of = _months(month), r"\s*(?:of\s+|de\s+)?"
    after = rf"(?:[\s,./-]*(?:de\s+)?{year})" if year else r"(?:[\s,./-]*(?:de\s+)?\d{4})"
    optional = rf"{after}?" + (r"(?![\s,./-]*\d{4})" if year else "")
    short = rf"(?:[./-](?:{year}|{year[2:]}))" if year else r"(?:[./-]\d{2,4})"
    said = rf"(?:0?{day}(?!\d){_ORDINAL}|(?:{_day_in_words(day)})(?!\w))"
    ways = [
        rf"{said}{of}(?:{names})(?!\w)\.?{optional}",
        rf"(?:{names})\.?\s+(?:the\s+)?{said}(?!\w){optional}",
        *(
            rf"0?{a}\.?[./-]0?{b}(?:{short}(?!\d)|(?![./-]?\d)\.?)"
            for a, b in ((day, month), (month, day))
        ),
        rf"{year or r'[0-9]{4}'}-{month:02}-{day:02}",
    ]
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(ways)})", re.IGNORECASE)


def quantity(written: str) -> Part:
    """Return a number in its spellings: with and without separators, with “k”, and in words."""
    grouped = re.fullmatch(r"\d{1,3}(?:[., \u00a0\u202f’']\d{3})+", written)
    whole, _, rest = (
        (re.sub(r"\D", "", written), "", "")
        if grouped
        else written.replace(",", ".").partition(".")
    )
    digits = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", _SEPARATORS, whole)
    number = int(whole)
    ways = [
        rf"{digits}[.,]{rest}0*"
        if rest.strip("0")
        else rf"{digits}(?:[.,](?:0{{1,2}}|-+))?(?![.,]\d)"
    ]
    if not rest.strip("0"):
        ways += in_words(number)
        for scale, sign in ((1000, _THOUSAND), (1_000_000, rf"(?:m|{_MILLIONS})")):
            many, tenth = divmod(number * 10 // scale, 10)
            if many and number * 10 % scale == 0:
                counts = [rf"{many}[.,]{tenth}" if tenth else str(many)]
                counts += in_words(many) if number >= 1_000_000 and not tenth else []
                ways.append(rf"(?:{'|'.join(counts)})[\s-]?{sign}(?!\w)")
    hints = (whole[: len(whole) % 3 or 3], *(_hint(way) for way in ways[1:]))
    is_year = re.fullmatch(r"(?:19|20)\d\d", written) is not None
    weight = 1.0 if len(whole + rest) >= _FEWEST_DIGITS and not is_year else 0.5
    border = r"(?!\d|[.,:/]\d|-\d)(?:(?=(?:kg|km|cm|mg|g|m|h|°|k)\b)|(?!\w))"
    spellings = re.compile(rf"(?<![\w.,:/#-])(?<!\d\s)(?:{'|'.join(ways)}){border}", re.IGNORECASE)
    return Part(weight, spellings, hints)


def _hint(way: str) -> str:
    """Return letters that every spelling of a number in words has: the beginning of the last long
    word in its pattern.
    """
    words = _WORD.findall(re.sub(r"\w\?", "", way))
    return words[-1][:4].lower() if words else ""
