"""Attempts to import another owner's data: whole exports, and single records with another's ids."""

from __future__ import annotations

import json
from typing import Any

from memoranda.errors import Conflict, LimitReached, MemorandaError
from memoranda.model import changes as c
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Message
from memoranda.model.records import EVERYONE, WHOLE, OwnerKind, View, those_of
from memoranda.model.values import new_id
from proofs._book import world
from proofs._book.oracle import Leak
from proofs._book.session import Session
from proofs._book.works import let_go


async def import_another(s: Session) -> None:
    """Import another owner's export under this owner's name."""
    party, _ = s.someone()
    whose = s.rng.choice(world.EVERYBODY)
    if whose.kind is not party.kind or whose == party or whose not in s.oracle.of:
        return
    lines: list[dict[str, Any]] = [
        json.loads(line) async for line in s.books[whose.tenant].admin.transfer.export(whose)
    ]
    for line in lines:
        if line.get("line") == "owner":
            line |= {"tenant": party.tenant, "kind": party.kind.value, "id": party.id}
    try:
        report = await s.book(party).admin.transfer.import_([json.dumps(line) for line in lines])
    except (Conflict, LimitReached):
        return
    if report.records:
        raise Leak(f"{party.parts} took in records of {whose.parts}: {report.records}")


async def import_one(s: Session) -> None:
    """Import a record with another owner's id, thread or source; forget afterwards what was
    accepted.
    """
    party, _ = s.someone()
    if party.kind is not OwnerKind.USER:
        return
    strange = s.pick(party, WHOLE, "memory", "message", "thread", strange=0.9)
    own = s.oracle.records[strange].party == party
    word = s.word(party, EVERYONE)
    record: Memory | Message
    how = s.rng.choice(("nothing", "place", "id", "source", "thread"))
    if how == "nothing":
        strange, own = new_id(), True
    if how == "place":
        strange = s.pick(party, WHOLE, "thread", strange=0)
        own = s.oracle.sees(party, WHOLE, strange)
        how = "place" if own else "thread"
    if how in ("nothing", "id"):
        record = Memory(id=strange, owner=party, content=word, observed_at=s.clock())
    elif how == "source":
        record = Memory(
            id=new_id(), owner=party, content=word, sources=(strange,), observed_at=s.clock()
        )
    else:
        row = s.truth.row(strange)
        record = world.a_message(party, strange, word, s.clock())
        record = (
            record.changed(seq=row.seq + 1, audience=row.audience)
            if row and how == "place"
            else record
        )
    standing = s.truth.era(party)
    change = c.Import(record, era=standing[0] if standing else None)
    asking = s.book(party).door.write(party, WHOLE, Actor("owner"), [change], request=None)
    answer = await s.told(asking, party, WHOLE, "import")
    if isinstance(answer, LimitReached) and s.held(party) >= world.MEMORIES:
        return
    if isinstance(answer, MemorandaError):
        if own or not isinstance(answer, Conflict):
            raise Leak(f"import by {how} of {strange} into {party.parts}: {answer}")
        return
    if how in ("nothing", "place") and not answer.items:
        raise Leak(f"an import of {party.parts} was refused: {answer.ignored}")
    if answer.items and how != "source" and not own:
        raise Leak(f"import by {how} of {strange}, which is another's, into {party.parts}")
    if answer.items:
        born = s.oracle.records[strange].audience if isinstance(record, Message) else EVERYONE
        s.absorb(answer, party, WHOLE, born=born)
        if how == "source" and not own:
            read = await s.book(party).engine.get(party, View(agent="a"), [answer.id])
            if [one.sources for one in those_of(Memory, read.values())] != [(strange,)]:
                raise Leak(
                    f"{party.parts} learns that {strange} is another's record, and not an unknown one"
                )
        gone = await s.book(party).forget(party, answer.id, as_owner=True)
        let_go(s, gone, party, {answer.id})


async def retracted_elsewhere(s: Session) -> None:
    """Check that another owner's retraction, from the same source, does not stop this owner from
    saying the same.
    """
    users = [actor for actor in s.actors if actor.kind is OwnerKind.USER]
    if len(users) < 2:
        return
    party, other = s.rng.sample(users, 2)
    source = s.pick(party, WHOLE, "message", strange=0)
    known = s.oracle.records[source]
    if known.party != party:
        return
    text = f"all of it {new_id().hex}"
    poison = Memory(
        id=new_id(), owner=other, content=text, sources=(source,), status=MemoryStatus.RETRACTED, observed_at=s.clock()
    )  # fmt: skip
    planted = await s.book(other).door.write(
        other, WHOLE, Actor("owner"), [c.Import(poison)], request=None
    )
    memory = Memory(
        id=new_id(), owner=party, content=text, sources=(source,), observed_at=s.clock()
    )
    said = await s.told(
        s.book(party).door.write(party, WHOLE, Actor("owner"), [c.Remember(memory)], request=None), party, WHOLE, "say"
    )  # fmt: skip
    if isinstance(said, Receipt):
        if not said.items:
            raise Leak(f"{party.parts} may not say what {other.parts} retracted")
        s.absorb(said, party, WHOLE, born=known.audience)
    elif not isinstance(said, LimitReached):
        raise Leak(f"{party.parts} may not say what {other.parts} retracted: {said}")
    if planted.items:
        s.absorb(planted, other, WHOLE, born=EVERYONE)
        let_go(s, await s.book(other).forget(other, planted.id, as_owner=True), other, {planted.id})


ARRIVALS = {import_another: 0.1, import_one: 1, retracted_elsewhere: 0.3}
