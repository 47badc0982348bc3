"""Reads what a user's message says by itself, without quotes and questions, and whether it answers
yes or no.
"""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.rules.patterns import language_of
from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text
from memoranda.text.scripts import normalised
from memoranda.text.similarity import sentences_of

_QUESTION_MARKS: Final = frozenset("?？؟;\u037e⁇")
#: A quote of fewer words is a name or a value that the user gives, and one of at most so many may
#: be a title.
_LEAST_QUOTED, _LONGEST_TITLE = 4, 6
#: The words of a title but small ones begin with capitals, and say neither what is nor what to do.
_TITLE: Final = re.compile(r"[^\w]?(?:(?:[A-ZÀ-Þ\d][\w'’&-]*|[a-zà-ÿ]{1,4}|&)(?: |[^\w]?$))+")
_MASKED: Final = re.compile(f"{MASK}+")


def _words(name: str) -> re.Pattern[str]:
    """Return a pattern of replies, for all languages."""
    return language_of("all")[f"replies.{name}"]


def points_at_something(text: str) -> bool:
    """True if a sentence points at something that another turn named, and does not name it: "yes,
    the second one".
    """
    return _words("points").search(_plain(text)) is not None


def own_words(text: str) -> str:
    """Return a message without the texts that it quotes or pastes."""
    start = readable_text(text)
    masked = mask_quoted(start)
    kept = list(start)
    for found in _MASKED.finditer(masked):
        count = len(start[found.start() : found.end()].split())
        if count >= _LEAST_QUOTED and not (
            count <= _LONGEST_TITLE and _is_title(start, *found.span())
        ):
            kept[found.start() : found.end()] = " " * (found.end() - found.start())
    return "".join(kept)


def _is_title(text: str, begin: int, end: int) -> bool:
    """True if a quote is a title, such as that of a book, in a sentence of the user's own."""
    quoted = text[begin:end]
    before = text[:begin].rstrip()
    return (
        before[-1:].isalpha()
        and _words("saying").search(before[-40:]) is None
        and _TITLE.fullmatch(quoted) is not None
        and _words("says_something").search(quoted) is None
        and _words("orders").search(quoted.casefold()) is None
    )


def asks(text: str) -> bool:
    """True if a text has a question mark."""
    return not _QUESTION_MARKS.isdisjoint(text)


def stated_words(text: str) -> str:
    """Return what a message says in its own words, without its questions; a question that asks for
    a change stays.
    """
    return "\n".join(
        part for part in sentences_of(own_words(text)) if not asks(part) or _asks_for_change(part)
    )


def _asks_for_change(question: str) -> bool:
    parts = _words("requests_anywhere").split(_plain(question))
    return any(_words("request").match(part) and not asks_to_see(part) for part in parts)


def only_thanks(text: str) -> bool:
    """True if a message thanks or praises, and orders nothing."""
    plain = _plain(text)
    return _words("thanks").match(plain) is not None and _words("orders").search(plain) is None


def says_yes(text: str) -> bool:
    """True if a message answers a question with yes."""
    plain = _plain(text)
    return (
        _words("yes").match(plain) is not None
        and _words("taken_back").search(plain) is None
        and not says_no(text)
    )


def calls_it_right(text: str) -> bool:
    """True if a message confirms a statement; an okay does not."""
    return _words("right").match(_plain(text)) is not None and not says_no(text)


def only_yes_before(text: str) -> str | None:
    """Return what follows the yes with which a message begins; None if it does not confirm."""
    match = _words("confirms").match(text)
    return None if match is None or says_no(text) else text[match.end() :]


def says_no(text: str) -> bool:
    """True if a message answers a question with no."""
    return _words("no").match(_plain(text)) is not None


def asks_to_see(text: str) -> bool:
    """True if a message only asks for something to be shown, looked up or run."""
    return _words("shows").match(_plain(text)) is not None


def _plain(text: str) -> str:
    return normalised(text).casefold().strip(" \n\t\"'«»“”„¡¿*_")
