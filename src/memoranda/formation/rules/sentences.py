"""Splits a text into sentences, and masks what is not the user's own: quotes, code, pasted
lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoranda.formation.rules.patterns import language_of

#: The most characters of a text that are read; people introduce themselves near its beginning.
MOST_CHARACTERS: Final = 20_000
#: Longer text without a full stop is pasted or hostile, and is skipped.
LONGEST_SENTENCE: Final = 600
#: A longer quote is taken for a stray quotation mark.
_LONGEST_QUOTE: Final = 2_000

#: Replaces each character of a quote: no rule matches inside it, but a value may contain it.
MASK: Final = "\ue000"
_QUOTES: Final = (
    ("\"", "\""), ("“", "”"), ("„", "“"), ("«", "»"), ("»", "«"), ("`", "`"), ("‹", "›"),
)  # fmt: skip
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "`": "`", "\u00a0": " ", "\u202f": " "})
_UNREADABLE: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ue000\ufffe\uffff]"
)
_FENCE: Final = re.compile(r"^[ ]{0,3}(?:```|~~~)", re.MULTILINE)
_OPENS: Final = re.compile(r"(?<![\w'])'(?=[^\s'])")
_CLOSES: Final = re.compile(r"(?<=[^\s'])'(?![\w'])")
#: A line of this form is code, a log, a citation or a mail header.
_PASTED_LINE: Final = re.compile(
    r"[ ]*(?:#|>|//|--|/\*|\$ |\d{4}-\d\d-\d\d|\[\d|SELECT\b|INSERT\b|import \w+$|def |class \w+[(:]|const |let \w+ ="
    r"|[\w.-]{1,40}@|(?:From|Subject|To|Sent):)"
)
#: What follows "she wrote: >" in a line.
_PASTED: Final = re.compile(r"(?<=:)[ ]*>[^\n]*")
_CODE: Final = re.compile(r"[{}\\<>=|]|\(\)|;[ ]*$|//")
_END: Final = re.compile(r"[.!?…]+[)\]'" + MASK + r"]*(?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its position in the text."""

    #: Its text with quotes masked.
    text: str
    start: int
    #: True if it ends with a question mark.
    asks: bool


def readable_text(text: str) -> str:
    """Return the beginning of a text with plain apostrophes and no unstorable characters; lengths
    do not change.
    """
    return _UNREADABLE.sub(" ", text[:MOST_CHARACTERS]).translate(_APOSTROPHES)


def mask_quoted(text: str) -> str:
    """Return the text with quotes, code and pasted lines masked, character by character."""
    text = _without_fences(text)
    for opening, closing in _QUOTES:
        text = _cover(text, opening, closing)
    text = _cover_single(text)
    text = _PASTED.sub(lambda found: MASK * len(found.group()), text)
    return "".join(
        MASK * len(line) if _PASTED_LINE.match(line) else line for line in re.split(r"(\n)", text)
    )


def letter_start(masked: str) -> int:
    """Return the index at which somebody else's letter begins in a message; the message's length if
    there is none.
    """
    letter = language_of("all")["replies.letter"].search(masked)
    return len(masked) if letter is None else letter.start()


def sentences(text: str, abbreviations: frozenset[str]) -> Iterator[Sentence]:
    """Yield the sentences of a masked text; too long ones are skipped."""
    start = 0
    for end in _END.finditer(text):
        if end.group().startswith(".") and _goes_on(text, end.start(), end.end(), abbreviations):
            continue
        yield from _sentence(text, start, end.end())
        start = end.end()
    yield from _sentence(text, start, len(text))


def _sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    said = text[start:end]
    if not said.strip() or len(said) > LONGEST_SENTENCE or _CODE.search(said):
        return
    lead = len(said) - len(said.lstrip())
    said = said.strip()
    asks = "?" in said[-4:]
    yield Sentence(said.rstrip(".!?…" + MASK) if asks else said.rstrip(".!…"), start + lead, asks)


def _goes_on(text: str, dot: int, end: int, abbreviations: frozenset[str]) -> bool:
    """True if a full stop belongs to an abbreviation, an initial or an ordinal number."""
    word = re.split(r"[\s(]", text[max(0, dot - 12) : dot])[-1].lower()
    if word in abbreviations or (len(word) == 1 and word.isalpha() and word != "i"):
        return True
    return (
        word.isdigit()
        and len(word) <= 2
        and "#." in abbreviations
        and text[end : end + 2].strip()[:1].isalpha()
    )


def _without_fences(text: str) -> str:
    places = [fence.start() for fence in _FENCE.finditer(text)]
    for opening, closing in zip(places[::2], [*places[1::2], len(text)], strict=False):
        text = text[:opening] + MASK * (closing - opening) + text[closing:]
    return text


def _cover(text: str, opening: str, closing: str) -> str:
    parts, place = [], 0
    while (begin := text.find(opening, place)) >= 0:
        end = text.find(closing, begin + 1)
        if end < 0:
            break
        if end - begin > _LONGEST_QUOTE:
            parts.append(text[place : begin + 1])
            place = begin + 1
            continue
        parts.append(text[place:begin] + MASK * (end + 1 - begin))
        place = end + 1
    return "".join([*parts, text[place:]])


def _cover_single(text: str) -> str:
    closings = [close.start() for close in _CLOSES.finditer(text)]
    parts, place, next_closing = [], 0, 0
    for opening in _OPENS.finditer(text):
        begin = opening.start()
        while next_closing < len(closings) and closings[next_closing] <= begin:
            next_closing += 1
        if begin < place or next_closing == len(closings):
            continue
        end = closings[next_closing]
        if end - begin <= _LONGEST_QUOTE:
            parts.append(text[place:begin] + MASK * (end + 1 - begin))
            place = end + 1
    return "".join([*parts, text[place:]])
