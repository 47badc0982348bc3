"""The numbers, dates, telephone numbers and codes of a statement, in any usual spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from memoranda.first_use import expression
from memoranda.language.words import numbers as spelled_out
from memoranda.language.words import table
from memoranda.text.number_words import LANGUAGES, in_words


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


#: An e-mail address, the name of an account, and a site.
_ADDRESS: Final = expression(
    r"(?<![\w.@+-])(?:[\w.+-]*@[\w-]{2,}(?:\.[\w-]+)*|(?:https?://|www\.)[\w./-]*\w|[^\W\d_]{1,}(?:[.&][^\W\d_]{2,})+)"
)
_AT: Final = r"\s*(?:@|[(\[]?(?:\bat|arroba|arobase|\bät)\b[)\]]?)\s*"
_DOT: Final = r"\s?(?:\.|[(\[]?(?:dot|punkt|punto|point)[)\]]?\s)\s?"
_TIME: Final = expression(
    r"(?<![\w:.,])([01]?\d|2[0-3])[:h]([0-5]\d)(?!\d|:\d)(?:\s?([ap])\.?m\b)?", re.IGNORECASE
)
_PHONE: Final = expression(r"(?<!\w)\+?\(?\d[\d ()./-]{6,}\d(?!\w)")
#: A date in digits: with the day or the year first.
_DIGITS: Final = expression(
    r"(?<![\w./-])(?:(?P<day>\d{1,2})([./-])(?P<month>\d{1,2})\2(?P<year>\d{4})|(?P<of>\d{4})-(?P<in>\d\d)-(?P<on>\d\d))(?![\w/-])"
)
_NUMBER: Final = expression(r"\d{1,3}(?:[., \u00a0\u202f’']\d{3})+(?![\d])|\d+(?:[.,]\d+)?(?![\d])")
_THOUSAND: Final = r"(?:k|thousand|tausend|mil|mille)"
_MILLIONS: Final = r"(?:mn|mio\.?|milli?on(?:s|en|es)?|millón)"
_SCALED: Final = expression(
    rf"(?:[$€£]\s?\d+(?:[.,]\d+)?\s?m|\d+(?:[.,]\d+)?\s?(?:{_THOUSAND}|{_MILLIONS}))(?!\w)",
    re.IGNORECASE,
)
#: Capital letters and digits: five or more in one group, or six in several.
_CODE: Final = expression(
    r"(?<![\w-])(?:(?=\d*[A-Z])(?=[A-Z]*\d)[A-Z\d]{5,}"
    r"|(?=[A-Z -]*\d)(?=(?:[ -]?[A-Z\d]){6})[A-Z][A-Z\d]{0,4}(?:[ -][A-Z\d]{1,5})+)(?![\w-])"
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
    #: True of a date, a time or a firm, which many people share.
    is_shared: bool = False
    #: True of what one person alone has: a telephone number, an address, a long number or code.
    is_unique: bool = False
    #: Of a word: the hashes of its forms.
    forms: frozenset[int] = frozenset()
    is_name: bool = False
    #: The word before it that makes it another name, such as "new" in “New York”.
    before: str = ""
    #: Articles that a name has not: behind one it is another noun, as in “ein Wolf”.
    not_behind: tuple[re.Pattern[str], ...] = ()
    #: Of a word that is no name: its letters without a last vowel, which may be another one
    #: (“vegano”, “vegana”).
    stem: str = ""

    def is_bare_in(self, found: str) -> bool:
        """True if the number was found in digits alone, as the number of a ticket or a bus may be
        written.
        """
        return found.isdecimal() and not (self.is_shared or self.is_unique)


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
            when = _date(day, month, found["year"], month_first=found["on"] is not None)
            taken.append((Part(1.0, when, is_shared=True), found.span()))
    for found in _DIGITS.finditer(said):
        day, month = int(found["day"] or found["on"]), int(found["month"] or found["in"])
        if month > 12:
            day, month = month, day
        if 0 < month <= 12 and 0 < day <= 31:
            when = _date(day, month, found["year"] or found["of"])
            taken.append((Part(1.0, when, is_shared=True), found.span()))
    for pattern, made in (
        (_ADDRESS, _address),
        (_CODE, _code),
        (_TIME, _time),
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
    """Return a code, such as an IBAN, with and without gaps."""
    signs = r"[\s.-]*".join(re.findall(r"[^\W_]", written))
    pattern = re.compile(rf"(?<!\w){signs}(?!\w)", re.IGNORECASE)
    return Part(1.0, pattern, is_unique=True)


def _address(written: str) -> Part:
    """Return an address on the internet, also as it is read out."""
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", written.rstrip("."))
    optional = "(?:@\\s?)?" if bare[0] == "@" else ""
    said = re.escape(bare.removeprefix("@")).replace("@", _AT).replace(r"\.", _DOT)
    pattern = re.compile(rf"(?<![\w.@+-]){optional}{said}(?!\w)", re.IGNORECASE)
    is_unique = re.search(r"[@/]|^www", written) is not None
    return Part(1.0, pattern, is_shared=not is_unique, is_unique=is_unique)


def _time(written: str) -> Part:
    """Return a time of the day, with twelve hours or twenty-four, in digits and as it is said."""
    hour, minute, *half = re.findall(r"\d+|[ap]", written.lower())
    at = int(hour) % 12 + 12 * (half[0] == "p") if half else int(hour)
    hours = "|".join(str(one) for one in {at, at % 12 or 12})
    digits = rf"0?(?:{hours})[:.h]{minute}(?!\d|[:.]\d|\s?[$€£])"
    ways = "|".join([digits, *_said_times(at, int(minute))])
    return Part(1.0, re.compile(rf"(?<![\w:.,$€£])(?:{ways})", re.IGNORECASE), is_shared=True)


def _said_times(hour: int, minute: int) -> Iterator[str]:
    """Yield the patterns of a time as it is said: “twenty to five”, “halb sechs”."""
    this, after = _spoken(hour % 12 or 12), _spoken(hour % 12 + 1)
    if minute == 0:
        yield rf"(?:{hour}|{this})(?:\s?[ap]\.?m\b|\s+(?:o['’]clock|uhr|heures?)\b)"
        return
    names = {15: "|quarter|viertel|cuarto|(?:le\\s)?quart", 30: "|half|media|demie"}
    past, before = (rf"(?:{_spoken(one)}{names.get(one, '')})" for one in (minute, 60 - minute))
    yield rf"{past}\s+(?:past|after|nach)\s+{this}\b"
    yield rf"{before}\s+(?:to|vor)\s+{after}\b"
    yield rf"{this}(?:\s+heures?)?\s+(?:(?:y|et)\s+)?{past}\b"
    yield rf"{after}(?:\s+heures?)?\s+(?:menos|moins)\s+{before}\b"
    if minute == 30:
        yield rf"halb\s+{after}\b"


def _spoken(number: int) -> str:
    said = in_words(number) if number > 1 else ("one", "eins", "una", "une")
    return rf"(?:{'|'.join((str(number), *said))})"


def _scaled(written: str) -> Part:
    """Return a number of thousands or millions."""
    count = re.sub(r"[^\d.]", "", written.replace(",", ".").rstrip("."))
    factor = 1000 if re.search(rf"\d\s?{_THOUSAND}$", written, re.IGNORECASE) else 1_000_000
    return quantity(str(round(float(count) * factor)))


def _phone(written: str) -> Part | None:
    digits = re.sub(r"\D", "", written)
    if len(digits) < 7 or (len(digits) < 9 and re.fullmatch(r"\d{1,3}(?:[ .]\d{3})+", written)):
        return None
    gap = r"[\s()./-]*"
    if written.startswith("+"):
        # Where the code of the country ends is not known.
        ways = [
            rf"(?:\+?{gap.join(digits[:at])}{gap}(?:\(0\))?|\(?0){gap}{gap.join(digits[at:])}"
            for at in (1, 2, 3)
        ]
        return Part(1.0, re.compile(rf"(?<![\w+])\(?(?:{'|'.join(ways)})(?!\d)"), is_unique=True)
    bare = digits.lstrip("0")
    return Part(
        1.0,
        re.compile(
            rf"(?<![\w+])(?:\(?\+\d{{1,3}}\)?{gap}(?:\(0\))?|\(?0{{0,2}}){gap}{gap.join(bare)}(?!\d)"
        ),
        is_unique=True,
    )


def _date(day: int, month: int, year: str | None, *, month_first: bool = False) -> re.Pattern[str]:
    names, of = _months(month), r"\s*(?:of\s+|de\s+)?"
    after = rf"(?:[\s,./-]*(?:de\s+)?{year})" if year else r"(?:[\s,./-]*(?:de\s+)?\d{4})"
    optional = rf"{after}?" + (r"(?![\s,./-]*\d{4})" if year else "")
    short = rf"(?:[./-](?:{year}|{year[2:]}))" if year else r"(?:[./-]\d{2,4})"
    said = rf"(?:0?{day}(?!\d){_ORDINAL}|(?:{_day_in_words(day)})(?!\w))"
    ways = [
        rf"{said}{of}(?:{names})(?!\w)\.?{optional}",
        rf"(?:{names})\.?\s+(?:the\s+)?{said}(?!\w){optional}",
        *(
            rf"0?{a}\.?[./-]0?{b}(?:{short}(?!\d){without_year})"
            for a, b, without_year in (
                (day, month, r"|(?![./-]?\d)\.?"),
                (month, day, r"|(?![./-]?\d)\.?" if month_first else ""),
            )
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
