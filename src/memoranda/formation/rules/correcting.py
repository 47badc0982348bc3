"""Finds which of the statements of a user's last message the next one corrects: "sorry, Hannah, not
Anna", "no, I meant my son", "that was a joke".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.formation.rules.patterns import LANGUAGES, Language, language_of
from memoranda.formation.rules.replies import asks
from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text
from memoranda.formation.rules.statements import Statement
from memoranda.formation.rules.taking_back import words

#: The most characters of a message that only corrects, and words of a new value.
_LONGEST: Final = 120
_LONGEST_VALUE: Final = 4
#: Topics that say the same.
_SAME: Final = {"moved": "home"}
#: Topics whose statements are stored in the user's words: a value alone corrects none.
_WORDED: Final = frozenset({"remember", "instruction"})
_WORDS: Final = re.compile(r"\S+")
_SPLIT: Final = re.compile(r"\s*[,.;!]+\s*")


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement that does not hold, and what is true instead, if the message says it."""

    was: Statement
    instead: Statement | None = None


#: Words at the beginning that say that something was wrong, that ask for a change, that may say it,
#: and others; then all beginnings.
_LEADS: Final = ("strong", "orders", "soft", "filler")
_BEGINNINGS: Final = ("joke", "scratch", "others", *_LEADS)


def may_correct(text: str) -> bool:
    """True if a message has words with which corrections begin or end."""
    said = readable_text(text[:_LONGEST]).strip()
    return any(
        one["corrects.tail"].search(said)
        or any(one[f"corrects.{name}"].match(said) for name in _BEGINNINGS)
        or any(swap.match(said) for swap in one.swaps)
        for one in map(language_of, LANGUAGES)
    )


def corrected(
    text: str,
    stated: Sequence[Statement],
    *,
    previous: str,
    turn: str,
    read: Callable[[str], Sequence[Statement]],
) -> list[Corrected]:
    """Return which of the statements of a user's last message the next message corrects.

    ``stated`` are those of ``previous``, ``turn`` is the assistant's turn between the two, and
    ``read`` reads the statements of the previous message if it had other words.
    """
    said = readable_text(text).strip()
    if not stated or not said or MASK in mask_quoted(said[:_LONGEST]):
        return []
    asked = asks(previous)
    first = re.split(r"(?<=[.!?])\s", said, maxsplit=1)[0]
    for language in map(language_of, LANGUAGES):
        joke = language["corrects.joke"].match(first)
        scratched = not (asked or asks(turn)) and language["corrects.scratch"].match(first)
        if (joke or scratched) and not asks(first):
            return [Corrected(one) for one in stated]
        if language["corrects.others"].match(first) and not asked and not asks(first):
            ended = [one for one in stated if one.about != "family"]
            if ended:
                return [Corrected(one) for one in ended]
        if len(said) <= _LONGEST:
            found = _replaced(said, stated, previous, turn, read, language)
            if found:
                return found
    return []


def _replaced(
    said: str,
    stated: Sequence[Statement],
    previous: str,
    turn: str,
    read: Callable[[str], Sequence[Statement]],
    language: Language,
) -> list[Corrected]:
    rest, leads = said, set[str]()
    while lead := next((one for one in _LEADS if language[f"corrects.{one}"].match(rest)), None):
        leads.add(lead)
        rest = language[f"corrects.{lead}"].sub("", rest, count=1)
    shorter = language["corrects.tail"].sub("", rest)
    if shorter != rest:
        leads.add("soft")
    if not shorter or asks(shorter):
        return []
    strong = "strong" in leads and not asks(previous)
    for new, old in _pairs(shorter, language):
        found = {
            one: instead
            for one in stated
            if (old or one.about not in _WORDED)
            and (instead := _instead(one, new, old, previous, read, language)) is not None
        }
        for one, instead in found.items():
            free = not asks(previous) and (words(one.value) <= words(new) or not asks(turn))
            weak = (
                "soft" in leads
                and _is_alike(one, instead, language)
                and not words(new) <= words(turn)
            )
            if len(found) == 1 and (old or strong or (free and ("orders" in leads or weak))):
                return [Corrected(one, replace(instead, span=(0, len(said))))]
    short = strong and len(stated) == 1 and len(shorter.split()) <= _LONGEST_VALUE
    if short and language["corrects.wrong"].match(said) and not _tells_nothing(shorter):
        return [Corrected(stated[0])]
    return []


def _is_alike(was: Statement, instead: Statement, language: Language) -> bool:
    """True if a value that only a word such as "sorry" introduces is of the sort of the old one."""
    own, other = was.value.split()[-1], instead.value.split()[-1]
    if language["corrects.number"].search(instead.value) or own.lower() == other.lower():
        return True
    return own[0].isupper() is other[0].isupper() and (own[0].isupper() or was.key is not None)


def _tells_nothing(value: str) -> bool:
    return any(
        one["dialogue.silent"].match(value) or one["dialogue.doubt"].search(value)
        for one in map(language_of, LANGUAGES)
    )


def _pairs(rest: str, language: Language) -> Iterator[tuple[str, str]]:
    """Yield each value that may be new, with the one that it replaces, if it is named."""
    for swap in language.swaps:
        if (match := swap.match(rest)) is not None:
            new = match["new"]
            while lead := language["corrects.strong"].match(new):
                new = new[lead.end() :]
            yield new, match["old"]
            return
    yield rest, ""
    parts = [one for one in _SPLIT.split(rest) if one]
    yield from ((one, "") for one in parts if len(parts) > 1)


def _instead(
    was: Statement,
    new: str,
    old: str,
    previous: str,
    read: Callable[[str], Sequence[Statement]],
    language: Language,
) -> Statement | None:
    """Return what the previous message states with a new value in place of an old one."""
    new = new.strip(" \t,.;:!*\"'")
    if (lead := language["corrects.prefix"].match(new)) is not None:
        new = new[lead.end() :]
    if not new or len(new.split()) > _LONGEST_VALUE or _tells_nothing(new):
        return None
    article, number = language["corrects.article"], language["corrects.number"]
    named = article.sub("", old.strip(" \t,.;:!\"'").lower())
    if named and not words(named) <= words(was.value):
        return None
    if number.search(new) and not number.search(was.value):
        return None
    for start, end in _places(previous, was, named, new):
        if (leading := article.match(new)) is not None:
            lead = re.search(r"\w+ $", previous[:start])
            if lead is not None and article.fullmatch(lead.group()):
                start = lead.start()
            elif lead is not None and not named:
                new = new[leading.end() :]
        for one in read(previous[:start] + new + previous[end:]):
            same = _SAME.get(one.about, one.about) == _SAME.get(was.about, was.about)
            other = one.content.casefold() != was.content.casefold()
            if same and other and words(article.sub("", new)) <= words(one.value):
                return one
    return None


def _places(previous: str, was: Statement, named: str, new: str) -> Iterator[tuple[int, int]]:
    """Yield the places in a message that a new value may replace: the words that are named, else
    the whole value, else as many of its last words as the new value has.
    """
    whole = previous.lower()
    start = whole.find(was.value.lower(), max(was.span[0], 0))
    if start < 0 or len(whole) != len(previous):
        return
    end = start + len(was.value)
    if named:
        at = whole.find(named, start, end)
        if at >= 0:
            yield at, at + len(named)
        return
    yield start, end
    own = [*_WORDS.finditer(previous, start, end)]
    count = len(new.split())
    if len(own) > count:
        yield own[-count].start(), end
