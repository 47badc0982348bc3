"""Finds the parts of a record that tell a fact to the letter: quotes of its sources, and sentences with all its words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final
from uuid import UUID

from memoranda.book.forgetting.other_people import is_about_somebody_else
from memoranda.model.data.items import Item
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.records import Record
from memoranda.model.redactions import ITS_NAME, ONE_WORD, QUOTE, SENTENCE, SOMEBODY_ELSE, Telling
from memoranda.model.values import Span
from memoranda.storage.decide.redaction import texts_of
from memoranda.storage.decide.strangers import OWNER_WORDS, other_speaker
from memoranda.text.scripts import comparable_text, folded, normalised
from memoranda.text.sentence_spans import (
    Place,
    clause_places,
    cut_clauses,
    sentence_places,
    with_white_space,
    wrapped_places,
)
from memoranda.text.similarity import terms_in, words_with_forms
from memoranda.text.terms import alternatives

#: What formed statements call the owner.
_OWNER: Final = frozenset(
    "user users user's nutzer nutzers nutzerin benutzer benutzers benutzerin usuario usuaria utilisateur utilisatrice".split()
)
#: Articles and the like, which say nothing even where the language of a short statement is not known.
_SMALL: Final = frozenset(
    "el la los las un una unos unas de del al en con por para y le les du des une à au aux l' d' der das den dem ein eine einen einem einer "
    "im am zum zur von vom mit und".split()
)
#: A sentence tells a fact only if it has at least so many of its words.
_LEAST: Final = 2
#: Fields beside a value that say what the value is about, in calls and results of tools.
_NAMING: Final = frozenset({"key", "field", "path", "topic", "about", "subject"})
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)

#: The words of a statement: each with the hashes of its possible forms.
Words = tuple[tuple[str, frozenset[int]], ...]


@dataclass(frozen=True)
class Fact:
    """Statements to look for: the words of each, and the quotes of their sources."""

    wordings: tuple[Words, ...]
    quotes: Mapping[UUID, tuple[str, ...]]
    sources: frozenset[UUID] = frozenset()
    #: The names of the owner, in comparable form.
    names: frozenset[str] = frozenset()
    #: True if a statement is about somebody else than the owner.
    of_somebody: bool = False
    #: What other statements of the owner say.
    others: tuple[Words, ...] = ()

    @cached_property
    def forms(self) -> frozenset[int]:
        """All forms of all its words."""
        return frozenset(form for words in self.wordings for _, forms in words for form in forms)

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The letters with which its words begin in all their forms."""
        return tuple(dict.fromkeys(beginning(word) for words in self.wordings for word, _ in words))

    @cached_property
    def _probe(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.starts)) or r"(?!)")

    def is_of_others(self, text: str) -> bool:
        """True if a text has all words of another statement of the owner."""
        terms = terms_in(text) if self.others else frozenset()
        return any(holds(words, terms) for words in self.others)

    def may_be_in(self, text: str) -> bool:
        """True if a text may hold one of its words; a quick look before a close one."""
        return self._probe.search(plain(text)) is not None


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
    """Return the words of a statement without filler words, words for the owner and the owner's names."""
    left_out = {*names, *OWNER_WORDS, *_OWNER, *_SMALL}
    return tuple(
        (word, forms)
        for word, forms in words_with_forms(statement)
        if comparable_text(word).removesuffix("'s") not in left_out
    )


def fact_of(memories: Sequence[Memory], names: Collection[str], others: Iterable[Memory] = ()) -> Fact:
    """Return what to look for, so that every telling of these memories is found."""
    wordings: dict[Words, None] = {}
    quotes: dict[UUID, tuple[str, ...]] = {}
    for memory in memories:
        wordings.update(dict.fromkeys(_wordings(memory, names)))
        for one in memory.quotes:
            quotes[one.message] = (*quotes.get(one.message, ()), *([one.quote] if one.quote else []))
    subjects = [comparable_text(memory.subject) for memory in memories if memory.subject]
    return Fact(
        tuple(wordings),
        quotes,
        frozenset(source for memory in memories for source in memory.sources),
        frozenset(names),
        any(subject not in names and subject not in OWNER_WORDS for subject in subjects),
        tuple(words for memory in others if len(words := words_of(memory.content, names)) >= _LEAST),
    )


