"""A worker's paid answers about a record, while the record and its owner may be forgotten."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memoranda import Book
from memoranda.model.changes import JobDraft
from memoranda.model.language_models import Spent
from memoranda.model.records import Owner

#: Kind of the book's own work that outlives what is forgotten: only what is kept with it has to go.
PAID = "paid"


async def keep_answer(book: Book, at: datetime, about: UUID, text: str) -> None:
    """Store a text about a record with a job that stays leased and has no records of its own."""
    await book.engine.put(JobDraft(kind=PAID, key=str(about)), at)
    leased = await book.engine.lease([PAID], "slow", at, 1e9)
    assert leased is not None and leased.key == str(about)
    assert await book.engine.keep(leased, {"text": text}, (about,))


async def pay(book: Book, at: datetime, owner: Owner, agent: str) -> None:
    """Count a call to a language model about an owner."""
    spent = Spent(
        tenant=book.tenant,
        owner=owner,
        agent=agent,
        day=at.date(),
        task="form",
        model="p:m",
        calls=1,
    )
    await book.engine.note_spent(spent)
