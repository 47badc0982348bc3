"""The patterns of a language, from its file in ``data/``, each compiled when it is first used."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby, product
from pathlib import Path
from typing import Any, Final

from memoranda.first_use import expression
from memoranda.formation.rules.statements import TOPICS
from memoranda.language.words import numbers, table

LANGUAGES: Final = ("en", "de", "es", "fr")
_NAME: Final = re.compile(r"<([A-Z_]+)>")
_SLOT: Final = re.compile(r"(?<=\(\?P<)(?:one|list|all)(?=>)")
#: Matches nothing.
NEVER: Final = re.compile(r"(?!)")
#: The letters that are capitals where a pattern says so.
_CAPITAL: Final = "".join(chr(code) for code in range(0x530) if chr(code).islower()).join(
    ("(?-i:[^\\W\\d_", "])")
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state something: it matches where a clause begins, and its group ``value`` is the
    value.
    """

    about: str
    #: The sentence to store, with the groups of the pattern.
    content: str
    #: The name of the subject with which the pattern begins, if it may be left out.
    subject: str
    #: Where the value ends: with its match ("value"), its phrase ("one"), a list of phrases
    #: ("list"), or the sentence ("all").
    reach: str
    #: With its subject, and without it for use after "and".
    full: re.Pattern[str]
    short: re.Pattern[str]
    #: The key of the statement if it differs from its topic's.
    key: str | None
    #: True if it is read in questions and requests too.
    asked: bool
    #: True if it is read anywhere in a sentence, and not where a clause begins.
    anywhere: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """One way to say that something is no longer true, or never was."""

    #: The topics of the statements that it ends, and what their values have.
    topics: frozenset[str]
    values: re.Pattern[str]
    pattern: re.Pattern[str]
    #: True if it ends all of them where the sentence names none.
    all: bool
    #: True if it says who is meant, so that another subject in the clause does not matter.
    others: bool
    #: True if it is read in questions and requests too.
    asked: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A form of question, and its answer as the user's own sentence."""

    asks: re.Pattern[str]
    says: str
    #: The beginning of an answer.
    needs: re.Pattern[str]

    def groups(self, part: str, start: int) -> dict[str, str] | None:
        """Return the named groups of a question of this form; None if it is another question."""
        match = self.asks.match(part, start)
        if match is None:
            return None
        return {name: one for name, one in match.groupdict().items() if one}


@cache
def data(name: str) -> Mapping[str, Any]:
    """Return what a file of ``data/`` holds."""
    return tomllib.loads((Path(__file__).parent / "data" / f"{name}.toml").read_text("utf-8"))


def ways(entries: list[Any]) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """Yield the patterns of a list, each with its examples, and with the heading that it stands
    under.
    """
    heading: Mapping[str, Any] = {}
    for entry in entries:
        if isinstance(entry, Mapping):
            heading = entry
        else:
            yield heading, entry


