"""Attempts to forget, use, repeat and work on another owner's data, or data of an era that has
ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch
from uuid import UUID

from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.book.dream.night import dream
from memoranda.book.input import as_actor
from memoranda.errors import Erased, LimitReached, MemorandaError, NotAllowed, NotFound
from memoranda.model import changes as c
from memoranda.model.ledger import ErasureReceipt, Receipt, Target
from memoranda.model.memories import Memory
from memoranda.model.passages import Use
from memoranda.model.records import EVERYONE, WHOLE, Owner, OwnerKind, View
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from proofs._book import world
from proofs._book.oracle import Leak, may_read
from proofs._book.session import Session, who

_FORGETTABLE = ("memory", "memory", "message", "message", "thread", "episode", "profile")


async def forget(s: Session) -> None:
    party, view = s.someone()
    ids = list(
        {s.pick(party, view, s.rng.choice(_FORGETTABLE)) for _ in range(s.rng.randint(1, 2))}
    )
    busy = [id for id in s.truth.worked_on() if id in s.oracle.of.get(party, {})]
    ids = [s.rng.choice(busy)] if busy and s.rng.random() < 0.2 else ids
    seen = {id for id in ids if s.oracle.sees(party, view, id)}
    foreign = not view.whole and any(
        s.oracle.records[id].agent != view.agent or not view.agent for id in seen
    )
    before = s.truth.belongings()
    with _whole_receipts(s, party) as whole:
        # Facts are forgotten by conformance tests; here the oracle follows records.
        asking = s.book(party).forget(party, ids, what="record", **who(view))
        answer = await s.told(asking, party, view, "forget")
    # What was undone may still be forgotten, by whom it was visible to.
    withdrawn = {id for id in ids if s.oracle.records[id].status == "withdrawn"}
    unseen = {*ids} - seen - withdrawn
    if isinstance(answer, MemorandaError):
        expected = (foreign and isinstance(answer, NotAllowed)) or (
            bool(unseen | withdrawn) and isinstance(answer, NotFound)
        )
        if not expected or s.truth.belongings() != before:
            raise Leak(f"forget of {ids} by {party.parts} as {view}: {answer}")
        return
    if foreign or unseen or answer.repeated:
        raise Leak(
            f"{party.parts} as {view} forgot what others wrote, or what it does not see: {unseen}"
        )
    told = [s.oracle.records[id] for id in (*answer.ids, *answer.kept)]
    if not view.whole and any(
        one.party != party or not may_read(one.audience, view) for one in told
    ):
        raise Leak(f"{party.parts} as {view} was told what else rested on {ids}")
    check_counts(whole[-1], before, s.truth.belongings())
    let_go(s, whole[-1], party, {*ids})


async def redact_refused(s: Session) -> None:
    """Words of a message are taken out by nobody who does not see it, and by no agent that did not
    write it.
    """
    party, view = s.someone()
    id = s.pick(party, view, "message")
    known, seen = s.oracle.records[id], s.oracle.sees(party, view, id)
    if seen and (view.whole or (view.agent and known.agent == view.agent)):
        return
    before = s.truth.belongings()
    redaction = Redaction(id, (Span(start=0, end=3),))
    change, actor = c.Hide((), (redaction,)), as_actor(view)
    if s.rng.random() < 0.5:
        asking: Any = s.book(party).door.write(party, view, actor, [change], request=None)
    else:
        asking = s.book(party).engine.erase(
            Target(party, view, actor, redactions=(redaction,)), s.clock()
        )
    answer = await s.told(asking, party, view, "redact")
    if not isinstance(answer, NotAllowed if seen else NotFound) or s.truth.belongings() != before:
        raise Leak(f"{party.parts} as {view} took words out of {id}: {answer!r:.200}")


@contextmanager
def _whole_receipts(s: Session, party: Owner) -> Iterator[list[ErasureReceipt]]:
    """Note the receipts of erasures as the engine gives them, before the book leaves out what the
    view may not see.
    """
    engine, noted = s.book(party).engine, list[ErasureReceipt]()
    erase = engine.erase

    async def noting(target: Target, at: datetime) -> ErasureReceipt:
        noted.append(await erase(target, at))
        return noted[-1]

    with patch.object(engine, "erase", noting):
        yield noted


def check_counts(answer: ErasureReceipt, before: dict[str, int], after: dict[str, int]) -> None:
    """Raise if a receipt counts more or less than what went."""
    gone = {kind: before[kind] - after[kind] for kind in before}
    for kind in ("terms", "uses", "vectors", "jobs"):
        if answer.removed.get(kind, 0) != gone[kind]:
            raise Leak(
                f"{gone[kind]} {kind} went, and the receipt says {answer.removed.get(kind, 0)}"
            )
    if answer.removed.get("links", 0) > gone["links"]:
        raise Leak(f"{gone['links']} links went, and the receipt says {answer.removed['links']}")
    # Of each record that was kept, the version before its last one stays, without its content.
    deleted = gone["versions"] + len(answer.kept)
    least = deleted - gone["blank"]
    if not least <= answer.removed.get("versions", 0) <= least + min(deleted, before["blank"]):
        raise Leak(
            f"at least {least} versions went, and the receipt says {answer.removed.get('versions', 0)}"
        )


def let_go(s: Session, answer: ErasureReceipt, party: Owner, asked: set[UUID]) -> None:
    doomed = s.oracle.resting_on(asked)
    if {*answer.ids} != doomed:
        raise Leak(
            f"{party.parts} asked to forget {asked}, and {len(doomed ^ {*answer.ids})} others went or stayed"
        )
    owners = {s.oracle.records[id].party for id in (*doomed, *answer.kept)}
    if any(
        owner != party and owner.kind not in (OwnerKind.AGENT, OwnerKind.TENANT) for owner in owners
    ):
        raise Leak(f"forgetting of {party.parts} reached {owners}")
    own = {id for id in doomed if s.oracle.records[id].party == party}
    if (
        answer.era is None
        and doomed
        and s.truth.touched(party, (s.truth.era(party) or (None, 0))[1]) != own
    ):
        raise Leak(f"the ledger of {party.parts} does not tell what was forgotten")
    s.touched |= owners - {party}
    s.oracle.let_go(doomed)
    for id in answer.kept:
        row = s.truth.row(id)
        if row is None:
            raise Leak(f"{id} should have stayed")
        s.oracle.learn(row)
        s.oracle.forget_versions(id)


async def forget_everything(s: Session) -> None:
    party, view = s.someone()
    view = WHOLE if s.rng.random() < 0.7 else view
    if party.kind is not OwnerKind.USER or party not in s.oracle.of:
        return
    standing, calls, before = s.truth.era(party), s.truth.calls(), s.truth.belongings()
    answer = await s.told(
        s.book(party).forget(party, everything=True, **who(view)), party, view, "forget everything"
    )
    if isinstance(answer, MemorandaError):
        if view.whole or not isinstance(answer, NotAllowed):
            raise Leak(f"forget everything of {party.parts} as {view}: {answer}")
        return
    if s.truth.calls() != calls:
        raise Leak(f"the tenants' calls were {calls}, and without {party.parts} {s.truth.calls()}")
    if standing is None:
        return
    if not view.whole or answer.era != standing[0]:
        raise Leak(f"{party.parts} as {view} ended era {answer.era}")
    check_counts(answer, before, s.truth.belongings())
    # A key that opens this owner alone goes with it.
    keys = {known.id for known in s.oracle.records.values() if known.opens == party}
    let_go(s, answer, party, set(s.oracle.of.get(party, {})) | keys)
    s.oracle.ended.setdefault(party, []).append(standing[0])
    await s.populate(party)


async def old_era(s: Session) -> None:
    """Work for an owner as it was before an erasure is refused, and so is work in another owner's
    era.
    """
    party, view = s.someone()
    other = s.rng.choice(world.EVERYBODY)
    eras = [*s.oracle.ended.get(party, ()), *s.oracle.ended.get(other, ())]
    living = s.truth.era(other)
    eras += [living[0]] if living and other != party else []
    if not eras:
        return
    words = s.word(party, EVERYONE)
    memory = Memory(id=new_id(), owner=party, content=words, observed_at=s.clock())
    asking = s.book(party).door.write(
        party, view, as_actor(view), [c.Remember(memory, audience=EVERYONE)], request=None, era=s.rng.choice(eras)
    )  # fmt: skip
    if not isinstance(await s.told(asking, party, view, "work of another era"), Erased):
        raise Leak(f"{party.parts} was written to in an era that is not theirs")


async def mark_used(s: Session) -> None:
    party, view = s.someone()
    ids = list({s.pick(party, view, "memory") for _ in range(3)})
    if s.rng.random() < 0.5:
        marked = await s.book(party).memories.mark_used(party, ids, **who(view))
    else:
        # The book asks for what it marks first; the engine does not rely on that.
        standing = await s.book(party).engine.uses(party, WHOLE, ids)
        uses = {id: standing.get(id, Use()) for id in ids}
        uses = {id: use.model_copy(update={"count": use.count + 1}) for id, use in uses.items()}
        marked = await s.book(party).engine.note_use(party, view, uses)
    seen = [id for id in ids if s.oracle.sees(party, view, id)]
    withdrawn = [id for id in ids if s.oracle.records[id].status == "withdrawn"]
    if not len(seen) <= marked <= len(seen) + len(withdrawn):
        raise Leak(f"{party.parts} as {view} marked {marked} as used of {len(seen)} that it sees")


async def operation(s: Session) -> None:
    """An operation id belongs to its owner: to anyone else it is a new one."""
    if not s.operations:
        return
    whose, name, _, _ = s.rng.choice(s.operations[-300:])
    party, _ = s.someone()
    own = {operation for owner, operation, _, _ in s.operations if owner == party}
    receipt = await s.book(party).records.operation(party, name)
    if receipt is not None and name not in own:
        raise Leak(f"{party.parts} is given the receipt of an operation of {whose.parts}")
    if party == whose or name in own:
        await _repeat(s)
        return
    text = f"a word of my own {s.word(party, EVERYONE)}"
    answer = await s.told(
        s.book(party).remember(party, text, audience=EVERYONE, operation=name),
        party,
        View(),
        "replay",
    )
    if isinstance(answer, LimitReached | Erased):
        # Its own operation of this name may have been erased with an era; the cap may be reached.
        if isinstance(answer, Erased) and party not in s.oracle.ended:
            raise Leak(f"{party.parts} is told that the operation of {whose.parts} was erased")
        return
    if isinstance(answer, MemorandaError):
        raise Leak(f"{party.parts} may not use an operation id of {whose.parts}: {answer}")
    if answer.repeated:
        raise Leak(f"{party.parts} was given the receipt of {whose.parts}")
    s.absorb(answer, party, View(), born=EVERYONE)
    s.operations.append((party, name, text, answer.id))
    s.repeatable.append((party, name, text, answer.id))


async def _repeat(s: Session) -> None:
    """The owner's own repetition is known again, unless what it made was erased."""
    acting = [made for made in s.repeatable if made[0] in s.actors]
    if not acting:
        return
    party, name, text, id = s.rng.choice(acting)
    answer = await s.told(
        s.book(party).remember(party, text, audience=EVERYONE, operation=name),
        party,
        View(),
        "repetition",
    )
    erased = id not in s.oracle.records
    # Where something else that it changed still stands, the receipt says which part is gone.
    told_so = isinstance(answer, Erased) or (
        isinstance(answer, Receipt) and any(item.erased and item.id == id for item in answer.items)
    )
    if told_so != erased:
        raise Leak(
            f"{party.parts} repeats an operation, whose record is {'gone' if erased else 'there'}: {answer}"
        )
    if not erased and (
        isinstance(answer, MemorandaError) or not answer.repeated or answer.id != id
    ):
        raise Leak(f"{party.parts} repeats an operation and is answered {answer}")


