"""The classes of extraction rules: a language, its topics and rules, and the statements that the
rules find.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final

from memoranda.model.memories import Cardinality


@dataclass(frozen=True, slots=True)
class Topic:
    """How statements of one topic are stored: the kind of memory, and its key if only one can be
    true at a time.
    """

    kind: str
    key: str | None = None


#: All topics, for every language. Without a key, a newer statement replaces no other.
TOPICS: Final[Mapping[str, Topic]] = MappingProxyType(
    {
        "name": Topic("fact", "name"),
        "nickname": Topic("preference", "nickname"),
        "age": Topic("fact", "age"),
        "birthday": Topic("fact", "birthday"),
        "home": Topic("fact", "home"),
        "moved": Topic("fact", "home"),
        "origin": Topic("fact", "origin"),
        "work": Topic("fact"),
        "language": Topic("fact"),
        "family": Topic("fact"),
        "pet": Topic("fact"),
        "possession": Topic("fact"),
        "allergies": Topic("fact"),
        "health": Topic("fact"),
        "diet": Topic("preference"),
        "likes": Topic("preference"),
        "dislikes": Topic("preference"),
        "instruction": Topic("instruction"),
        "remember": Topic("note"),
    }
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a user about themselves, or something they asked to remember."""

    #: The topic: one of `TOPICS`.
    about: str
    #: The kind of memory it becomes.
    kind: str
    #: The value as it was said: "walnuts".
    value: str
    #: A sentence that can be read alone: "Is allergic to walnuts".
    content: str
    #: With a key, only one statement can be true at a time.
    key: str | None
    cardinality: Cardinality
    #: Its place in the text.
    span: tuple[int, int]
    #: Since when, until when, and when it applies, in the user's words; `language.times` turns
    #: them into dates.
    valid_from: str | None = None
    valid_to: str | None = None
    applies_when: str = ""


#: All small letters of the alphabets that have capitals.
_SMALL: Final = "".join(chr(code) for code in range(0x530) if chr(code).islower())
CAPITALISED: Final = rf"(?!I\b)(?-i:[^\W\d_{_SMALL}])[\w'-]*"
#: Emoji end a phrase; a character class without its brackets.
EMOJI: Final = "\U0001f300-\U0001faff☀-➿"
COVERED: Final = "\ue000{1,60}"
#: Matches nothing.
NEVER: Final = re.compile(r"(?!)")


def pattern(source: str) -> re.Pattern[str]:
    """Return a pattern that ignores case."""
    return re.compile(source, re.IGNORECASE)


