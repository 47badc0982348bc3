"""Finds which of the statements of a user's last message the next one corrects: "sorry, Hannah, not
Anna", "no, I meant my son", "that was a joke".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from memoranda.formation.rules.dialogue import dialogue_data
from memoranda.formation.rules.grammar import Statement, pattern
from memoranda.formation.rules.matcher import LANGUAGES
from memoranda.formation.rules.replies import asks
from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text
from memoranda.formation.rules.taking_back import words

#: The most characters of a message that only corrects, and words of a new value.
_LONGEST: Final = 120
_LONGEST_VALUE: Final = 4
#: Topics that say the same.
_SAME: Final = {"moved": "home"}
#: Topics whose statements are stored in the user's words: a value alone corrects none.
_WORDED: Final = frozenset({"remember", "instruction"})
_WORDS: Final = re.compile(r"\S+")
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|ten|twenty|thirty|forty|fifty|zwei|drei|vier|dos|tres|cuatro|deux|trois|quatre)\b",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(
    r"(?:an?|the|my|eine?[nm]?|une?|una?|el|la|le|der|die|das|den) ", re.IGNORECASE
)
#: A correction that at least says that the value was wrong.
_WRONG: Final = re.compile(
    r"\W*(?:\w+[,.!]? )?(?:typo|wrong (?:word|name)|correction|tippfehler|errata|faute de frappe)\b",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(r"\s*[,.;!]+\s*")


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement that does not hold, and what is true instead, if the message says it."""

    was: Statement
    instead: Statement | None = None


@dataclass(frozen=True, slots=True)
class _Ways:
    """The ways of one language to correct what was just said."""

    joke: re.Pattern[str]
    scratch: re.Pattern[str]
    others: re.Pattern[str]
    #: Words at the beginning that say that something was wrong, that may say it, and others.
    strong: re.Pattern[str]
    soft: re.Pattern[str]
    #: "make that …".
    orders: re.Pattern[str]
    filler: re.Pattern[str]
    tail: re.Pattern[str]
    #: "X, not Y": the named groups `new` and `old`.
    swaps: tuple[re.Pattern[str], ...]
    prefix: re.Pattern[str]
    silent: re.Pattern[str]
    doubt: re.Pattern[str]

    @property
    def begins(self) -> tuple[re.Pattern[str], ...]:
        """All beginnings of a correction."""
        return (
            self.joke,
            self.scratch,
            self.others,
            self.strong,
            self.soft,
            self.orders,
            self.filler,
        )


@cache
def _ways() -> tuple[_Ways, ...]:
    return tuple(_ways_of(code, given) for code, given in dialogue_data().items())


def _ways_of(code: str, given: dict[str, Any]) -> _Ways:
    known = {**LANGUAGES[code].words, "STRONG": given["corrects"]["strong"]}

    def compiled(source: str) -> re.Pattern[str]:
        for _ in range(4):
            source = re.sub(r"<([A-Z_]+)>", lambda name: known[name[1]], source)
        return pattern(source)

    said = given["corrects"]

    def lead(name: str) -> re.Pattern[str]:
        return compiled(rf"{said[name]}(?:[\s,.:;!…–—-]+|$|(?<=\*))")

    return _Ways(
        joke=compiled(said["joke"]),
        scratch=compiled(said["scratch"]),
        others=compiled(said["others"]),
        strong=lead("strong"),
        soft=lead("soft"),
        orders=lead("orders"),
        filler=lead("filler"),
        tail=compiled(said["tail"]),
        swaps=tuple(map(compiled, said["swaps"])),
        prefix=compiled(rf"(?:{given['prefix']} )+"),
        silent=compiled(given["silent"]),
        doubt=compiled(given["doubt"]),
    )


