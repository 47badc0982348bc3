"""The numbers of a value in their spellings: dates, telephone numbers, and other numbers in digits and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from memoranda.first_use import expression
from memoranda.text.number_words import in_words

_MONTHS: Final = (
    "jan(?:uary|uar|vier)?|enero", "feb(?:ruary|ruar|rero)?|f[ée]v(?:rier)?", "mar(?:ch|zo|s)?|märz", "apr(?:il)?|abr(?:il)?|avril", "ma[yi]|mayo",
    "june?|juni|junio|juin", "july?|juli|julio|juillet", "aug(?:ust)?|agosto|ago|août", "sep(?:t(?:ember|iembre|embre)?)?",
    "o[ck]t(?:ober|ubre|obre)?", "nov(?:ember|iembre|embre)?", "de[cz](?:ember)?|dic(?:iembre)?|déc(?:embre)?",
)  # fmt: skip
_ORDINAL: Final = r"(?:st|nd|rd|th|er|\.)?"
_DATES: Final = tuple(
    (
        month,
        expression(
            rf"(?<!\w)(?:(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+|de\s+)?(?:{names})(?!\w)|(?:{names})\.?\s+(?:the\s+)?(?P<on>\d{{1,2}}){_ORDINAL}(?!\w))"
            r"\.?(?:,?\s+(?:de\s+)?(?P<year>\d{4}))?",
            re.IGNORECASE,
        ),
    )
    for month, names in enumerate(_MONTHS, 1)
)
_PHONE: Final = expression(r"(?<!\w)\+?\(?\d[\d ()/-]{6,}\d(?!\w)")
_NUMBER: Final = expression(r"\d{1,3}(?:[., \u00a0\u202f’']\d{3})+(?![\d])|\d+(?:[.,]\d+)?(?![\d])")
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
    #: Of a word that is no name: its letters without a last vowel, which may be another one (“vegano”, “vegana”).
    stem: str = ""

    def is_bare_in(self, found: str) -> bool:
        """True if the number was found in digits alone, as the number of a ticket or a bus may be written."""
        return found.isdecimal() and not (self.is_date or self.is_phone)


def numbers_of(said: str) -> Iterator[tuple[Part, tuple[int, int]]]:
    """Yield the dates, telephone numbers and other numbers of a statement with their places, in their order."""
    taken: list[tuple[Part, tuple[int, int]]] = []
    for month, dates in _DATES:
        for found in dates.finditer(said):
            day = int(found["day"] or found["on"])
            taken.append((Part(1.0, _date(day, month, found["year"]), is_date=True), found.span()))
    for pattern, made in ((_PHONE, _phone), (_NUMBER, quantity)):
        for found in pattern.finditer(said):
            start, end = found.span()
            inside = any(start < last and first < end for _, (first, last) in taken)
            glued = said[start - 1 : start].isalpha() or said[end : end + 1].isalpha()
            part = None if inside or glued else made(found[0])
            if part is not None:
                taken.append((part, found.span()))
    return iter(sorted(taken, key=lambda one: one[1]))


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
        re.compile(rf"(?<![\w+])(?:\(?\+\d{{1,3}}\)?{gap}(?:\(0\))?|\(?0{{0,2}}){gap}{gap.join(bare)}(?!\d)"),
        is_phone=True,
    )


def _date(day: int, month: int, year: str | None) -> re.Pattern[str]:
    names, of = _MONTHS[month - 1], r"\s*(?:of\s+|de\s+)?"
    after = rf"(?:[\s,./-]*(?:de\s+)?{year})" if year else r"(?:[\s,./-]*(?:de\s+)?\d{4})"
    optional = rf"{after}?" + (r"(?![\s,./-]*\d{4})" if year else "")
    short = rf"(?:[./-](?:{year}|{year[2:]}))" if year else r"(?:[./-]\d{2,4})"
    ways = [
        rf"0?{day}{_ORDINAL}{of}(?:{names})(?!\w)\.?{optional}",
        rf"(?:{names})\.?\s+(?:the\s+)?0?{day}{_ORDINAL}(?!\w){optional}",
        *(rf"0?{a}\.?[./-]0?{b}(?:{short}(?!\d)|(?![./-]?\d)\.?)" for a, b in ((day, month), (month, day))),
        rf"{year or r'[0-9]{4}'}-{month:02}-{day:02}",
    ]
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(ways)})", re.IGNORECASE)


def quantity(written: str) -> Part:
    """Return a number in its spellings: with and without separators, with “k”, and in words."""
    grouped = re.fullmatch(r"\d{1,3}(?:[., \u00a0\u202f’']\d{3})+", written)
    whole, _, rest = (
        (re.sub(r"\D", "", written), "", "") if grouped else written.replace(",", ".").partition(".")
    )
    digits = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", _SEPARATORS, whole)
    number = int(whole)
    ways = [rf"{digits}[.,]{rest}0*" if rest.strip("0") else rf"{digits}(?:[.,](?:0{{1,2}}|-+))?(?![.,]\d)"]
    if not rest.strip("0"):
        ways += in_words(number)
        if number >= 1000 and number % 100 == 0:
            thousands, hundreds = divmod(number // 100, 10)
            count = rf"{thousands}[.,]{hundreds}" if hundreds else str(thousands)
            ways.append(rf"{count}(?:\s?k|[\s-](?:thousand|tausend|mil|mille))(?!\w)")
    hints = (whole[: len(whole) % 3 or 3], *(_hint(way) for way in ways[1:]))
    is_year = re.fullmatch(r"(?:19|20)\d\d", written) is not None
    weight = 1.0 if len(whole + rest) >= _FEWEST_DIGITS and not is_year else 0.5
    border = r"(?!\d|[.,:/]\d|-\d)(?:(?=(?:kg|km|cm|mg|g|m|h|°|k)\b)|(?!\w))"
    spellings = re.compile(rf"(?<![\w.,:/#-])(?<!\d\s)(?:{'|'.join(ways)}){border}", re.IGNORECASE)
    return Part(weight, spellings, hints)


def _hint(way: str) -> str:
    """Return letters that every spelling of a number in words has: the beginning of the last long word in its pattern."""
    words = _WORD.findall(re.sub(r"\w\?", "", way))
    return words[-1][:4].lower() if words else ""
