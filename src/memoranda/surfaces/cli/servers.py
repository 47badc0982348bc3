"""What the health of a book on a server is judged by."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from memoranda.model.facts import ServerFacts
from memoranda.surfaces.cli.health import Check

_SLOW_ANSWER_SECONDS = 0.1
#: Of a server's connections, the share beyond which the next program may find none.
_CROWDED = 0.9
#: The oldest server that knows all that the engine uses.
_OLDEST = 15


@runtime_checkable
class OnServer(Protocol):
    """An engine that keeps its book on a server."""

    async def examine(self) -> ServerFacts:
        """What the server says of itself."""


def checks(facts: ServerFacts) -> list[Check]:
    """Everything that the server's own word tells of."""
    return [
        _version(facts),
        _durability(facts),
        _wall(facts),
        _room(facts),
        _answer(facts),
        _vectors(facts),
        Check(
            "backups", "note", "a server's backups are its operator's; the book knows of none",
            "copy it to a file: memoranda copy BOOK FILE",
        ),
    ]  # fmt: skip


def _version(facts: ServerFacts) -> Check:
    found = f"PostgreSQL {facts.version}" + (
        ", a replica: it only lets itself be read" if facts.replica else ""
    )
    if facts.release < _OLDEST * 10_000:
        return Check("server", "warning", found, f"Memoranda is tested from version {_OLDEST} on: upgrade")
    return Check("server", "note" if facts.replica else "ok", found)


def _durability(facts: ServerFacts) -> Check:
    settings = (("fsync", facts.syncs), ("full_page_writes", facts.whole_pages))
    wrong = [name for name, right in settings if not right]
    if wrong:
        found = f"off: {', '.join(wrong)}"
        return Check("durability", "warning", found, "a power cut loses receipts, or the book: turn it on")
    return Check(
        "durability", "ok", "fsync is on, and the book's commits wait for it: a receipt means on disk"
    )


def _wall(facts: ServerFacts) -> Check:
    if facts.passes_walls:
        return Check(
            "second wall", "warning", "this user passes row-level security: one wall parts owners, not two",
            "serve the book with a role that is neither superuser nor BYPASSRLS",
        )  # fmt: skip
    return Check("second wall", "ok", "the server, too, shows a reader one owner's content alone")


def _room(facts: ServerFacts) -> Check:
    found = f"{facts.connections} of {facts.most_connections} in use"
    if facts.connections >= facts.most_connections * _CROWDED:
        return Check("connections", "warning", found, "raise max_connections, or put a pooler before it")
    return Check("connections", "ok", found)


def _answer(facts: ServerFacts) -> Check:
    found = f"answers in {facts.answer_seconds * 1000:.1f} ms"
    if facts.answer_seconds > _SLOW_ANSWER_SECONDS:
        return Check("way there", "note", found, "every call takes this some times: serve the book nearby")
    return Check("way there", "ok", found)


def _vectors(facts: ServerFacts) -> Check:
    if facts.vectors is None:
        return Check("pgvector", "note", "not in this database: large shelves are searched in memory")
    return Check("pgvector", "ok", f"version {facts.vectors}")
