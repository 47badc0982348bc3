"""Takes words out of a person's messages and documents, and checks that these keep all the
others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memoranda import Book
from memoranda.model import changes as c
from memoranda.model.items import Item
from memoranda.model.ledger import Actor, ErasureReceipt, Target
from memoranda.model.messages import Message
from memoranda.model.records import WHOLE
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span

if TYPE_CHECKING:
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
        return await book.forgetting.finish(
            person.owner, part.position, backups=backups, as_owner=True
        )
    # All messages in one commit, as when a fact is forgotten.
    target = Target(person.owner, WHOLE, actor, redactions=tuple(part.redactions))
    receipt = await book.forgetting._planning.erase(target, dry=False, backups=backups)
    # Asked for again, they are places in the messages as they were said.
    part.redactions = list(receipt.redacted)
    return receipt


async def check_left(book: Book, person: Person, part: Part) -> None:
    """Raise if a record that lost words does not have exactly the others."""
    for id, left in part.left.items():
        record: Any = await book.records.get(person.owner, id, as_owner=True)
        if isinstance(record, Message):
            found = (record.content, record.native)
        else:
            found = record.value if isinstance(record, Item) else record.data
        if found != left:
            raise AssertionError(f"{id} reads {found!r:.600}")


async def write_documents(person: Person, part: Part, words: str, beside: str) -> None:
    """Write memories whose data has these words in a field, in lists, and beside other words."""
    end, after = len(words), len(beside)
    document = {"a": words, "b": f"{beside} {words}", "c": [words, beside]}
    cases: list[tuple[Any, Any, dict[str, tuple[int, int]]]] = [
        (
            {"schema": "Words", "document": document},
            {"schema": "Words", "document": {"b": beside, "c": [beside]}},
            {
                "/document/a": (0, end),
                "/document/b": (after, after + 1 + end),
                "/document/c/0": (0, end),
            },
        ),
        (
            [words, [beside, words, {"d/e": words}]],
            [[beside, {}]],
            dict.fromkeys(("/0", "/1/1", "/1/2/d~1e"), (0, end)),
        ),
    ]
    for data, left, places in cases:
        write = partial(
            person.remember_again,
            person.marks("words operation"),
            content="It has a document.",
            data=data,
        )
        made = await write()
        part.repeats.append(write)
        part.kept.append(made.id)
        part.left[made.id] = left
        spans = tuple(
            Span(start=start, end=end, path=path) for path, (start, end) in places.items()
        )
        part.redactions.append(Redaction(made.id, spans, 1))


async def write_items(person: Person, part: Part, words: str, beside: str) -> None:
    """Store items that have these words in their value, or had them in an earlier one."""
    book, owner, end = person.book, person.owner, len(words)
    for name, value, left, path in (
        ("now", {"a": [words, beside]}, {"a": [beside]}, "/a/0"),
        ("a text", f"{words}{beside}", beside, ""),
        ("earlier", [words], [beside], "/0"),
    ):
        operation = person.marks("words operation")
        write = partial(
            book.items.put, owner, ("words",), name, value, operation=operation, as_owner=True
        )
        id = (await write()).id
        stored: Any = await book.records.get(owner, id, as_owner=True)
        part.repeats.append(write)
        part.kept.append(id)
        part.left[id] = left
        at = None
        if name == "earlier":
            await book.items.put(owner, ("words",), name, left, as_owner=True)
            at = stored.updated_at
        spans = (Span(start=0, end=end, path=path),)
        part.redactions.append(Redaction(id, spans, None if at else 1, at))


async def write_gone_items(person: Person, name: str) -> list[UUID]:
    """Store items, one that changes, one that is deleted and one with a time, each full of
    canaries.
    """
    ids = []
    for number in range(3):
        space = (person.marks(f"{name} item label"), "all")
        called, ttl = person.marks(f"{name} item name"), 1e9 if number else None
        for word in ("before", "after"):
            value = {
                "text": person.text(f"{name} item {word}", 2000 * number),
                person.marks(f"{name} item field"): 1,
            }
            made = await person.book.items.put(
                person.owner, space, called, value, ttl=ttl, agent=person.agent, audience="global"
            )
        ids.append(made.id)
    await person.book.items.delete(person.owner, space, called, agent=person.agent)
    return ids
