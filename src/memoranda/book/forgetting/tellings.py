"""Finds the parts of a record that tell a fact, and those that may, in its text and in the strings
of its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memoranda.book.forgetting.cuts import cuts, reads_as_one, tells, tells_value
from memoranda.book.forgetting.facts import Fact
from memoranda.book.forgetting.other_people import Words
from memoranda.first_use import expression
from memoranda.model.items import Item
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.model.redactions import (
    ITS_NAME,
    SENTENCE,
    SOMEBODY_ELSE,
    TAKEN,
    VALUE,
    Telling,
    cut,
    escaped,
)
from memoranda.model.values import Span
from memoranda.storage.decide.redaction import texts_of
from memoranda.storage.decide.strangers import other_speaker
from memoranda.text.scripts import comparable_text
from memoranda.text.sentence_spans import Place, sentence_places, with_white_space
from memoranda.text.similarity import words_with_forms

#: Fields beside a value that say what the value is about, in calls and results of tools.
_NAMING: Final = frozenset(
    {"key", "field", "path", "topic", "about", "subject", "name", "person", "guest", "who"}
)
#: What a program says of a thread.
_GIVEN: Final = frozenset({"state", "result", "tags"})
_TOKEN: Final = expression(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_NUMBER: Final = expression(r"-?\d+(?:\.\d+)?")
#: A field of a JSON object that has a number.
_PAIR: Final = expression(
    r'(?:,\s*)?(?P<whole>(?P<name>"(?:[^"\\]|\\.)*")\s*:\s*(?P<number>-?\d+(?:\.\d+)?)(?![\w.]))(?P<comma>\s*,\s*)?'
)
#: A JSON object inside a text.
_CALL: Final = expression(r'\{(?=\s*")(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}', re.DOTALL)


def tellings(
    fact: Fact, record: Record, texts: Mapping[str | None, str] | None = None
) -> list[Telling]:
    """Return the parts to cut from a record, or from some of its texts."""
    if texts is None and isinstance(record, Memory) and record.data is None:
        return []
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
        for pointer, text, about in _named_texts(texts_of(record) if texts is None else texts)
        for (start, end), why in _in_text(
            fact,
            text,
            fact.quotes.get(record.id, ()),
            about + called,
            **_how(fact, record, pointer),
        )
    ]
    somebody = _somebody(record)
    if somebody is not None and comparable_text(somebody) not in fact.names and not fact.whom:
        # Of themselves: the owner's words come under the owner's name.
        found = [replace(one, why=SOMEBODY_ELSE) if one.why == SENTENCE else one for one in found]
    return found


def tellings_of(
    facts: Sequence[Fact], record: Record, texts: Mapping[str | None, str] | None = None
) -> list[Telling]:
    """Return the parts to cut from a record, or from some of its texts, so that it tells none of
    some facts.

    A sentence goes whole if nothing that reads as one is left of it without the parts of all of
    them.
    """
    each = [tellings(fact, record, texts) for fact in facts]
    found = each_once([one for those in each for one in those])
    if sum(map(bool, each)) < 2:
        return found
    for path, text in (texts_of(record) if texts is None else texts).items():
        if "{" in text:
            continue
        for start, end in sentence_places(text):
            here = [
                one.span
                for one in found
                if one.to_the_letter
                and one.span.path == path
                and one.span.start < end
                and start < one.span.end
            ]
            inside = [(max(one.start, start) - start, min(one.end, end) - start) for one in here]
            left = cut(text[start:end], [Span(start=first, end=last) for first, last in inside])
            if len(here) > 1 and not reads_as_one(left, facts, facts[0].others_of(record.id)):
                first, last = with_white_space(text, (start, end))
                span = Span(start=first, end=last, path=path)
                found = [one for one in found if one.span not in here]
                found.append(
                    Telling(record.id, record.version, span, text[first:last], VALUE, record.type)
                )
    return found


def each_once(found: Sequence[Telling]) -> list[Telling]:
    """Return parts without those that are among them already; a part to take wins over the same to
    list.
    """
    taken = {one.name: one for one in found if one.to_the_letter}
    listed = {one.name: one for one in found if not one.to_the_letter}
    return [*({**listed, **taken}.values())]


def named_so(facts: Iterable[Fact], item: Item) -> Telling | None:
    """Return an item's namespace and name if they tell one of some facts; they go only with the
    item, if that is asked for.
    """
    named = " / ".join((*item.namespace, item.name))
    if not any(tells(fact, _as_words(named)) for fact in facts):
        return None
    return Telling(item.id, item.version, Span(start=0, end=len(named)), named, ITS_NAME, item.type)


def _somebody(record: Record) -> str | None:
    """Return the name of somebody who speaks in a message, or whom a memory is about; None if it
    may be the owner.
    """
    if isinstance(record, Message):
        return other_speaker(record) if record.role == "user" else None
    return record.subject if isinstance(record, Memory) else None


def _named_texts(texts: Mapping[str | None, str]) -> Iterator[tuple[str | None, str, str]]:
    """Yield each text of a record with its JSON pointer, and the words beside it that say what it
    is about.
    """
    naming: dict[str, list[str]] = {}
    for pointer, text in texts.items():
        parent, _, field = (pointer or "").rpartition("/")
        if field in _NAMING and len(text) < 100:
            naming.setdefault(parent, []).append(text)
    for pointer, text in texts.items():
        parent, _, field = (pointer or "").rpartition("/")
        about = [] if pointer is None or field in _NAMING else naming.get(parent, [])
        names = [one for one in (pointer or "").split("/") if one and not one.isdecimal()]
        yield pointer, text, _as_words(" ".join((*names[-1:], *about)))


def _as_words(name: str) -> str:
    return re.sub(r"[_./~-]+", " ", name)


def _how(fact: Fact, record: Record, pointer: str | None) -> dict[str, Any]:
    """Return how a text of a record tells what the owner said: the assistant and tools repeat it,
    summaries are made of it.
    """
    made = isinstance(record, Episode | Thread | Overflow) and not is_given(record, pointer)
    repeats = isinstance(record, Message) and record.role != "user"
    return {"others": fact.others_of(record.id), "repeats": repeats, "made": made}


def _in_text(
    fact: Fact,
    text: str,
    quotes: Collection[str],
    about: str,
    *,
    repeats: bool,
    made: bool = False,
    others: tuple[Words, ...] = (),
) -> list[tuple[Place, str]]:
    if _NUMBER.fullmatch(text) and not fact.value.relates(about):
        # A number alone may be a count or a price of the program.
        return []
    if text.lstrip()[:1] in ("{", "[") and _is_json(text):
        return list(_in_json(fact, text, quotes, repeats=repeats or made))
    if repeats and _CALL.search(text):
        # A call with its arguments inside a text: only the insides of strings go there.
        return _beside_calls(fact, text, quotes, about)
    return cuts(fact, text, quotes, about, others=others, repeats=repeats, made=made)


def _beside_calls(
    fact: Fact, text: str, quotes: Collection[str], about: str
) -> list[tuple[Place, str]]:
    found: list[tuple[Place, str]] = []
    at = 0
    for call in (*_CALL.finditer(text), None):
        start, end = (len(text), len(text)) if call is None else call.span()
        before = cuts(fact, text[at:start], quotes, about, repeats=True)
        inside = () if call is None else _in_json(fact, call[0], quotes, repeats=True)
        for offset, places in ((at, before), (start, inside)):
            found += [((first + offset, last + offset), why) for (first, last), why in places]
        at = end
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _in_json(
    fact: Fact, text: str, quotes: Collection[str], *, repeats: bool
) -> Iterator[tuple[Place, str]]:
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
            for (first, last), why in _in_text(fact, said, quotes, about, repeats=repeats):
                # With escaped characters the places differ, so the whole string goes.
                as_written = said == text[start:end]
                yield ((start + first, start + last) if as_written else (start, end)), why
    for pair in _PAIR.finditer(text):
        about = _as_words(json.loads(pair["name"], strict=False))
        if any(
            why in TAKEN for _, why in _in_text(fact, pair["number"], (), about, repeats=repeats)
        ):
            # The pair goes with the comma behind it, or the one before it: it stays JSON.
            yield (
                (pair.start("whole"), pair.end()) if pair["comma"] else (pair.start(), pair.end()),
                VALUE,
            )


def made_of(
    facts: Sequence[Fact],
    record: Record,
    pointer: str | None,
    text: str,
    said: frozenset[int] | None,
) -> list[Telling]:
    """Return the parts of a text that tell the facts, and the sentences that come from nothing else
    that was said.
    """
    told = tellings_of(facts, record, {pointer: text})
    stays = is_given(record, pointer) or (pointer or "").endswith("/goal")
    if said is None or stays or isinstance(record, Overflow):
        return told
    covered = [(one.span.start, one.span.end) for one in told]
    for start, end in sentence_places(text):
        words = words_with_forms(text[start:end])
        if any(start < last and first < end for first, last in covered) or not words:
            continue
        if all(forms.isdisjoint(said) for _, forms in words):
            first, last = with_white_space(text, (start, end))
            span = Span(start=first, end=last, path=pointer)
            told.append(
                Telling(record.id, record.version, span, text[first:last], VALUE, record.type)
            )
    return told


def is_given(record: Record, pointer: str | None) -> bool:
    """True if somebody said a text of a thread, so that it was not made of messages."""
    field = (pointer or "/").split("/")[1]
    return isinstance(record, Thread) and (
        field in _GIVEN or (field == "title" and not record.title_through)
    )


def profile_values(profile: ProfileDocument, fact: Fact) -> Iterator[Telling]:
    """Yield the values and items of a profile to forget; each goes whole."""
    for name, value in profile.body.items():
        about = name.replace("_", " ")
        items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, item in items:
            text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            if not fact.is_of_owner(f"{about} {text}") and tells_value(fact, text, about):
                path = f"/body/{escaped(name)}" + ("" if place is None else f"/{place}")
                span = Span(start=0, end=max(len(text), 1), path=path)
                yield Telling(profile.id, profile.version, span, text, VALUE, profile.type)
