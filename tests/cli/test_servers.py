"""Tests of the checks that ``doctor`` makes of a book's server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.cli import health_checks
from memoranda.cli.replica_checks import replica_checks
from memoranda.model.server_facts import ReplicaFacts, ServerFacts

SOUND = ServerFacts(
    version="16.4 (Debian 16.4-1)",
    release=160004,
    syncs=True,
    whole_pages=True,
    passes_walls=False,
    replica=False,
    most_connections=100,
    connections=12,
    vectors="0.8.0",
    answer_seconds=0.001,
)


def states(facts: ServerFacts) -> dict[str, str]:
    return {check.name: check.state for check in health_checks.server_checks(facts)}


def test_a_sound_server_is_in_health() -> None:
    found = states(SOUND)
    # That the book knows of no backup is worth knowing, and no fault.
    assert found.pop("backups") == "note"
    assert set(found.values()) == {"ok"}


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        ({"syncs": False}, "durability", "warning"),
        ({"whole_pages": False}, "durability", "warning"),
        ({"passes_walls": True}, "row security", "warning"),
        ({"connections": 95}, "connections", "warning"),
        ({"version": "14.2", "release": 140002}, "server", "warning"),
        ({"replica": True}, "server", "note"),
        ({"vectors": None}, "pgvector", "note"),
        ({"answer_seconds": 0.5}, "latency", "note"),
    ],
)
def test_what_is_unsound_is_told_and_nothing_else(
    change: dict[str, object], name: str, state: str
) -> None:
    before, after = states(SOUND), states(replace(SOUND, **change))  # type: ignore[arg-type]
    assert after[name] == state
    assert {each for each in after if after[each] != before[each]} == {name}


@pytest.mark.parametrize("version", ["18beta1", "18devel", "18rc1 (Debian 18~rc1-1)"])
def test_a_server_before_its_release_is_examined_like_any_other(version: str) -> None:
    found = {
        check.name: check
        for check in health_checks.server_checks(replace(SOUND, version=version, release=180000))
    }
    assert found["server"].state == "ok"
    assert version in found["server"].found


THREE = ReplicaFacts("6.0.5", "rs0", members=3, arbiters=0, oplog_hours=48.0, answer_seconds=0.001)


def of_replica(facts: ReplicaFacts) -> dict[str, str]:
    return {check.name: check.state for check in replica_checks(facts)}


def test_a_sound_replica_set_is_in_health() -> None:
    found = of_replica(THREE)
    # That the server separates nobody, and that the book knows of no backup, is worth knowing, and
    # no fault.
    assert (found.pop("row security"), found.pop("backups")) == ("note", "note")
    assert set(found.values()) == {"ok"}


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        ({"members": 1}, "members", "note"),
        ({"members": 2, "arbiters": 1}, "members", "warning"),
        ({"set": None}, "members", "note"),
        ({"oplog_hours": None}, "oplog", "note"),
        ({"oplog_hours": 1.0}, "oplog", "note"),
        ({"answer_seconds": 0.5}, "latency", "note"),
    ],
)
def test_what_a_replica_set_lacks_is_told_and_nothing_else(
    change: dict[str, object], name: str, state: str
) -> None:
    before, after = of_replica(THREE), of_replica(replace(THREE, **change))  # type: ignore[arg-type]
    assert after[name] == state
    assert {each for each in after if after[each] != before[each]} == {name}
