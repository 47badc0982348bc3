"""Finds the parts of sentences to cut so that a text does not tell a fact any more; the rest stays
where it still reads as a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from memoranda.book.forgetting.facts import (
    LEAST,
    PERSON,
    Fact,
    holds,
    is_of_somebody_else,
    words_of,
)
from memoranda.book.forgetting.other_people import OWN, PEOPLE, Words, is_about_somebody_else
from memoranda.first_use import expression
from memoranda.model.redactions import ONE_WORD, QUOTE, SENTENCE, SOMEBODY_ELSE, TAKEN, VALUE
from memoranda.text.sentence_spans import (
    Place,
    cell_places,
    clause_places,
    cut_parts,
    is_row,
    part_places,
    sentence_places,
    with_marks,
    with_white_space,
    wrapped_places,
)
from memoranda.text.similarity import terms_in

#: The rest of a sentence stays if it has so many words with at least so many letters.
_MOST_LEFT, _LETTERS = 2, 3
_NOT: Final = frozenset({"not", "nicht", "pas", "non"})
#: The most words of a label before a colon.
_LABEL: Final = 4
#: Verbs that have the owner as their subject without a word for it.
_FIRST_PERSON: Final = expression(
    r"\b(?:tengo|soy|estoy|vivo|trabajo|gano|pago|peso|mido|debo|nací|hablo|cobro|conduzco|estudio|llevo|uso|somos|tenemos|vivimos|ho|sono|tenho|sou|moro)\b",
    re.IGNORECASE,
)
#: What a summary calls the owner.
_OF_OWNER: Final = expression(
    rf"^(?:they|he|she|er|sie|él|ella|il|elle|ils|elles|(?:the|der|die|el|la|le)\s+(?!(?:{PEOPLE})\b)[^\W\d_]+)\b",
    re.IGNORECASE,
)
_NO_OWNER: Final = frozenset("it he she that there here what let user".split())
_ITS_OWNER: Final = expression(r"([^\W\d_][\w-]+)['’]s\b")


def cuts(
    fact: Fact,
    text: str,
    quotes: Collection[str] = (),
    about: str = "",
    *,
    others: tuple[Words, ...] = (),
    repeats: bool = False,
    made: bool = False,
) -> list[tuple[Place, str]]:
    """Return the places in a text that tell a fact, each with the reason, in their order.

    ``quotes`` are words of it that a memory of the fact cites; ``about`` are words that stand
    beside a short text; ``others`` are statements of other facts that come from it. What
    ``repeats`` the owner's words tells the fact by its value alone, and a text that is ``made`` of
    them says "they" of the owner.
    """
    if not (quotes or fact.touches(f"{about} {text}" if about else text)):
        return []
    places = list(sentence_places(text))
    beside = about if len(places) <= 1 else ""
    quoted = list(_quoted(text, quotes))
    found: list[tuple[Place, str]] = []
    for place in places:
        if not (quoted or _may_tell(fact, text[slice(*place)], beside, made=made)):
            continue
        found += _Sentence(fact, text, place, beside, others, repeats=repeats, made=made).told(
            quoted
        )
    for wrapped in wrapped_places(text, places):
        if not any(wrapped[0] <= start < wrapped[1] for (start, _), _ in found):
            why = _why(fact, text[slice(*wrapped)], terms_in(beside))
            if why in (SENTENCE, SOMEBODY_ELSE):
                found.append((with_white_space(text, wrapped), why))
    return _united(found)


def _may_tell(fact: Fact, sentence: str, about: str, *, made: bool) -> bool:
    """True if a sentence has all words of a statement, or may have enough of the value."""
    said = _as_owners(sentence) if made else sentence
    # A part that begins with a word for the owner is read with “you” in its place.
    return fact.value.may_be_told_by(f"{about} you {said}" if made else f"{about} {said}") or bool(
        _why(fact, said, terms_in(about))
    )


def tells(fact: Fact, text: str) -> bool:
    """True if a sentence of a text tells a fact to the letter."""
    is_value = fact.value.relates(text)
    found = cuts(fact, text, made=True)
    return any(why == SENTENCE or (why == VALUE and is_value) for _, why in found)


def tells_value(fact: Fact, text: str, about: str = "") -> bool:
    """True if a text that somebody else wrote tells the fact by its value."""
    return any(why in TAKEN for _, why in cuts(fact, text, about=about, repeats=True))


def _quoted(text: str, quotes: Iterable[str]) -> Iterator[Place]:
    for quote in quotes:
        wanted = re.compile(r"\s+".join(map(re.escape, quote.split())) or r"(?!)", re.IGNORECASE)
        yield from (found.span() for found in wanted.finditer(text))


class _Sentence:
    """One sentence of a text."""

    def __init__(
        self,
        fact: Fact,
        text: str,
        place: Place,
        about: str,
        others: tuple[Words, ...],
        *,
        repeats: bool,
        made: bool,
    ) -> None:
        self._fact, self._text, self._place, self._about = fact, text, place, about
        self._said = _as_owners(text[slice(*place)]) if made else text[slice(*place)]
        self._repeats, self._made, self._others = repeats or made, made, others
        self._parts = _without_joins_inside(
            part_places(text, place), fact.value.places_in(self._said), place[0]
        )

    def told(self, quoted: Sequence[Place]) -> Iterator[tuple[Place, str]]:
        """Yield the places that tell the fact, each with the reason."""
        if is_row(self._said):
            if self._value_is_told():
                yield from self._cells()
            return
        by_quote = self._by_quote(quoted)
        chosen, why = set(by_quote), QUOTE
        whole = _why(self._fact, self._said, terms_in(self._about))
        with_value = self._with_value()
        if whole == SENTENCE and (with_value or not self._held()):
            chosen.update(with_value or self._with_a_word(self._place))
        elif with_value and self._value_is_told():
            chosen.update(with_value)
            whole = VALUE
        elif whole and not chosen:
            named = SOMEBODY_ELSE if whole == SENTENCE else whole
            yield with_white_space(self._text, self._place), named
            return
        if chosen:
            why = QUOTE if by_quote else whole
            yield from ((place, why) for place in self._cut(self._and_beside(chosen)))

    def _words(self, at: int) -> str:
        words = self._text[slice(*self._parts[at])]
        return _as_owners(words) if self._made else words

    def _by_quote(self, quoted: Sequence[Place]) -> list[int]:
        """Return the parts that a quote covers and that have a word of the fact; all that it covers
        if none has.
        """
        chosen: list[int] = []
        for place in quoted:
            covered = [at for at, one in enumerate(self._parts) if _touches(self._text, one, place)]
            telling = [at for at in covered if at in self._with_a_word(place)]
            inside = self._place[0] <= place[0] and place[1] <= self._place[1]
            if telling or (covered and (inside or not self._is_of_others())):
                chosen += telling or covered
        return chosen

    def _is_of_others(self) -> bool:
        """True if the sentence has all words of another statement."""
        terms = terms_in(self._said)
        return any(holds(words, terms) for words in self._others)

    def _with_a_word(self, place: Place) -> list[int]:
        """Return the parts inside a place that have a word of the fact."""
        fact = self._fact
        return [
            at
            for at, one in enumerate(self._parts)
            if _touches(self._text, one, place)
            and not (
                (fact.forms | fact.value.forms).isdisjoint(terms_in(self._words(at)))
                and not fact.value.held_by(self._words(at), self._text)
            )
        ]

    def _held(self) -> float:
        return self._fact.value.held_by(self._said)

    def _value_is_told(self) -> bool:
        """True if the sentence has the value; in the owner's own words also what it is the value
        of.
        """
        value = self._fact.value
        with_it = f"{self._about} {self._said}" if self._about else self._said
        if value.held_by(with_it) < 1 or not self._held():
            return False
        return self._repeats or value.has_number(self._said) or value.relates(with_it)

    def _with_value(self) -> list[int]:
        """Return the parts that have the value, of the owner; all of them together where it is
        spread over them.
        """
        value = self._fact.value
        held = {at: value.held_by(self._words(at), self._text) for at in range(len(self._parts))}
        own = [at for at, much in held.items() if much and not self._is_of_somebody_else(at)]
        full = [at for at in own if held[at] >= 1]
        return full or (
            [at for at in own if held[at] >= max(held.values())]
            if len(self._parts) == 1 or not any(much >= 1 for much in held.values())
            else []
        )

    def _is_of_somebody_else(self, at: int) -> bool:
        """True if a part is about somebody else: by its own words, or else by those of the parts
        before it.
        """
        words = self._words(at)
        if self._about and not self._fact.strangers.isdisjoint(terms_in(self._about)):
            return True
        if self._fact.value.has_unique(words):
            return not self._fact.strangers.isdisjoint(terms_in(self._said))
        if self._fact.whom:
            return self._is_of_owner(at) or is_of_somebody_else(words, self._fact)
        for place in range(at, -1, -1):
            words = self._words(place)
            if place < at and _FIRST_PERSON.search(words):
                return False
            if self._names_somebody(words):
                return True
            if (
                OWN.search(words)
                or self._fact.value.is_mine(words)
                or _FIRST_PERSON.search(words)
                or any(found[0].casefold() in self._fact.people for found in PERSON.finditer(words))
            ):
                return False
        return False

    def _is_of_owner(self, at: int) -> bool:
        """True if a part is about the owner: where the fact is of somebody else, whom the parts up
        to this one do not name.
        """
        for place in range(at, -1, -1):
            words = self._words(place)
            if not self._fact.is_of_owner(words):
                return False
            if OWN.search(words) or _FIRST_PERSON.search(words):
                return True
        return False

    def _names_somebody(self, words: str) -> bool:
        fact = self._fact
        if fact.value.is_mine(words):
            return False
        if OWN.search(words) and not is_about_somebody_else(words, fact.wordings[0], fact.names):
            return False
        if not fact.strangers.isdisjoint(terms_in(words)):
            return True
        owner = _ITS_OWNER.search(words)
        if owner is not None and owner[1][0].isupper():
            return owner[1].casefold() not in {*fact.names, *_NO_OWNER} and not fact.value.held_by(
                words[: owner.end()]
            )
        return is_of_somebody_else(words, fact)

    def _and_beside(self, chosen: set[int]) -> list[int]:
        """Return the chosen parts, with those next to them that only say what the value is: “where
        you live”, “your sister”.
        """
        common, value = self._fact.value.common | self._fact.forms, self._fact.value
        found = set(chosen)
        for at in range(len(self._parts)):
            words = words_of(self._words(at), self._fact.names)
            is_beside = words and at not in found and (at - 1 in chosen or at + 1 in chosen)
            if is_beside and all(
                not (common.isdisjoint(forms) or word.isdecimal()) or value.is_said_by(word)
                for word, forms in words
            ):
                found.add(at)
        return sorted(found)

    def _cells(self) -> Iterator[tuple[Place, str]]:
        value = self._fact.value
        for cell in cell_places(self._text, self._place):
            if value.held_by(self._text[slice(*cell)]):
                yield cell, VALUE

    def _cut(self, chosen: Sequence[int]) -> Iterator[Place]:
        """Yield the places of the chosen parts; that of the whole sentence if the others do not
        read as one.
        """
        if not self._stays(chosen):
            yield with_white_space(self._text, self._place)
            return
        for first, last in _runs(chosen):
            part = cut_parts(self._text, self._place, self._parts[first], self._parts[last])
            yield with_marks(self._text, part)

    def _stays(self, chosen: Sequence[int]) -> bool:
        left = [self._words(at) for at in range(len(self._parts)) if at not in chosen]
        rest = " ".join(left)
        # A label stays with no value behind it.
        is_label = left and left[-1].rstrip().endswith(":") and len(self._parts) - 1 in chosen
        if not rest or (is_label and len(rest.split()) <= _LABEL):
            return False
        if reads_as_one(rest, (self._fact,), self._others):
            return True
        clauses = clause_places(self._text, self._place)
        touched = [self._parts[at] for at in chosen]
        return len(clauses) > 1 and any(
            not any(start < clause[1] and clause[0] < end for start, end in touched)
            for clause in clauses
        )


def reads_as_one(rest: str, facts: Sequence[Fact], others: Iterable[Words]) -> bool:
    """True if the rest of a sentence has words of its own: of somebody else's fact, of other
    statements, or two of any.
    """
    forms = frozenset().union(*(fact.forms for fact in facts))
    terms = terms_in(rest) - forms
    if any(not fact.strangers.isdisjoint(terms) for fact in facts):
        return True
    if any(not theirs.isdisjoint(terms) for words in others for _, theirs in words):
        return True
    words = [
        word
        for word, its in words_of(rest, facts[0].names)
        if forms.isdisjoint(its)
        and word.casefold() not in _NOT
        and (len(word) >= _LETTERS or any(map(str.isdigit, word)))
    ]
    return len(words) >= _MOST_LEFT


def _as_owners(text: str) -> str:
    return _OF_OWNER.sub(lambda found: "you".ljust(len(found[0])), text)


def _without_joins_inside(
    parts: Sequence[Place], values: Sequence[Place], offset: int
) -> list[Place]:
    """Return the parts of a sentence as one where a number in words goes over the border between
    them, or over the beginning of the first.
    """
    joined: list[Place] = []
    if any(first < parts[0][0] - offset < last for first, last in values):
        parts = [(offset, parts[0][1]), *parts[1:]]
    for start, end in parts:
        at = start - offset
        if joined and any(first < at < last for first, last in values):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _touches(text: str, part: Place, place: Place) -> bool:
    return part[0] < place[1] and place[0] < part[0] + len(text[slice(*part)].rstrip())


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each row of consecutive numbers."""
    for at, place in enumerate(places):
        if at == 0 or places[at - 1] != place - 1:
            first = place
        if at + 1 == len(places) or places[at + 1] != place + 1:
            yield first, place


