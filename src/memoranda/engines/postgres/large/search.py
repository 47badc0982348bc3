"""Searches of large shelves: candidates by words, vectors or time, and statistics of whole
shelves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.engines.postgres.large.tables import MOST_WAITING, vectors_of
from memoranda.engines.postgres.reads import conditions, parameters, visible
from memoranda.engines.postgres.server.session import Row, Session, numbered
from memoranda.model.passages import PassageRow, PassageRows
from memoranda.model.records import PASSAGE_TYPES, Owner, View
from memoranda.ports import CandidateQuery, ShelfStatistics, Surroundings

#: Words select candidates, the rarest first, until so many passages hold one of them.
_MOST_HOLDERS = 10_000
#: The size of the sample of vectors, from which the average nearness is computed.
_SOME = 20_000
#: ``hnsw.ef_search`` at least, and ``hnsw.max_scan_tuples`` for conditions that exclude many
#: passages.
_EFFORT, _MOST_EFFORT = 200, 100_000
#: The largest ``hnsw.ef_search`` that the extension allows.
_FIRST_EFFORT = 1_000
#: Terms and vector are inserted before this column of a passage.
_BESIDE = PassageRow._fields.index("terms")
#: Columns of a row without these two, but with the record's number.
_ROW_WIDTH = len(PassageRow._fields) - 1


async def measure(
    session: Session, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
) -> ShelfStatistics:
    """Return the statistics of all passages on these shelves."""
    where = {**parameters(owner, view), "wanted": list(shelves)}
    await session.run("any_plan")
    found = await session.one("measured", next=near[0], second=near[1], **where)
    assert found is not None
    passages, length, near_length, roles, names = found
    measured = ShelfStatistics(passages, length, near_length, frozenset(roles), names)
    vectors = await vectors_of(session)
    if vectors is None:
        return measured
    every = max(1, passages // _SOME)
    some = await session.all("some_vectors", set=vectors.number, every=every, **where)
    return replace(measured, vectors=vectors.name, sample=[row[0] for row in some], every=every)


async def count_holders(
    session: Session,
    owner: Owner,
    view: View,
    shelves: Sequence[int],
    words: Sequence[Sequence[int]],
) -> list[int]:
    """Count the passages on these shelves that contain each of these words."""
    where = {**parameters(owner, view), "wanted": list(shelves)}
    return [
        await session.value("count_holders", words=_hashes(hashes, shelves), **where)
        for hashes in words
    ]


async def count_within(
    session: Session,
    owner: Owner,
    view: View,
    shelves: Sequence[int],
    stretches: Sequence[tuple[int, int]],
) -> int:
    """Count the passages on these shelves (given by number) in these periods of time."""
    where = {**parameters(owner, view), "wanted": list(shelves)}
    counts = [
        await session.value("count_within", since=since, until=until, **where)
        for since, until in stretches
    ]
    return sum(counts)


async def by_terms(
    session: Session, query: CandidateQuery, words: Sequence[tuple[Sequence[int], int]]
) -> list[UUID]:
    """Find candidates by words; passages that are not indexed yet are searched as well."""
    condition, values = _where(query)
    rare: list[int] = []
    spoken: list[int] = []
    weights: list[float] = []
    room = _MOST_HOLDERS
    for hashes, held_by in sorted(words, key=lambda word: word[1]):
        mixed = _hashes(hashes, query.shelves)
        spoken += mixed
        weights += [1 / (1 + np.log1p(held_by))] * len(mixed)
        if held_by and (not rare or held_by <= room):
            rare += mixed
            room -= held_by
    rows: list[Row] = []
    if rare:
        rows = await session.all(
            "by_terms",
            conditions=condition,
            rare=rare,
            words=spoken,
            weights=weights,
            limit=query.limit,
            **values,
        )
    where = {name: values[name] for name in (*parameters(query.owner, query.view), "wanted")}
    rows += await session.all("not_indexed", limit=MOST_WAITING, **where)
    return [UUID(bytes=row[0]) for row in rows]


async def newest(session: Session, query: CandidateQuery) -> list[UUID]:
    """Find the newest passages on large shelves."""
    condition, values = _where(query)
    rows = await session.all("newest_said", conditions=condition, limit=query.limit, **values)
    return [UUID(bytes=row[0]) for row in rows]


async def by_vector(
    session: Session, query: CandidateQuery, name: str, vector: NDArray[np.float32]
) -> list[UUID]:
    """Find the passages whose vectors are nearest to the question's."""
    vectors = await vectors_of(session)
    if vectors is None or vectors.name != name or not vectors.extension:
        return []
    if not await session.value("relation", vectors.table):
        return []
    condition, values = _where(query)
    seen = await visible(session, query.owner, query.view)
    numbers = ",".join(repr(float(number)) for number in vector)
    effort = min(max(_EFFORT, query.limit), _FIRST_EFFORT)
    await session.run("near_plan", str(effort), str(_MOST_EFFORT))
    extension = f'"{vectors.extension}"'
    asked = f"CAST(CAST(:vector AS text) AS {extension}.halfvec)"
    asking = numbered(
        f"SELECT r.id FROM {vectors.table} AS n JOIN records AS r ON r.owner = n.owner AND r.no = n.record "  # noqa: S608 - our names
        "WHERE n.owner = :seen AND n.shelf = ANY(:shelves::bigint[]) AND r.shelf = n.shelf "
        f"AND r.type = ANY(:types::text[]) AND {condition} "
        f"ORDER BY n.numbers OPERATOR({extension}.<=>) {asked} LIMIT :limit"
    )
    values |= {"vector": f"[{numbers}]", "seen": seen.owner, "limit": query.limit}
    values["shelves"] = [number for number in query.shelves if number in seen.shelves]
    rows = await session.text(asking.text, *asking.arguments((), values))
    return [UUID(bytes=row[0]) for row in rows]


