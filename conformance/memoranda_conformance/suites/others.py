"""Tests of profiles, named records, keys, experience, and imported records."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memoranda.errors import Conflict, NotFound
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    ApproveExperience,
    DoubtEvidence,
    Import,
    PatchProfile,
    PutNamed,
    RetireExperience,
    Retract,
    RevokeKey,
    Undo,
)
from memoranda.model.experience_lines import MOST_USERS, Evidence
from memoranda.model.ledger import Verb
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.records import EVERYONE, WHOLE, Owner, OwnerKind, Record, RecordType
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    GUIDE,
    START,
    Pen,
    a_line,
    a_memory,
    a_message,
    a_thread,
    packed,
    terms_of_record,
)
from memoranda_conformance.suite import Suite

TENANT = Owner(kind=OwnerKind.TENANT, id="default")


def a_patch(fields: dict[str, object], *unset: str, pin: bool = False) -> PatchProfile:
    """Return a patch of the profile that all agents read."""
    return PatchProfile(new_id(), "Profile", EVERYONE, fields, unset, pin, "hash")


def a_key(owner: Owner, **fields: object) -> Key:
    """Return a service key for one user."""
    return Key.model_validate(
        {"id": new_id(), "owner": owner, "name": "phone", "digest": "0" * 64, **fields}
    )


class OtherSuite(Suite):
    """Tests of profiles, named records, keys, experience, and imported records."""

    async def test_patches_set_and_unset_the_fields_of_one_document(self, engine: Engine) -> None:
        pen = Pen(engine)
        first = await pen.write(a_patch({"name": "Ann", "home": {"town": "Bonn"}}))
        await pen.write(a_patch({"home": None}, "name"), a_patch({"age": 7}))
        document = await pen.read(first.id)
        assert (document.body, document.version, document.schema_hash) == (
            {"home": None, "age": 7},
            2,
            "hash",
        )
        assert [part.code for part in (await pen.write(a_patch({"age": 7}, "gone"))).ignored] == [
            "unchanged"
        ]
        both = await pen.write(
            replace(a_patch({"x": 1}), schema_name="Other"),
            replace(a_patch({"y": 2}), schema_name="Other"),
        )
        assert (await pen.read(both.id)).body == {"x": 1, "y": 2}
        assert len(await pen.scan()) == 2

    async def test_a_document_that_was_changed_leaves_with_any_part_of_its_sources(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        made = []
        for _ in range(3):
            first, second, again = await pen.say(await pen.open(), "Jo is 7", "now 8", "8, yes")
            document = {"schema": "Friend", "document": {"name": "Jo", "age": 7}}
            older = await pen.remember("Jo is 7", sources=(first,), data=document)
            data = {
                "schema": "Friend",
                "document": {"name": "Jo", "age": 8},
                "grounds": [[str(older)], [str(second), str(again)]],
            }
            newer = await pen.remember(
                "Jo is 8", sources=(older, second, again), data=data, supersedes=(older,)
            )
            made.append((first, second, again, older, newer))
        await pen.erase(made[0][0])
        assert (await pen.find(made[0][3]), await pen.find(made[0][4])) == (None, None)
        await pen.erase(made[1][1])
        left = await pen.read(made[1][4])
        assert left.data["grounds"] == [[str(made[1][3])], [str(made[1][2])]]
        await pen.erase(made[1][2])
        assert await pen.find(made[1][4]) is None and await pen.find(made[1][3]) is not None
        assert (await pen.read(made[2][4])).data["document"]["age"] == 8

    async def test_what_a_person_set_only_a_person_changes(self, engine: Engine) -> None:
        pen = Pen(engine)
        profile = (await pen.write(a_patch({"name": "Ann"}, pin=True))).id
        receipt = await pen.write(a_patch({"name": "Anna", "age": 7}))
        assert [(part.code, part.field) for part in receipt.ignored] == [("pinned", "name")]
        assert (await pen.read(profile)).body == {"name": "Ann", "age": 7}
        await pen.write(a_patch({}, "name"))
        assert (await pen.read(profile)).body["name"] == "Ann"
        await pen.write(a_patch({"name": "Anne"}, pin=True))
        assert ((await pen.read(profile)).body["name"], (await pen.read(profile)).pinned) == (
            "Anne",
            ("name",),
        )
        await pen.write(a_patch({}, "name", pin=True))
        await pen.write(a_patch({"name": "Nan"}))
        assert (await pen.read(profile)).body["name"] == "Nan"

    async def test_a_profile_is_patched_by_those_who_read_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        mine = PatchProfile(new_id(), "Profile", FOR_A, {"name": "Ann"}, pin=True)
        profile = (await pen.write(mine, view=AT_A)).id
        for patch in (
            replace(mine, set={"name": "B"}),
            replace(mine, set={"name": "B"}, pin=False),
        ):
            with pytest.raises(NotFound):
                await pen.write(patch, view=AT_B)
        assert (await pen.read(profile)).version == 1

    async def test_a_named_record_is_replaced_under_its_name(self, engine: Engine) -> None:
        pen = Pen(engine, TENANT)
        agent = Agent(id=new_id(), owner=TENANT, name="waiter", settings={"tone": "kind"})
        schema = Schema(id=new_id(), owner=TENANT, name="waiter", parameters={"type": "object"})
        await pen.write(PutNamed(agent), PutNamed(schema))
        newer = Agent(id=new_id(), owner=TENANT, name="waiter", model="any")
        receipt = await pen.write(PutNamed(newer))
        assert receipt.ids() == (agent.id,)
        stored = await pen.read(agent.id)
        assert (stored.version, stored.model, stored.settings) == (2, "any", {})
        assert [part.code for part in (await pen.write(PutNamed(newer))).ignored] == ["unchanged"]
        assert [record.id for record in await pen.scan(slots=(agent.slot(),))] == [agent.id]
        assert len(await pen.scan()) == 2

    async def test_a_key_serves_until_it_is_revoked(self, engine: Engine) -> None:
        pen = Pen(engine, TENANT)
        key = a_key(TENANT, roles=("reader",), opens=ANN, expires_at=START)
        await pen.write(PutNamed(key))
        with pytest.raises(Conflict):
            await pen.write(PutNamed(a_key(TENANT)))
        await pen.write(RevokeKey(key.id))
        assert (await pen.read(key.id)).revoked_at == pen.now
        assert [part.code for part in (await pen.write(RevokeKey(key.id))).ignored] == ["unchanged"]
        again = a_key(TENANT)
        await pen.write(PutNamed(again))
        assert [record.id for record in await pen.scan(slots=(again.slot(),))] == [again.id]
        with pytest.raises(NotFound):
            await pen.write(RevokeKey(new_id()))

    async def test_a_key_may_be_replaced_at_once_and_hold_until_a_moment_to_come(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, TENANT)
        old, new = a_key(TENANT), a_key(TENANT)
        await pen.write(PutNamed(old))
        late, sooner = pen.now + timedelta(hours=2), pen.now + timedelta(hours=1)
        await pen.write(RevokeKey(old.id, late), PutNamed(new))
        assert [record.id for record in await pen.scan(slots=(new.slot(),))] == [new.id]
        assert (await pen.read(old.id)).revoked_at == late
        await pen.write(RevokeKey(old.id, sooner))
        assert [part.code for part in (await pen.write(RevokeKey(old.id, late))).ignored] == [
            "unchanged"
        ]
        assert (await pen.read(old.id)).revoked_at == sooner

    async def test_an_erased_users_name_leaves_the_keys_that_open_others_too(
        self, engine: Engine
    ) -> None:
        pen, tenant = Pen(engine), Pen(engine, TENANT)
        await pen.remember("likes tea")
        own = a_key(TENANT, name="own", owners=("ann",), groups=(), person="ann")
        hers = a_key(TENANT, name="hers", owners=("ann",), groups=())
        both = a_key(TENANT, name="both", owners=("ann", "ben"), groups=())
        every = a_key(TENANT, name="every")
        for one in (own, hers, both, every):
            await tenant.write(PutNamed(one))
        before = (await engine.entries(tenant.owner, 0, 100))[-1].position
        await pen.erase_all()
        assert [await tenant.find(one.id) for one in (own, hers)] == [None, None]
        assert [(await tenant.read(one.id)).owners for one in (both, every)] == [("ben",), None]
        steps = await engine.history(tenant.owner, WHOLE, both.id)
        assert [step.record is None for step in steps] == [True, False]
        assert len(await engine.entries(tenant.owner, before, 100)) == 1

    async def test_a_key_of_a_group_ends_with_the_group(self, engine: Engine) -> None:
        team = Owner(kind=OwnerKind.GROUP, id="team")
        pen, tenant = Pen(engine, team), Pen(engine, TENANT)
        await pen.remember("meets on Mondays")
        key = a_key(TENANT, owners=(), groups=("team",))
        await tenant.write(PutNamed(key))
        await pen.erase_all()
        assert await tenant.find(key.id) is None

    async def test_a_line_of_experience_serves_until_it_is_retired(self, engine: Engine) -> None:
        pen = Pen(engine, GUIDE)
        line = a_line(GUIDE, "ask for the date first", [(ANN, new_id())])
        receipt = await pen.write(AddExperience(line))
        assert await pen.read(line.id) == line.changed(recorded_at=receipt.at)
        await pen.write(RetireExperience(line.id, "it annoys people"))
        retired = await pen.read(line.id)
        assert (retired.retired_at, retired.reason) == (pen.now, "it annoys people")
        assert [part.code for part in (await pen.write(RetireExperience(line.id))).ignored] == [
            "unchanged"
        ]
        again = a_line(GUIDE, "Ask for the  date first", [(BEN, new_id())])
        for given in (again, again.changed(evidence=(), approved_at=START)):
            added = await pen.write(AddExperience(given))
            assert [(part.code, part.id) for part in added.ignored] == [("retired", line.id)]
        assert len(await pen.scan()) == 1

    async def test_each_users_evidence_for_a_line_is_added_once_and_with_what_the_guard_said(
        self, engine: Engine
    ) -> None:
        pen, first, second = Pen(engine, GUIDE), new_id(), new_id()
        line = a_line(GUIDE, "ask for the date first", [(ANN, first)])
        await pen.write(AddExperience(line))
        his = Evidence(owner=BEN, sources=(second,))
        added = await pen.write(AddEvidence(line.id, his))
        assert [(item.verb, item.version) for item in added.items] == [(Verb.CONFIRM, 2)]
        assert [part.code for part in (await pen.write(AddEvidence(line.id, his))).ignored] == [
            "unchanged"
        ]
        held = await pen.read(line.id)
        assert (held.users, held.guarded, held.rests_on()) == (2, False, (first, second))
        await pen.write(AddEvidence(line.id, his.model_copy(update={"guarded_at": START})))
        assert (await pen.read(line.id)).guarded
        await pen.write(RetireExperience(line.id))
        late = AddEvidence(line.id, Evidence(owner=BEN, sources=(new_id(),)))
        assert [part.code for part in (await pen.write(late)).ignored] == ["retired"]
        with pytest.raises(NotFound):
            await pen.write(replace(late, line=new_id()))

    async def test_a_line_keeps_the_evidence_of_so_many_users_and_of_one_more_of_whom_it_may_tell(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, GUIDE)
        people = [
            Owner(tenant=ANN.tenant, kind=OwnerKind.USER, id=f"user {n}")
            for n in range(MOST_USERS + 3)
        ]
        passed = [Evidence(owner=one, sources=(new_id(),), guarded_at=START) for one in people]
        failed = [part.model_copy(update={"guarded_at": None}) for part in passed]
        line = a_line(GUIDE, "ask for the date first", []).changed(
            evidence=tuple(passed[: MOST_USERS + 1])
        )
        await pen.write(AddExperience(line))
        assert (await pen.read(line.id)).evidence == tuple(passed[:MOST_USERS])
        for part, codes in ((passed[-3], ["enough"]), (failed[-3], []), (failed[-2], ["enough"])):
            receipt = await pen.write(AddEvidence(line.id, part))
            assert [left.code for left in receipt.ignored] == codes
        held = await pen.read(line.id)
        assert held.evidence == (*passed[:MOST_USERS], failed[-3]) and not held.guarded

    async def test_evidence_that_was_forgotten_meanwhile_is_not_added(self, engine: Engine) -> None:
        ann, pen = Pen(engine), Pen(engine, GUIDE)
        gone = await ann.remember("likes tea")
        await ann.erase(gone)
        late = a_line(GUIDE, "ann likes tea", [(ANN, gone)])
        assert [part.code for part in (await pen.write(AddExperience(late))).ignored] == ["erased"]
        line = a_line(GUIDE, "ask for the date first", [(BEN, new_id())])
        await pen.write(AddExperience(line))
        change = AddEvidence(line.id, Evidence(owner=ANN, sources=(gone,)))
        assert [part.code for part in (await pen.write(change)).ignored] == ["erased"]

    async def test_evidence_may_prove_faulty_and_be_trusted_again(self, engine: Engine) -> None:
        pen, first, second = Pen(engine, GUIDE), new_id(), new_id()
        line = a_line(GUIDE, "ask for the date first", [(ANN, first)])
        await pen.write(AddExperience(line))
        await pen.write(
            AddEvidence(line.id, Evidence(owner=ANN, sources=(second,), guarded_at=START))
        )
        doubt = DoubtEvidence(line.id, ANN, (first, second, new_id()))
        await pen.write(doubt)
        doubted = await pen.read(line.id)
        assert (doubted.users, set(doubted.rests_on())) == (0, {first, second})
        assert [part.code for part in (await pen.write(doubt)).ignored] == ["unchanged"]
        await pen.write(replace(doubt, records=(first,), faulty=False))
        (part,) = (await pen.read(line.id)).evidence
        assert (part.sources, part.faulty) == ((first,), (second,))

    async def test_a_line_is_approved_and_its_approval_taken_back(self, engine: Engine) -> None:
        pen = Pen(engine, GUIDE)
        line = a_line(GUIDE, "ask for the date first", [(ANN, new_id())])
        await pen.write(AddExperience(line))
        approved = await pen.write(ApproveExperience(line.id))
        assert (await pen.read(line.id)).approved_at == pen.now
        again = await pen.write(ApproveExperience(line.id))
        assert [part.code for part in again.ignored] == ["unchanged"]
        await pen.write(Undo(approved.position))
        assert (await pen.read(line.id)).approved_at is None
        await pen.write(ApproveExperience(line.id))
        await pen.write(ApproveExperience(line.id, approved=False))
        assert (await pen.read(line.id)).approved_at is None

    async def test_an_imported_record_stands_as_it_was(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(name="order 7")
        said = await pen.say(thread, "tea", "and cake")
        memory = await pen.remember("likes tea", key="drink", sources=(said[0],), agent="a")
        await pen.write(Retract(memory))
        records = await pen.scan()
        there = Pen(another)
        receipt = await there.write(*(self._import(record) for record in records))
        assert receipt.ignored == ()
        assert await there.scan() == records
        again = await there.write(*(self._import(record) for record in records))
        assert [part.code for part in again.ignored] == ["present"] * 4
        (third,) = await there.say(thread, "thanks")
        assert (await there.read(third)).seq == 3

    def _import(self, record: Record) -> Import:
        return Import(record, terms_of_record(record))

    async def test_an_import_that_does_not_fit_is_left_out_and_reported(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(name="order 7")
        (said,) = await pen.say(thread, "tea")
        held = await pen.remember("likes tea", key="drink", sources=(said,))
        lost = await pen.remember("gone")
        await pen.erase(lost)
        cases = [
            (a_memory(ANN, "another", id=held), "differs"),
            (a_memory(ANN, "likes gin", key="drink"), "taken"),
            (a_thread(ANN, name="order 7"), "taken"),
            (a_memory(ANN, "gone", id=lost), "erased"),
            (a_memory(ANN, "rests on what is gone", sources=(lost,)), "sourceless"),
            (a_message(ANN, new_id(), "in no thread"), "sourceless"),
        ]
        receipt = await pen.write(*(Import(record, b"") for record, _ in cases))
        assert [(part.item, part.code) for part in receipt.ignored] == [
            (at, code) for at, (_, code) in enumerate(cases)
        ]
        assert receipt.items == ()
        assert len(await pen.scan()) == 3

    async def test_nothing_is_imported_from_an_era_that_was_ended_here(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await pen.remember("likes tea")
        era = await pen.era()
        await pen.erase_all()
        receipt = await pen.write(
            Import(a_memory(ANN, "one"), b"", era),
            Import(a_memory(ANN, "two"), b"", new_id()),
            Import(a_memory(ANN, "x"), b""),
        )
        assert [(part.item, part.code) for part in receipt.ignored] == [(0, "erased")]
        assert [record.passage_text() for record in await pen.scan()] == ["two", "x"]

    async def test_an_import_belongs_to_the_owner_that_it_is_imported_for(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        memory = a_memory(BEN, "ben's once")
        await pen.write(Import(memory, packed("ben's once")))
        assert (await pen.read(memory.id)).owner == ANN
        assert await other.scan() == []
        with pytest.raises(Conflict):
            await other.write(Import(memory, b""))
        assert await other.scan(types=frozenset({RecordType.MEMORY})) == []

    async def test_an_imported_statement_does_not_rest_on_another_owners_records(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        theirs = await other.remember("ben's")
        memory = a_memory(ANN, "ann's", sources=(theirs,))
        await pen.write(Import(memory, b""))
        await other.erase(theirs)
        kept = await pen.find(memory.id)
        assert kept is None or kept.version == 1
