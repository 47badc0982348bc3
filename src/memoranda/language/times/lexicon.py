"""The words of one language for times: they become tokens that are the same in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from memoranda.first_use import expression
from memoranda.language.words import numbers, phrases, table, words

#: The tokens of words that say nothing, of words after which a time is not sure, and of what looks
#: like a time and is none.
_SILENT: Final = {"IGNORED": "", "UNSURE": "!", "OTHER": None}
#: The most words of one phrase of a lexicon.
_LONGEST_PHRASE: Final = 4
_PIECE: Final = re.compile(
    r"(?P<iso>(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d)(?:[t ](?P<at>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?)?(?![\d-]))"
    r"|(?P<dotted>(?P<dd>\d{1,2})\.(?:(?P<dm>\d{1,2})\.(?P<dy>\d{4}|\d\d)?|\s(?P<sm>\d{1,2})\.\s?(?P<sy>\d{4}))(?!\d))"
    r"|(?P<slashed>(?P<s1>\d{1,2})/(?P<s2>\d{1,2})/(?P<s3>\d{4}|\d\d)(?!\d))"
    r"|(?P<clock>\d{1,2}:\d\d(?:\s?(?:[ap]\.?m\b\.?|uhr\b|h\b))?|\d{1,2}(?:[.h]\d\d)?\s?(?:[ap]\.?m\b\.?|uhr\b|h\b))"
    r"|q(?P<quarter>[1-4])\b"
    r"|kw\s?(?P<week>\d{1,2})\b"
    r"|(?P<decade>(?:19|20)?[0-9]0)['’]?(?:s|ern?)\b"
    r"|(?P<ordinal>\d{1,2})(?:st\b|nd\b|rd\b|th\b|\.?[ºª°]|\.(?!\d))"
    r"|(?P<number>\d+(?:[.,]5(?!\d))?)"
    r"|['’](?P<short>\d\d)\b"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
    r"|(?P<dash>[-–—])"
    r"|(?P<other>[^\s,;.!?()\"“”„'’])"
)
_YEARS: Final = range(1900, 2200)
#: The beginning of a clock time that a day has.
_HOUR: Final = re.compile(r"(?:[01]?\d|2[0-4])(?!\d|[:.h][6-9]\d)")
#: Before a number: a sign that makes another number of it ("-5", "1/2", "1e9").
_SIGN: Final = re.compile(r"(?:[^\W\d_]|[/+~<>$#^]|(?<!\d)(?:^|\s)-)$")
#: A century for years of two digits: "23" is 2023, and "87" 1987.
_PIVOT: Final = 70


class Piece(NamedTuple):
    """A token of a time (None: words that say no time), and its place in the text."""

    token: str | None
    start: int
    end: int


#: A word, number or sign of a text, and its place.
Found = tuple[re.Match[str], int, int]


def lexed(text: str) -> list[Found]:
    """Return the words, numbers and signs of a text."""
    return [(found, *found.span()) for found in _PIECE.finditer(text)]


class Lexicon:
    """The words of one language for times."""

    def __init__(self, code: str) -> None:
        known = words(code)
        self.code: Final = code
        #: Words that tell past from future.
        self.past: Final = expression(rf"\b(?:{known.get('past', '(?!)')})\b")
        self.future: Final = expression(rf"\b(?:{known.get('future', '(?!)')})\b")
        #: Names that alone are ordinary words as well.
        self.ordinary: Final = frozenset(known.get("ordinary", "").split())
        #: How a day and a month of a year are written, and the names of the months.
        self.date: Final = known.get("date", "")
        self.month: Final = known.get("month", "")
        self.months: Final = [names[0] for names in table(code, "months")]
        #: Articles that make a number a day of the month: "el 24".
        self._day_articles: Final = known.get("day-articles", "").split()
        #: Words that lose their last letter before a vowel: "d'octobre".
        self._elided: Final = known.get("elided", "").split()
        self._phrases: Final = {
            tuple(one.split()): token
            for token, listed in tokens(code)
            for phrase in listed
            for one in (phrase.casefold(), phrase.lower())
        }
        self._beginnings: Final = {
            phrase[:length] for phrase in self._phrases for length in range(1, len(phrase) + 1)
        }

    def pieces(self, text: str, found: Sequence[Found] = ()) -> list[Piece]:
        """Return the tokens of a text in small letters, with words that say no time as None;
        ``found`` is ``lexed(text)`` where several languages read the same.
        """
        found = found or lexed(text)
        pieces: list[Piece] = []
        at = 0
        while at < len(found):
            length, token = self._phrase(found[at : at + 2 * _LONGEST_PHRASE])
            if token is None:
                length, token = 1, _numeric(found[at][0], text)
            start, end = found[at][1], found[at + length - 1][2]
            pieces += [
                Piece(one, start, end)
                for one in ((token.split() or ("",)) if token is not None else (None,))
            ]
            if (
                len(pieces) > 1
                and pieces[-1].token is not None
                and self._is_day(found[at - 1 : at + 1])
            ):
                pieces[-1] = pieces[-1]._replace(token=pieces[-1].token.replace("N:", "ORD:"))
            at += length
        return pieces

    def _is_day(self, words: Sequence[Found]) -> bool:
        """True if the second of two words is a number behind an article of days."""
        return (
            len(words) == 2
            and words[0][0]["word"] in self._day_articles
            and words[1][0]["number"] is not None
        )

    def _phrase(self, found: Sequence[Found]) -> tuple[int, str | None]:
        """Return the longest phrase at the beginning: the number of its pieces, and its token."""
        words: list[str] = []
        best: tuple[int, str | None] = (0, None)
        for place, (piece, _, _) in enumerate(found, start=1):
            word = piece["word"]
            if word is None and (piece["dash"] is None or not words):
                break
            if word is not None:
                word = word.replace("’", "'").removesuffix("'s")
                for elided in self._elided:
                    word = word.removeprefix(elided)
                words.append(word)
                phrase = tuple(words)
                if phrase not in self._beginnings:
                    break
                if phrase in self._phrases:
                    best = (place, self._phrases[phrase])
        return best


def tokens(code: str) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the tokens of a language with their phrases; a phrase that comes twice has its last
    token.
    """
    known, weekdays = words(code), table(code, "weekdays")
    for number, name in numbers(code):
        if number:
            yield f"N:{number}", [name]
    yield "N:1", phrases(code, known.get("articles", ""))
    for number, names in enumerate(table(code, "ordinals"), start=1):
        yield f"NTH:{number}", names
    for token, listed in known.items():
        if token.isupper() or ":" in token:
            yield _SILENT.get(token, token), phrases(code, listed)
    for day, names in enumerate(weekdays):
        yield f"WD:{day} PART", [names[0] + part for part in known.get("parts", "").split()]
        yield f"WD:{day}", names
    for month, names in enumerate(table(code, "months"), start=1):
        yield f"M:{month}", names


