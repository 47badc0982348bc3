"""Takes words out of a person's messages, and checks that these keep all the others."""

from __future__ import annotations

from typing import Any

from memoranda import Book
from memoranda.model import changes as c
from memoranda.model.ledger import Actor, ErasureReceipt, Target
from memoranda.model.records import WHOLE
from proofs._book.person import Part, Person


async def take_out(book: Book, person: Person, part: Part, *, backups: bool) -> ErasureReceipt:
    """Take words out of a person's messages: at once, or hidden at first."""
    actor = Actor("owner")
    if part.hidden:
        if not part.position:
            change = c.Hide((), tuple(part.redactions))
            part.position = (
                await book.door.write(person.owner, WHOLE, actor, [change], request=None)
            ).position
        return await book.finish_forgetting(person.owner, part.position, backups=backups, view="owner")
    # All messages in one commit, as when a fact is forgotten.
    target = Target(person.owner, WHOLE, actor, redactions=tuple(part.redactions))
    receipt = await book._erase(target, dry=False, backups=backups)
    # Asked for again, they are places in the messages as they were said.
    part.redactions = list(receipt.redacted)
    return receipt


async def check_left(book: Book, person: Person, part: Part) -> None:
    """Raise if a message that lost words does not have exactly the others."""
    for id, (content, native) in part.left.items():
        message: Any = await book.get(person.owner, id, view="owner")
        if (message.content, message.native) != (content, native):
            raise AssertionError(f"{id} reads {message.content!r:.300} and {message.native!r:.300}")
