"""Finds which earlier statements a user's message takes back, or corrects."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memoranda.formation.rules.matcher import in_own_words, speech_colon
from memoranda.formation.rules.patterns import LANGUAGES, Ending, Language, language_of
from memoranda.formation.rules.sentences import (
    Sentence,
    letter_start,
    mask_quoted,
    readable_text,
    sentences,
)
from memoranda.formation.rules.statements import TOPICS

#: The most endings of one message; longer texts are pasted, not said.
_MOST: Final = 16
_MOST_SENTENCES: Final = 200
#: Words of this many letters match another form of themselves: "bouldering", "boulder".
_LONG: Final = 5
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CLAUSE: Final = re.compile(r"[,;:.!?()\n—–]| - ")


@dataclass(frozen=True, slots=True)
class Known:
    """An earlier statement."""

    id: Hashable
    #: Its topic; empty if unknown.
    about: str
    value: str
    #: In the same message, the index at which it ends.
    end: int = -1


@dataclass(frozen=True, slots=True)
class Denial:
    """An earlier statement that a message takes back."""

    known: Known
    #: The place of the words that say so.
    span: tuple[int, int]
    #: The value that is true instead, if the message corrects the statement, and its sentence.
    instead: str = ""
    content: str = ""


def may_take_back(text: str, earlier: Sequence[str] = ()) -> bool:
    """True if a message has words that take something back, if there is something that they
    name.
    """
    for sentence, language in _own_sentences(text, earlier):
        limit = _limit(sentence, language)
        if any(
            next(_cues(sentence, ending, language, limit), None) is not None
            for ending in language.endings
        ):
            return True
        if any(one.search(sentence.text, 0, limit) is not None for one in language.instead):
            return True
    return False


def taken_back(text: str, known: Sequence[Known], *, earlier: Sequence[str] = ()) -> list[Denial]:
    """Return the earlier statements that a message takes back, each once; ``earlier`` are the
    user's messages before it.
    """
    found: dict[Hashable, Denial] = {}
    for sentence, language in _own_sentences(text, earlier):
        for denial in _denials(sentence, known, language):
            kept = found.get(denial.known.id)
            if kept is None or (denial.instead and not kept.instead):
                found[denial.known.id] = denial
        if len(found) >= _MOST:
            break
    return [*found.values()]


def _own_sentences(text: str, earlier: Sequence[str]) -> Iterator[tuple[Sentence, Language]]:
    """Yield the sentences in which the user speaks for themselves, with each language whose words
    they have.
    """
    start = readable_text(in_own_words(text, earlier))
    masked = mask_quoted(start)
    for language in map(language_of, LANGUAGES):
        if language["made_up"].search(masked) or language["ironic_text"].search(start):
            continue
        frame = language["frame"].search(masked)
        own = masked if frame is None else masked[: frame.start()]
        for sentence in islice(
            sentences(own[: letter_start(own)], language.listed("abbreviations")), _MOST_SENTENCES
        ):
            colon = speech_colon(sentence.text, language)
            yield (
                Sentence(sentence.text[:colon], sentence.start, sentence.asks and colon is None),
                language,
            )
            if colon is not None:
                break


def _limit(sentence: Sentence, language: Language) -> int:
    unreal = language["unreal"].search(sentence.text)
    return len(sentence.text) if unreal is None else unreal.start()


def _denials(sentence: Sentence, known: Sequence[Known], language: Language) -> Iterator[Denial]:
    limit = _limit(sentence, language)
    before = [one for one in known if one.end <= sentence.start or one.end < 0]
    for ending in language.endings:
        for cue in _cues(sentence, ending, language, limit):
            span = (sentence.start + cue.start(), sentence.start + cue.end())
            for one in _ended(sentence.text, ending, before, language):
                yield Denial(one, span)
            break
    for correction in language.instead:
        for match in correction.finditer(sentence.text, 0, limit):
            yield from _corrected(match, sentence, before, language)


def _cues(
    sentence: Sentence, ending: Ending, language: Language, limit: int
) -> Iterator[re.Match[str]]:
    """Yield the places where an ending is said by the user and of the user."""
    text = sentence.text
    for cue in ending.pattern.finditer(text, 0, limit):
        begin = max((stop.end() for stop in _CLAUSE.finditer(text, 0, cue.start())), default=0)
        rest = _CLAUSE.search(text, cue.end())
        if sentence.asks and not ending.asked and rest is None:
            continue
        clause = text[begin : cue.end()].lstrip()
        if ending.others or language["somebody_else"].match(clause) is None:
            yield cue


def _ended(text: str, ending: Ending, known: Iterable[Known], language: Language) -> list[Known]:
    """Return the statements that an ending ends: those that the sentence names, else all if it may
    name none.
    """
    of_topic = [
        one for one in known if one.about in ending.topics and ending.values.search(one.value)
    ]
    said, small = words(text), language.listed("small")
    named = [one for one in of_topic if _is_named(one.value, said, small)]
    return of_topic if ending.all and not named else named


def _corrected(
    match: re.Match[str], sentence: Sentence, known: Iterable[Known], language: Language
) -> Iterator[Denial]:
    old, new = words(match["old"]) - language.listed("small"), match["new"].strip(" ,.")
    for one in known:
        topic = TOPICS.get(one.about)
        if topic is not None and topic.key is not None and old and old <= words(one.value):
            span = sentence.start + match.start(), sentence.start + match.end()
            yield Denial(one, span, instead=new, content=_content(one.about, new, language))


def words(text: str) -> set[str]:
    """Return the words of a text in comparable form: small letters without accents."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return set(_WORD.findall("".join(one for one in plain if not unicodedata.combining(one))))


def same_words(one: str, other: str) -> bool:
    """True if two values have the same words."""
    return words(one) == words(other)


def _is_named(value: str, said: set[str], small: frozenset[str]) -> bool:
    return any(_same_word(own, other) for own in words(value) - small for other in said)


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return len(one) > 1
    shorter, longer = sorted((one, other), key=len)
    if longer in (f"{shorter}s", f"{shorter}es", f"{shorter}n"):
        return len(shorter) > 2
    return (
        len(shorter) >= _LONG
        and len(longer) - len(shorter) <= 5
        and longer.startswith(shorter[:-1])
    )


def opposed(about: str, value: str, known: Iterable[Known]) -> list[Known]:
    """Return the earlier likes that a new dislike ends, and the other way round: those of the same
    words.
    """
    other = {"likes": "dislikes", "dislikes": "likes"}.get(about)
    wanted = words(value)
    return [one for one in known if one.about == other and words(one.value) == wanted]


def _content(about: str, value: str, language: Language) -> str:
    """Return the sentence that a language has for a value of a topic."""
    for one in (language, language_of("en")):
        for rule in one.rules:
            if rule.about == about and rule.content.endswith("{value}"):
                return rule.content.format(value=value)
    return value
