"""Tries to see what is another's, by every verb that reads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from commonplace.door import pack_terms
from commonplace.engines.inmemory import InMemoryEngine
from commonplace.errors import CommonplaceError, NotAllowed
from commonplace.model import changes as c
from commonplace.model.episodes import Episode, Outcome
from commonplace.model.ids import new_id
from commonplace.model.ledger import Actor
from commonplace.model.owner import WHOLE, Audience, Owner, OwnerKind, View
from commonplace.model.query import Filter
from commonplace.model.records import PASSAGE_TYPES
from commonplace.recall.recall import Recall
from proofs._book import world
from proofs._book.oracle import Leak, may_read
from proofs._book.session import Session, who


async def get(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view)
    found = await s.only_if(
        s.oracle.sees(party, view, id), s.book(party).get(party, id, **who(view)), party, view, "get"
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
    page = await s.book(party).list(
        party, types=only.pop("types"), only=only.pop("only"), newest_first=s.rng.random() < 0.5, limit=1000, **who(view)
    )  # fmt: skip
    s.oracle.judge(page, party, view, "list")
    _same({record.id for record in page.records}, s, party, view, test, "list")
    if any(record.owner != party for record in page.records):
        raise Leak(f"list of {party.parts} gave another owner's records")


async def count(s: Session) -> None:
    party, view = s.someone()
    only, test = _conditions(s, party, view)
    counted = await s.book(party).count(party, **only, **who(view))
    expected = sum(test(known) for known in s.oracle.visible(party, view))
    if counted != expected:
        raise Leak(f"count of {party.parts} as {view} is {counted}, not {expected}")


def _conditions(s: Session, party: Owner, view: View) -> tuple[dict[str, Any], Any]:
    """Conditions for a list, and the same in plain Python; the thread may be another's."""
    types = s.rng.choice([None, ["memory"], ["message"], ["message", "episode"], ["thread"], ["profile"]])
    only: dict[str, Any] = {}
    tests = [lambda k: types is None or k.type in types]
    chance = s.rng.random()
    if chance < 0.4:
        thread = s.pick(party, view, "thread")
        types = s.rng.choice([types, ["message"]])
        only["thread"] = thread
        tests.append(lambda k: k.thread == thread)
    elif chance < 0.5:
        only["statuses"] = "active"
        tests.append(lambda k: k.status == "active")
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


async def recall(s: Session) -> None:
    party, view = s.someone()
    sought = s.oracle.records[s.pick(party, view, "memory", "message", "episode")]
    question = " ".join([sought.word or "garden", *s.rng.choice([["garden"], [], ["spring", "said"]])])
    hits = await s.book(party).recall(party, question, limit=s.rng.choice([3, 5, 20]), **who(view))
    s.oracle.judge([(hit.record, hit.words) for hit in hits], party, view, "recall")
    for hit in hits:
        if not s.oracle.sees(party, view, hit.id):
            raise Leak(f"recall of {party.parts} as {view} found {hit.id}")
    visible = s.oracle.sees(party, view, sought.id) and sought.found_by_words
    if visible and sought.word and sought.id not in {hit.id for hit in hits}:
        raise Leak(f"recall of {party.parts} as {view} does not find its own {sought.id}")


async def recall_what_moved(s: Session) -> None:
    """What is shared is found among its new readers, and still is when more has come there."""
    party, _ = s.someone()
    memories = [
        known for known in s.oracle.visible(party, WHOLE) if known.type == "memory" and not known.grounds
    ]
    if not memories or party.kind is not OwnerKind.USER:
        return
    moving, book = s.rng.choice(memories), s.book(party)
    for audience in s.rng.sample(world.AUDIENCES, 2):
        await book.recall(party, "garden", view="owner")
        shared = await s.told(book.share(party, moving.id, audience, view="owner"), party, WHOLE, "share")
        if isinstance(shared, CommonplaceError):
            return
        s.absorb(shared, party, WHOLE, moved=audience, asked=[moving.id])
        for _ in range(2):
            if moving.word and moving.found_by_words:
                hits = await book.recall(party, moving.word, limit=20, view="owner")
                if moving.id not in {hit.id for hit in hits}:
                    raise Leak(f"{moving.id} of {party.parts} was shared for {audience} and is not found")
            patch = c.RecordEpisode(_deed(s, party, audience), audience=audience)
            done = await book.door.write(party, WHOLE, Actor("owner"), [patch], request=None)
            s.absorb(done, party, WHOLE, born=audience)


def _deed(s: Session, party: Owner, audience: Audience) -> Episode:
    now = s.clock()
    goal = f"dig {s.word(party, audience)}"
    return Episode(
        id=new_id(), owner=party, goal=goal, outcome=Outcome.SUCCEEDED, started_at=now, ended_at=now
    )


