"""Reads lists to their end, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

from memoranda.model.query import Filter, Page
from memoranda.model.records import Owner, Record, View
from memoranda.ports import Lists

#: Records in a page, unless a reader needs more at once.
PAGE = 500


class Continued(Protocol):
    """A page, with the cursor of the next one; None in the last page."""

    @property
    def cursor(self) -> str | None: ...


P = TypeVar("P", bound=Continued)


async def by_cursor(read: Callable[[str | None], Awaitable[P]]) -> AsyncIterator[P]:
    """Yield the pages of a list that ``read`` returns for a cursor; there is at least one."""
    cursor: str | None = None
    while True:
        page = await read(cursor)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def every_page(
    lists: Lists, owner: Owner, view: View, only: Filter, size: int = PAGE
) -> AsyncIterator[Page]:
    """Return the pages of the records that a view sees and a filter selects."""
    return by_cursor(lambda cursor: lists.scan(owner, view, only, cursor, size))


async def every_record(
    lists: Lists, owner: Owner, view: View, only: Filter, size: int = PAGE
) -> AsyncIterator[Record]:
    """Yield the records that a view sees and a filter selects, read in pages."""
    async for page in every_page(lists, owner, view, only, size):
        for record in page.records:
            yield record
