"""Operations of an operator over a whole book: its owners and records, vectors, checks, backups,
restrictions.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from memoranda.book.admin.backup_files import Backups
from memoranda.book.admin.memory_retention import Retained, retain_memories
from memoranda.book.admin.retention import Retention
from memoranda.book.admin.transfer import ImportReport, Transfer
from memoranda.book.input import (
    Conditions,
    as_cursor,
    as_filter,
    as_flag,
    as_limit,
    as_path,
    as_types,
    owner_named,
)
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.model.language_models import Spent, SpentFilter
from memoranda.model.ledger import Scrubbed
from memoranda.model.query import BookFacts, Filter, Findings, Page, Scan
from memoranda.model.records import WHOLE, Owner, Record, RecordType
from memoranda.model.service_records import CALLER, Appends, ReadLines, Restriction
from memoranda.model.values import refused
from memoranda.operations import Part, Role, W, no_offer, offer, offer_lines
from memoranda.ports import Engine

#: Records that one round trip may read, and owners that it may ask for.
_RECORDS: Final = 2_000
_OWNERS: Final = 64
#: Owners that one call visits; its cursor continues with the others.
_VISITED: Final = 5_000
_TASKS = frozenset({RecordType.THREAD, RecordType.EPISODE})

#: An owner's kind and id.
_Place = tuple[str, str]


@spelled_out
class Admin(Part[W]):
    """What an operator does with a book and reads of every owner of the tenant. No agent gets this
    object.
    """

    def __init__(
        self,
        services: Services,
        transfer: Transfer,
        backups: Backups,
        on_erased: Callable[[], None],
        refresh_terms: Callable[[], Awaitable[int]],
        retention: Retention,
    ) -> None:
        self._services = services
        self._engine = services.engine
        self._tenant = services.tenant
        self.transfer = transfer
        self.backups = backups
        self._on_erased = on_erased
        self._refresh_terms = refresh_terms
        self._retention = retention

    # ── records of all owners ─────────────────────────────────────────────────────────────────────

    @offer(Role.ADMIN, "GET /v1/records", command="list", title="list_records_of_all_owners")
    async def list(
        self,
        *,
        types: Iterable[str] | str | None = None,
        only: Conditions | None = None,
        newest_first: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page:
        """Return a page of the records of all owners, owner by owner; without ``types``, threads
        and episodes.

        It visits at most 5,000 owners: a page may be short, or empty, and still have a cursor for
        the next one.
        """
        filter = as_filter(as_types(types) or _TASKS, only or {}, newest_first=newest_first)
        return await records_of_all(
            self._engine, self._tenant, filter, as_cursor(cursor), as_limit(limit)
        )

    @offer(Role.ADMIN, "GET /v1/reads", command="audit")
    async def reads(
        self,
        owner: str | Owner | None = None,
        *,
        since: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> ReadLines:
        """Return a page of the lines that a service noted about reads, oldest first: about one
        owner, or about anybody.
        """
        about = None if owner is None else owner_named(owner, self._tenant)
        if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
            raise InvalidInput("since: give a time with its zone", field="since")
        return await self._engine.reads(
            self._tenant, about, since, as_limit(limit), as_cursor(cursor)
        )

    @offer(Role.ADMIN, "GET /v1/owners", command="list", title="list_owners")
    async def owners(self) -> Sequence[Owner]:
        """Return the tenant's owners that have a ledger, also if all their records were forgotten
        one by one.
        """
        return await self._engine.owners(self._tenant)

    @offer(Role.ADMIN, "POST /retain")
    async def retain(self, owner: str | Owner, *, dry_run: bool = False) -> Retained:
        """Do now for one owner's memories what ``retention.archive_days`` and
        ``retention.erase_days`` let a worker do once a day.

        With ``dry_run`` nothing is written, and the receipts say what would be archived and erased.
        """
        party, kept = owner_named(owner, self._tenant), self._retention
        dry, door = as_flag(dry_run, "dry_run"), self._services.door
        return await retain_memories(
            self._engine, door, party, kept.archive_days, kept.erase_days, dry_run=dry
        )

    @offer(Role.ADMIN, "GET /v1/facts", command="doctor", title="read_facts")
    async def facts(self, *, whole: bool = False) -> BookFacts:
        """Return facts about this book's tenant, or with ``whole``, which no service answers, about
        all tenants.

        ``details["vectors"]`` says how many passages have a vector, and of which model.
        """
        found = await self._engine.facts(_tenant_of(whole, self._tenant))
        return await self._services.embeddings.facts(found, whole=whole)

    @offer(Role.VIEWER, "GET /v1/usage", command="usage", title="read_usage")
    async def usage(
        self,
        owner: str | Owner | None = None,
        *,
        agent: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Sequence[Spent]:
        """Return what calls to language models used and cost, from the day ``since`` to before the
        day ``until`` (UTC).

        There is one item for each owner, agent, day, task and model; ``model.spending.totals`` adds
        them up by one of these.
        """
        party = None if owner is None else owner_named(owner, self._tenant)
        return await self._engine.spent(self._tenant, _as_spent_filter(party, agent, since, until))

    # ── the whole book ────────────────────────────────────────────────────────────────────────────

    @offer_lines(
        Role.VIEWER,
        "GET /v1/export",
        command="export",
        title="export_lines",
        of_the_person="an export",
    )
    def export(
        self, owner: str | Owner | None = None, *, masked: bool = False, everything: bool = False
    ) -> AsyncIterator[str]:
        """Yield the lines of an export of the book, or of one owner.

        With ``masked`` it shows masks in place of secrets; it is for people to read, and cannot be
        imported. The export of a book says what was erased, unless a service exports a book that
        other tenants share: nobody can tell their erased owners apart. With ``everything`` the
        export of one owner also tells what is stored elsewhere about them: records of agents and
        keys, a restriction, who read their data, usage of models, and when something was erased.
        An import skips these lines.
        """
        party = None if owner is None else owner_named(owner, self._tenant)
        whole = as_flag(everything, "everything")
        if whole and party is None:
            raise InvalidInput(
                "everything: name the owner whom the export is about", field="everything"
            )
        hidden = as_flag(masked, "masked")
        # Now: whoever reads the lines later may call in another's name.
        holds_book = CALLER.get().holds_book
        return self.transfer.export(party, masked=hidden, everything=whole, holds_book=holds_book)

    @offer(Role.ADMIN, "POST /v1/import", command="import", title="import_lines")
    async def import_(
        self,
        lines: Iterable[str] | AsyncIterable[str],
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        """Import an export: what was erased here stays erased, and records that exist here stay
        unchanged.
        """
        return await self.transfer.import_(lines, progress)

    @no_offer("its target is a path of the machine that has the book: run memoranda backup there")
    async def backup(
        self, target: str | Path, progress: Callable[[int, int], None] | None = None
    ) -> Findings:
        """Write a copy of the book to a new file while it is in use, and verify it; also if the
        book is on a server.
        """
        return await self.backups.backup(as_path(target, "target"), progress)

    @offer(Role.ADMIN, "POST /v1/rebuild", command="rebuild")
    async def rebuild(
        self, progress: Callable[[int, int], None] | None = None
    ) -> Mapping[str, int]:
        """Recompute what code derives from records, search terms included; records, ledger and uses
        stay unchanged.
        """
        done = dict(await self._engine.rebuild(progress))
        done["terms"] = await self._refresh_terms()
        self._on_erased()
        return done

    @offer(Role.ADMIN, "POST /v1/embed")
    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute the missing vectors of passages now and return how many were made; without an
        embedder none are.
        """
        return await self._services.embeddings.catch_up(progress)

    @offer(Role.ADMIN, "POST /v1/reembed", command="reembed")
    async def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Compute all vectors with this book's embedder; recall reads the old ones until all new
        ones are there.

        A call that was interrupted goes on where it stopped when it is made again; returns how many
        it made itself.
        """
        return await self._services.embeddings.renew(progress)

    @offer(Role.ADMIN, "POST /v1/verify", command="verify")
    async def verify(
        self, progress: Callable[[int, int], None] | None = None, *, whole: bool = False
    ) -> Findings:
        """Compare every record of this book's tenant with the ledger, check all tables, and return
        the findings.

        With ``whole``, which no service answers, verify the records of all tenants.
        """
        return await self._engine.verify(progress, _tenant_of(whole, self._tenant))

    @offer(Role.ADMIN, "POST /v1/scrub", command="forget")
    async def scrub(self) -> Scrubbed:
        """Clear the book's own files of everything that was forgotten. It completes an erasure
        whose state is ``pending``.

        On a server every table is rewritten, and each is locked while it is.
        """
        return await self._engine.scrub()

    # ── restricting a person's data ───────────────────────────────────────────────────────────────

    @offer(
        Role.EDITOR,
        "PUT /restriction",
        command="restrict",
        of_the_person="restricting what is done with a person's data",
    )
    async def restrict(self, owner: str | Owner, *, appends: str = "refuse") -> Restriction:
        """Restrict the processing of an owner's data; a second call changes only ``appends``.

        Only the owner's own view still reads it; export, undo of hiding and erasure stay possible.
        New content is refused with ``Restricted``, or stored unread with ``appends="keep_unread"``.
        The restriction survives an erasure, and moves with an export. ``admin.reads`` lists who
        restricted whom, and when.
        """
        return await self._engine.restrict(
            owner_named(owner, self._tenant),
            _as_appends(appends),
            self._services.door.clock(),
            CALLER.get(),
        )

    @offer(Role.ADMIN, "DELETE /restriction", command="unrestrict")
    async def unrestrict(self, owner: str | Owner) -> bool:
        """Lift the restriction of an owner; False if there is none."""
        party = owner_named(owner, self._tenant)
        return await self._engine.unrestrict(party, self._services.door.clock(), CALLER.get())

    @offer(Role.VIEWER, "GET /restriction", command="restrict")
    async def restriction(self, owner: str | Owner) -> Restriction | None:
        """Return the restriction of an owner; None if there is none."""
        return await self._engine.restriction(owner_named(owner, self._tenant))


async def records_of_all(
    engine: Engine, tenant: str, filter: Filter, cursor: str | None, limit: int
) -> Page:
    """Return a page of the records of a tenant's owners, owner by owner; some owners at a time."""
    after, inner = _place_of(cursor)
    owners = sorted(await engine.owners(tenant), key=_key)
    left = [owner for owner in owners if _key(owner) >= after]
    if inner is not None and left and _key(left[0]) != after:
        # The owner within whose records the last page ended is gone.
        inner = None
    found: list[Record] = []
    at = 0
    while at < len(left) and len(found) < limit and at < _VISITED:
        room = limit - len(found)
        asked = left[at : at + max(1, min(_OWNERS, _RECORDS // room))]
        starts = [inner, *(None for _ in asked[1:])]
        pages = await engine.scans(
            [
                Scan(owner, WHOLE, filter, start, room)
                for owner, start in zip(asked, starts, strict=True)
            ]
        )
        for page in pages:
            if len(found) + len(page.records) > limit:
                return Page(tuple(found), _cursor_of(left[at], inner))
            found += page.records
            inner = page.cursor
            if inner is not None:
                return Page(tuple(found), _cursor_of(left[at], inner))
            at += 1
    return Page(tuple(found), _cursor_of(left[at], inner) if at < len(left) else None)


def _key(owner: Owner) -> _Place:
    return owner.kind.value, owner.id


def _cursor_of(owner: Owner, inner: str | None) -> str:
    return urlsafe_b64encode(json.dumps([*_key(owner), inner]).encode()).decode()


def _place_of(cursor: str | None) -> tuple[_Place, str | None]:
    """Return the owner that a page begins with, and the cursor within that owner's records."""
    if cursor is None:
        return ("", ""), None
    try:
        kind, id, inner = json.loads(urlsafe_b64decode(cursor))
        if (
            not isinstance(kind, str)
            or not isinstance(id, str)
            or not (inner is None or isinstance(inner, str))
        ):
            raise TypeError
    except (ValueError, TypeError):
        raise InvalidInput(
            "cursor: it was not returned by a page; begin without a cursor", field="cursor"
        ) from None
    return (kind, id), inner


def _tenant_of(whole: bool, tenant: str) -> str | None:
    """Return the tenant that a call is about; None for all of them, for who holds the book."""
    if whole and not CALLER.get().holds_book:
        raise NotAllowed("whole: a service answers for its own tenant only; leave it out")
    return None if whole else tenant


def _as_spent_filter(owner: Owner | None, agent: Any, since: Any, until: Any) -> SpentFilter:
    """Return the filter of what was spent, with its days checked."""
    days = {"since": _as_day(since, "since"), "until": _as_day(until, "until")}
    try:
        return SpentFilter.model_validate({"owner": owner, "agent": agent, **days})
    except ValidationError as exc:
        raise refused(exc) from exc


def _as_day(value: Any, field: str) -> date | None:
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    raise InvalidInput(f"{field}: give a date, not {value!r}; spending is kept by day", field=field)


def _as_appends(appends: str) -> Appends:
    try:
        return Appends(appends)
    except ValueError:
        raise InvalidInput(
            f"appends: {appends!r} is none; use refuse or keep_unread", field="appends"
        ) from None