async def experience(s: Session) -> None:
    """An agent's lines and a tenant's keys are reached by their own owner's ids only."""
    party, _ = s.someone()
    agent = Owner(tenant=party.tenant, kind=OwnerKind.AGENT, id=s.rng.choice(("a", "ana")))
    if agent in s.actors:
        line = s.pick(agent, WHOLE, "experience")
        retiring = s.book(party).experience.retire(agent.id, line)
        answer = await s.told(retiring, agent, WHOLE, "retire")
        seen = s.oracle.sees(agent, WHOLE, line) and s.oracle.records[line].type == "experience"
        if isinstance(answer, MemorandaError):
            if seen or not isinstance(answer, NotFound):
                raise Leak(f"retire of {line}: {answer}")
        elif not seen:
            raise Leak(f"{agent.parts} retired {line}")
        else:
            s.absorb(answer, agent, WHOLE, asked=[line])
    tenant = Owner(tenant=party.tenant, kind=OwnerKind.TENANT, id=party.tenant)
    if tenant in s.actors:
        key = s.pick(tenant, WHOLE, "key", strange=0.9)
        answer = await s.told(s.book(party).keys.revoke(key), tenant, WHOLE, "revoke")
        is_its_key = s.oracle.sees(tenant, WHOLE, key) and s.oracle.records[key].type == "key"
        if isinstance(answer, MemorandaError) == is_its_key:
            raise Leak(f"{tenant.parts} revoking {key}: {answer}")
        if not isinstance(answer, MemorandaError):
            s.absorb(answer, tenant, WHOLE, asked=[key])