def _wordings(memory: Memory, names: Collection[str]) -> Iterator[Words]:
    """Yield the ways in which a memory is written: its content, without what is in brackets, and as a field with a value."""
    content = words_of(memory.content, names)
    yield from filter(None, (content, words_of(_BRACKETS.sub("", memory.content), names)))
    if memory.key is not None:
        field = words_of(re.sub(r"[_./-]+", " ", memory.key), names)
        value = memory.data.get("value") if isinstance(memory.data, dict) else None
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            yield _each_once((*field, *words_of(str(value), names)))
        if len(content) >= _LEAST:
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


def tellings(fact: Fact, record: Record) -> list[Telling]:
    """Return the parts of a record that tell a fact to the letter, and those that may, in their order."""
    called = f" {_as_words(record.name)}" if isinstance(record, Item) else ""
    found = [
        Telling(
            record.id,
            record.version,
            Span(start=start, end=end, path=pointer),
            text[start:end],
            why,
            record.type,
        )
        for pointer, text, about in _named_texts(texts_of(record))
        for (start, end), why in _in_text(fact, text, fact.quotes.get(record.id, ()), about + called)
    ]
    somebody = _somebody(record)
    if somebody is not None and comparable_text(somebody) not in fact.names and not fact.of_somebody:
        # Of themselves: the owner's words come under the owner's name.
        found = [replace(one, why=SOMEBODY_ELSE) if one.why == SENTENCE else one for one in found]
    return found


def named_so(fact: Fact, item: Item) -> Telling | None:
    """Return an item's namespace and name if they tell a fact; they go only with the item, if that is asked for."""
    named = " / ".join((*item.namespace, item.name))
    if not tells(fact, _as_words(named)):
        return None
    return Telling(item.id, item.version, Span(start=0, end=len(named)), named, ITS_NAME, item.type)


def _somebody(record: Record) -> str | None:
    """Return the name of somebody who speaks in a message, or whom a memory is about; None if it may be the owner."""
    if isinstance(record, Message):
        return other_speaker(record) if record.role == "user" else None
    return record.subject if isinstance(record, Memory) else None


def tells(fact: Fact, text: str) -> bool:
    """True if a sentence of a text tells a fact to the letter."""
    return fact.may_be_in(text) and any(why == SENTENCE for _, why in _sentences(fact, text, ""))


def _named_texts(texts: Mapping[str | None, str]) -> Iterator[tuple[str | None, str, str]]:
    """Yield each text of a record with its JSON pointer, and the words beside it that say what it is about."""
    naming: dict[str, list[str]] = {}
    for pointer, text in texts.items():
        parent, _, field = (pointer or "").rpartition("/")
        if field in _NAMING and len(text) < 100:
            naming.setdefault(parent, []).append(text)
    for pointer, text in texts.items():
        parent, _, field = (pointer or "").rpartition("/")
        about = [] if pointer is None or field in _NAMING else naming.get(parent, [])
        yield pointer, text, _as_words(" ".join((field, *about)))


def _as_words(name: str) -> str:
    return re.sub(r"[_./~-]+", " ", name)


