"""The record of who forms threads (turns them into memories): reading it, making it, and changing
it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from memoranda.model.book_rows import WHO_FORMS, BookFrame, SpentPiece
from memoranda.model.language_models import FORMATION, FormingRecord
from memoranda.storage.service_questions import KeyUseRows, RestrictionRows
from memoranda.storage.upkeep_questions import BookRows, Properties, SpentRows
from memoranda.storage.use_case import Deciding, ask
from memoranda.storage.use_cases.costs import all_spent
from memoranda.storage.writes import SetProperty


def forming_record(tenant: str) -> Deciding[FormingRecord]:
    """Return who forms a tenant's threads; in a book of before, the model that it last paid for
    that.
    """
    stored = yield from _stored()
    return (yield from _record_in(stored, tenant))


def recorded(tenant: str, agent: str | None) -> Deciding[str]:
    """Return who is recorded to form the threads of an agent; empty if nobody is recorded for all
    agents.
    """
    by_agent = (yield from _stored()).get(tenant, {})
    return FormingRecord(by_agent).of(agent) if "" in by_agent else ""


def claim_forming(tenant: str, agent: str | None, who: str) -> Deciding[str]:
    """Return who forms the threads of an agent; record ``who`` for all agents if nobody is
    recorded.
    """
    stored = yield from _stored()
    record = yield from _record_in(stored, tenant)
    found = record.of(agent) or who
    if "" not in stored.get(tenant, {}):
        yield _save({**stored, tenant: {**record.by_agent, "": record.of() or who}})
    return found


def change_forming(tenant: str, agent: str | None, who: str) -> Deciding[None]:
    """Record who forms a tenant's threads, or those of one agent; an empty text removes that
    agent's record.
    """
    stored = yield from _stored()
    record = yield from _record_in(stored, tenant)
    changed = {**record.by_agent, agent or "": who}
    yield _save({**stored, tenant: {name: value for name, value in changed.items() if value}})


def book_frame() -> Deciding[BookFrame]:
    """Return the rows that belong to no owner, without tombstones."""
    frame = yield from ask(BookRows())
    who_forms = (yield from ask(Properties())).get(WHO_FORMS)
    restrictions = tuple((yield from ask(RestrictionRows(None))))
    return frame._replace(
        who_forms=who_forms,
        restrictions=restrictions,
        key_uses=tuple((yield from ask(KeyUseRows(None)))),
    )


def _stored() -> Deciding[dict[str, dict[str, str]]]:
    text = (yield from ask(Properties())).get(WHO_FORMS)
    return {} if text is None else json.loads(text)


def _save(stored: Mapping[str, Mapping[str, str]]) -> SetProperty:
    some = {tenant: by_agent for tenant, by_agent in stored.items() if by_agent}
    return SetProperty(WHO_FORMS, json.dumps(some, sort_keys=True).encode())


def _record_in(stored: Mapping[str, Mapping[str, str]], tenant: str) -> Deciding[FormingRecord]:
    by_agent = dict(stored.get(tenant, {}))
    if "" not in by_agent:
        rows = yield from ask(SpentRows(all_spent(tenant)))
        paid = [piece for _, piece in rows if piece[3] == FORMATION and _answers(piece)]
        if paid:
            newest = max(paid, key=lambda piece: (piece[1], _answers(piece)))
            by_agent[""] = newest[4]
    return FormingRecord(by_agent, alone=not stored.keys() - {tenant})


def _answers(piece: SpentPiece) -> int:
    return piece[6]
