"""The traces (names, words, numbers) in a user's records; a line of experience must reveal none of
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from memoranda.formation.privacy.dates import dates
from memoranda.formation.privacy.distinctive import (
    RARE,
    STOPS,
    UNAVOIDABLE,
    LineFeatures,
    Word,
    joined_words,
    unspaced_runs,
    visible_text,
    word_key,
    word_root,
    word_sequences,
    words_of,
)
from memoranda.formation.privacy.numerals import numbers
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Owner, Record

#: Fields of documents whose values are names.
_NAMING_FIELD: Final = re.compile(
    r"name|call|alias|nick|handle|address|mail|phone|employer|compan|partner|spouse|pet",
    re.IGNORECASE,
)
_INTRODUCED: Final = re.compile(
    r"\b(?:name(?:'s| is)|called|call me|named|goes by|ich hei(?:ß|ss)e|hei(?:ß|ss)t|mein name ist|nenn mich|namens"
    r"|me chamo|chamo-me|chama-se|meu nome é|me llamo|mi nombre es|je m'appelle)\s+((?:[^\W\d_][\w'’.-]*[ ]?){1,3})"
    r"|\b(?:dr|mr|mrs|ms|prof|herrn?|frau|senhora?|sra?|dona|señora?)\.? ([^\W\d_][\w'’-]*)"
    r"|\bmy (?:wife|husband|partner|girlfriend|boyfriend|son|daughter|brother|sister|mother|father|mum|mom|dad|boss"
    r"|friend|colleague|cat|dog|doctor|therapist|neighbou?r)(?:'s name)?(?: is)?(?: called| named)?,? ((?:[^\W\d_][\w'’-]*[ ]?){1,2})",
    re.IGNORECASE,
)
_INTRODUCED_SELF: Final = re.compile(
    r"\b(?:I'?m|I am|this is|ich bin|sou|soy|je suis)\s+([A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)?)"
)
_JAPANESE_NAME: Final = re.compile(
    r"([\u3041-\u30ff\u3400-\u9fff]{1,6}?)(?:さん|さま|様|君|くん|ちゃん|氏|先生)"
    r"|(?:名前は|私は|ぼくは|僕は|わたしは)\s*([\u3041-\u30ff\u3400-\u9fff]{1,8}?)\s*(?:です|と申|といいます|だ|。)"
)
#: Parts of account names that identify nobody.
_ACCOUNT: Final = frozenset(
    map(
        word_key,
        "user users customer client account test admin guest id com org net mail www the".split(),
    )
)
_ONESELF: Final = frozenset({"user", "me", "i", "myself"})
#: A shorter name inside another word is a coincidence.
_INSIDE: Final = 5
#: Short forms of names have at least so many letters; one less with a capital inside a sentence.
_SHORT_FORM: Final = 4
#: Longer values are texts, not names.
_SHORT: Final = 60
#: Fewer digits inside a longer number are a coincidence.
_PART_OF_NUMBER: Final = 4


class Traces:
    """The names, words and numbers in one user's records."""

    def __init__(self, owner: Owner, wanted: Iterable[LineFeatures]) -> None:
        lines = tuple(wanted)
        self._sequences = frozenset(one for line in lines for one in line.sequences)
        #: Names of the user and of people and things of theirs; then their initials.
        self._own: set[str] = set()
        self._initials: set[str] = set()
        self._unspaced_own: set[str] = set()
        self._words: set[str] = set()
        self._word_roots: set[str] = set()
        self._named: set[str] = set()
        self._uncapitalised: set[str] = set()
        self._joined: set[str] = set()
        self._numbers: set[str] = set()
        self._dates: set[tuple[int, int]] = set()
        self._runs: set[str] = set()
        self._said: set[tuple[str, ...]] = set()
        self._wanted_joined = frozenset(word.key for line in lines for word in line.words)
        self._wanted_runs = frozenset(one for line in lines for one in line.runs)
        self._add_name(owner.id)

    def add(self, record: Record) -> int:
        """Add a record's names, words and numbers; return its number of characters."""
        size = 0
        for text in self._texts(record):
            size += len(text)
            self._add_text(visible_text(text))
        return size

    def _texts(self, record: Record) -> Iterator[str]:
        match record:
            case Message():
                self._add_name(record.speaker or "")
                yield record.content
                yield from self._values(record.native)
            case Memory():
                if record.subject is not None and word_key(record.subject) not in _ONESELF:
                    self._add_name(record.subject)
                yield from (
                    record.content,
                    record.applies_when,
                    record.key or "",
                    *record.tags,
                    record.reason,
                )
                yield from self._values(record.data)
                if record.has_value:
                    yield from self._values(record.data["value"], record.key or "")
            case Thread():
                yield from (record.title, record.name or "", *record.tags)
                yield from self._values([record.state, record.result])
            case ProfileDocument():
                yield from self._values(record.body)
            case Episode():
                yield from (record.goal, record.summary, *record.tags)
                yield from self._values([[call.inputs, call.output] for call in record.tool_calls])
            case Overflow():
                yield from self._values(
                    [[whole.call.inputs, whole.call.output] for whole in record.calls]
                )

    def _values(self, value: Any, field: str = "") -> Iterator[str]:
        """Yield the texts in structured data; add the values of naming fields as names."""
        match value:
            case str():
                if len(value) <= _SHORT and _NAMING_FIELD.search(field):
                    self._add_name(value)
                elif len(value) <= _SHORT:
                    self._named.update(
                        word.key for word in words_of(visible_text(value)) if not word.is_ordinary
                    )
                yield value
            case bool() | None:
                pass
            case int() | float():
                yield str(value)
            case Mapping():
                for name, one in value.items():
                    yield from self._values(one, str(name))
            case list() | tuple():
                for one in value:
                    yield from self._values(one, field)

    def _add_name(self, name: str) -> None:
        """Add a name, whole and in parts."""
        text = visible_text(name)
        keys = [word.key for word in words_of(text) if word.key not in _ACCOUNT]
        self._own.update(one for one in keys if len(one) > 1 and not one.isdigit())
        self._own.update("".join(keys[at : at + 2]) for at in range(len(keys) - 1))
        self._numbers |= numbers(text)
        if len(keys) > 1:
            self._initials |= {"".join(one[0] for one in keys), keys[0][0] + keys[-1][0]}
        if not text.isascii():
            self._unspaced_own.update(
                part for part in text.casefold().split() if len(part) > 1 and _caseless(part)
            )

    def _add_text(self, text: str) -> None:
        found = list(words_of(text))
        keys = [word.key for word in found]
        self._words.update(keys)
        self._word_roots.update(map(word_root, keys))
        self._named.update(word.key for word in found if word.named)
        self._uncapitalised.update(word.key for word in found if not word.capital)
        self._joined |= joined_words(keys) & self._wanted_joined
        self._numbers |= numbers(text)
        self._dates |= dates(text)
        if self._sequences:
            self._said |= word_sequences(keys) & self._sequences
        if not text.isascii():
            self._runs |= unspaced_runs(text) & self._wanted_runs
            for honoured, self_named in _JAPANESE_NAME.findall(text):
                self._add_name(honoured or self_named)
        for introduced in _INTRODUCED.findall(text):
            self._add_introduced("".join(introduced))
        for introduced in _INTRODUCED_SELF.findall(text):
            self._add_introduced(introduced)

    def _add_introduced(self, words_said: str) -> None:
        """Add the name that follows "my name is" or similar words."""
        kept: list[str] = []
        for word in words_of(words_said):
            if (word.is_ordinary and not word.capital) or (kept and not word.capital):
                break
            kept.append(word.key)
        if kept:
            self._add_name(" ".join(kept))

    def reveals(self, line: LineFeatures) -> bool:
        """True if a line of experience reveals something about this user."""
        if line.contact or line.honorific_names:
            return True
        if not self._initials.isdisjoint(line.initials) or not self._said.isdisjoint(
            line.sequences
        ):
            return True
        if not self._runs.isdisjoint(line.runs) or any(
            name in line.text for name in self._unspaced_own
        ):
            return True
        if any(self._has_number(number, partial=line.partial_numbers) for number in line.numbers):
            return True
        if not self._dates.isdisjoint(line.dates) or any(
            name.startswith(initial) for initial in line.titled_initials for name in self._own
        ):
            return True
        if any(
            len(one) > len("an") and one in self._own and one not in STOPS for one in line.joined
        ):
            return True
        if any(
            one in self._named and one not in STOPS and len(one) >= _INSIDE for one in line.joined
        ):
            return True
        return any(self._reveals_word(word, quoted=word.key in line.quoted) for word in line.words)

    def _has_number(self, number: str, *, partial: bool) -> bool:
        if number in self._numbers:
            return True
        if partial and any(
            len(one) > len(number) and (one.startswith(number) or one.endswith(number))
            for one in self._numbers
        ):
            return True
        if len(number) < _PART_OF_NUMBER:
            return False
        return any(
            number in one or (len(one) >= _PART_OF_NUMBER and one in number)
            for one in self._numbers
        )

    def _reveals_word(self, word: Word, *, quoted: bool) -> bool:
        forms = {word.key, word.key + "s", word.key.removesuffix("s")}
        if not self._own.isdisjoint(forms):
            # Very short words are too common to count as names, unless they have a capital.
            return word.key not in UNAVOIDABLE or word.capital
        if any(len(name) >= _INSIDE and name in word.key for name in self._own):
            return True
        if not quoted and (
            word.is_ordinary or (word.is_verb_form and word.key in self._uncapitalised)
        ):
            return False
        shortest = _SHORT_FORM - word.named
        if len(word.key) >= shortest and any(name.startswith(word.key) for name in self._own):
            return True
        if word.key in self._joined:
            return True
        if quoted and not word.is_ordinary and word.key in self._words:
            return True
        ending = word_root(word.key)
        # A single digit identifies nobody.
        mixed = len(word.key) > 1 and any(map(str.isdigit, word.key))
        if word.named or len(word.key) >= RARE or mixed or word.caseless:
            return bool(self._words & forms) or (word.named and ending in self._word_roots)
        return not self._named.isdisjoint(forms) or (
            word.capital and ending in map(word_root, self._named)
        )


def _caseless(text: str) -> bool:
    return any(letter.isalpha() and letter.lower() == letter.upper() for letter in text)
