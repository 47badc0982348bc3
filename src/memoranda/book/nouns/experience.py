"""The verbs of a book over experience: lines (short lessons) that an agent learnt, and the users
each may be shown for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from memoranda.book.input import as_flag, as_id, as_limit, each, owner_named
from memoranda.book.record_ids import record_ids
from memoranda.book.services import RecordVerbs, Services
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    ApproveExperience,
    Change,
    RetireExperience,
)
from memoranda.model.experience_lines import Evidence, ExperienceLine, serves
from memoranda.model.ledger import Receipt
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, Record, RecordType, Trust, those_of
from memoranda.model.service_records import CALLER
from memoranda.model.values import new_id, refused
from memoranda.operations import Names, Part, Role, W, offer
from memoranda.paging import every_page

_LINES = Filter(types=frozenset({RecordType.EXPERIENCE}))
_AT_A_TIME = 1000


class Experience(RecordVerbs, Part[W]):
    """The lines (short lessons) an agent has learnt. These verbs act for all users, except ``list``
    with ``for_user``.
    """

    @offer(Role.EDITOR, "POST /v1/agents/{agent}/experience", names={"evidence": Names.USERS})
    async def add(
        self,
        agent: str,
        field: str,
        line: str,
        *,
        evidence: Mapping[str, Sequence[UUID | str]] | None = None,
        operation: str | None = None,
    ) -> Receipt:
        """Add a line to an agent's experience; ``evidence`` names users, and which of their records
        taught it.

        Without evidence it is the caller's own word, and approved if an admin or the program itself
        adds it; with evidence, it passes the guard or serves these alone.
        """
        party = agent_named(agent, self._services.tenant)
        draft = {"field": field, "line": line, "evidence": evidence or {}}
        changes = await lines_added(self._services, party, [draft])
        request = [field, line, _told(evidence)]
        return await self._services.write(
            party, WHOLE, changes, ["experience", *request], operation
        )

    @offer(
        Role.EDITOR,
        "POST /v1/agents/{agent}/experience/{line}/evidence",
        names={"evidence": Names.USERS},
    )
    async def add_evidence(
        self,
        agent: str,
        line: UUID | str,
        evidence: Mapping[str, Sequence[UUID | str]],
        *,
        operation: str | None = None,
    ) -> Receipt:
        """Add users' records to a line's evidence, and run the privacy check against these
        users.
        """
        id, now = as_id(line, "line"), self._services.door.clock()
        grounds = await _grounds(self._services, evidence)
        return await self._hold(
            agent, id, grounds, now, ["evidence", str(id), _told(evidence)], operation
        )

    @offer(
        Role.EDITOR,
        "POST /v1/agents/{agent}/experience/{line}/check-privacy",
        command="experience check-privacy",
    )
    async def check_privacy(
        self, agent: str, line: UUID | str, *, operation: str | None = None
    ) -> Receipt:
        """Run the privacy check of a line again, against the current records of every user in its
        evidence.
        """
        id, now = as_id(line, "line"), self._services.door.clock()
        held = await self._line(agent, id)
        return await self._hold(agent, id, held.evidence, now, ["guard", str(id)], operation)

    @offer(
        Role.VIEWER,
        "GET /v1/agents/{agent}/experience",
        command="experience list",
        names={"for_user": Names.OWNER},
    )
    async def list(
        self,
        agent: str,
        *,
        for_user: str | Owner | None = None,
        retired: bool = False,
        limit: int = 1000,
    ) -> Sequence[ExperienceLine]:
        """Return an agent's lines, oldest first; with ``for_user`` only the lines that may be read
        for that user, without other users' evidence; none while their processing is restricted.
        """
        user = None if for_user is None else owner_named(for_user, self._services.tenant)
        if user is not None and await self._services.engine.restriction(user) is not None:
            return []
        users, most = self._services.door.limits.experience_min_users, as_limit(limit)
        found: list[ExperienceLine] = []
        async for page in every_page(
            self._services.engine, self._agent(agent), WHOLE, _LINES, _AT_A_TIME
        ):
            lines = those_of(ExperienceLine, page.records)
            if user is None:
                found += [line for line in lines if retired or line.retired_at is None]
            else:
                found += [line.shown_to(user) for line in lines if serves(line, user, users)]
            if len(found) >= most:
                break
        return found[:most]

    @offer(
        Role.ADMIN,
        "POST /v1/agents/{agent}/experience/{line}/approve",
        command="experience approve",
    )
    async def approve(
        self, agent: str, line: UUID | str, *, approved: bool = True, operation: str | None = None
    ) -> Receipt:
        """Approve a line for all users, whatever the privacy check and the number of users say; or
        withdraw that.
        """
        id = as_id(line, "line")
        change = ApproveExperience(id, as_flag(approved, "approved"))
        return await self._write(
            self._agent(agent), WHOLE, change, ["approve", str(id), approved], operation
        )

    @offer(Role.EDITOR, "DELETE /v1/agents/{agent}/experience/{line}", command="experience retire")
    async def retire(
        self, agent: str, line: UUID | str, *, reason: str = "", operation: str | None = None
    ) -> Receipt:
        """Retire a line: it is shown for no user any more."""
        change = RetireExperience(as_id(line, "line"), reason)
        return await self._write(
            self._agent(agent), WHOLE, change, ["retire", str(line), reason], operation
        )

    async def _hold(
        self,
        agent: str,
        id: UUID,
        grounds: Sequence[Evidence],
        now: datetime,
        request: Sequence[object],
        operation: str | None,
    ) -> Receipt:
        text = (await self._line(agent, id)).line
        changes: list[Change] = [
            AddEvidence(id, await self._guarded(text, part, now)) for part in grounds
        ]
        return await self._services.write(self._agent(agent), WHOLE, changes, request, operation)

    async def _line(self, agent: str, id: UUID) -> ExperienceLine:
        found = (await self._services.engine.get(self._agent(agent), WHOLE, [id])).get(id)
        if not isinstance(found, ExperienceLine):
            raise NotFound(f"line: agent {agent} has no line {id}")
        return found

    async def _guarded(self, line: str, part: Evidence, now: datetime) -> Evidence:
        # Its tables of words take long to import, and few programs need them.
        from memoranda.formation.privacy.line_checks import PrivacyGuard  # noqa: PLC0415

        passed = await PrivacyGuard(self._services.engine).passes(line, part.owner)
        return part.model_copy(update={"guarded_at": now if passed else None})

    def _agent(self, agent: str) -> Owner:
        return agent_named(agent, self._services.tenant)


def agent_named(agent: str, tenant: str) -> Owner:
    """Return an agent as the owner of its experience."""
    try:
        return Owner(tenant=tenant, kind=OwnerKind.AGENT, id=agent)
    except ValidationError as exc:
        raise refused(exc, at=OwnerKind.AGENT.value) from exc


async def lines_added(
    services: Services,
    agent: Owner,
    drafts: Sequence[Mapping[str, Any]],
    beside: Sequence[Record] = (),
) -> Sequence[Change]:
    """Return the changes that add lines to an agent's experience, each with the result of the
    privacy check.

    ``beside`` are users' records that are stored together with the lines.
    """
    now, trusted = services.door.clock(), CALLER.get().trust is Trust.OPERATOR
    given = [{**one, "evidence": await _grounds(services, one["evidence"])} for one in drafts]
    made: list[ExperienceLine] = each(
        given,
        "experience",
        lambda draft: ExperienceLine(
            **draft,
            id=new_id(),
            owner=agent,
            observed_at=now,
            approved_at=now if trusted and not draft["evidence"] else None,
        ),
    )
    changes = list(map(AddExperience, made))
    if not any(line.evidence for line in made):
        return changes
    # Its tables of words take long to import, and few programs need them.
    from memoranda.formation.privacy.line_checks import PrivacyGuard  # noqa: PLC0415

    return await PrivacyGuard(services.engine, beside=beside).with_results(changes, (), now)


async def _grounds(
    services: Services, evidence: Mapping[Any, Sequence[UUID | str]]
) -> list[Evidence]:
    return [await _ground(services, user, ids) for user, ids in evidence.items()]


async def _ground(services: Services, user: str | Owner, ids: Sequence[UUID | str]) -> Evidence:
    owner = owner_named(user, services.tenant)
    if isinstance(ids, str):
        raise InvalidInput(
            "evidence: give a list of ids for each user, not a text", field="evidence"
        )
    sources = await record_ids(services.engine, owner, WHOLE, ids, "evidence")
    there = await services.engine.get(owner, WHOLE, sources)
    missing = [id for id in sources if id not in there]
    if missing:
        raise NotFound(f"evidence: {owner} has no record {missing[0]}")
    try:
        return Evidence(owner=owner, sources=sources)
    except ValidationError as exc:
        raise refused(exc, at="evidence") from exc


def _told(evidence: Mapping[str, Sequence[UUID | str]] | None) -> dict[str, list[str]]:
    return {user: [str(id) for id in ids] for user, ids in (evidence or {}).items()}
