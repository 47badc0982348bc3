"""A fact to look for: the words of its statements, the quotes of their sources, its value, and what
other statements say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final
from uuid import UUID

from memoranda.book.forgetting.fact_values import SMALL, Value, words_in
from memoranda.book.forgetting.other_people import (
    OWNER,
    PEOPLE,
    SAME_PEOPLE,
    Words,
    is_about_somebody_else,
)
from memoranda.first_use import expression
from memoranda.model.memories import Memory
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text, folded, normalised
from memoranda.text.similarity import terms_in, words_with_forms
from memoranda.text.terms import alternatives

#: A sentence tells a fact only if it has at least so many of its words.
LEAST: Final = 2
_BRACKETS: Final = expression(r"\s*\([^()]*\)")

#: A word for a relative, a friend or an animal; “Frau Berg” is a title, and the family is the
#: owner's.
PERSON: Final = expression(
    rf"\b(?!son\b|famil)(?:{PEOPLE})\b(?!(?<=[Ff]rau)\s+[A-Z])", re.IGNORECASE
)
#: Who a statement is about, with the name.
_WHOM: Final = expression(
    rf"((?!son\b|famil)(?:{PEOPLE})\b)(?:\s+(?:is |wurde )?(?:called|named|heißt|name is|se llama|s['’]appelle))?(?:\s+((?-i:[A-ZÀ-Ý])[^\W\d_]+))?",
    re.IGNORECASE,
)
#: Before somebody who is not the one that a clause is about.
_WITH: Final = expression(
    r"\b(?:with|for|to|from|by|mit|bei|von|für|con|para|por|avec|chez|pour)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Fact:
    """Statements to look for: the words of each, and the quotes of their sources."""

    wordings: tuple[Words, ...]
    quotes: Mapping[UUID, tuple[str, ...]]
    sources: frozenset[UUID] = frozenset()
    #: The names of the owner, in comparable form.
    names: frozenset[str] = frozenset()
    #: The statements, with their keys.
    said: str = ""
    #: Other statements.
    others: tuple[Memory, ...] = ()
    #: Its names, numbers and rare words.
    value: Value = field(default_factory=lambda: Value((), ()))
    #: The forms of the words by which other statements tell of somebody else with the same value.
    strangers: frozenset[int] = frozenset()
    #: The other statements that may hold a word of it.
    near: tuple[Memory, ...] = ()
    #: The forms of the words for somebody else whom all its statements are about; empty for a fact
    #: of the owner.
    whom: frozenset[int] = frozenset()

    def is_of_owner(self, text: str) -> bool:
        """True if it is about somebody else, whom a text does not name."""
        return bool(self.whom) and self.whom.isdisjoint(terms_in(text))

    @cached_property
    def forms(self) -> frozenset[int]:
        """All forms of all its words."""
        return frozenset(form for words in self.wordings for _, forms in words for form in forms)

    @cached_property
    def people(self) -> frozenset[str]:
        """The words for a relative or friend in the statements and their keys."""
        return frozenset(
            found[0].casefold() for found in PERSON.finditer(self.said.replace("_", " "))
        )

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The letters with which its words begin in all their forms."""
        return tuple(dict.fromkeys(beginning(word) for words in self.wordings for word, _ in words))

    @cached_property
    def _citing(self) -> dict[UUID, list[Memory]]:
        found: dict[UUID, list[Memory]] = {}
        for memory in self.others:
            for source in memory.sources:
                found.setdefault(source, []).append(memory)
        return found

    def others_of(self, record: UUID) -> tuple[Words, ...]:
        """Return what other statements say that come from a record."""
        said = (words_of(memory.content, self.names) for memory in self._citing.get(record, ()))
        return tuple(words for words in said if len(words) >= LEAST)

    def is_of_a_stranger(self, text: str) -> bool:
        """True if a text has the value, of somebody else."""
        return self.value.held_by(text) >= 1 and not self.strangers.isdisjoint(terms_in(text))

    def touches(self, text: str) -> bool:
        """True if a text may hold a word or a number of it; a quick look before a close one."""
        return self.may_be_in(text) or self.value.has_spelling(text)

    def may_be_in(self, text: str) -> bool:
        """True if a text may hold one of its words; a quick look before a close one."""
        read = plain(text)
        return any(start in read for start in self.starts)


def plain(text: str) -> str:
    """Return a text in lower case without accents."""
    return text.lower() if text.isascii() else folded(normalised(text).lower())


def beginning(word: str) -> str:
    """Return the letters that a word has in all its forms."""
    bare = folded(word.lower())
    found = common_beginning([bare, *map(folded, alternatives(bare))]).rstrip("eiy")
    return found if len(found) > 1 else bare[:2]


