"""Candidates on shelves that are too large to be held in a process: found by words and by vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.engines.postgres.following import MOST_WAITING, vectors_of
from memoranda.engines.postgres.reading import visible
from memoranda.engines.postgres.rows import conditions, view_parameters
from memoranda.engines.postgres.session import Row, Session
from memoranda.engines.postgres.statements import numbered
from memoranda.model.owner import Owner, View
from memoranda.model.passages import Excerpt, Look, Measured, PassageRow, PassageRows
from memoranda.model.records import PASSAGE_TYPES

#: Words choose candidates, the rarest first, while they have so few holders together.
_MOST_HOLDERS = 10_000
#: So many vectors tell how near passages are on average.
_SOME = 20_000
#: How far the index of vectors looks at first, unless more is asked for, and at most where conditions shut much out.
_EFFORT, _MOST_EFFORT = 200, 100_000
#: The index knows no greater one to begin with.
_FIRST_EFFORT = 1_000
#: Before this column of a passage stand its terms and its vector.
_BESIDE = PassageRow._fields.index("terms")
#: Columns of a passage without these two, and its number.
_ROW_WIDTH = len(PassageRow._fields) - 1


async def measure(
    session: Session, owner: Owner, view: View, shelves: Sequence[int], near: tuple[float, float]
) -> Measured:
    """What scoring must know of all passages of these shelves."""
    where = {**view_parameters(owner, view), "wanted": list(shelves)}
    await session.run("any_plan")
    found = await session.one("measured", next=near[0], second=near[1], **where)
    assert found is not None
    passages, length, near_length = found
    vectors = await vectors_of(session)
    if vectors is None:
        return Measured(passages, length, near_length)
    every = max(1, passages // _SOME)
    some = await session.all("some_vectors", set=vectors.number, every=every, **where)
    return Measured(passages, length, near_length, vectors.name, [row[0] for row in some], every)


async def holders(
    session: Session, owner: Owner, view: View, shelves: Sequence[int], words: Sequence[Sequence[int]]
) -> list[int]:
    """How many passages hold each word."""
    where = {**view_parameters(owner, view), "wanted": list(shelves)}
    return [await session.value("how_many_hold", words=_hashes(hashes, shelves), **where) for hashes in words]


async def said_within(
    session: Session,
    owner: Owner,
    view: View,
    shelves: Sequence[int],
    stretches: Sequence[tuple[int, int]],
) -> int:
    """How many passages lie in these stretches of time."""
    where = {**view_parameters(owner, view), "wanted": list(shelves)}
    counts = [
        await session.value("said_within", since=since, until=until, **where) for since, until in stretches
    ]
    return sum(counts)


async def by_terms(session: Session, look: Look, words: Sequence[tuple[Sequence[int], int]]) -> list[UUID]:
    """Likely passages by these words, and what is not followed yet."""
    condition, values = _where(look)
    rare: list[int] = []
    spoken: list[int] = []
    weights: list[float] = []
    room = _MOST_HOLDERS
    for hashes, held_by in sorted(words, key=lambda word: word[1]):
        mixed = _hashes(hashes, look.shelves)
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
            limit=look.limit,
            **values,
        )
    where = {name: values[name] for name in (*view_parameters(look.owner, look.view), "wanted")}
    rows += await session.all("not_followed", limit=MOST_WAITING, **where)
    return [UUID(bytes=row[0]) for row in rows]


async def newest(session: Session, look: Look) -> list[UUID]:
    """The newest passages."""
    condition, values = _where(look)
    rows = await session.all("newest_said", conditions=condition, limit=look.limit, **values)
    return [UUID(bytes=row[0]) for row in rows]


async def by_vector(session: Session, look: Look, name: str, vector: NDArray[np.float32]) -> list[UUID]:
    """Passages near a vector."""
    vectors = await vectors_of(session)
    if vectors is None or vectors.name != name or not vectors.extension:
        return []
    if not await session.value("relation", vectors.table):
        return []
    condition, values = _where(look)
    seen = await visible(session, look.owner, look.view)
    numbers = ",".join(repr(float(number)) for number in vector)
    effort = min(max(_EFFORT, look.limit), _FIRST_EFFORT)
    await session.run("near_plan", str(effort), str(_MOST_EFFORT))
    extension = f'"{vectors.extension}"'
    asked = f"CAST(CAST(:vector AS text) AS {extension}.halfvec)"
    asking = numbered(
        f"SELECT r.id FROM {vectors.table} AS n JOIN records AS r ON r.owner = n.owner AND r.no = n.record "  # noqa: S608 - our names
        "WHERE n.owner = :seen AND n.shelf = ANY(:shelves::bigint[]) AND r.shelf = n.shelf "
        f"AND r.type = ANY(:types::text[]) AND {condition} "
        f"ORDER BY n.numbers OPERATOR({extension}.<=>) {asked} LIMIT :limit"
    )
    values |= {"vector": f"[{numbers}]", "seen": seen.owner, "limit": look.limit}
    values["shelves"] = [number for number in look.shelves if number in seen.shelves]
    rows = await session.text(asking.text, *asking.arguments((), values))
    return [UUID(bytes=row[0]) for row in rows]


def _where(look: Look) -> tuple[str, dict[str, Any]]:
    condition, values = conditions(look.filter)
    if look.filter.thread is not None:
        values["thread"] = look.filter.thread.bytes
        condition += " AND r.thread = :thread"
    if look.statuses is not None:
        values["standing"] = sorted(status for status in look.statuses if status is not None)
        # Told of the column itself, the server knows how many these are, and which way of looking is short.
        without = " OR r.status IS NULL" if None in look.statuses else ""
        condition += f" AND (r.status = ANY(:standing::text[]){without})"
    types = PASSAGE_TYPES if look.filter.types is None else look.filter.types
    values |= {"types": sorted(types), "wanted": list(look.shelves)}
    values |= view_parameters(look.owner, look.view)
    return condition, values


async def around(session: Session, owner: Owner, view: View, ids: Sequence[UUID], reach: int) -> Excerpt:
    """Candidates among their neighbours."""
    given = [id.bytes for id in ids]
    found = await session.all("windows", ids=given, reach=reach, **view_parameters(owner, view))
    if not found:
        return Excerpt(PassageRows.of([]), [])
    numbers = sorted({number for row in found for number in row[2]})
    owner_no = found[0][0]
    vectors = await vectors_of(session)
    # Each table by itself: so many look-ups one by one take longer.
    terms, near = [
        {row[0]: row[1] for row in await session.all(name, owner_no, numbers, *of_set)}
        for name, of_set in (
            ("terms_numbered", ()),
            ("vectors_numbered", (0 if vectors is None else vectors.number,)),
        )
    ]
    rows = [row for row in await session.all("passages_numbered", owner_no, numbers) if row[-1] in terms]
    *columns, places = map(list, zip(*rows, strict=True)) if rows else [[] for _ in range(_ROW_WIDTH)]
    columns[_BESIDE:_BESIDE] = [terms[no] for no in places], [near.get(no) for no in places]
    place: Mapping[int, int] = {no: nth for nth, no in enumerate(places)}
    windows = []
    for _, number, window in found:
        if number in place:
            standing = [place[each] for each in window if each in place]
            windows.append((standing, standing.index(place[number])))
    return Excerpt(PassageRows(columns), windows)


def _hashes(words: Sequence[int], shelves: Sequence[int]) -> list[int]:
    """A question's terms as these shelves have them."""
    hashes = np.array(words, dtype=np.uint64).astype(np.int64)
    return [hash for shelf in shelves for hash in (hashes ^ np.int64(shelf)).tolist()]
