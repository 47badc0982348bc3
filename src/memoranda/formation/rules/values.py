"""The value of a matched rule: where its phrase ends, list items, and the sentence to store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memoranda.formation.rules.grammar import Language, Rule
from memoranda.formation.rules.stated import Topic

#: The most items of one list.
_MOST_LISTED: Final = 12
#: The most words of a list item, and of the first phrase of a list.
_LONGEST_ITEM: Final = 4
_LONGEST_PHRASE: Final = 9
_HARD_END: Final = re.compile(r"[,;:!?()\n…—–]|\.(?:\s|$)|\s-\s")
_EDGES: Final = " \t,;:.!?\"'“”„«»`…()"


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """A value and its place in the sentence."""

    value: str
    start: int
    end: int


def phrase_end(text: str, start: int, language: Language) -> int:
    """Return where the phrase that begins at ``start`` ends."""
    hard = _HARD_END.search(text, start)
    end = len(text) if hard is None else hard.start()
    soft = language.phrase_end.search(text, start, end)
    while (
        soft is not None
        and language.pairs.search(text, start, end)
        and _inside_pair(text, start, soft, language)
    ):
        soft = language.phrase_end.search(text, soft.end(), end)
    return end if soft is None else soft.start()


def _inside_pair(text: str, start: int, cut: re.Match[str], language: Language) -> bool:
    return any(pair.start() <= cut.start() < pair.end() for pair in language.pairs.finditer(text, start))


def list_spans(text: str, start: int, language: Language) -> list[tuple[int, int]]:
    """Return the spans of the list items from here: the first, and the others if the list is closed by "and"."""
    end = phrase_end(text, start, language)
    if len(text[start:end].split()) > _LONGEST_PHRASE:
        return []
    spans, closed = [(start, end)], False
    others: list[tuple[int, int]] = []
    while len(others) < _MOST_LISTED and (link := language.listing.match(text, end)) is not None:
        begin, end = link.end(), phrase_end(text, link.end(), language)
        item = text[begin:end].strip()
        if not item or len(item.split()) > _LONGEST_ITEM or language.no_item.match(item):
            break
        others.append((begin, end))
        closed = closed or link.group().strip(" ,") != ""
        if closed:
            spans += others
            others = []
    return spans


def trim(text: str, span: tuple[int, int], about: str, language: Language) -> tuple[int, int]:
    """Return the span without meaningless words and punctuation at its ends."""
    start, end = span
    for _ in range(4):
        before = (start, end)
        while start < end and text[start] in _EDGES:
            start += 1
        while start < end and text[end - 1] in _EDGES and not _closes_a_quote(text, start, end):
            end -= 1
        for topic in ("", about):
            lead, tail = language.before.get(topic), language.after.get(topic)
            if lead is not None and (match := lead.match(text, start, end)) is not None:
                start = match.end()
            if tail is not None and (match := tail.search(text, start, end)) is not None:
                end = match.start()
        if before == (start, end):
            break
    return start, end


def _closes_a_quote(text: str, start: int, end: int) -> bool:
    return text[end - 1] in '"”“»' and bool(re.search(r"[\"“„«]", text[start : end - 1]))


def key_of(rule: Rule, match: re.Match[str], topic: Topic) -> str | None:
    """Return the statement's key: its rule's if it has one, else its topic's."""
    if rule.key is None:
        return topic.key
    return rule.key.format(**_groups(match)).strip().lower() or None


def content_of(rule: Rule, match: re.Match[str], value: str, language: Language) -> str:
    """Return the statement as a sentence that can be read alone."""
    if rule.about == "remember" and language.own_words.search(value):
        return language.asked_to_keep.format(value=value)
    groups = _groups(match)
    said = groups.get("phrase", "") or value
    if value not in said:
        said = value
    content = rule.content.format(**{**groups, "value": value, "phrase": said}).replace(" :", ":")
    return content[:1].upper() + content[1:]


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: (group or "").strip() for name, group in match.groupdict().items()}
