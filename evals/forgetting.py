"""Counts the parts of a book that still contain a forgotten fact: ``[--set
whole|parts|second|third] [--half dev|held|all] [--json] [--shown]``.

Each case is a small book: conversations, a memory of the fact, and what was made of them. The
memory is forgotten, and then everything is read: messages with their native forms, earlier
versions, contexts, recall, memories, profile, episodes, summaries and the export.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from evals.forgetting_books import FilledBook, Telling, native_faults, text_of
from evals.forgetting_set import EARLIER, HALVES, LABELS, SETS, has_words, read
from evals.places import new_book
from memoranda.model.messages import Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Owner, Record
from memoranda.model.redactions import strings_of

_IDS: Final = ("id", "record", "message", "thread", "memory")
_TEXTS: Final = ("text", "sentence", "words", "quote")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
#: Shorter texts may be part of another by chance.
_SHORTEST: Final = 4


@dataclass(frozen=True, slots=True)
class Named:
    """One entry of ``still_tells``: a record, and the words of it that still tell the fact."""

    ids: frozenset[UUID]
    texts: tuple[str, ...]

    def touches(self, record: UUID, text: str) -> bool:
        """True if the entry is about this part of this record; words without a record are found in
        any.
        """
        if self.ids and record not in self.ids:
            return False
        wanted = _plain(text)
        return any(
            len(one) >= _SHORTEST and (one in wanted or wanted in one)
            for one in map(_plain, self.texts)
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of forgetting one fact: the parts that are left, and those that were removed."""

    id: str
    language: str
    tellings: tuple[Telling, ...]
    #: The tellings that can still be read, and of these the ones that the receipt names.
    left: tuple[Telling, ...]
    named: tuple[Telling, ...]
    keep: int
    damaged: tuple[str, ...]
    beside: int
    beside_lost: tuple[str, ...]
    #: By sort, the entries of ``still_tells``: of the fact, of a neighbour, of neither.
    entries: Mapping[str, int]
    stray: tuple[str, ...]
    #: Episodes that there were, and those that were lost whole.
    episodes: int
    episodes_lost: tuple[str, ...]
    context_before: bool
    context_after: bool
    native_faults: tuple[str, ...]


async def judge(filled: FilledBook) -> Outcome:
    """Forget a case's fact and list where it still appears."""
    case = filled.case
    # A book in use has vectors, which are made in the background; without an embedder this does
    # nothing.
    await filled.book.admin.embed()
    before, asked_before = await filled.records(), await filled.context()
    earlier = bool(case.get("earlier"))
    receipt = await filled.book.forget(filled.owner, filled.memory, earlier=earlier, as_owner=True)
    after, asked_after = await filled.records(), await filled.context()
    read_after = await filled.everything_read()
    left = tuple(one for one in filled.tellings if one.text in read_after)
    entries = [_entry(one, before, after) for one in getattr(receipt, "still_tells", ())]
    sorts = [_sort(one, filled, before) for one in entries]
    return Outcome(
        id=case["id"],
        language=case["language"],
        tellings=tuple(filled.tellings),
        left=left,
        named=tuple(one for one in left if _is_named(one, entries)),
        keep=len(case["keep"]),
        damaged=tuple(_lost(case["keep"], before, after, everywhere=case["id"].startswith("p"))),
        beside=len(case["beside"]),
        beside_lost=tuple(_lost(case["beside"], before, after, everywhere=False)),
        entries=Counter(sorts),
        stray=tuple(
            str(one.texts) for one, sort in zip(entries, sorts, strict=True) if sort == "neither"
        ),
        episodes=sum(one.type == "episode" for one in before.values()),
        episodes_lost=tuple(
            text_of(one) for id, one in before.items() if one.type == "episode" and id not in after
        ),
        context_before=_tells(asked_before, case),
        context_after=_tells(asked_after, case),
        native_faults=tuple(native_faults(before, after)),
    )


