"""The verb that takes a fact out of every read without erasing it, as a model's tool does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoranda.book.forgetting.facts import fact_of
from memoranda.book.forgetting.tellings import tellings_of
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.query import Filter
from memoranda.model.records import Limits, Owner, RecordType, View
from memoranda.model.redactions import Telling, Traces
from memoranda.ports import Engine
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text

#: How often a plan is made again if its messages change in the meantime.
_TRIES: Final = 4
#: The newest messages in which a fact is looked for that was hidden before.
_NEWEST: Final = 200
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Hidden:
    """A fact that is out of every read, and not erased yet."""

    #: Pass it, or its position, to ``forgetting.finish`` or ``undo``.
    receipt: Receipt
    #: What was taken out, and what stays and has to do with it; None if this operation had been
    #: done before.
    traces: Traces | None
    #: Hours after which it is erased; None: when somebody decides.
    erased_after_hours: float | None = None


async def told_since(
    engine: Engine, owner: Owner, view: View, since: Hidden, limits: Limits
) -> Traces:
    """Return the parts of the newest messages that tell a fact to the letter, as far as this view
    may take them.
    """
    if since.traces is None:
        return Traces(owner, view, ())
    memories = since.traces.memories
    _refuse_too_much(memories, limits)
    names = frozenset({comparable_text(owner.id), *OWNER_WORDS})
    # Whoever asks says what was hidden: others must not wait while it is compared.
    facts = [await asyncio.to_thread(fact_of, [memory], names) for memory in memories]
    only = Filter(types=frozenset({RecordType.MESSAGE}), newest_first=True)
    page = await engine.scan(owner, view, only, None, _NEWEST)
    spans: list[Telling] = []
    for record in page.records:
        if isinstance(record, Message) and (view.whole or record.agent == view.agent):
            found = await asyncio.to_thread(tellings_of, facts, record)
            spans += [one for one in found if one.to_the_letter]
    return Traces(owner, view, memories, spans=tuple(spans))


def _refuse_too_much(memories: Sequence[Memory], limits: Limits) -> None:
    """Raise InvalidInput for more, or longer, statements than a call could have hidden."""
    longest = max((len(one.content) for one in memories), default=0)
    for most, found, what in (
        (limits.batch, len(memories), "memories"),
        (limits.content_length, longest, "characters in a memory"),
    ):
        if found > most:
            raise InvalidInput(
                f"since: it has {found} {what}; at most {most} are allowed", field="since"
            )
