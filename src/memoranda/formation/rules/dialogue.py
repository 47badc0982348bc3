"""Reads a message together with the turn before it: an answer to a question becomes a sentence of
the user's own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from memoranda.formation.rules.grammar import Statement, pattern
from memoranda.formation.rules.matcher import extract, in_own_words
from memoranda.formation.rules.replies import only_yes_before, says_no
from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text, sentences

#: The most words, and characters, of an answer that is a value.
_LONGEST_ANSWER, _MOST = 9, 120
_TRIMMED: Final = " \t\n,;:.!-–—*\"'"
_TAG: Final = re.compile(
    r",? (?:right|correct|yes|is that (?:right|correct)|isn't it|aren't you|don't you|oder|richtig|stimmt das|nicht wahr|verdad|no|correcto|n'est-ce pas|c'est ça)\s*$",
    re.IGNORECASE,
)
_OR: Final = re.compile(r" (?:or|oder|o|ou) ")
_CHOSEN_END: Final = re.compile(r"[,.;]| (?:please|always|bitte|siempre|por favor|toujours)\b")
#: An answer that begins with a count or an article is no name.
_COUNTED: Final = re.compile(r"(?:An?|One|Two|Three|Four|Five|Six|The|Un|Una|Une|Des|Dos|Deux)\b")
_PART: Final = re.compile(r"[:–—] ")


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of question, and its answer as the user's own sentence."""

    asks: re.Pattern[str]
    says: str
    needs: re.Pattern[str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> _Form:
        return cls(pattern(given["asks"]), given["says"], pattern(given.get("needs", "")))

    def groups(self, part: str, start: int) -> dict[str, str] | None:
        """Return the named groups of a question of this form; None if it is another question."""
        match = self.asks.match(part, start)
        if match is None:
            return None
        return {name.rstrip("2"): one for name, one in match.groupdict().items() if one}


@dataclass(frozen=True, slots=True)
class _Dialogue:
    """The forms of one language."""

    code: str
    lead: re.Pattern[str]
    prefix: re.Pattern[str]
    silent: re.Pattern[str]
    doubt: re.Pattern[str]
    answers: tuple[_Form, ...]
    confirms: tuple[_Form, ...]
    #: How sentences that are stored begin → how the user's own begin.
    own: Mapping[str, str]


@cache
def dialogue_data() -> Mapping[str, Any]:
    """Return the forms of all languages as they stand in the file."""
    return tomllib.loads(files(__package__).joinpath("dialogue.toml").read_text("utf-8"))


@cache
def _dialogues() -> tuple[_Dialogue, ...]:
    return tuple(
        _Dialogue(
            code,
            lead=pattern(given["lead"]),
            prefix=pattern(rf"(?:{given['prefix']}(?:,? |(?<=')))+"),
            silent=pattern(given["silent"]),
            doubt=pattern(given["doubt"]),
            answers=tuple(map(_Form.of, given["answers"])),
            confirms=tuple(map(_Form.of, given["confirms"])),
            own=given["own"],
        )
        for code, given in dialogue_data().items()
    )


def _question(turn: str) -> tuple[int, int] | None:
    """Return the place of the question with which a turn ends; None if it asks nothing or several
    things.
    """
    said = [*sentences(readable_text(turn), frozenset())]
    if not said or not said[-1].asks or sum(one.asks for one in said) > 1:
        return None
    return said[-1].start, said[-1].start + len(said[-1].text) + 1


def answered(question: str, answer: str, *, earlier: Sequence[str] = ()) -> list[Statement]:
    """Return what a user states by answering the question with which a turn ends; each has its
    place in the answer. ``earlier`` are the user's messages before the answer.
    """
    place = _question(question)
    own = in_own_words(answer, earlier)
    said = next(iter(sentences(mask_quoted(readable_text(own)), frozenset())), None)
    if place is None or said is None or said.asks or MASK in said.text:
        return []
    asked = question[slice(*place)].rstrip("? \u00a0")
    for sentence, code in _own_sentences(_TAG.sub("", asked), said.text):
        found = extract(sentence, language=code, earlier=earlier)
        if found:
            return [_placed(one, said.start, len(said.text)) for one in found]
    return []


def read_stored(content: str) -> Iterator[Statement]:
    """Yield what a stored sentence states, read as the user's own: "Likes tea" as "I like tea"."""
    for one in _dialogues():
        for stored, own in one.own.items():
            if content.startswith(stored):
                yield from extract(own + content[len(stored) :], language=one.code)


def _placed(stated: Statement, start: int, length: int) -> Statement:
    values = {name: getattr(stated, name) for name in stated.__dataclass_fields__}
    return Statement(**{**values, "span": (start, start + length)})


def _own_sentences(asked: str, said: str) -> Iterator[tuple[str, str]]:
    """Yield the answer as a sentence of the user's own, in each way that the question allows."""
    if says_no(said):
        return
    rest = only_yes_before(said)
    for one in _dialogues():
        given = (said if rest is None else rest).strip(_TRIMMED)
        if one.doubt.search(given):
            continue
        for part in (asked, *(asked[colon.end() :] for colon in _PART.finditer(asked))):
            lead = one.lead.match(part)
            start = 0 if lead is None else lead.end()
            value = one.prefix.sub("", given, count=1) if one.prefix.match(given) else given
            short = len(value) <= _MOST and len(value.split()) <= _LONGEST_ANSWER
            if value and short and not one.silent.match(value):
                yield from _answers(one, part, start, value)
            if rest is not None:
                yield from _confirmations(one, part, start)


def _answers(one: _Dialogue, part: str, start: int, value: str) -> Iterator[tuple[str, str]]:
    if _COUNTED.match(value):
        value = value[0].lower() + value[1:]
    for form in one.answers:
        groups = form.groups(part, start)
        if groups is None or not form.needs.match(value):
            continue
        chosen = value
        if "either" in groups:
            chosen = _CHOSEN_END.split(value)[0].strip()
            if not _is_one_of(chosen, groups["either"]):
                continue
            at = max(groups["either"].lower().find(chosen.lower()), 0)
            chosen = groups["either"][at : at + len(chosen)]
        small = chosen if chosen[1:2].isupper() else chosen[0].lower() + chosen[1:]
        said = {"verb": "have", **groups, "value": chosen, "small": small}
        yield form.says.format_map(said), one.code


def _is_one_of(value: str, either: str) -> bool:
    words = value.casefold().split()
    halves = _OR.split(either.casefold())
    one = [half for half in halves if set(words) <= set(half.split())]
    return len(halves) == 2 and len(one) == 1 and " ".join(words) in one[0]


def _confirmations(one: _Dialogue, part: str, start: int) -> Iterator[tuple[str, str]]:
    if _OR.search(part, start):
        return
    for form in one.confirms:
        groups = form.groups(part, start)
        if groups is not None:
            yield form.says.format_map({"on": "", **groups}), one.code
