"""Reads the words of a time in English, German and Spanish; words that are not surely one time are
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, NamedTuple

from memoranda.language.times.lexicon import Lexicon, Piece
from memoranda.language.times.time_context import Role, Saying, Tense
from memoranda.language.times.time_grammar import days_of
from memoranda.model.memories import DaySpan

#: The most characters that are read as a time.
LONGEST: Final = 120
LEXICONS: Final = tuple(map(Lexicon, ("en", "de", "es")))
#: The most tokens of one expression.
_MOST_TOKENS: Final = 14
#: Tokens that alone are too ordinary words to be a time among others: "may", "so", "fall".
_WEAK: Final = re.compile(r"(?:M|S|N|ORD|NTH|Y|Q):|NOW")
#: Tokens that are always of a time.
_STRONG: Final = re.compile(r"(?:DAY|WD|M|DATE|SLASHED|Y|HOL|KW|DECADE):|WEEKEND|AGO")
#: Words that join a time to others.
JOINING: Final = frozenset("AT IN TO AND FOR FROM UNTIL SINCE BETWEEN HYPHEN ABOUT MORE".split())
#: Shorter names of weekdays are other words as well: "so", "sat", "mi".
_LONG_NAME: Final = 5
_CLAUSE_END: Final = re.compile(r"[,;:–—]\s|\s(?:and|but|because|so|und|aber|weil|y|pero|porque)\s")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;\n])\s+")


#: Tokens of parts of a date, and the most days of a time that is compared with them.
_NAMED_PART: Final = re.compile(r"(M|WD|Y):(\d+)")
_NUMBER: Final = re.compile(r"(ORD|N):(\d+)")
_DATE: Final = re.compile(r"DATE:(\d+)-(\d+)-(\d+)")
_MOST_DAYS: Final = timedelta(days=1_000)


class Expression(NamedTuple):
    """A time in a text, and its place."""

    days: DaySpan | None
    start: int
    end: int
    #: Its tokens.
    tokens: tuple[str, ...]


def days_said(
    words: str, said: datetime, role: Role, *, tense: Tense | None = None, around: str = ""
) -> DaySpan | None:
    """Return the days that words mean; None if they name no time, or more than one, or not surely.

    ``around`` is the text in which they stand; it tells past from future where ``tense`` is not
    given.
    """
    text = _plain_text(words)
    if not text or len(text) > LONGEST:
        return None
    nearby = _sentence_with(text, _plain_text(around))
    tense = (
        tense
        or tense_of(text, role)
        or tense_of(nearby, role)
        or tense_of(_clause_with(text, nearby), role)
    )
    untold = tense is None and role is Role.HAPPENED and nearby not in ("", text)
    found = {
        _in_language(text, lexicon, Saying(said.astimezone(UTC), role, one))
        for lexicon in best_lexicons(text)
        # "It is on Friday" may be said of either Friday.
        for one in (Tense if untold else (tense,))
    }
    return found.pop() if len(found) == 1 else None


def says_days(text: str, said: datetime, role: Role, days: DaySpan) -> bool:
    """True if a time in a text means these days."""
    plain = _plain_text(text)
    return any(
        one.days == days
        for lexicon in best_lexicons(plain)
        for tense in Tense
        for one in expressions(plain, lexicon, Saying(said.astimezone(UTC), role, tense))
    )


def contradicts(words: str, days: DaySpan) -> bool:
    """True if words name a day of the month, a month, a weekday or a year that none of these days
    has.
    """
    if days.after - days.first > _MOST_DAYS:
        return False
    each = [days.first + timedelta(days=one) for one in range((days.after - days.first).days)]
    kept = {
        "M": {day.month for day in each},
        "WD": {day.weekday() for day in each},
        "Y": {day.year for day in each},
        "D": {day.day for day in each},
    }
    text = _plain_text(words)
    return all(
        any(number not in kept[part] for part, number in _named_parts(text, one))
        for one in best_lexicons(text)
    )


def _named_parts(text: str, lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Yield the months, weekdays, years and days of a month that words name."""
    tokens = [piece.token or "?" for piece in lexicon.pieces(text) if piece.token != ""]
    for before, token, after in zip(["?", *tokens], tokens, [*tokens[1:], "?"], strict=False):
        if found := _NAMED_PART.fullmatch(token):
            yield found[1], int(found[2])
        elif found := _NUMBER.fullmatch(token):
            # "The second Friday" and "the first week" name no day of the month.
            ordinal = found[1] == "ORD" and not after.startswith(("WD:", "U:", "Q:"))
            if ordinal or any(one.startswith("M:") for one in (before, after)):
                yield "D", int(found[2])
        elif found := _DATE.fullmatch(token):
            yield from (
                (part, int(number))
                for part, number in zip("YMD", found.groups(), strict=True)
                if int(number)
            )


