"""Reads all pages of a list, for work that goes through every record."""

from __future__ import annotations

from collections.abc import AsyncIterator

from memoranda.model.query import Filter, Page
from memoranda.model.records import Owner, Record, View
from memoranda.ports import Lists

#: Records in a page, unless a reader needs more at once.
PAGE = 500


async def every_page(
    lists: Lists, owner: Owner, view: View, only: Filter, size: int = PAGE
) -> AsyncIterator[Page]:
    """Yield the pages of the records that a view sees and a filter selects; there is at least
    one.
    """
    cursor: str | None = None
    while True:
        page = await lists.scan(owner, view, only, cursor, size)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


async def every_record(
    lists: Lists, owner: Owner, view: View, only: Filter, size: int = PAGE
) -> AsyncIterator[Record]:
    """Yield the records that a view sees and a filter selects, read in pages."""
    async for page in every_page(lists, owner, view, only, size):
        for record in page.records:
            yield record