def _why(fact: Fact, sentence: str, beside: frozenset[int]) -> str:
    """Return why a sentence tells a fact by all words of a statement; empty if it does not."""
    if not fact.may_be_in(sentence):
        return ""
    terms = terms_in(sentence)
    if fact.forms.isdisjoint(terms):
        return ""
    told = [words for words in fact.wordings if holds(words, terms | beside)]
    if not told or fact.value.is_in_other_units(sentence):
        return ""
    whole = [words for words in told if len(words) >= LEAST]
    if not whole:
        return ONE_WORD
    if not fact.whom and is_about_somebody_else(sentence, whole[0], fact.names):
        return SOMEBODY_ELSE
    return SENTENCE


def _united(found: Iterable[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """Return places in their order, with those that overlap as one; a reason to take a part wins
    over one to list it.
    """
    joined: list[tuple[Place, str]] = []
    for taken in (True, False):
        for (start, end), why in sorted(one for one in found if (one[1] in TAKEN) is taken):
            if not taken and any(start < last and first < end for (first, last), _ in joined):
                continue
            last = joined[-1] if joined else None
            if last is not None and start < last[0][1] and last[0][0] < end:
                joined[-1] = ((min(start, last[0][0]), max(end, last[0][1])), last[1])
            else:
                joined.append(((start, end), why))
    return sorted(joined)
