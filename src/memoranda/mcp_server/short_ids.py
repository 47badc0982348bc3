"""Short ids: the last eight digits of a record's id, which a model can quote back."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Final
from uuid import UUID

from memoranda.errors import InvalidInput, NotFound
from memoranda.mcp_server.asker import Asker
from memoranda.model.values import is_id

#: The first digits of an id are its time, so that records of one minute share them; the last ones are random.
_DIGITS: Final = 8
_SHORT: Final = re.compile(r"[0-9a-f]{4,31}")
#: The ids that were shown last are known; another one is looked for in the newest records, in pages.
_KNOWN: Final = 10_000
_PAGE: Final = 1000
_PAGES: Final = 20


def short(id: UUID) -> str:
    """Return the short form of an id."""
    return id.hex[-_DIGITS:]


class ShortIds:
    """The ids that were shown, by owner and short form."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], set[UUID]] = OrderedDict()

    def shown(self, asker: Asker, id: UUID) -> str:
        """Return the short form of an id that is shown, and note the id."""
        place = (asker.whose.owner, asker.whose.agent, short(id))
        self._known.setdefault(place, set()).add(id)
        self._known.move_to_end(place)
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return place[2]

    async def resolved(self, asker: Asker, given: str) -> UUID:
        """Return the id that a model names; raise an error with the cure if there is none, or more than one."""
        named = given.strip().casefold().strip("[]#`'\"").replace("-", "")
        if is_id(named):
            return UUID(named)
        if not _SHORT.fullmatch(named):
            raise NotFound(f"id: {given[:60]!r} is not an id; give one that recall showed")
        found = self._known.get((asker.whose.owner, asker.whose.agent, named)) or await _searched(
            asker, named
        )
        if not found:
            raise NotFound(f"id: no memory has the id {named}; call recall and give an id that it shows")
        if len(found) > 1:
            full = ", ".join(sorted(map(str, found)))
            raise InvalidInput(f"id: {named} stands for {len(found)} records; give one of {full}", field="id")
        return next(iter(found))


async def _searched(asker: Asker, named: str) -> set[UUID]:
    found: set[UUID] = set()
    for types in ("memory", ["episode", "message"]):
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await asker.call("list", types=types, newest_first=True, cursor=cursor, limit=_PAGE)
            found |= {record.id for record in page.records if record.id.hex.endswith(named)}
            cursor = page.cursor
            if cursor is None:
                break
        if found:
            break
    return found
