"""Checks of a replica set of MongoDB that holds a book."""

from __future__ import annotations

from memoranda.cli.health_checks import Check, latency
from memoranda.cli.output.terminal import counted
from memoranda.model.server_facts import ReplicaFacts

#: Members that a book outlives one of.
_SAFE = 3
#: A member that was away for longer copies everything anew.
_LEAST_HOURS = 24.0


def replica_checks(facts: ReplicaFacts) -> list[Check]:
    """Make all checks from the facts about a replica set."""
    where = "a cluster of shards" if facts.set is None else f"replica set {facts.set}"
    return [
        Check("server", "ok", f"MongoDB {facts.version}, {where}"),
        _members(facts),
        Check("durability", "ok", "a commit waits for a majority of the members and their journals (w: majority, j: true)"),
        _oplog(facts),
        Check(
            "row security", "note", "MongoDB has none: whoever may read this database reads every owner",
            "to keep tenants apart give each a database and a user of its own",
        ),
        _views(facts),
        latency(facts.answer_seconds),
        Check(
            "backups", "note", "the book knows of none: it does not note them",
            "make one in a file: memoranda backup FILE; a dump of the database may hold what is erased later",
        ),
    ]  # fmt: skip


def _members(facts: ReplicaFacts) -> Check:
    if facts.set is None:
        return Check("members", "note", "of a cluster of shards only each shard knows them")
    found = counted(facts.members, "member stores", "members store") + " the book"
    if facts.arbiters:
        return Check(
            "members", "warning", f"{found}, and {counted(facts.arbiters, 'arbiter', 'arbiters')} nothing",
            "an arbiter lets a set elect a primary that lacks acknowledged writes: replace it by a member with data",
        )  # fmt: skip
    if facts.members < _SAFE:
        return Check(
            "members", "note", found, f"with {_SAFE} members the book outlives the loss of one"
        )
    return Check("members", "ok", found)


def _oplog(facts: ReplicaFacts) -> Check:
    if facts.oplog_hours is None:
        return Check(
            "oplog",
            "note",
            "this user may not see how many hours of changes it has",
            "that needs read on the database local",
        )
    found = f"has the changes of {facts.oplog_hours:,.1f} hours"
    if facts.members > 1 and facts.oplog_hours < _LEAST_HOURS:
        return Check(
            "oplog",
            "note",
            found,
            "a member that is away for longer copies everything anew: make the oplog larger",
        )
    return Check("oplog", "ok", found)


def _views(facts: ReplicaFacts) -> Check:
    if not facts.taken:
        return Check("views", "ok", "no other program has a name of theirs")
    how = "make them under other names: memoranda views create --prefix P"
    return Check(
        "views",
        "note",
        f"another program has {', '.join(facts.taken)}, or an earlier version made it",
        how,
    )
