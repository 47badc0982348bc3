"""The plans of hot statements: each reaches its rows through an index, however large the book."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from memoranda.engines.sqlite.file.connections import Connector, sql, statements
from memoranda.engines.sqlite.file.migrations import book_migrations
from memoranda.engines.sqlite.reads import DIALECT, stream
from memoranda.model.memories import HELD
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.model.values import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Statements that read a whole table on purpose: upkeep, or tables that stay small.
WHOLE_TABLES = {
    "jobs_about",
    "jobs_in_state",
    "erase_entries",
    "erased_eras",
    "erasures_of",
    "owners_of_tenant",
    "vector_sets",
    "vector_pieces",
    "sets_not_due",
    "activate_vector_set",
    "renew_shelves",
    "recount_held_of_all",
    "recount_vector_sets",
    "tables_of_content",
    "backups",
    "key_uses",
    "restrictions",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "book.db"
    path.touch()
    # The product's own connections: statements may call its functions.
    connection = Connector(path, "OFF", 1.0, sqlite3.connect).writing()
    for step in book_migrations().after(0):
        connection.executescript(step.sql)
    yield connection
    connection.close()


def plan(connection: sqlite3.Connection, statement: str) -> list[str]:
    text = statement.replace("{ids}", "?,?").replace("{shelves}", "?,?").replace("{slots}", "?,?")
    text = text.replace(
        "{conditions}", DIALECT.conditions(Filter(statuses=frozenset({"active"})), EARLIEST)[0]
    )
    named = set(re.findall(r":(\w+)", text))
    last = 0
    for number in re.findall(r"\?(\d*)", text):
        # Without a number of its own, a place comes after the last one.
        last = max(last, int(number)) if number else last + 1
    values = dict.fromkeys(named) if named else (None,) * last
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]


@pytest.mark.parametrize("name", sorted(set(statements()) - WHOLE_TABLES))
def test_a_statement_never_reads_a_whole_table(book: sqlite3.Connection, name: str) -> None:
    steps = plan(book, sql(name))
    scans = [
        step
        for step in steps
        if step.startswith("SCAN") and not re.match(r"SCAN (json_each|l$|\(|CONSTANT)", step)
    ]
    assert scans == [], steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("visible_shelves", "owners_living"),
        ("get", "sqlite_autoindex_records_1"),
        ("scan_up", "records_on_shelf"),
        ("scan_down", "records_on_shelf"),
        ("scan_thread_up", "records_of_thread"),
        ("passages_since", "records_by_mark"),
        ("passages_since", "SEARCH v USING INTEGER PRIMARY KEY"),
        ("passages_since", "SEARCH vector_sets USING COVERING INDEX vector_sets_active"),
        ("lacking", "SEARCH t USING INTEGER PRIMARY KEY (rowid>?)"),
        ("first_lacking", "SEARCH t USING INTEGER PRIMARY KEY (rowid>?)"),
        ("delete_vectors", "INTEGER PRIMARY KEY (rowid=?)"),
        ("delete_vectors_of_set", "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        ("sets_not_due", "sqlite_autoindex_jobs_2"),
        ("holders", "records_by_slot"),
        ("scan_thread_down", "records_of_thread"),
        ("count_thread", "records_of_thread"),
        ("places_up", "records_of_thread"),
        ("places_down", "records_of_thread"),
        ("last_user_turn", "records_of_thread"),
        ("count_run", "records_of_run"),
        ("oldest_own", "memories_held"),
        ("count_own", "memories_held"),
        ("own_memories", "memories_held"),
        ("own_memories", "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)"),
        ("resting_on", "links_to_source"),
        ("by_operation", "ledger_by_operation"),
        ("due_job", "jobs_due (kind=? AND due<?)"),
        ("due_job", "jobs_leased (owner=?)"),
        ("stale_terms", "terms"),
        ("ids_on_shelf_after", "records_on_shelf (shelf=? AND type=? AND id>?)"),
        ("record_pieces", "sqlite_autoindex_records_1"),
        ("version_pieces", "sqlite_autoindex_versions_1"),
        ("vector_pieces", "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"),
        ("vector_pieces", "SEARCH v USING INTEGER PRIMARY KEY (rowid=?)"),
        ("jobs_of_era", "sqlite_autoindex_jobs_2"),
        ("spent_of_owner", "spent_of_owner"),
    ],
)
def test_a_hot_statement_uses_its_index(book: sqlite3.Connection, name: str, index: str) -> None:
    assert any(index in step for step in plan(book, sql(name))), plan(book, sql(name))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(
    ("only", "index"),
    [
        (Filter(pinned=True), "memories_pinned"),
        (Filter(kinds=frozenset({"instruction"}), statuses=HELD), "memories_instructing"),
        (Filter(keys=frozenset({"city"}), statuses=HELD), "memories_keyed"),
        (Filter(kinds=frozenset({"instruction"})), "records_on_shelf"),
        (Filter(keys=frozenset({"city"})), "records_on_shelf"),
        (Filter(kinds=frozenset({"fact"}), statuses=HELD), "records_on_shelf"),
    ],
)
def test_what_few_memories_are_is_read_through_their_own_index(
    book: sqlite3.Connection, only: Filter, index: str, newest_first: bool
) -> None:
    only = replace(only, types=frozenset({RecordType.MEMORY}), newest_first=newest_first)
    steps = plan(book, stream(only, RecordType.MEMORY, DIALECT.conditions(only, EARLIEST)[0]))
    assert any(
        re.search(rf"USING INDEX {index} \(shelf=\?( AND type=\?)? AND id[<>]\?\)", step)
        for step in steps
    ), steps