def may_correct(text: str) -> bool:
    """True if a message has words with which corrections begin or end."""
    said = readable_text(text[:_LONGEST]).strip()
    return any(
        ways.tail.search(said) or any(one.match(said) for one in (*ways.begins, *ways.swaps))
        for ways in _ways()
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
    for ways in _ways():
        joke = ways.joke.match(first)
        scratched = not (asked or asks(turn)) and ways.scratch.match(first)
        if (joke or scratched) and not asks(first):
            return [Corrected(one) for one in stated]
        if ways.others.match(first) and not asked and not asks(first):
            ended = [one for one in stated if one.about != "family"]
            if ended:
                return [Corrected(one) for one in ended]
        if len(said) <= _LONGEST:
            found = _replaced(said, stated, previous, turn, read, ways)
            if found:
                return found
    return []


def _replaced(
    said: str,
    stated: Sequence[Statement],
    previous: str,
    turn: str,
    read: Callable[[str], Sequence[Statement]],
    ways: _Ways,
) -> list[Corrected]:
    rest, leads = said, set[re.Pattern[str]]()
    kinds = (ways.strong, ways.orders, ways.soft, ways.filler)
    while match := next((lead for kind in kinds if (lead := kind.match(rest))), None):
        leads.add(match.re)
        rest = rest[match.end() :]
    shorter = ways.tail.sub("", rest)
    if shorter != rest:
        leads.add(ways.soft)
    if not shorter or asks(shorter):
        return []
    strong = ways.strong in leads and not asks(previous)
    for new, old in _pairs(shorter, ways):
        found = {
            one: instead
            for one in stated
            if (old or one.about not in _WORDED)
            and (instead := _instead(one, new, old, previous, read, ways)) is not None
        }
        for one, instead in found.items():
            free = not asks(previous) and (words(one.value) <= words(new) or not asks(turn))
            weak = ways.soft in leads and _is_alike(one, instead) and not words(new) <= words(turn)
            if len(found) == 1 and (old or strong or (free and (ways.orders in leads or weak))):
                return [Corrected(one, replace(instead, span=(0, len(said))))]
    short = strong and len(stated) == 1 and len(shorter.split()) <= _LONGEST_VALUE
    if short and _WRONG.match(said) and not _tells_nothing(shorter):
        return [Corrected(stated[0])]
    return []


def _is_alike(was: Statement, instead: Statement) -> bool:
    """True if a value that only a word such as "sorry" introduces is of the sort of the old one."""
    own, other = was.value.split()[-1], instead.value.split()[-1]
    if _NUMBER.search(instead.value) or own.lower() == other.lower():
        return True
    return own[0].isupper() is other[0].isupper() and (own[0].isupper() or was.key is not None)


def _tells_nothing(value: str) -> bool:
    return any(one.silent.match(value) or one.doubt.search(value) for one in _ways())


def _pairs(rest: str, ways: _Ways) -> Iterator[tuple[str, str]]:
    """Yield each value that may be new, with the one that it replaces, if it is named."""
    for swap in ways.swaps:
        if (match := swap.match(rest)) is not None:
            new = match["new"]
            while lead := ways.strong.match(new):
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
    ways: _Ways,
) -> Statement | None:
    """Return what the previous message states with a new value in place of an old one."""
    new = new.strip(" \t,.;:!*\"'")
    if (lead := ways.prefix.match(new)) is not None:
        new = new[lead.end() :]
    if not new or len(new.split()) > _LONGEST_VALUE or _tells_nothing(new):
        return None
    named = old.strip(" \t,.;:!\"'").lower()
    if named and not words(_ARTICLE.sub("", named)) <= words(was.value):
        return None
    if _NUMBER.search(new) and not _NUMBER.search(was.value):
        return None
    for start, end in _places(previous, was, _ARTICLE.sub("", named), new):
        if (article := _ARTICLE.match(new)) is not None:
            lead = re.search(r"\w+ $", previous[:start])
            if lead is not None and _ARTICLE.fullmatch(lead.group()):
                start = lead.start()
            elif lead is not None and not named:
                new = new[article.end() :]
        for one in read(previous[:start] + new + previous[end:]):
            same = _SAME.get(one.about, one.about) == _SAME.get(was.about, was.about)
            other = one.content.casefold() != was.content.casefold()
            if same and other and words(_ARTICLE.sub("", new)) <= words(one.value):
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