def _entry(entry: Any, before: Mapping[UUID, Record], after: Mapping[UUID, Record]) -> Named:
    """Return an entry of ``still_tells`` as record ids and words; an entry may be an object or a
    mapping.
    """

    def field(of: Any, name: str) -> Any:
        return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)

    ids = frozenset(filter(None, (_id(field(entry, name)) for name in _IDS)))
    texts = [field(entry, name) for name in _TEXTS]
    said = [records[id] for id in ids for records in (after, before) if id in records]
    for span in (entry, *(field(entry, "spans") or ())):
        texts.append(_words(said, *(field(span, name) for name in ("start", "end", "path"))))
    known = [one for one in texts if isinstance(one, str) and one]
    if not known:
        # An entry without words is about a whole record, unless that is a message or a profile of
        # many items.
        whole = [
            before[id]
            for id in ids
            if id in before and not isinstance(before[id], Message | ProfileDocument)
        ]
        known = [text_of(one) for one in whole]
    return Named(ids, tuple(known))


def _words(said: Sequence[Record], start: Any, end: Any, path: Any) -> str:
    """Return the words of a span in a message, as it is now if it is still there; empty where it
    names none.
    """
    if (
        not said
        or not isinstance(said[0], Message)
        or not isinstance(start, int)
        or not isinstance(end, int)
    ):
        return ""
    text = said[0].content if path is None else dict(strings_of(said[0].native)).get(path, "")
    return text[start:end]


def _id(value: Any) -> UUID | None:
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (TypeError, ValueError, AttributeError):
        return None


def _is_named(telling: Telling, entries: Iterable[Named]) -> bool:
    return any(one.touches(telling.record, telling.text) for one in entries)


def _sort(entry: Named, filled: FilledBook, before: Mapping[UUID, Record]) -> str:
    if any(entry.touches(one.record, one.text) for one in filled.tellings):
        return "fact"
    kept = (*filled.case["keep"], *filled.case["beside"])
    return (
        "neighbour"
        if any(entry.touches(id, text) for text in kept for id in entry.ids & before.keys())
        else "neither"
    )


def _lost(
    texts: Iterable[str],
    before: Mapping[UUID, Record],
    after: Mapping[UUID, Record],
    *,
    everywhere: bool,
) -> Iterator[str]:
    """Yield each text that a message, memory or profile had and has no more; or ``everywhere`` a
    summary or an episode, too.
    """
    types = _STAYING | {"thread", "episode"} if everywhere else _STAYING
    for text in texts:
        places = [
            id for id, record in before.items() if record.type in types and text in text_of(record)
        ]
        if any(id not in after or text not in text_of(after[id]) for id in places):
            yield text


#: The types of records whose other texts stay.
_STAYING: Final = frozenset({"message", "memory", "profile"})


def _tells(context: str, case: Mapping[str, Any]) -> bool:
    """True if a sentence of a context has all the words of the fact and is not about somebody else,
    or is a quote of it.
    """
    quotes = [one["quote"] for one in case["sources"]]
    kept = [_plain(one) for one in case["keep"]]
    for sentence in filter(None, _SENTENCE_END.split(context)):
        if any(quote in sentence for quote in quotes):
            return True
        said = _plain(sentence)
        if has_words(said, case["words"]) and not any(one in said or said in one for one in kept):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…\"“”'")


async def measure(cases: Sequence[Mapping[str, Any]], engine: str = "") -> list[Outcome]:
    """Forget the fact of each case in a book that has an owner for each."""
    outcomes = []
    async with new_book(engine, worker=False) as book:
        for case in cases:
            filled = FilledBook(book, case, Owner(id=case["id"]))
            await filled.fill()
            outcomes.append(await judge(filled))
    return outcomes