def _in_text(fact: Fact, text: str, quotes: Collection[str] = (), about: str = "") -> list[tuple[Place, str]]:
    if not quotes and not fact.may_be_in(f"{about} {text}" if about else text):
        return []
    if text.lstrip()[:1] in ("{", "[") and _is_json(text):
        return list(_in_json(fact, text, quotes))
    return _united([*_quoted(fact, text, quotes), *_sentences(fact, text, about)])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _in_json(fact: Fact, text: str, quotes: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Yield the places inside the strings of a JSON text, so that it stays JSON without them."""
    values: list[list[tuple[str, str, Place]]] = []
    level: list[list[tuple[str, str, Place]]] = [[]]
    field = ""
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            level.append([])
        elif token[0] in "}]":
            values.append(level.pop())
        elif text[token.end() :].lstrip()[:1] == ":":
            field = json.loads(token[0], strict=False)
        else:
            level[-1].append(
                (field, json.loads(token[0], strict=False), (token.start() + 1, token.end() - 1))
            )
    for beside in [*values, *level]:
        naming = [said for name, said, _ in beside if name in _NAMING and len(said) < 100]
        for name, said, (start, end) in beside:
            about = _as_words(" ".join((name, *(() if name in _NAMING else naming))))
            for (first, last), why in _in_text(fact, said, quotes, about):
                # With escaped characters the places differ, so the whole string goes.
                as_written = said == text[start:end]
                yield ((start + first, start + last) if as_written else (start, end)), why


def _quoted(fact: Fact, text: str, quotes: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Yield the clauses that a source's quote covers; what only another statement says stays."""
    places = [(place, clause_places(text, place)) for place in sentence_places(text)] if quotes else []
    for quote in quotes:
        wanted = re.compile(r"\s+".join(map(re.escape, quote.split())) or r"(?!)", re.IGNORECASE)
        for quoted in wanted.finditer(text):
            told = [(place, _touched(text, clauses, quoted.span())) for place, clauses in places]
            bare = [(place, _without_others(fact, text, touched)) for place, touched in told]
            for (sentence, clauses), (_, kept) in zip(
                places, bare if any(kept for _, kept in bare) else told, strict=True
            ):
                for first, last in _runs([clauses.index(clause) for clause in kept]):
                    yield _cut(text, sentence, clauses, first, last), QUOTE


def _touched(text: str, clauses: Iterable[Place], quoted: Place) -> list[Place]:
    return [
        (start, end)
        for start, end in clauses
        if start < quoted[1] and quoted[0] < start + len(text[start:end].rstrip())
    ]


def _without_others(fact: Fact, text: str, clauses: Iterable[Place]) -> list[Place]:
    """Return clauses without those that hold no word of the fact, and all words of another statement."""
    terms = {clause: terms_in(text[slice(*clause)]) for clause in clauses}
    return [
        clause
        for clause, some in terms.items()
        if not fact.forms.isdisjoint(some) or not fact.is_of_others(text[slice(*clause)])
    ]


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each row of consecutive numbers."""
    for at, place in enumerate(places):
        if at == 0 or places[at - 1] != place - 1:
            first = place
        if at + 1 == len(places) or places[at + 1] != place + 1:
            yield first, place


def _sentences(fact: Fact, text: str, about: str) -> Iterator[tuple[Place, str]]:
    places = list(sentence_places(text))
    told: set[Place] = set()
    beside = terms_in(about) if about and len(places) <= 1 else frozenset()
    for sentence in places:
        why = _why(fact, text[slice(*sentence)], beside)
        if why:
            told.add(sentence)
            yield _narrowed(fact, text, sentence), why
    for wrapped in wrapped_places(text, places):
        if not any(wrapped[0] <= start < wrapped[1] for start, _ in told):
            why = _why(fact, text[slice(*wrapped)], beside)
            if why in (SENTENCE, SOMEBODY_ELSE):
                yield with_white_space(text, wrapped), why


def _why(fact: Fact, sentence: str, beside: frozenset[int]) -> str:
    """Return why a sentence tells a fact; empty if it does not."""
    if not fact.may_be_in(sentence):
        return ""
    terms = terms_in(sentence)
    if fact.forms.isdisjoint(terms):
        return ""
    told = [words for words in fact.wordings if holds(words, terms | beside)]
    if not told:
        return ""
    whole = [words for words in told if len(words) >= _LEAST]
    if not whole:
        return ONE_WORD
    if not fact.of_somebody and is_about_somebody_else(sentence, whole[0], fact.names):
        return SOMEBODY_ELSE
    return SENTENCE


def _narrowed(fact: Fact, text: str, sentence: Place) -> Place:
    """Return the fewest clauses of a sentence that tell the fact, if the others hold no word of it; else the whole sentence."""
    clauses = clause_places(text, sentence)
    terms = [terms_in(text[slice(*clause)]) for clause in clauses]
    telling = [place for place, some in enumerate(terms) if not fact.forms.isdisjoint(some)]
    if not telling:
        return _cut(text, sentence, clauses, 0, len(clauses) - 1)
    return _cut(text, sentence, clauses, telling[0], telling[-1])


def _cut(text: str, sentence: Place, clauses: Sequence[Place], first: int, last: int) -> Place:
    if first == 0 and last + 1 == len(clauses):
        return with_white_space(text, sentence)
    return cut_clauses(text, sentence, clauses[first], clauses[last])


def _united(found: Iterable[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """Return places in their order, with those that overlap as one; a reason to take a part wins over one to list it."""
    joined: list[tuple[Place, str]] = []
    for taken in (True, False):
        for (start, end), why in sorted(one for one in found if (one[1] in (QUOTE, SENTENCE)) is taken):
            if (
                any(start < last and first < end for (first, last), other in joined if other != why)
                and not taken
            ):
                continue
            last = joined[-1] if joined else None
            if last is not None and start < last[0][1] and last[0][0] < end:
                joined[-1] = ((min(start, last[0][0]), max(end, last[0][1])), last[1])
            else:
                joined.append(((start, end), why))
    return sorted(joined)