def best_lexicons(text: str) -> list[Lexicon]:
    """Return the languages that know the most words of a text in small letters."""
    known = {one: known_letters(one.pieces(text), text) for one in LEXICONS}
    most = max(known.values())
    return [one for one in LEXICONS if known[one] == most]


def known_letters(pieces: Iterable[Piece], text: str) -> int:
    """Return how many letters of a text are in words that its language knows."""
    return sum(
        piece.end - piece.start
        for piece in pieces
        if piece.token is not None and text[piece.start].isalpha()
    )


def _in_language(text: str, lexicon: Lexicon, saying: Saying) -> DaySpan | None:
    pieces = [piece for piece in lexicon.pieces(text) if piece.token != ""]
    tokens = [piece.token for piece in pieces]
    if "!" in tokens or "OR" in tokens:
        return None
    if None not in tokens:
        if text in lexicon.ordinary:
            return None
        return days_of(_worded([token for token in tokens if token is not None], lexicon), saying)
    found = list(_expressions(text, pieces, lexicon, saying))
    return found[0].days if len(found) == 1 else None


def expressions(text: str, lexicon: Lexicon, saying: Saying) -> list[Expression]:
    """Return the times in a text in small letters, in their order; ``days`` is None where one
    cannot be read.
    """
    pieces = [piece for piece in lexicon.pieces(text) if piece.token != ""]
    return list(_expressions(text, pieces, lexicon, saying))


def _expressions(
    text: str, pieces: list[Piece], lexicon: Lexicon, saying: Saying
) -> Iterator[Expression]:
    """Yield the times among words that say none: each stretch of words of time is one, or cannot be
    read ("every Friday").
    """
    for run in stretches(text, pieces):
        tokens = [piece.token for piece in run if piece.token is not None]
        if len(tokens) > _MOST_TOKENS or (len(run) == 1 and _is_weak(run[0])):
            continue
        days = days_of(_worded(tokens, lexicon), saying)
        if days is not None or any(map(_STRONG.match, tokens)):
            yield Expression(days, run[0].start, run[-1].end, tuple(tokens))


def stretches(text: str, pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Yield the stretches of words of time among others."""
    for is_time, stretch in groupby(pieces, lambda piece: piece.token is not None):
        run = list(stretch)
        while run and (run[-1].token in JOINING or _counts(run, text)):
            run.pop()
        while run and run[0].token in ("AND", "TO", "HYPHEN"):
            run.pop(0)
        if is_time and run:
            yield run


def _counts(run: list[Piece], text: str) -> bool:
    """True if the last word counts what follows it and is no part of a time: "last week a friend",
    "yesterday after work".
    """
    last = run[-1]
    return last.token == "!" or (
        len(run) > 1 and (last.token or "").startswith("N:") and text[last.start].isalpha()
    )


def _is_weak(piece: Piece) -> bool:
    """True if a token among other words alone may be no time: "may", "so", "fall"."""
    token = piece.token or ""
    short = token.startswith("WD") and piece.end - piece.start < _LONG_NAME
    return short or _WEAK.match(token) is not None


def _worded(tokens: list[str], lexicon: Lexicon) -> list[str]:
    """Mark dates with slashes that an English text may write with the month first."""
    english = lexicon.code == "en"
    return [f"{token}US" if english and token.startswith("SLASHED") else token for token in tokens]


def tense_of(text: str, role: Role) -> Tense | None:
    """Return the tense of a text in small letters; None if its words tell none, or both."""
    languages = best_lexicons(text) if text else ()
    past = any(one.past.search(text) for one in languages)
    future = any(one.future.search(text) for one in languages)
    if past is future or (past and role is Role.VALID_UNTIL):
        # "I got a visa until May": what was got is past, its end is not.
        return None
    return Tense.PAST if past else Tense.FUTURE


def _sentence_with(words: str, text: str) -> str:
    """Return the sentence of a text that holds these words; empty if none does."""
    return next((one for one in _SENTENCE_END.split(text) if words in one), "")


def _clause_with(words: str, sentence: str) -> str:
    """Return the clause of a sentence that holds these words; empty if none does."""
    return next((one for one in _CLAUSE_END.split(sentence) if words in one), "")


def _plain_text(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).strip(" !?;,\"'“”")
