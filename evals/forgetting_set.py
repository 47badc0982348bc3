"""The labelled set for forgetting a fact: short books with facts in several wordings, and with
texts that must stay.

A line of a half has ``fact`` (``content``, perhaps ``key``), ``words`` (the beginnings of its
content words), ``question``, ``threads`` of ``messages``, ``sources`` (where the user says it, with
the quote; threads and messages are counted from 1), perhaps a ``summary`` and an ``episode`` of a
thread, ``other_memories`` and ``profile`` lists. Each text has ``tells``, the parts that tell the
fact: ``letter``, where the part is the quote of a source or has all the words; ``paraphrase``,
where it tells the fact otherwise. ``keep`` are texts in other sentences that must stay; ``beside``
are neighbours in a sentence that has to go.

The set ``parts`` has two facts in a sentence, lists, parts of words, spellings of numbers, people
with the same value, and earlier values: there ``keep`` stands in the same sentence too, and
``earlier`` are statements of the same key, told with the label ``earlier``. ``second`` is a further
set of the same kinds and form, written before its author had seen the code. ``third`` is one more,
by two authors who had not seen it either; its cases were chosen to be hard.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HALVES: Final = ("dev", "held")
LABELS: Final = ("letter", "paraphrase")
#: The sets, by the beginnings of their files' names, and the label that the first of them has not.
SETS: Final = {
    "whole": "forgetting",
    "parts": "forgetting_parts",
    "second": "forgetting_second",
    "third": "forgetting_third",
}
EARLIER: Final = "earlier"
#: Where a fact is told.
PLACES: Final = ("message", "summary", "episode", "memory", "profile")
_FOLDER: Final = Path(__file__).parent / "sets"
_WORD: Final = re.compile(r"\w+")


def read(half: str, set: str = "whole") -> list[dict[str, Any]]:
    """Return the cases of one half of a set, or of both halves for ``all``."""
    halves = HALVES if half == "all" else (half,)
    lines = [
        line
        for one in halves
        for line in (_FOLDER / f"{SETS[set]}_{one}.jsonl").read_text("utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines if line.strip()]


def tellings(case: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield each part that contains the fact, with its place, its label and the whole text."""
    for _, _, message in messages(case):
        for tell in message["tells"]:
            yield "message", tell, readable(message["content"], message.get("native"))
    for name, fields in (("summary", ("text",)), ("episode", ("goal", "summary"))):
        if name in case:
            for tell in case[name]["tells"]:
                yield name, tell, "\n".join(case[name][field] for field in fields)
    for memory in case["other_memories"]:
        for tell in memory["tells"]:
            yield "memory", tell, memory["content"]
    for item in items(case):
        for tell in item["tells"]:
            yield "profile", tell, item["text"]


def messages(case: Mapping[str, Any]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield each message with the places of its thread and of itself, counted from 1."""
    for thread, one in enumerate(case["threads"], 1):
        for place, message in enumerate(one["messages"], 1):
            yield thread, place, message


def items(case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the items of the profile's lists."""
    for field in case["profile"]:
        yield from field["items"]


def readable(content: str, native: Any) -> str:
    """Return all that can be read in a message: its text, its native form as JSON, and each string
    in that form.
    """
    if native is None:
        return content
    return "\n".join((content, json.dumps(native, ensure_ascii=False), *_strings(native)))


def _strings(native: Any) -> Iterator[str]:
    if isinstance(native, str):
        yield native
    elif isinstance(native, Mapping):
        for inner in native.values():
            yield from _strings(inner)
    elif isinstance(native, Sequence):
        for inner in native:
            yield from _strings(inner)


def has_words(text: str, words: Iterable[str]) -> bool:
    """True if a text contains all of these numbers and beginnings of words."""
    there = [word.casefold() for word in _WORD.findall(text)]
    wanted = [word.casefold() for word in words]
    return all(
        any(one == word if word.isdigit() else one.startswith(word) for one in there)
        for word in wanted
    )


def counts(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many cases a set has of each language and kind, and how many tellings of each
    label and place.
    """
    told = [(place, tell["label"]) for case in cases for place, tell, _ in tellings(case)]
    return {
        "facts": len(cases),
        "languages": dict(sorted(Counter(case["language"] for case in cases).items())),
        "kinds": dict(sorted(Counter(case["kind"] for case in cases).items())),
        "labels": {label: sum(one == label for _, one in told) for label in LABELS},
        "places": {place: sum(one == place for one, _ in told) for place in PLACES},
        "keep": sum(len(case["keep"]) for case in cases),
        "beside": sum(len(case["beside"]) for case in cases),
    }