def common_beginning(words: Sequence[str]) -> str:
    """Return the letters with which all of these words begin."""
    least, most = min(words), max(words)
    return least[
        : next(
            (at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other),
            min(len(least), len(most)),
        )
    ]


def words_of(statement: str, names: Collection[str] = ()) -> Words:
    """Return the words of a statement without filler words, words for the owner and the owner's
    names.
    """
    left_out = {*names, *OWNER_WORDS, *OWNER, *SMALL}
    return tuple(
        (word, forms)
        for word, forms in words_in(statement)
        if comparable_text(word).removesuffix("'s") not in left_out
    )


def fact_of(
    memories: Sequence[Memory], names: Collection[str], others: Sequence[Memory] = ()
) -> Fact:
    """Return what to look for, so that every telling of these memories is found."""
    value = Value(memories, names)
    wordings: dict[Words, None] = {}
    quotes: dict[UUID, tuple[str, ...]] = {}
    for memory in memories:
        wordings.update(dict.fromkeys(_wordings(memory, names)))
        for one in memory.quotes:
            quotes[one.message] = (
                *quotes.get(one.message, ()),
                *([one.quote] if one.quote else []),
            )
    fact = Fact(
        tuple(wordings),
        quotes,
        frozenset(source for memory in memories for source in memory.sources),
        frozenset(names),
        " ".join(memory.passage_text() for memory in memories),
        tuple(others),
        value,
        whom=_whom(memories, frozenset(names)),
    )
    near = [
        one for one in others if fact.touches(f"{one.content} {one.applies_when} {one.data or ''}")
    ]
    return replace(fact, near=tuple(near), strangers=_strangers(fact, near))


def _whom(memories: Sequence[Memory], names: Collection[str]) -> frozenset[int]:
    """Return the forms of the words for somebody else, if each of the statements is about such a
    person.
    """
    found: set[int] = set()
    for memory in memories:
        subject = memory.subject
        if subject is None and (kin := _WHOM.match(memory.content)):
            subject = " ".join(filter(None, kin.groups()))
        if subject is None or comparable_text(subject) in {*names, *OWNER_WORDS}:
            return frozenset()
        found.update(form for _, forms in words_with_forms(subject) for form in forms)
    return frozenset(found)


def _strangers(fact: Fact, others: Iterable[Memory]) -> frozenset[int]:
    """Return the forms of the words of statements about somebody else with the same value."""
    found: set[int] = set()
    for memory in others:
        said, value = memory.content, fact.value
        # What has a word of the value alone, and not what it says of the owner, means another thing.
        if value.names_somebody_else(said) or (
            (held := value.held_by(said)) >= 1
            and (
                (held == 1 and not value.is_said_by(said))
                or memory.subject is not None
                or is_of_somebody_else(said, fact)
            )
        ):
            words = words_of(said, fact.names)
            found.update(
                form for word, forms in words if not fact.value.held_by(word) for form in forms
            )
    return frozenset(found - fact.value.forms - fact.value.common - fact.forms)


def is_of_somebody_else(text: str, fact: Fact) -> bool:
    """True if a text is about somebody whom the fact does not name: by its subject, or by a word
    for a relative or friend.
    """
    for same in SAME_PEOPLE:
        if same.search(fact.said.replace("_", " ")):
            text = same.sub("", text)
    said = (found for found in PERSON.finditer(text) if not _WITH.search(text[: found.start()]))
    if {found[0].casefold() for found in said} - fact.people:
        return True
    return any(is_about_somebody_else(text, words, fact.names) for words in fact.wordings[:1])


def _wordings(memory: Memory, names: Collection[str]) -> Iterator[Words]:
    """Yield the ways in which a memory is written: its content, without what is in brackets, and as
    a field with a value.
    """
    content = words_of(memory.content, names)
    yield from filter(None, (content, words_of(_BRACKETS.sub("", memory.content), names)))
    if memory.key is not None:
        field = words_of(re.sub(r"[_./-]+", " ", memory.key), names)
        value = memory.data.get("value") if isinstance(memory.data, dict) else None
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            yield _each_once((*field, *words_of(str(value), names)))
        if len(content) >= LEAST:
            yield _each_once((*field, *content[1:]))


def _each_once(words: Words) -> Words:
    found: list[tuple[str, frozenset[int]]] = []
    for word, forms in words:
        if all(forms.isdisjoint(others) for _, others in found):
            found.append((word, forms))
    return tuple(found)


def holds(words: Words, terms: frozenset[int]) -> bool:
    """True if a text, given by its terms, has each of these words in one of its forms."""
    return bool(words) and all(not forms.isdisjoint(terms) for _, forms in words)