class Language:
    """All patterns of a language by their names, such as ``unreal`` or ``refused.name``; those that
    it does not have match nothing.
    """

    def __init__(self, code: str) -> None:
        self.code: Final = code
        self._given: Final = data(code)
        self._named: Final[dict[str, re.Pattern[str]]] = {}
        self._lists: Final[dict[str, frozenset[str]]] = {}
        self._words: Final[dict[tuple[str, bool], str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        found = self._named.get(name)
        if found is None:
            table, _, key = name.rpartition(".")
            source = next(
                (
                    given
                    for part in (self._given, data("all"))
                    for names, given in part.get(table or "patterns", {}).items()
                    if key in names.split()
                ),
                None,
            )
            found = self._named[name] = NEVER if source is None else self.pattern(source)
        return found

    def text(self, name: str) -> str:
        """Return a word or a list of words."""
        return str(self._given[name])

    def listed(self, name: str) -> frozenset[str]:
        """Return the words of a list."""
        if name not in self._lists:
            self._lists[name] = frozenset(self.text(name).split())
        return self._lists[name]

    @property
    def own(self) -> Mapping[str, str]:
        """How sentences that are stored begin → how the user's own begin."""
        own: Mapping[str, str] = self._given["own"]
        return own

    def pattern(self, source: str | list[Any], *, small: bool = False) -> re.Pattern[str]:
        """Return a pattern with its words, or one for all alternatives of a list."""
        whole = source if isinstance(source, str) else "|".join(way[0] for _, way in ways(source))
        return expression(lambda: self._expanded(whole, small), re.IGNORECASE)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The ways to state something."""
        return tuple(self._rules(small=False))

    @cached_property
    def small_rules(self) -> tuple[Rule, ...]:
        """The same, for texts in small letters alone."""
        return tuple(self._rules(small=True))

    @cached_property
    def endings(self) -> tuple[Ending, ...]:
        """The ways to take something back."""
        found = groupby(ways(self._given["rules"]["ends"]), key=lambda way: id(way[0]))
        return tuple(self._ending([*alternatives]) for _, alternatives in found)

    @cached_property
    def instead(self) -> tuple[re.Pattern[str], ...]:
        """The ways to say "not X but Y", with the groups ``old`` and ``new``."""
        return tuple(self.pattern(way) for _, (way, *_) in ways(self._given["rules"]["instead"]))

    @cached_property
    def swaps(self) -> tuple[re.Pattern[str], ...]:
        """The ways to correct what was just said, with the groups ``new`` and ``old``."""
        return tuple(self.pattern(way) for _, (way, *_) in ways(self._given["corrects"]["swaps"]))

    @cached_property
    def answers(self) -> tuple[Form, ...]:
        """The forms of questions that ask for a value."""
        return tuple(self._forms("answers"))

    @cached_property
    def confirms(self) -> tuple[Form, ...]:
        """The forms of questions that a yes answers."""
        return tuple(self._forms("confirms"))

    def _forms(self, name: str) -> Iterator[Form]:
        for heading, (source, *_) in ways(self._given["rules"][name]):
            needs = self.pattern(heading.get("needs", ""))
            yield Form(self.pattern(source), heading["says"], needs)

    def _ending(self, alternatives: list[tuple[Mapping[str, Any], list[str]]]) -> Ending:
        heading, groups = alternatives[0][0], data("all")["topics"]
        topics = " ".join(groups.get(name, name) for name in heading["ends"].split())
        return Ending(
            topics=frozenset(topics.split()),
            values=self.pattern(heading.get("values", "")),
            pattern=self.pattern([way for _, way in alternatives]),
            all=heading.get("all", False),
            others=heading.get("others", False),
            asked=heading.get("asked", False),
        )

    def _rules(self, *, small: bool) -> Iterator[Rule]:
        shared = self.listed("shared") | self.listed("carried")
        for heading, (source, *_) in ways(self._given["rules"]["says"]):
            about = next(name for name in heading if name in TOPICS)
            reach = _SLOT.search(source)
            source = _SLOT.sub("value", source)
            named = _NAME.match(source)
            subject = named[1] if named is not None and named[1] in self._given["subjects"] else ""
            short = source.removeprefix(f"<{subject}>") if subject in shared else None
            yield Rule(
                about=about,
                content=heading[about],
                subject=subject,
                reach="value" if reach is None else reach[0],
                full=self.pattern(source, small=small),
                short=NEVER if short is None else self.pattern(short, small=small),
                key=heading.get("key"),
                asked=heading.get("asked", False),
                anywhere=heading.get("anywhere", False),
            )

    def _expanded(self, source: str, small: bool) -> str:
        whole = "".join(source.splitlines())
        return _NAME.sub(lambda found: self._word(found[1], small), whole)

    def _word(self, name: str, small: bool) -> str:
        """Return the pattern of a word, in a group."""
        if (name, small) not in self._words:
            self._words[name, small] = f"(?:{self._expanded(self._source(name, small), small)})"
        return self._words[name, small]

    def _source(self, name: str, small: bool) -> str:
        tables = ("small_words", "words", "subjects") if small else ("words", "subjects")
        for part, given in product(tables, (self._given, data("all"))):
            if name in given.get(part, {}):
                return str(given[part][name])
        if name in self._given.get("lists", {}):
            return _one_of(self._given["lists"][name].split())
        if name == "CAPITAL":
            return _CAPITAL
        if self.code == "all":
            every = (data(code)["words"] for code in LANGUAGES)
            return "|".join(words[name] for words in every if name in words)
        return _one_of(_counted(self.code, name))


@cache
def language_of(code: str) -> Language:
    """Return a language by its code."""
    return Language(code)


def _one_of(words: Iterable[str]) -> str:
    """Return one pattern for a list of words, the longest first."""
    listed = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(word.replace("_", "[ -]") for word in listed)


def _counted(code: str, name: str) -> Iterator[str]:
    """Yield the months, weekdays or numbers of a language."""
    if name in ("FEW", "NUMBERS"):
        wanted = range(2, 13) if name == "FEW" else range(8, 100)
        listed = [[word] for value, word in numbers(code) if value in wanted]
    else:
        listed = table(code, {"NTHS": "ordinals"}.get(name, name.lower()))
    if not listed:
        raise KeyError(f"{code}.toml: no word {name}")
    yield from (word.replace(" ", "_") for entry in listed for word in entry)
