"""Rows that are kept as columns are rows all the same."""

from __future__ import annotations

import pytest

from memoranda.model.passages import PassageRow, PassageRows


def row(number: int) -> PassageRow:
    return PassageRow(
        bytes([number]), "memory", None, None, None, 0, number, None, None, b"", facets=str(number)
    )


def test_rows_kept_as_columns_are_the_rows_that_came_part_by_part():
    rows = [row(number) for number in range(5)]
    kept = PassageRows.of([rows[:2], [], rows[2:]])
    assert list(kept) == rows
    assert (len(kept), kept[1], kept[-1]) == (5, rows[1], rows[4])
    assert list(kept[1:3]) == rows[1:3]
    assert kept.column("facets") == ["0", "1", "2", "3", "4"]
    assert rows[3] in kept


def test_no_rows_have_columns_too():
    kept = PassageRows.of([])
    assert (list(kept), len(kept), kept.column("id")) == ([], 0, [])
    with pytest.raises(IndexError):
        kept[0]


def test_a_part_with_another_number_of_fields_is_refused():
    with pytest.raises(ValueError, match="zip"):
        PassageRows.of([[(b"", "memory")]])
