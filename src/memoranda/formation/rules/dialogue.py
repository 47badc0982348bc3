"""Reads a message together with the turn before it: an answer to a question becomes a sentence of
the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from memoranda.formation.rules.matcher import extract, in_own_words
from memoranda.formation.rules.patterns import LANGUAGES, Language, language_of
from memoranda.formation.rules.replies import only_yes_before, says_no
from memoranda.formation.rules.sentences import MASK, mask_quoted, readable_text, sentences
from memoranda.formation.rules.statements import Statement

#: The most words, and characters, of an answer that is a value.
_LONGEST_ANSWER, _MOST = 9, 120
_TRIMMED: Final = " \t\n,;:.!-–—*\"'"
_PART: Final = re.compile(r"[:–—] ")


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
    own = mask_quoted(readable_text(in_own_words(answer, earlier)))
    asked = "" if place is None else question[slice(*place)].rstrip("? \u00a0")
    for one in map(language_of, LANGUAGES if asked else ()):
        said = next(iter(sentences(own, one.listed("abbreviations"))), None)
        if said is None or said.asks or MASK in said.text:
            continue
        for sentence in _own_sentences(one["dialogue.tag"].sub("", asked), said.text, one):
            found = extract(sentence, language=one.code, earlier=earlier)
            if found:
                span = said.start, said.start + len(said.text)
                return [replace(stated, span=span) for stated in found]
    return []


def read_stored(content: str) -> Iterator[Statement]:
    """Yield what a stored sentence states, read as the user's own: "Likes tea" as "I like tea"."""
    for one in map(language_of, LANGUAGES):
        for stored, own in one.own.items():
            if content.startswith(stored):
                yield from extract(own + content[len(stored) :], language=one.code)


def _own_sentences(asked: str, said: str, one: Language) -> Iterator[str]:
    """Yield the answer as a sentence of the user's own, in each way that the question allows."""
    rest = only_yes_before(said)
    given = (said if rest is None else rest).strip(_TRIMMED)
    if says_no(said) or one["dialogue.doubt"].search(given):
        return
    for part in (asked, *(asked[colon.end() :] for colon in _PART.finditer(asked))):
        lead = one["dialogue.lead"].match(part)
        start = 0 if lead is None else lead.end()
        prefix = one["dialogue.prefix"].match(given)
        value = given if prefix is None else given[prefix.end() :]
        short = len(value) <= _MOST and len(value.split()) <= _LONGEST_ANSWER
        if value and short and not one["dialogue.silent"].match(value):
            yield from _answers(one, part, start, value)
        if rest is not None and not one["dialogue.or"].search(part, start):
            for form in one.confirms:
                if (groups := form.groups(part, start)) is not None:
                    yield form.says.format_map({"on": "", **groups})


def _answers(one: Language, part: str, start: int, value: str) -> Iterator[str]:
    if one["dialogue.counted"].match(value):
        value = _small(value)
    for form in one.answers:
        groups = form.groups(part, start)
        if groups is None or not form.needs.match(value):
            continue
        chosen = value
        if "either" in groups:
            chosen = one["dialogue.chosen_end"].split(value)[0].strip()
            halves = one["dialogue.or"].split(groups["either"].casefold())
            if not _is_one_of(chosen, halves):
                continue
            at = max(groups["either"].lower().find(chosen.lower()), 0)
            chosen = groups["either"][at : at + len(chosen)]
        small = chosen if chosen[1:2].isupper() else _small(chosen)
        yield form.says.format_map({"verb": "have", **groups, "value": chosen, "small": small})


def _small(value: str) -> str:
    return value[0].lower() + value[1:]


def _is_one_of(value: str, halves: Sequence[str]) -> bool:
    words = value.casefold().split()
    one = [half for half in halves if set(words) <= set(half.split())]
    return len(halves) == 2 and len(one) == 1 and " ".join(words) in one[0]
