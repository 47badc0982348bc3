"""What one language's file gives: its rules, and the words that say that a sentence states nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

#: One letter that is no small letter, of the alphabets that know both.
_SMALL: Final = "".join(chr(code) for code in range(0x530) if chr(code).islower())
CAPITALISED: Final = rf"(?!I\b)(?-i:[^\W\d_{_SMALL}])[\w'-]*"
COVERED: Final = "\ue000{1,60}"
#: Matches nothing.
NEVER: Final = re.compile(r"(?!)")


class Reach(Enum):
    """How far a value goes."""

    #: As the pattern matched it.
    MATCHED = "matched"
    #: To where its phrase ends.
    PHRASE = "phrase"
    #: The same, and what is listed after it.
    LIST = "list"
    #: To the end of the sentence.
    CLAUSE = "clause"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say one thing: what stands at the beginning of a clause, with the value in a named group."""

    about: str
    pattern: str
    #: The sentence that is kept; holds `{value}`, or `{phrase}` for all of the named group of that name.
    content: str
    #: The kind of subject before the pattern, by its name in the language; "" where the pattern has its own.
    subject: str = ""
    reach: Reach = Reach.MATCHED
    #: The key of the statement, where it is not its topic's; it may hold groups of the pattern.
    key: str | None = None
    #: Whether the pattern reads a question or a request too.
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """Everything that reading needs to know of one language."""

    code: str
    #: A text without any of this holds no statement; so most texts cost one search.
    hint: re.Pattern[str]
    rules: tuple[Rule, ...]
    #: A sentence that says what the one before named: "It's my birthday."
    points_back: re.Pattern[str]
    #: Patterns by name, for `<NAME>` in rules; those of texts that are written in small letters only.
    words: Mapping[str, str]
    small_words: Mapping[str, str]
    #: What comes before a rule's pattern, by the name of the subject.
    subjects: Mapping[str, str]
    #: Subjects whose words may be left out after "and", where the clause before had it and stated something.
    shared: frozenset[str]
    #: The one of "I am".
    oneself: str
    #: A subject whose words may be left out after "and", whatever the clause before stated.
    carried: str
    #: Between the two, words that say that someone else is meant.
    others: re.Pattern[str]
    #: Where a clause can begin, and words that say nothing at its beginning.
    boundary: re.Pattern[str]
    leads: re.Pattern[str]
    #: What is after it, in its sentence, is not said as true.
    unreal: re.Pattern[str]
    #: What is after it, in the whole text, is not said as true; or nothing in the text is.
    frame: re.Pattern[str]
    made_up: re.Pattern[str]
    #: The sentence is meant otherwise; the text is.
    ironic: re.Pattern[str]
    ironic_text: re.Pattern[str]
    #: Before a colon: what follows is someone's text.
    speech: re.Pattern[str]
    #: In a question, after a statement: the question comes now; right before one: it is the reason for asking.
    goes_on: re.Pattern[str]
    explains: re.Pattern[str]
    #: After a comma at the end of a question: it asks whether the statement is true.
    tag: re.Pattern[str]
    #: Statements of these topics are not taken where the sentence has such words.
    unless: Mapping[str, re.Pattern[str]]
    #: Values that are not taken, by topic; "" is for each.
    refused: Mapping[str, re.Pattern[str]]
    #: Where a phrase ends; words between things listed; what no thing listed can be.
    phrase_end: re.Pattern[str]
    listing: re.Pattern[str]
    no_item: re.Pattern[str]
    #: Pairs that are one thing: "fish and chips".
    pairs: re.Pattern[str]
    #: What falls off a value's beginning and end, by topic; "" is for each.
    before: Mapping[str, re.Pattern[str]]
    after: Mapping[str, re.Pattern[str]]
    #: Words of the person who speaks: a note with these is kept as what was asked.
    own_words: re.Pattern[str]
    asked_to_keep: str
    #: "since …", "until …", "at work": the words in the named groups `since`, `until` and `applies`.
    times: re.Pattern[str]
    abbreviations: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rule ready to match: with its subject, and without it after "and"."""

    rule: Rule
    full: re.Pattern[str]
    short: re.Pattern[str]


def compiled(language: Language, *, small: bool) -> tuple[Compiled, ...]:
    """The rules of a language, as patterns."""
    words = {**language.words, **language.small_words} if small else language.words

    def pattern(source: str) -> re.Pattern[str]:
        for _ in range(4):
            source = re.sub(r"<([A-Z_]+)>", lambda name: words[name[1]], source)
        return re.compile(source, re.IGNORECASE)

    return tuple(
        Compiled(
            rule,
            pattern(language.subjects[rule.subject] + rule.pattern),
            pattern(rule.pattern)
            if rule.subject in language.shared or rule.subject == language.carried
            else NEVER,
        )
        for rule in language.rules
    )
