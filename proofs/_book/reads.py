"""Attempts to see another owner's data, by every verb that reads."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from uuid import UUID

from memoranda.errors import MemorandaError, NotAllowed
from memoranda.model.memories import STANDING
from memoranda.model.records import WHOLE, Owner, OwnerKind, View
from proofs._book import world
from proofs._book.oracle import Leak
from proofs._book.session import Session, who


async def get(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view)
    found = await s.only_if(
        s.oracle.sees(party, view, id),
        s.book(party).records.get(party, id, **who(view)),
        party,
        view,
        "get",
    )
    if found is not None and (found.id, found.owner, found.audience) != (
        id,
        party,
        s.oracle.records[id].audience,
    ):
        raise Leak(f"get of {id} gave {found!r:.200}")


async def get_several(s: Session) -> None:
    party, view = s.someone()
    ids = [s.pick(party, view) for _ in range(4)]
    found = await s.book(party).engine.get(party, view, ids)
    s.oracle.judge(found, party, view, "get of several")
    if set(found) != {id for id in ids if s.oracle.sees(party, view, id)}:
        raise Leak(f"get of several gave {list(found)}")


async def list_(s: Session) -> None:
    party, view = s.someone()
    only, test = _conditions(s, party, view)
    page = await s.book(party).records.list(
        party, types=only.pop("types"), only=only.pop("only"), newest_first=s.rng.random() < 0.5, limit=1000, **who(view)
    )  # fmt: skip
    s.oracle.judge(page, party, view, "list")
    _same({record.id for record in page.records}, s, party, view, test, "list")
    if any(record.owner != party for record in page.records):
        raise Leak(f"list of {party.parts} gave another owner's records")


async def count(s: Session) -> None:
    party, view = s.someone()
    only, test = _conditions(s, party, view)
    counted = await s.book(party).records.count(party, **only, **who(view))
    expected = sum(test(known) for known in s.oracle.visible(party, view))
    if counted != expected:
        raise Leak(f"count of {party.parts} as {view} is {counted}, not {expected}")


def _conditions(s: Session, party: Owner, view: View) -> tuple[dict[str, Any], Any]:
    """Return conditions for a list, and the same in plain Python; the thread may be another
    owner's.
    """
    types = s.rng.choice(
        [None, ["memory"], ["message"], ["message", "episode"], ["thread"], ["profile"]]
    )
    only: dict[str, Any] = {}
    tests = [lambda k: types is None or k.type in types]
    chance = s.rng.random()
    if chance < 0.4:
        thread = s.pick(party, view, "thread")
        types = s.rng.choice([types, ["message"]])
        only["thread"] = thread
        tests.append(lambda k: k.thread == thread)
    elif chance < 0.5:
        status = s.rng.choice(("active", "active", "archived"))
        only["statuses"] = status
        tests.append(lambda k: k.status == status)
    elif chance < 0.6:
        only["kinds"] = ["user", "fact"]
        tests.append(lambda k: k.kind in ("user", "fact"))
    return {"types": types, "only": only}, lambda k: all(test(k) for test in tests)


def _same(ids: set[UUID], s: Session, party: Owner, view: View, test: Any, what: str) -> None:
    expected = {known.id for known in s.oracle.visible(party, view) if test(known)}
    if ids != expected:
        raise Leak(f"{what} of {party.parts} as {view} differs by {len(ids ^ expected)} records")


async def messages(s: Session) -> None:
    party, view = s.someone()
    thread = s.pick(party, view, "thread")
    seen = s.oracle.sees(party, view, thread)
    handle = await s.only_if(
        seen, s.book(party).thread(party, id=thread, **who(view)), party, view, "taking up a thread"
    )
    if handle is not None:
        page = await handle.messages(limit=1000)
        newest = await handle.newest(1000)
        s.oracle.judge((page, newest), party, view, "a thread's messages")
        inside = lambda k: k.type == "message" and k.thread == thread  # noqa: E731
        _same({record.id for record in page.records}, s, party, view, inside, "a thread's messages")
        _same({record.id for record in newest}, s, party, view, inside, "a thread's newest")


async def history(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view)
    known = s.oracle.records[id]
    seen = s.oracle.sees(party, view, id)
    steps = await s.told(
        s.book(party).records.history(party, id, **who(view)), party, view, "history"
    )
    if isinstance(steps, MemorandaError):
        if seen:
            raise Leak(f"history of {id} as {view}: {steps}")
    elif not seen and not (known.party == party and known.status == "withdrawn"):
        raise Leak(f"history of {id} for {party.parts} as {view}: {steps!r:.200}")
    elif [step.version for step in steps] != list(range(1, known.version + 1)):
        raise Leak(f"history of {id} has versions {[step.version for step in steps]}")


async def why(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view, "memory", "episode", "experience", "message")
    seen = s.oracle.sees(party, view, id)
    told = await s.only_if(seen, s.book(party).why(party, id, **who(view)), party, view, "why")
    if told is not None:
        for source in told.sources:
            if not s.oracle.sees(party, view, source.id):
                known = s.oracle.records.get(source.id)
                raise Leak(
                    f"why of {id} as {view} names {source!r:.200}, which it may not see: {known!r:.300}"
                )


async def uses(s: Session) -> None:
    party, view = s.someone()
    ids = [s.pick(party, view, "memory") for _ in range(3)]
    found = await s.book(party).engine.uses(party, view, ids)
    for id in found:
        known = s.oracle.records[id]
        if id not in ids or (known.status != "withdrawn" and not s.oracle.sees(party, view, id)):
            raise Leak(f"uses of {party.parts} as {view} tells of {id}")
    wrong = [
        id
        for id in ids
        if s.oracle.sees(party, view, id)
        and s.truth.uses(id) != (found[id].count if id in found else 0)
    ]
    if wrong:
        raise Leak(f"uses of {party.parts} as {view} tells another's of {wrong}")


async def ledger(s: Session) -> None:
    party, view = s.someone()
    after = s.rng.randrange(6)
    entries = await s.told(
        s.book(party).records.ledger(party, after=after, limit=50, **who(view)),
        party,
        view,
        "ledger",
    )
    if isinstance(entries, MemorandaError) or not view.whole:
        if view.whole or not isinstance(entries, NotAllowed):
            raise Leak(f"the ledger of {party.parts} as {view}: {entries!r:.200}")
        return
    standing = s.truth.era(party)
    expected = [] if standing is None else list(range(after + 1, standing[1] + 1))[:50]
    if [entry.position for entry in entries] != expected:
        raise Leak(f"the ledger of {party.parts} has other positions than its own")
    for entry in entries:
        if standing is not None and (entry.era != standing[0] or entry.owner != party):
            raise Leak(f"the ledger of {party.parts} tells of another era")
        for line in entry.lines:
            known = s.oracle.records.get(line.id)
            if known is not None and known.party != party:
                raise Leak(f"the ledger of {party.parts} names {line.id} of {known.party.parts}")


async def shelves(s: Session) -> None:
    """Try the smaller verbs: profiles, episodes, experience, agents, keys, schemas, owners."""
    party, view = s.someone()
    book = s.book(party)
    s.oracle.judge(await book.profiles.get(party, **who(view)), party, view, "profile")
    s.oracle.judge(await book.episodes.list(party, **who(view)), party, view, "episodes")
    name = s.rng.choice(("a", "ana"))
    agent = Owner(tenant=party.tenant, kind=OwnerKind.AGENT, id=name)
    tenant = Owner(tenant=party.tenant, kind=OwnerKind.TENANT, id=party.tenant)
    s.oracle.judge(await book.experience.list(name, retired=True), agent, WHOLE, "experience")
    found = [
        await book.agents.list(),
        await book.schemas.list(),
        await book.keys.list(),
        await book.agents.get("a%"),
    ]
    s.oracle.judge(found, tenant, WHOLE, "the tenant's records")
    owners = [owner.parts for owner in await book.admin.owners()]
    if sorted(owners) != sorted(
        parts for parts in s.truth.numbers().values() if parts[0] == party.tenant
    ):
        raise Leak(f"owners listed for {party.tenant!r} are not its own")


async def about(s: Session) -> None:
    """Ask what is known about an owner, and who reads how much of it."""
    party, view = s.someone()
    book = s.book(party)
    told = await book.about(party, **who(view))
    s.oracle.judge(told, party, view, "about")
    seen = list(s.oracle.visible(party, view))
    active = [known.id for known in seen if known.type == "memory" and known.status in STANDING]
    if told.total != len(active) or not {one.memory.id for one in told.memories} <= set(active):
        raise Leak(f"about {party.parts} as {view} has {told.total} memories, not {len(active)}")
    if dict(told.records) != dict(Counter(known.type for known in seen)):
        raise Leak(f"about {party.parts} as {view} counts {told.records}")
    if (told.unseen is not None) != view.whole:
        raise Leak(f"about {party.parts} tells {view} of {told.unseen}")
    readers = await s.told(book.records.readers(party, **who(view)), party, view, "readers")
    if isinstance(readers, MemorandaError):
        if view.whole or not isinstance(readers, NotAllowed):
            raise Leak(f"the readers of {party.parts} as {view}: {readers!r:.200}")
    elif not view.whole or sum(sum(one.records.values()) for one in readers) != len(seen):
        raise Leak(f"the readers of {party.parts} as {view} are of other records than its own")


async def across_owners(s: Session) -> None:
    """List a tenant's records as its operator."""
    party, _ = s.someone()
    page = await s.book(party).admin.list(types="memory", limit=1000)
    for record in page.records:
        if record.owner.tenant != party.tenant or record.id not in s.oracle.of[record.owner]:
            raise Leak(f"the operator of {party.tenant!r} is shown {record!r:.200}")


