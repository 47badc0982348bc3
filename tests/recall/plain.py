"""A plain reimplementation of recall, one passage and one word at a time; and builders of
passages.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoranda.model.passages import PassageRow, ShelfDelta
from memoranda.model.vectors import pack_vector, unpack_vectors
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring.matches import Match
from memoranda.recall.scoring.ranking import COEFFICIENTS, Term
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from memoranda.text.terms import TermGroup, pack, term_hash

EVERYTHING = PassageFilter()
#: A cosine of 0 may come out as large as this, in four dimensions, once the numbers of both vectors
#: are rounded.
ROUNDING = 2e-5


def packed(counts: Mapping[int, int]) -> bytes:
    hashes = sorted(counts)
    return struct.pack(f"<{len(hashes)}Q", *hashes) + bytes(counts[number] for number in hashes)


def unit(*numbers: float) -> NDArray[np.float32]:
    vector = np.array(numbers, dtype=np.float32)
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def passage(
    number: int,
    text: str | Mapping[int, int] = "",
    *,
    type: str = "message",
    kind: str | None = None,
    status: str | None = None,
    thread: bytes | None = None,
    seq: int | None = None,
    at: int = 0,
    valid: tuple[int | None, int | None] = (None, None),
    vector: NDArray[np.float32] | None = None,
    facets: str = "",
    learnt: int = 0,
    ended: int | None = None,
) -> PassageRow:
    terms = pack(text.split()) if isinstance(text, str) else packed(text)
    made = None if vector is None else pack_vector(vector)
    place = number if seq is None else seq
    return PassageRow(
        identity(number),
        type,
        kind,
        status,
        thread,
        place,
        at,
        *valid,
        terms,
        made,
        facets,
        learnt,
        ended,
    )


def identity(number: int) -> bytes:
    return number.to_bytes(16, "big")


def words(text: str) -> list[TermGroup]:
    return [
        TermGroup(word, tuple(term_hash(term) for term in word.split("|"))) for word in text.split()
    ]


def shelf_of(*rows: PassageRow) -> ShelfIndex:
    index = ShelfIndex()
    index.apply(ShelfDelta(1, True, rows, ()))
    return index


def change(index: ShelfIndex, rows: Sequence[PassageRow] = (), gone: Iterable[int] = ()) -> None:
    index.apply(ShelfDelta(index.mark + 1, False, rows, [identity(number) for number in gone]))


def find(
    index: ShelfIndex,
    question: str,
    *others: ShelfIndex,
    limit: int = 10,
    only: PassageFilter = EVERYTHING,
    vector: NDArray[np.float32] | None = None,
    mode: Mode = Mode.HYBRID,
) -> list[Match]:
    asked = SearchQuestion(words(question), vector)
    return search(field_of([index, *others]), asked, limit=limit, only=only, mode=mode)


def numbers(found: Sequence[Match]) -> list[int]:
    return [int.from_bytes(one.id, "big") for one in found]


def words_of(found: Match) -> float:
    """The score of a passage by its own words and near ones."""
    return sum(share for _, share in (*found.words, *found.near_words))


# ── The plain reading ─────────────────────────────────────────────────────────────────────────────


def plain(
    rows: Sequence[PassageRow], question: Sequence[TermGroup], vector: NDArray[np.float32] | None
) -> dict[bytes, dict[str, float]]:
    """Return the score of every passage by its words, by these and its neighbours', and its
    cosine.
    """
    if not rows:
        return {}
    near = {row.id: _beside(rows, row) for row in rows}
    scores: dict[bytes, dict[str, float]] = {row.id: {} for row in rows}
    if question:
        counts = {row.id: _counts(row) for row in rows}
        around = {id: _added(counts, beside) for id, beside in near.items()}
        for name, held in (("words", counts), ("words_near", around)):
            for id, score in _bm25(counts, held, question).items():
                scores[id][name] = score
    if vector is not None:
        cosines = {row.id: _cosine(row, vector) for row in rows}
        for id in near:
            scores[id]["meaning"] = cosines[id]
    return scores


def together(
    rows: Sequence[PassageRow],
    question: Sequence[TermGroup],
    vector: NDArray[np.float32] | None,
    only: PassageFilter,
) -> dict[bytes, float]:
    """The score of every passage that is admitted."""
    every = terms(rows, question, vector)
    return {id: sum(of.values()) for id, of in every.items() if admits(only, _row(rows, id))}


def terms(
    rows: Sequence[PassageRow], question: Sequence[TermGroup], vector: NDArray[np.float32] | None
) -> dict[bytes, dict[Term, float]]:
    """The terms of every passage's score; what one needs of the others is taken from all
    passages.
    """
    scores = plain(rows, question, vector)
    if not scores:
        return {}
    found: dict[bytes, dict[Term, float]] = {id: {} for id in scores}
    part = 0.0
    crossing = (
        0.5
        if len({json.loads(one.facets)[0] for one in rows if one.facets} - {None, ""}) >= 4
        else 1.0
    )
    if vector is not None:
        near = {id: of["meaning"] if of["meaning"] > ROUNDING else 0.0 for id, of in scores.items()}
        best = max(near.values(), default=0.0)
        cosines = [scores[row.id]["meaning"] for row in rows if row.vector is not None]
        average = sum(cosines) / len(cosines) if cosines else 0.0
        part = min(1.0, max(0.2, (best - average) / best / 0.6)) if best else 0.0
        for id, score in near.items():
            found[id][Term.MEANING] = (
                COEFFICIENTS[Term.MEANING] * part * score / best if best else 0.0
            )
    if question:
        spread = _spread([of["words"] for of in scores.values()])
        for id, of in scores.items():
            words = (0.25 * of["words"] + 0.75 * of["words_near"]) * crossing
            words *= 1 + 1.5 * (1 - part)
            found[id][Term.WORDS] = COEFFICIENTS[Term.WORDS] * words / spread if spread else 0.0
    own = {id: sum(of.values()) for id, of in found.items()}
    for row in rows:
        if own[row.id] > 0:
            beside = max(own[other.id] for other in rows if other is row or _together(row, other))
            found[row.id][Term.CONVERSATION] = COEFFICIENTS[Term.CONVERSATION] * beside * crossing
            found[row.id] |= _of_voices(rows, row, question)
    return found


def _spread(own: Sequence[float]) -> float:
    """The standard deviation, of scores rounded to 1/1024; at least a quarter of the root mean
    square.
    """
    numbers = [round(1024 * one) / 1024 for one in own]
    mean = sum(numbers) / len(numbers)
    squares = sum(one * one for one in numbers) / len(numbers)
    return max(math.sqrt(max(0.0, squares - mean * mean)), math.sqrt(squares) / 4)


def _together(row: PassageRow, other: PassageRow) -> bool:
    """True if both are messages of one thread."""
    return (
        row.type == other.type == "message"
        and row.thread is not None
        and row.thread == other.thread
    )


def _of_voices(
    rows: Sequence[PassageRow], row: PassageRow, question: Sequence[TermGroup]
) -> dict[Term, float]:
    """The terms that depend on who speaks."""
    roles = {str(one.kind) for one in rows if one.type == "message"}
    names = {json.loads(one.facets)[0] for one in rows if one.facets} - {None, ""}
    found = {Term.SPEAKER: COEFFICIENTS[Term.SPEAKER]} if _speaks(row, question) else {}
    if (
        not names
        and {"user", "assistant"} <= roles
        and (row.type != "message" or row.kind == "user")
    ):
        found[Term.USER] = COEFFICIENTS[Term.USER]
    if names:
        said = row.type == "message" and row.thread is not None
        found[Term.LENGTH] = COEFFICIENTS[Term.LENGTH] * math.log1p(
            min(sum(_counts(row).values()), 40) if said else 10
        )
    return found


def _speaks(row: PassageRow, question: Sequence[TermGroup]) -> bool:
    """True if the speaker is named in the question."""
    speaker = json.loads(row.facets)[0] if row.facets else None
    return (
        any(term_hash(speaker.lower()) in group.hashes for group in question) if speaker else False
    )


def _row(rows: Sequence[PassageRow], id: bytes) -> PassageRow:
    return next(row for row in rows if row.id == id)


def _rarity(counts: Sequence[Mapping[int, float]], group: TermGroup) -> float:
    holders = sum(any(term in terms for term in group.hashes) for terms in counts)
    return math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))


def _beside(rows: Sequence[PassageRow], row: PassageRow) -> dict[bytes, float]:
    """Return the passages that lend to one, itself included, each with its share."""
    if row.thread is None or row.type != "message":
        return {row.id: 1.0}
    thread = sorted(
        (other for other in rows if other.thread == row.thread and other.type == "message"),
        key=lambda other: other.seq,
    )
    place = thread.index(row)
    shares = {0: 1.0, 1: 0.5, 2: 0.25}
    return {
        other.id: shares[abs(nth - place)]
        for nth, other in enumerate(thread)
        if abs(nth - place) in shares
    }


def _counts(row: PassageRow) -> dict[int, float]:
    count = len(row.terms) // 9
    return dict(
        zip(
            struct.unpack(f"<{count}Q", row.terms[: 8 * count]), row.terms[8 * count :], strict=True
        )
    )


def _added(
    counts: Mapping[bytes, Mapping[int, float]], beside: Mapping[bytes, float]
) -> dict[int, float]:
    together: dict[int, float] = {}
    for id, share in beside.items():
        for term, count in counts[id].items():
            together[term] = together.get(term, 0.0) + share * count
    return together


def _bm25(
    counts: Mapping[bytes, Mapping[int, float]],
    held: Mapping[bytes, Mapping[int, float]],
    question: Sequence[TermGroup],
) -> dict[bytes, float]:
    """BM25 as the books write it; rarity is that of the passages without their neighbours."""
    average = sum(sum(terms.values()) for terms in held.values()) / len(held)
    scores = dict.fromkeys(held, 0.0)
    for group in question:
        rarity = _rarity(list(counts.values()), group)
        for id, terms in held.items():
            if frequency := sum(terms.get(term, 0) for term in group.hashes):
                length = 1 - 0.5 + 0.5 * sum(terms.values()) / average
                scores[id] += rarity * frequency * (1.2 + 1) / (frequency + 1.2 * length)
    return scores


def _cosine(row: PassageRow, vector: NDArray[np.float32]) -> float:
    if row.vector is None:
        return 0.0
    scales, stored = unpack_vectors([row.vector])
    return float(stored[0].astype(np.float64) @ vector.astype(np.float64)) * float(scales[0])


def admits(only: PassageFilter, row: PassageRow) -> bool:
    return (
        (only.types is None or row.type in only.types)
        and (only.kinds is None or row.kind in only.kinds)
        and (only.statuses is None or row.status in only.statuses)
        and (only.threads is None or row.thread in only.threads)
        and (only.since is None or row.at >= only.since)
        and (only.until is None or row.at < only.until)
        and all(
            moment is None
            or (
                (row.valid_from is None or row.valid_from <= moment)
                and (row.valid_to is None or moment < row.valid_to)
            )
            for moment in (only.valid_at, only.as_of)
        )
        and (
            only.known_at is None
            or (row.learnt <= only.known_at and (row.ended is None or row.ended > only.known_at))
        )
    )
