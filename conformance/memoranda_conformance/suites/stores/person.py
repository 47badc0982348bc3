"""Conformance tests of what a book finds about one owner: the same records that a whole erasure
takes or strips.
"""

from __future__ import annotations

from uuid import UUID

from memoranda.model.changes import AddExperience, PutNamed
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.profiles import Key
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.service_records import LOCAL, SELF, AboutOwner, Appends, ReadNote
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, BEN, GUIDE, START, Pen, a_line
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.formation import started_call

TENANT = Owner(kind=OwnerKind.TENANT, id="default")


async def _told(engine: Engine) -> dict[str, UUID]:
    """Store records of others about Ann, and others that are not."""
    ann, ben = Pen(engine), Pen(engine, BEN)
    tea, rum = await ann.remember("likes tea"), await ben.remember("likes rum")
    agent, tenant = Pen(engine, GUIDE), Pen(engine, TENANT)
    lines = {
        "shared": a_line(
            GUIDE, "be brief", [(ANN, tea), (BEN, rum)], reason="ben left", retired_at=START
        ),
        "open": a_line(GUIDE, "be blunt", [(ANN, tea), (BEN, rum)], guarded=False),
        "alone": a_line(GUIDE, "serve tea", [(ANN, tea)]),
        "of_ben": a_line(GUIDE, "serve rum", [(BEN, rum)]),
    }
    await agent.write(*map(AddExperience, lines.values()))
    keys = {
        "hers": Key(id=new_id(), owner=TENANT, name="hers", digest="0" * 64, person="ann", owners=("ann", "ben"), groups=("of ben",)),
        "both": Key(id=new_id(), owner=TENANT, name="both", digest="1" * 64, owners=("ann", "ben")),
        "ward": Key(id=new_id(), owner=TENANT, name="ben", digest="2" * 64, person="ben", owners=("ann",), opens=BEN),
        "bens": Key(id=new_id(), owner=TENANT, name="bens", digest="3" * 64, owners=("ben",), person="ben"),
        # An ended key of a person, and one of a program with its name.
        "carl": Key(id=new_id(), owner=TENANT, name="carl", digest="4" * 64, person="carl", revoked_at=START),
        "bot": Key(id=new_id(), owner=TENANT, name="carl", digest="5" * 64),
    }  # fmt: skip
    await tenant.write(*map(PutNamed, keys.values()))
    await engine.note_key_uses({keys["hers"].id: START, keys["bens"].id: START})
    await engine.note_spent(started_call())
    await engine.note_spent(started_call(BEN))
    await engine.note_reads(
        [
            ReadNote(START, "default", one, by, "recall", "rest")
            for one in (ANN, BEN, None)
            for by in ("hers", "ben", "bens", "carl", SELF, LOCAL)
        ]
    )
    await engine.restrict(ANN, Appends.KEEP_UNREAD, START)
    return {name: one.id for name, one in (lines | keys).items()}


def _beside(found: AboutOwner) -> tuple[int, int, bool, int]:
    return len(found.held), len(found.reads), found.restriction is not None, len(found.spent)


class PersonSuite(Suite):
    """Tests of everything that is stored about one owner."""

    async def test_what_is_found_about_an_owner_is_what_their_whole_erasure_changes(
        self, engine: Engine
    ) -> None:
        ids = await _told(engine)
        found = await engine.about_owner(ANN)
        held = {one.record.id: one for one in found.held}
        receipt = await Pen(engine).erase_all()
        assert found.own is not None
        own = {UUID(bytes=piece.key) for piece in found.own.records}
        assert {id for id, one in held.items() if one.goes} == set(receipt.ids) - own
        assert {id for id, one in held.items() if not one.goes} == set(receipt.kept)
        assert held.keys() == {
            ids[name] for name in ("shared", "open", "alone", "hers", "both", "ward")
        }
        assert _beside(found) == (6, 7, True, 1) and found.erased == ()
        assert found.key_uses == {ids["hers"]: START}

    async def test_what_is_found_about_an_owner_names_nobody_else(self, engine: Engine) -> None:
        ids = await _told(engine)
        found = await engine.about_owner(ANN)
        held = {one.record.id: one for one in found.held}
        for one in held.values():
            assert "ben" not in one.record.model_dump_json(exclude={"owner", *one.left_out})
        lines = {name: held[ids[name]] for name in ("shared", "open", "alone")}
        for one in lines.values():
            assert isinstance(one.record, ExperienceLine)
            assert [part.owner for part in one.record.evidence] == [ANN]
        # The line that never passed the privacy check may tell of the other.
        assert [name for name, one in lines.items() if "line" in one.left_out] == ["open"]
        assert "digest" in held[ids["hers"]].left_out
        assert sorted(one.principal for one in found.reads) == [
            "",
            "",
            "",
            "hers",
            LOCAL,
            LOCAL,
            SELF,
        ]

    async def test_after_a_whole_erasure_only_what_survives_it_is_found(
        self, engine: Engine
    ) -> None:
        await _told(engine)
        pen = Pen(engine)
        await pen.erase_all()
        found = await engine.about_owner(ANN)
        assert found.own is None and _beside(found) == (0, 7, True, 0)
        assert found.erased == (pen.now,)
        assert (await engine.about_owner(BEN)).erased == ()
        again = Key(id=new_id(), owner=TENANT, name="again", digest="6" * 64, person="ann")
        await Pen(engine, TENANT).write(PutNamed(again))
        assert [one.record.id for one in (await engine.about_owner(ANN)).held] == [again.id]
        await engine.drop_reads("default", pen.now)
        await engine.unrestrict(ANN, START)
        assert _beside(await engine.about_owner(ANN)) == (1, 2, False, 0)
