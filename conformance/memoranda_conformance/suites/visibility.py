"""Tests of access: which views read and write a record of each type, and which statements withstand
a write of lower trust.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from memoranda.errors import NotFound, Stale
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    Amend,
    ApproveExperience,
    Change,
    ChangeAudience,
    CloseThread,
    Confirm,
    DoubtEvidence,
    Expect,
    OpenThread,
    PatchProfile,
    PutNamed,
    RecordEpisode,
    RetireExperience,
    Retract,
    RetractSource,
    RevokeKey,
    SetThread,
    Supersede,
    Undo,
)
from memoranda.model.experience_lines import Evidence
from memoranda.model.items import DeleteItem, PutItem
from memoranda.model.ledger import Actor, Target
from memoranda.model.memories import MemoryStatus
from memoranda.model.messages import Overflow, ThreadStatus, ToolCall, WholeCall
from memoranda.model.passages import Use
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.query import Filter, Scan
from memoranda.model.records import (
    EVERYONE,
    PASSAGE_TYPES,
    WHOLE,
    Audience,
    Owner,
    OwnerKind,
    RecordType,
    Trust,
    View,
)
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    FOR_A,
    FOR_B,
    Follower,
    Pen,
    a_line,
    a_thread,
    an_episode,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.stores.items import a_put

AUDIENCES = {
    "self a": FOR_A,
    "self b": FOR_B,
    "g1": Audience.of_groups(["g1"]),
    "g1 and g2": Audience.of_groups(["g1", "g2"]),
    "global": EVERYONE,
}

#: Each view, and the audiences that it sees.
VIEWS: dict[str, tuple[View, set[str]]] = {
    "nobody in particular": (View(), {"global"}),
    "agent a": (View(agent="a"), {"self a", "global"}),
    "agent b": (View(agent="b"), {"self b", "global"}),
    "agent a in g1": (View(agent="a", groups=("g1",)), {"self a", "g1", "g1 and g2", "global"}),
    "agent b in g2": (View(agent="b", groups=("g2",)), {"self b", "g1 and g2", "global"}),
    "agent c in g1 and g2": (View(agent="c", groups=("g1", "g2")), {"g1", "g1 and g2", "global"}),
    "agent g1": (View(agent="g1"), {"global"}),
    "agent a in a look-alike": (
        View(agent="a", groups=("g", "G1", "g1,g2", '["g1"]', "%")),
        {"self a", "global"},
    ),
    "an agent that looks like a pattern": (View(agent="%", groups=("_1",)), {"global"}),
    "the owner": (WHOLE, set(AUDIENCES)),
}

STRANGERS = (
    Owner(id="ben"),
    Owner(tenant="elsewhere", id="ann"),
    Owner(kind=OwnerKind.GROUP, id="ann"),
    Owner(id="Ann"),
    Owner(id="%"),
)


@dataclass
class Written:
    """One record of the table of audiences and views."""

    type: RecordType
    audience: str
    id: UUID
    #: Changes that affect it.
    touching: list[Change] = field(default_factory=list)


async def _dispute(pen: Pen, at_a: Pen) -> tuple[UUID, UUID]:
    """Write a statement that no agent may replace, and one that an agent says against it."""
    how: dict[str, Any] = {"key": "dose", "audience": EVERYONE}
    held = await pen.remember("at most 5 mg", **how, trust=Trust.OPERATOR)
    new = at_a.remembering("at most 7 mg", **how, agent="a", trust=Trust.ASSISTANT)
    await at_a.write(new)
    return held, new.memory.id


class VisibilitySuite(Suite):
    """Tests that no read and no write reaches a record outside the view."""

    async def test_every_view_reads_and_touches_what_its_audiences_allow_and_nothing_else(
        self, engine: Engine
    ) -> None:
        table = [written async for written in self._write(Pen(engine))]
        assert {written.type for written in table} == set(RecordType)
        await Pen(engine, Owner(id="ben")).remember("a stranger's own")
        for name, (view, sees) in VIEWS.items():
            seen = [written for written in table if written.audience in sees]
            await self._check_reads(engine, ANN, view, name, seen, table)
            await self._check_changes(
                engine, ANN, view, name, [each for each in table if each not in seen]
            )
            for stranger in STRANGERS:
                await self._check_reads(
                    engine, stranger, view, f"{stranger!r} as {name}", [], table
                )
                await self._check_changes(engine, stranger, view, f"{stranger!r} as {name}", table)
        versions = await engine.get(ANN, WHOLE, [written.id for written in table])
        assert {record.version for record in versions.values()} == {1}

    async def _write(self, pen: Pen) -> AsyncIterator[Written]:
        for name, audience in AUDIENCES.items():
            thread = await pen.open(name=name, audience=audience)
            touching: list[Change] = [
                SetThread(thread, {"title": "touched"}),
                CloseThread(thread, ThreadStatus.COMPLETED),
                pen.saying(thread, "touched"),
                pen.remembering("touched", thread=thread),
                RecordEpisode(an_episode(ANN, thread=thread), b""),
            ]
            yield Written(RecordType.THREAD, name, thread, touching)
            (message,) = await pen.say(thread, f"said to {name}")
            yield Written(RecordType.MESSAGE, name, message)
            episode = an_episode(ANN, f"done for {name}")
            whole = WholeCall(place=0, call=ToolCall(tool="search", output=f"found for {name}"))
            overflow = Overflow(id=new_id(), owner=ANN, episode=episode.id, calls=(whole,))
            await pen.write(RecordEpisode(episode, b"", audience, overflow))
            yield Written(RecordType.EPISODE, name, episode.id)
            yield Written(RecordType.OVERFLOW, name, overflow.id)
            memory = await pen.remember(f"known to {name}", audience=audience)
            touching = [
                Retract(memory),
                Amend(memory, {"pinned": True}),
                Confirm(memory),
                ChangeAudience(memory, EVERYONE),
            ]
            yield Written(RecordType.MEMORY, name, memory, touching)
            await pen.engine.note_use(ANN, WHOLE, {memory: Use(count=1)})
            patch = PatchProfile(new_id(), "Profile", audience, {"name": "Ann"})
            await pen.write(patch)
            touching = [PatchProfile(patch.id, "Profile", audience, {"name": "touched"})]
            yield Written(RecordType.PROFILE, name, patch.id, touching)
            line = a_line(ANN, f"learnt by {name}", audience=audience)
            await pen.write(AddExperience(line))
            touching = [
                RetireExperience(line.id),
                ApproveExperience(line.id),
                AddEvidence(line.id, Evidence(owner=ANN, sources=(memory,))),
                DoubtEvidence(line.id, ANN, (memory,)),
            ]
            yield Written(RecordType.EXPERIENCE, name, line.id, touching)
            put = a_put(pen, "file", f"stored for {name}", audience=audience)
            item = (await pen.write(put)).id
            yield Written(RecordType.ITEM, name, item, [put, DeleteItem(item)])
            for kind in (Agent, Schema):
                named = kind(id=new_id(), owner=ANN, audience=audience, name=name)
                await pen.write(PutNamed(named))
                yield Written(named.type, name, named.id)
            key = Key(id=new_id(), owner=ANN, audience=audience, name=name, digest="0" * 64)
            await pen.write(PutNamed(key))
            yield Written(RecordType.KEY, name, key.id, [RevokeKey(key.id)])

    async def _check_reads(
        self,
        engine: Engine,
        owner: Owner,
        view: View,
        name: str,
        seen: list[Written],
        table: list[Written],
    ) -> None:
        ids, expected = [written.id for written in table], {written.id for written in seen}
        stranger = owner != ANN
        scanned = await engine.scan(owner, view, Filter(), None, 10_000)
        found = {record.id for record in scanned.records} & set(ids)
        assert found == expected, f"scan by {name}"
        others = [(Owner(id="ben"), WHOLE), (owner, view), (ANN, View(agent="nobody"))]
        pages = await engine.scans([Scan(*who, Filter(), None, 10_000) for who in others])
        assert {record.id for record in pages[1].records} & set(ids) == expected, f"scans by {name}"
        assert set(await engine.get(owner, view, ids)) == expected, f"get by {name}"
        if not stranger or owner != Owner(id="ben"):
            assert await engine.count(owner, view, Filter()) == len(expected), f"count by {name}"
        for type in RecordType:
            of_type = frozenset({type})
            count = await engine.count(owner, view, Filter(types=of_type, thread=None))
            page = await engine.scan(owner, view, Filter(types=of_type), None, 10_000)
            assert len(page.records) == count, f"count of {type} by {name}"
        for written in table:
            steps = await engine.history(owner, view, written.id)
            assert bool(steps) is (written.id in expected), f"history of a {written.type} by {name}"
        memories = {written.id for written in seen if written.type is RecordType.MEMORY}
        assert set(await engine.uses(owner, view, ids)) == memories, f"uses by {name}"
        shelves = await Follower(engine, owner, view).follow()
        passages = {id for shelf in shelves.values() for id in shelf} & set(ids)
        assert passages == {each.id for each in seen if each.type in PASSAGE_TYPES}, (
            f"since by {name}"
        )
        if not stranger:
            assert set(shelves) == {AUDIENCES[written.audience] for written in seen}, (
                f"shelves by {name}"
            )

    async def _check_changes(
        self, engine: Engine, owner: Owner, view: View, name: str, unseen: list[Written]
    ) -> None:
        pen = Pen(engine, owner, view=view)
        use = Use(strength=0.1, count=99)
        assert await engine.note_use(owner, view, {written.id: use for written in unseen}) == 0, (
            f"use by {name}"
        )
        for written in unseen:
            case = f"a {written.type} for {written.audience} by {name}"
            with refused(NotFound, f"resting on {case}"):
                await pen.remember("resting on it", sources=(written.id,))
            with refused(Stale, f"expecting {case}"):
                await pen.write(pen.remembering("x"), expect=Expect(versions={written.id: 1}))
            for change in written.touching:
                if owner == ANN or not isinstance(change, PatchProfile | PutItem):
                    with refused(NotFound, f"{type(change).__name__} of {case}"):
                        await pen.write(change)
        for written in unseen:
            with refused(NotFound, f"erasing a {written.type} for {written.audience} by {name}"):
                await engine.erase(Target(owner, view, Actor("agent"), (written.id,)), pen.tick())

    async def test_a_name_that_an_unseen_record_has_is_not_read_through_its_slot(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = a_thread(ANN, name="secret", audience=FOR_A)
        await pen.write(OpenThread(thread))
        slot = thread.slot()
        assert slot is not None
        assert [record.id for record in await pen.scan(View(agent="a"), slots=(slot,))] == [
            thread.id
        ]
        assert await pen.scan(View(agent="b"), slots=(slot,)) == []
        assert await Pen(engine, Owner(id="ben")).scan(WHOLE, slots=(slot,)) == []


def refused(error: type[Exception], case: str) -> RefusedIn:
    """Expect an error; if none is raised, fail with the name of the case."""
    return RefusedIn(error, case)


class RefusedIn:
    """A ``pytest.raises`` that names its case when it fails."""

    def __init__(self, error: type[Exception], case: str) -> None:
        self._error = error
        self._case = case

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: object
    ) -> bool:
        if kind is None:
            pytest.fail(f"{self._case} was not refused")
        return issubclass(kind, self._error)


ACTIVE, SUPERSEDED, RETRACTED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.RETRACTED


class TrustSuite(Suite):
    """Tests of statements that lower trust neither replaces nor takes back."""

    async def test_lower_trust_neither_replaces_nor_takes_back_an_operators_or_a_pinned_statement(
        self, engine: Engine
    ) -> None:
        given: list[tuple[Mapping[str, Any], Trust]] = [
            ({"trust": Trust.OPERATOR}, Trust.USER),
            ({"trust": Trust.USER, "pinned": True}, Trust.ASSISTANT),
        ]
        for number, (fields, trust) in enumerate(given):
            pen, at_a = Pen(engine), Pen(engine, view=AT_A)
            key = f"dose {number}"
            held = await pen.remember("at most 5 mg", key=key, audience=EVERYONE, **fields)
            receipt = await at_a.write(
                at_a.remembering(
                    "50 mg is fine", key=key, agent="a", audience=EVERYONE, trust=trust
                )
            )
            disputed = await pen.read(receipt.id)
            assert (disputed.active, disputed.disputes, disputed.supersedes) == (True, held, ())
            assert [(part.code, part.id) for part in receipt.ignored] == [("protected", held)]
            assert (await pen.read(held)).version == 1
            assert [one.id for one in await pen.scan(slots=((await pen.read(held)).slot(),))] == [
                held
            ]
            by_id = await at_a.write(
                at_a.remembering(
                    "100 mg is fine", agent="a", trust=trust, supersedes=(held, disputed.id)
                )
            )
            assert [(part.code, part.id) for part in by_id.ignored] == [
                ("protected", held),
                ("disputed", disputed.id),
            ]
            for change in (
                Retract(held),
                Amend(held, {"applies_when": "never"}),
                Supersede(held, by_id.id),
            ):
                refused = await at_a.write(change)
                assert (refused.items, [part.code for part in refused.ignored]) == (
                    (),
                    ["protected"],
                )
            assert (await pen.read(held)).status == ACTIVE

    async def test_strangers_do_not_replace_what_rests_on_the_users_words_and_an_agents_correction_does(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        (said,) = await pen.say(await pen.open(), "I live in Boston")
        home = await pen.remember("lives in Boston", key="home", audience=EVERYONE, sources=(said,))
        for trust in (Trust.WEB, Trust.TOOL):
            receipt = await at_a.write(
                at_a.remembering(
                    "lives in York", key="home", agent="a", audience=EVERYONE, trust=trust
                )
            )
            assert [part.code for part in receipt.ignored] == ["protected"]
        fixed = at_a.remembering(
            "lives in Lisbon", key="home", agent="a", audience=EVERYONE, trust=Trust.ASSISTANT
        )
        assert (await at_a.write(fixed)).ignored == ()
        assert (await pen.read(home)).status == SUPERSEDED

    async def test_equal_trust_the_author_and_the_person_change_a_pinned_statement(
        self, engine: Engine
    ) -> None:
        pen, at_a, at_b = Pen(engine), Pen(engine, view=AT_A), Pen(engine, view=AT_B)

        async def pinned() -> UUID:
            return await pen.remember(
                "likes tea", key="drink", agent="a", audience=EVERYONE, pinned=True
            )

        held = await pinned()
        equal = at_b.remembering(
            "likes gin", key="drink", agent="b", audience=EVERYONE, pinned=True
        )
        assert (await at_b.write(equal)).ids() == (equal.memory.id, held)
        assert (await at_b.write(Retract(await pinned()))).items == ()
        held = await pinned()
        assert (await at_a.write(Retract(held))).ids() == (held,)
        held = await pinned()
        assert (await Pen(engine, view=WHOLE).write(Retract(held))).ids() == (held,)

    async def test_an_episode_takes_only_statements_of_its_own_and_then_says_that_there_are_none(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "Book a train to Porto")
        formed, by_hand = (an_episode(ANN, thread=thread, sources=(said,)) for _ in range(2))
        await pen.write(RecordEpisode(formed))
        await pen.write(RecordEpisode(by_hand))
        travels = await pen.remember("Travels to Porto", sources=(said,))
        late = await pen.remember("Books late", sources=(by_hand.id,))
        receipt = await pen.write(RetractSource(by_hand.id), operation="one")
        assert (receipt.ids(), receipt.ignored) == ((late,), ())
        receipt = await pen.write(RetractSource(by_hand.id), operation="two")
        assert receipt.items == ()
        assert [(part.code, part.id) for part in receipt.ignored] == [("not_a_source", by_hand.id)]
        assert "nothing to retract" in receipt.ignored[0].reason
        assert (await pen.write(RetractSource(formed.id))).ids() == (travels,)

    async def test_a_faulty_source_leaves_a_pinned_statement_of_higher_trust(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        (said,) = await pen.say(await pen.open(), "tea")
        kept = await pen.remember("likes tea", sources=(said,), audience=EVERYONE, pinned=True)
        gone = await pen.remember("likes tea at noon", sources=(said,), audience=EVERYONE)
        receipt = await at_a.write(RetractSource(said), operation="faulty")
        assert [(part.code, part.id) for part in receipt.ignored] == [("protected", kept)]
        assert ((await pen.read(kept)).status, (await pen.read(gone)).status) == (ACTIVE, RETRACTED)

    async def test_the_person_settles_a_dispute_and_an_undo_opens_it_again(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        held, disputing = await _dispute(pen, at_a)
        settled = await pen.write(Supersede(held, disputing))
        winner = await pen.read(disputing)
        assert (winner.disputes, winner.supersedes, (await pen.read(held)).status) == (
            None,
            (held,),
            SUPERSEDED,
        )
        assert [one.id for one in await pen.scan(slots=(winner.slot(),))] == [winner.id]
        await pen.write(Undo(settled.position))
        again = await pen.read(winner.id)
        assert (again.disputes, (await pen.read(held)).status) == (held, ACTIVE)
        assert (await engine.verify()).faults == ()

    @pytest.mark.parametrize("how", ["retracted", "erased"])
    async def test_a_dispute_ends_with_a_confirmation_when_what_it_is_about_is_gone(
        self, engine: Engine, how: str
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        held, disputing = await _dispute(pen, at_a)
        await at_a.write(Confirm(disputing))
        assert (await pen.read(disputing)).disputes == held
        await (pen.write(Retract(held, "no")) if how == "retracted" else pen.erase(held))
        await at_a.write(Confirm(disputing))
        settled = await pen.read(disputing)
        assert settled.disputes is None
        assert [one.id for one in await pen.scan(slots=(settled.slot(),))] == [settled.id]
        assert (await engine.verify()).faults == ()

    async def test_several_refused_statements_in_one_batch_leave_the_key_where_it_is(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        held = await pen.remember(
            "at most 5 mg", key="dose", audience=EVERYONE, trust=Trust.OPERATOR
        )
        how: dict[str, Any] = {
            "key": "dose",
            "agent": "a",
            "audience": EVERYONE,
            "trust": Trust.WEB,
        }
        receipt = await at_a.write(*(at_a.remembering(text, **how) for text in ("6 mg", "7 mg")))
        assert [(await pen.read(id)).disputes for id in receipt.ids()] == [held, held]
        assert (await engine.verify()).faults == ()
