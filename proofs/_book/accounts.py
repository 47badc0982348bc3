"""Attempts to read or change the costs of another owner's calls to language models."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from memoranda.model.language_models import Spent, SpentFilter, total
from memoranda.model.records import Owner
from proofs._book import world
from proofs._book.oracle import Leak
from proofs._book.session import Session

_DAYS = (date(2025, 3, 1), date(2025, 3, 2))
_AGENTS = (*world.AGENTS, None)


async def pay(s: Session) -> None:
    """Check that a call for one owner adds to that owner's sums only."""
    party, _ = s.someone()
    calls = s.rng.randint(1, 9)
    spent = Spent(
        tenant=party.tenant, owner=party, agent=s.rng.choice(_AGENTS), day=s.rng.choice(_DAYS), task="form",
        model="p:m", calls=calls, price=Decimal("0.000000000001") * calls,
    )  # fmt: skip
    before = _calls(s, party)
    await s.book(party).engine.note_spent(spent)
    if _calls(s, party) != before + calls:
        raise Leak(f"{calls} calls of {party.parts} were counted elsewhere")


async def usage(s: Session) -> None:
    """Check that reports of spending cover only the tenant, owner and agent that were asked for."""
    party, _ = s.someone()
    owner, agent = s.rng.choice((party, None)), s.rng.choice((*_AGENTS, None))
    since = s.rng.choice((*_DAYS, None))
    book = s.book(party)
    told = await book.admin.usage(owner, agent=agent, since=since)
    expected = [
        spent
        for spent in s.truth.spent()
        if spent.tenant == party.tenant
        and owner in (None, spent.owner)
        and agent in (None, spent.agent)
        and (since is None or since <= spent.day)
    ]
    if told != sorted(expected, key=lambda spent: spent.place):
        raise Leak(f"spending of {party.parts} for {agent} is told as {told}, and is {expected}")
    together = await book.engine.spent_in_all(
        party.tenant, SpentFilter(owner=owner, agent=agent, since=since)
    )
    if together != total(expected):
        raise Leak(f"spending of {party.parts} for {agent} adds up to {together}")


def _calls(s: Session, party: Owner) -> int:
    return sum(spent.calls for spent in s.truth.spent() if spent.owner == party)


ACCOUNTS = {pay: 1, usage: 0.7}