async def recall_without_the_others(s: Session) -> None:
    """Scores are those of a book in which nobody else ever wrote, and nothing that this view may not see."""
    party, view = s.someone()
    question = "what did we say about the garden in spring, and who dug early"
    hits = await s.book(party).recall(party, question, limit=200, **who(view))
    alone = InMemoryEngine()
    lines = [line async for line in s.book(party).engine.dump(party, private=False)]
    if not lines:
        return
    await alone.adopt(party, lines, pack_terms)
    hidden = [known.id for known in s.oracle.of[party].values() if not may_read(known.audience, view)]
    types = frozenset(PASSAGE_TYPES)
    finder = Recall(alone, _Without(alone, frozenset(id.bytes for id in hidden)))
    expected = await finder.find(party, view, question, limit=200, types=types, only=Filter(types=types))
    if [(hit.id, round(hit.score, 9)) for hit in hits] != [(hit.id, round(hit.score, 9)) for hit in expected]:
        raise Leak(f"recall of {party.parts} as {view} scores otherwise than in a book of its own")


class _Without:
    """Passages without those that a view may not see, whatever shelf they would be on."""

    def __init__(self, engine: InMemoryEngine, hidden: frozenset[bytes]) -> None:
        self._engine = engine
        self._hidden = hidden

    async def since(self, owner: Owner, view: View, held: Any) -> Any:
        found = await self._engine.since(owner, view, held)
        return [
            (shelf, replace(delta, rows=[row for row in delta.rows if row.id not in self._hidden]))
            for shelf, delta in found
        ]


async def history(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view)
    known = s.oracle.records[id]
    seen = s.oracle.sees(party, view, id)
    steps = await s.told(s.book(party).history(party, id, **who(view)), party, view, "history")
    if isinstance(steps, CommonplaceError):
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
    if told is not None and any(not s.oracle.sees(party, view, source.id) for source in told.sources):
        raise Leak(f"why of {id} as {view} names a source that it may not see")


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
        if s.oracle.sees(party, view, id) and s.truth.uses(id) != (found[id].count if id in found else 0)
    ]
    if wrong:
        raise Leak(f"uses of {party.parts} as {view} tells another's of {wrong}")


async def ledger(s: Session) -> None:
    party, view = s.someone()
    after = s.rng.randrange(6)
    entries = await s.told(
        s.book(party).ledger(party, after=after, limit=50, **who(view)), party, view, "ledger"
    )
    if isinstance(entries, CommonplaceError) or not view.whole:
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
    """The smaller verbs: profiles, episodes, experience, agents, keys, schemas, owners."""
    party, view = s.someone()
    book = s.book(party)
    s.oracle.judge(await book.profile.get(party, **who(view)), party, view, "profile")
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
    owners = [owner.parts for owner in await book.owners()]
    if sorted(owners) != sorted(parts for parts in s.truth.numbers().values() if parts[0] == party.tenant):
        raise Leak(f"owners listed for {party.tenant!r} are not its own")


async def another_tenant(s: Session) -> None:
    """A book is opened for one tenant; the owners of another are refused by name."""
    party, view = s.someone()
    other = next(owner for owner in world.EVERYBODY if owner.tenant != party.tenant and owner.id == party.id) \
        if party.kind is not OwnerKind.TENANT else world.EVERYBODY[0]  # fmt: skip
    if other.tenant == party.tenant:
        return
    book, id = s.book(party), s.pick(other, view)

    async def exported() -> list[str]:
        return [line async for line in book.transfer.export(other)]

    asking = s.rng.choice(
        [
            lambda: book.get(other, id, **who(view)),
            lambda: book.list(other, **who(view)),
            lambda: book.recall(other, "garden", **who(view)),
            lambda: book.ledger(other, view="owner"),
            lambda: book.remember(other, "a stranger's"),
            lambda: book.forget(other, id, view="owner"),
            exported,
        ]
    )
    answer = await s.told(asking(), party, view, "a book of another tenant")
    if not isinstance(answer, NotAllowed):
        raise Leak(f"a book of {party.tenant!r} answers for {other.parts}: {answer!r:.200}")


async def export(s: Session) -> None:
    party, _ = s.someone()
    lines = [line async for line in s.book(party).transfer.export(party)]
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
        if tail is not None and (row := s.truth.row(UUID(line["record"]["id"]))) and row.seq != tail:
            raise Leak(f"the export of {party.parts} ends a thread at {tail}, not {row.seq}")
    standing = s.truth.era(party)
    positions = [line["position"] for line in told if line["line"] == "entry"]
    if positions != list(range(1, standing[1] + 1 if standing else 1)):
        raise Leak(f"the export of {party.parts} has another ledger than its own")
    for known in own.values():
        counts = [line["count"] for line in told if line["line"] == "use" and line["id"] == str(known.id)]
        if s.truth.uses(known.id) != sum(counts):
            raise Leak(f"the export of {party.parts} lacks the use of {known.id}")


READS = {get: 18, get_several: 6, list_: 3, count: 6, messages: 4, recall: 5, recall_what_moved: 0.3, recall_without_the_others: 0.2,
         history: 6, why: 4, uses: 6, ledger: 3, shelves: 0.8, another_tenant: 2, export: 0.3}  # fmt: skip