def report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures over cases."""
    entries = sum((Counter(one.entries) for one in outcomes), Counter[str]())
    return {
        "facts": len(outcomes),
        **{label: _told(label, outcomes) for label in LABELS},
        "languages": {
            name: {
                label: _told(label, [one for one in outcomes if one.language == name])
                for label in LABELS
            }
            for name in sorted({one.language for one in outcomes})
        },
        EARLIER: _told(EARLIER, outcomes),
        "episodes": {
            "there": sum(one.episodes for one in outcomes),
            "lost": _total(outcomes, "episodes_lost"),
        },
        "keep": {
            "texts": sum(one.keep for one in outcomes),
            "damaged": _total(outcomes, "damaged"),
        },
        "beside": {
            "texts": sum(one.beside for one in outcomes),
            "lost": _total(outcomes, "beside_lost"),
        },
        "still_tells": {
            "entries": entries.total(),
            **{sort: entries[sort] for sort in ("fact", "neighbour", "neither")},
        },
        "contexts": {
            "before": sum(one.context_before for one in outcomes),
            "after": sum(one.context_after for one in outcomes),
        },
        "native_faults": _total(outcomes, "native_faults"),
    }


def _told(label: str, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return how many tellings of a label there were, are left, and are named, with the places of
    those left.
    """
    those = list(outcomes)
    told = [telling for one in those for telling in one.tellings if telling.label == label]
    left = [telling for one in those for telling in one.left if telling.label == label]
    named = [telling for one in those for telling in one.named if telling.label == label]
    return {
        "told": len(told),
        "left": len(left),
        "left_percent": _percent(len(left), len(told)),
        "named": len(named),
        "named_percent": _percent(len(named), len(left)),
        "left_in": dict(sorted(Counter(one.place for one in left).items())),
    }


def _total(outcomes: Iterable[Outcome], name: str) -> int:
    return sum(len(getattr(one, name)) for one in outcomes)


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _table(figures: Mapping[str, Any]) -> Iterator[str]:
    yield f"{figures['facts']} facts"
    for label in LABELS:
        row = figures[label]
        yield (
            f"{label}: {row['left']} of {row['told']} still told {row['left_in']}, "
            f"{row['named']} of these named ({row['named_percent']} %)"
        )
    if figures[EARLIER]["told"]:
        yield f"earlier values: {figures[EARLIER]['left']} of {figures[EARLIER]['told']} still told {figures[EARLIER]['left_in']}"
    yield f"episodes lost whole: {figures['episodes']['lost']} of {figures['episodes']['there']}"
    yield f"neighbours damaged: {figures['keep']['damaged']} of {figures['keep']['texts']}"
    yield f"lost from the same sentence: {figures['beside']['lost']} of {figures['beside']['texts']}"
    yield f"entries of still_tells: {figures['still_tells']}"
    yield f"contexts with the fact's words: {figures['contexts']}"
    yield f"faults of native forms: {figures['native_faults']}"


def _shown(outcome: Outcome) -> Iterator[str]:
    for one in outcome.left:
        named = "named" if one in outcome.named else "NOT named"
        if one.label != "paraphrase" or one not in outcome.named:
            yield f"{outcome.id} {one.label} in {one.place}, {named}: {one.text}"
    for name in ("damaged", "beside_lost", "episodes_lost", "stray", "native_faults"):
        yield from (f"{outcome.id} {name}: {text}" for text in getattr(outcome, name))
    if outcome.context_after:
        yield f"{outcome.id} the context still has its words"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=tuple(SETS), default="whole", help="the set of cases")
    parser.add_argument("--half", choices=(*HALVES, "all"), default="dev")
    parser.add_argument(
        "--engine", default="", help="the address of a database; without it, a file"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--shown", action="store_true", help="name each telling and neighbour that went wrong"
    )
    given = parser.parse_args(arguments)
    outcomes = asyncio.run(measure(read(given.half, given.set), given.engine))
    figures = report(outcomes)
    if given.json:
        print(json.dumps(figures, indent=2))
        return 0
    print("\n".join(_table(figures)))
    if given.shown:
        print("\n".join(line for one in outcomes for line in _shown(one)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