def _where(query: CandidateQuery) -> tuple[str, dict[str, Any]]:
    condition, values = conditions(query.filter, query.view)
    if query.statuses is not None:
        values["standing"] = sorted(status for status in query.statuses if status is not None)
        # A condition on the bare column lets the planner use its statistics; ``coalesce`` would
        # not.
        without = " OR r.status IS NULL" if None in query.statuses else ""
        condition += f" AND (r.status = ANY(:standing::text[]){without})"
    types = PASSAGE_TYPES if query.filter.types is None else query.filter.types
    values |= {"types": sorted(types), "wanted": list(query.shelves)}
    values |= parameters(query.owner, query.view)
    return condition, values


async def surroundings(
    session: Session, owner: Owner, view: View, ids: Sequence[UUID], reach: int
) -> Surroundings:
    """Read a search's candidates and the neighbouring passages that recall needs to score them."""
    given = [id.bytes for id in ids]
    found = await session.all("windows", ids=given, reach=reach, **parameters(owner, view))
    if not found:
        return Surroundings(PassageRows.of([]), [])
    numbers = sorted({number for row in found for number in row[2]})
    owner_no = found[0][0]
    vectors = await vectors_of(session)
    # One statement a table: a join with so many look-ups takes longer.
    terms, near = [
        {row[0]: row[1] for row in await session.all(name, owner_no, numbers, *of_set)}
        for name, of_set in (
            ("terms_numbered", ()),
            ("vectors_numbered", (0 if vectors is None else vectors.number,)),
        )
    ]
    rows = [
        row for row in await session.all("passages_numbered", owner_no, numbers) if row[-1] in terms
    ]
    *columns, places = (
        map(list, zip(*rows, strict=True)) if rows else [[] for _ in range(_ROW_WIDTH)]
    )
    columns[_BESIDE:_BESIDE] = [terms[no] for no in places], [near.get(no) for no in places]
    place: Mapping[int, int] = {no: nth for nth, no in enumerate(places)}
    windows = []
    for _, number, window in found:
        if number in place:
            standing = [place[each] for each in window if each in place]
            windows.append((standing, standing.index(place[number])))
    return Surroundings(PassageRows(columns), windows)


def _hashes(words: Sequence[int], shelves: Sequence[int]) -> list[int]:
    """Return the hashes of a question's terms, mixed with the number of each shelf."""
    hashes = np.array(words, dtype=np.uint64).astype(np.int64)
    return [hash for shelf in shelves for hash in (hashes ^ np.int64(shelf)).tolist()]