async def night(s: Session) -> None:
    """A night of an agent archives what that agent wrote of that owner, and tells no more than the
    agent reads.
    """
    party, _ = s.someone()
    agent, book = s.rng.choice(world.AGENTS), s.book(party)
    view = View(agent=agent)
    given = {
        "pruneStaleAfterDays": 0.0001,
        "contradictionResolution": s.rng.choice(("off", "keep_newest")),
    }
    settings = DreamSettings.model_validate(given)
    report = await s.told(
        dream(book.engine, book.door, party, agent, settings), party, WHOLE, "night"
    )
    if isinstance(report, MemorandaError):
        raise Leak(f"a night of {party.parts} for {agent}: {report}")
    done = (*report.archived, *report.restored)
    if others := [id for id in done if s.oracle.records[id].agent != agent]:
        raise Leak(f"a night of {party.parts} for {agent} archived what others wrote: {others}")
    told = [id for one in report.contradictions for id in one.ids]
    if unseen := [id for id in told if not may_read(s.oracle.records[id].audience, view)]:
        raise Leak(f"a night of {party.parts} for {agent} told of what it does not read: {unseen}")
    if report.receipt is not None:
        s.absorb(report.receipt, party, view)


async def archived_limit(s: Session) -> None:
    """At the limit of archived memories a write is refused with the number of the owner's own, and
    of nobody else's.
    """
    party, _ = s.someone()
    book, seen = s.book(party), list(s.oracle.visible(party, WHOLE))
    memories = [known for known in seen if known.type == "memory"]
    held = sum(known.status == "archived" for known in memories)
    active = [known.id for known in memories if known.status == "active"]
    if not active:
        return
    memory = await book.records.get(party, s.rng.choice(active), as_owner=True)
    change = c.Archive(memory.id, memory.version, "one more")
    door = book.door.within(world.LIMITS.model_copy(update={"archived_per_owner": 1}))
    asked = door.write(party, WHOLE, as_actor(WHOLE), [change], request=None, dry_run=True)
    answer = await s.told(asked, party, WHOLE, "limit of archived memories")
    if isinstance(answer, LimitReached):
        if not held or f"({held}/1)" not in str(answer):
            raise Leak(f"{party.parts} has {held} archived memories, and the limit says: {answer}")
    elif held and not isinstance(answer, MemorandaError) and answer.items:
        raise Leak(
            f"{party.parts} has {held} archived memories, and one more was within a limit of 1"
        )


WORKS = {forget: 2, redact_refused: 1, forget_everything: 0.6, old_era: 0.7, mark_used: 3, operation: 2, experience: 1, night: 1, archived_limit: 1}  # fmt: skip