async def another_tenant(s: Session) -> None:
    """Check that a book opened for one tenant refuses another tenant's owners."""
    party, view = s.someone()
    other = next(owner for owner in world.EVERYBODY if owner.tenant != party.tenant and owner.id == party.id) \
        if party.kind is not OwnerKind.TENANT else world.EVERYBODY[0]  # fmt: skip
    if other.tenant == party.tenant:
        return
    book, id = s.book(party), s.pick(other, view)

    async def exported() -> list[str]:
        return [line async for line in book.admin.transfer.export(other)]

    asking = s.rng.choice(
        [
            lambda: book.records.get(other, id, **who(view)),
            lambda: book.records.list(other, **who(view)),
            lambda: book.recall(other, "garden", **who(view)),
            lambda: book.records.ledger(other, as_owner=True),
            lambda: book.remember(other, "a stranger's"),
            lambda: book.forget(other, id, as_owner=True),
            exported,
        ]
    )
    answer = await s.told(asking(), party, view, "a book of another tenant")
    if not isinstance(answer, NotAllowed):
        raise Leak(f"a book of {party.tenant!r} answers for {other.parts}: {answer!r:.200}")


async def export(s: Session) -> None:
    party, _ = s.someone()
    lines = [line async for line in s.book(party).admin.transfer.export(party)]
    s.oracle.judge("\n".join(lines), party, WHOLE, "export")
    text = "\n".join(lines)
    own = s.oracle.of.get(party, {})
    if missing := [id for id in own if str(id) not in text]:
        raise Leak(f"the export of {party.parts} lacks {len(missing)} of its records")
    told = [json.loads(line) for line in lines]
    for line in told:
        tail = line.get("tail")
        if line["line"] == "use" and UUID(line["id"]) not in own:
            raise Leak(f"the export of {party.parts} tells of the use of {line['id']}")
        if (
            tail is not None
            and (row := s.truth.row(UUID(line["record"]["id"])))
            and row.seq != tail
        ):
            raise Leak(f"the export of {party.parts} ends a thread at {tail}, not {row.seq}")
    standing = s.truth.era(party)
    positions = [line["position"] for line in told if line["line"] == "entry"]
    if positions != list(range(1, standing[1] + 1 if standing else 1)):
        raise Leak(f"the export of {party.parts} has another ledger than its own")
    for known in own.values():
        counts = [
            line["count"] for line in told if line["line"] == "use" and line["id"] == str(known.id)
        ]
        if s.truth.uses(known.id) != sum(counts):
            raise Leak(f"the export of {party.parts} lacks the use of {known.id}")


READS = {get: 18, get_several: 6, list_: 3, count: 6, messages: 4,
         history: 6, why: 4, uses: 6, ledger: 3, shelves: 0.8, about: 1.5, across_owners: 0.1, another_tenant: 2, export: 0.3}  # fmt: skip