class Reach(Enum):
    """The place in the text where the value of a statement ends."""

    #: Where the pattern's match ends.
    MATCHED = "matched"
    #: At the end of its phrase.
    PHRASE = "phrase"
    #: At the end of its phrase; items listed after it are further values.
    LIST = "list"
    #: At the end of the sentence.
    CLAUSE = "clause"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state something: the pattern matches how a clause begins, and a named group holds
    the value.
    """

    about: str
    pattern: str
    #: The sentence to store, with `{value}`, or `{phrase}` for the group of that name.
    content: str
    #: The name of the subject before the pattern; "" if the pattern contains its subject.
    subject: str = ""
    reach: Reach = Reach.MATCHED
    #: The key of the statement if it differs from its topic's; it may contain groups of the
    #: pattern.
    key: str | None = None
    #: True if the pattern applies to questions and requests too.
    asked: bool = False
    #: True if the statement may stand anywhere in a sentence: "what can I give my sister Ana?"
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """One way to say that something is no longer true, or never was."""

    #: The topics of the statements that it ends.
    topics: frozenset[str]
    #: What is said, anywhere in a sentence.
    pattern: re.Pattern[str]
    #: Only statements with such a value.
    values: re.Pattern[str] | None = None
    #: True if a statement ends only where the sentence names its value; False if all end where it
    #: names none.
    named: bool = True
    #: True if the pattern says who is meant, so that another subject in the clause does not matter.
    of_others: bool = False
    #: True if a question or a request may say it: "Could you use metres again?"
    asked: bool = False


@dataclass(frozen=True, slots=True)
class TakingBack:
    """The ways of one language to take something back."""

    endings: tuple[Ending, ...]
    #: The beginning of a clause about somebody else.
    others: re.Pattern[str]
    #: "not X but Y": the named groups `old` and `new`.
    instead: tuple[re.Pattern[str], ...] = ()
    #: Words that make nobody's value: articles, pronouns and the like.
    small: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Frames:
    """The ways of one language to say that later messages are not the user's own words, or are
    again.
    """

    #: A game in which the user plays somebody; it goes on in later messages.
    play: re.Pattern[str]
    #: The game is over; the rest of the message is the user's own.
    over: re.Pattern[str]
    #: The next message holds somebody else's words.
    announced: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The rules and patterns of one language."""

    code: str
    #: A text without a match states nothing, so most texts cost one search.
    hint: re.Pattern[str]
    rules: tuple[Rule, ...]
    #: A sentence that explains the one before: "It's my birthday."
    points_back: re.Pattern[str]
    #: Patterns by name, for `<NAME>` in rules; then those for texts in small letters only.
    words: Mapping[str, str]
    small_words: Mapping[str, str]
    #: The pattern before a rule's pattern, by the name of the subject.
    subjects: Mapping[str, str]
    #: Subjects that may be omitted after "and" if the clause before had them and stated something.
    shared: frozenset[str]
    #: The subject "I am".
    oneself: str
    #: A subject that may be omitted after "and", whatever the clause before stated.
    carried: str
    #: Words between the two clauses that show that somebody else is meant.
    others: re.Pattern[str]
    #: Places where a clause can begin, and words at its beginning that mean nothing.
    boundary: re.Pattern[str]
    leads: re.Pattern[str]
    #: The rest of the sentence after a match is not stated as true.
    unreal: re.Pattern[str]
    #: The rest of the text after a match is not stated as true; with `made_up`, the whole text is
    #: not.
    frame: re.Pattern[str]
    made_up: re.Pattern[str]
    #: The sentence is ironic; the whole text is.
    ironic: re.Pattern[str]
    ironic_text: re.Pattern[str]
    #: Before a colon: the text after it is somebody else's.
    speech: re.Pattern[str]
    #: In a question: after a statement, the question follows; before a statement, it is the reason
    #: for asking.
    goes_on: re.Pattern[str]
    explains: re.Pattern[str]
    #: At the end of a question after a comma: it asks whether the statement is true.
    tag: re.Pattern[str]
    #: Statements of these topics are dropped if the sentence has such words.
    unless: Mapping[str, re.Pattern[str]]
    #: Values that are dropped, by topic; "" applies to all.
    refused: Mapping[str, re.Pattern[str]]
    #: The end of a phrase; words between list items; what cannot be a list item.
    phrase_end: re.Pattern[str]
    listing: re.Pattern[str]
    no_item: re.Pattern[str]
    #: Pairs that are one thing: "fish and chips".
    pairs: re.Pattern[str]
    #: What is cut from a value's beginning and end, by topic; "" applies to all.
    before: Mapping[str, re.Pattern[str]]
    after: Mapping[str, re.Pattern[str]]
    #: First-person words; a note that contains one is stored as a request.
    own_words: re.Pattern[str]
    asked_to_keep: str
    #: "since …", "until …", "at work": the words in the named groups `since`, `until` and
    #: `applies`.
    times: re.Pattern[str]
    abbreviations: frozenset[str] = field(default_factory=frozenset)
    taking_back: TakingBack | None = None
    frames: Frames | None = None
    #: Further items of a list must match, by topic: "asthma and a dog" has one illness.
    listed: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    #: A verb after whose list a tail tells of all items: "prefer lengths and weights in metric
    #: units" is one statement.
    shared_tail: re.Pattern[str] = NEVER
    #: After a value, words that deny it: "ich mag Sushi nicht".
    denied: re.Pattern[str] = NEVER
    #: After a value, another one that replaces it: "in Ghent, no wait, in Antwerp"; the named group
    #: `value`.
    slip: re.Pattern[str] = NEVER


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A compiled rule: with its subject, and without it for use after "and"."""

    rule: Rule
    full: re.Pattern[str]
    short: re.Pattern[str]


def compile_rules(language: Language, *, small: bool) -> tuple[CompiledRule, ...]:
    """Compile the rules of a language."""
    words = {**language.words, **language.small_words} if small else language.words

    def pattern(source: str) -> re.Pattern[str]:
        for _ in range(4):
            source = re.sub(r"<([A-Z_]+)>", lambda name: words[name[1]], source)
        return re.compile(source, re.IGNORECASE)

    return tuple(
        CompiledRule(
            rule,
            pattern(language.subjects[rule.subject] + rule.pattern),
            pattern(rule.pattern)
            if rule.subject in language.shared or rule.subject == language.carried
            else NEVER,
        )
        for rule in language.rules
    )
