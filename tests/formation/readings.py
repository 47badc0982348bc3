"""Small readings for tests of formation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memoranda.formation.reconcile.reconciler import CurrentRecords, Reconciled, reconcile
from memoranda.formation.schemas.definitions import DEFAULTS, FormationSchema
from memoranda.model.drafts import Formed, Reading, ReadMessage, WantedSchema
from memoranda.model.messages import Thread
from memoranda.model.records import TRUST_OF_ROLE, Audience
from memoranda_conformance.builders import ANN, START, a_message, a_thread

THREAD: Thread = a_thread(ANN, agent="guide", audience=Audience.of_agent("guide"))


def wanted(schema: FormationSchema, **fields: Any) -> WantedSchema:
    """A schema as a reading names it."""
    names = ("name", "description", "parameters", "update_mode", "instructions")
    return WantedSchema.model_validate(
        {**{name: getattr(schema, name) for name in names}, **fields}
    )


SCHEMAS = tuple(wanted(schema) for schema in DEFAULTS.values())


def talk(*turns: tuple[str, str], context: int = 0, **fields: Any) -> Reading:
    """A reading of what was said in a minute each: pairs of role and text; the first ``context``
    were read before.
    """
    messages = []
    for seq, (role, text) in enumerate(turns, start=1):
        role, _, trust = role.partition("/")
        message = a_message(
            ANN,
            THREAD.id,
            text,
            START + timedelta(minutes=seq),
            seq=seq,
            role=role,
            trust=trust or TRUST_OF_ROLE[role],
            audience=THREAD.audience,
        )
        messages.append(ReadMessage(message=message, context=seq <= context))
    given = {
        "thread": THREAD,
        "messages": tuple(messages),
        "schemas": SCHEMAS,
        "now": START + timedelta(days=1),
    }
    return Reading.model_validate({**given, **fields})


def at_once(formed: Formed, reading: Reading) -> Reconciled:
    """What is to be written where nothing has moved on since it was read."""
    return reconcile(
        formed, reading, CurrentRecords(reading.candidates, reading.profiles, reading.experience)
    )