def _numeric(found: re.Match[str], text: str) -> str | None:
    """Return the token of numbers and signs; None for a word that says no time."""
    if found["word"] is not None:
        return None
    said = found.groupdict()
    if said["iso"]:
        if said["at"] and not _HOUR.match(said["at"]):
            return None
        return f"DATE:{said['y']}-{said['m']}-{said['d'] or 0}"
    if said["dotted"]:
        year = said["dy"] or said["sy"]
        return f"DATE:{_full(year) if year else 0}-{said['dm'] or said['sm']}-{said['dd']}"
    if said["slashed"]:
        return f"SLASHED:{said['s1']}-{said['s2']}-{_full(said['s3'])}"
    if said["clock"]:
        return "CLK" if _HOUR.match(said["clock"]) else None
    if said["quarter"]:
        return f"Q:{said['quarter']}"
    if said["week"]:
        return f"KW:{int(said['week'])}"
    if said["decade"]:
        decade = int(said["decade"])
        return f"DECADE:{decade if decade >= 1900 else decade + (1900 if decade >= 20 else 2000)}"
    if said["ordinal"]:
        return f"ORD:{int(said['ordinal'])}"
    if said["number"]:
        number = said["number"].replace(",", ".")
        if "." not in number and len(number) == 4 and int(number) in _YEARS:
            return f"Y:{number}"
        signed = _SIGN.search(text[max(found.start() - 3, 0) : found.start()])
        return f"N:{float(number):g}" if len(number) <= 4 and not signed else None
    if said["short"]:
        return f"Y:{_full(said['short'])}"
    if said["dash"]:
        before, after = text[: found.start()][-1:], text[found.end() :][:1]
        return "HYPHEN" if before.isalpha() and after.isalpha() else "TO"
    return None


def _full(year: str) -> int:
    return int(year) if len(year) == 4 else int(year) + (2000 if int(year) < _PIVOT else 1900)
