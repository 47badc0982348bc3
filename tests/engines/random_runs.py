"""Random changes to what agents did and learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.model import changes as c
from memoranda.model.experience_lines import Evidence
from memoranda.model.items import DeleteItem, Item, PutItem, RenewItem, expiry_of
from memoranda.model.messages import Overflow, ToolCall, WholeCall
from memoranda.model.records import EVERYONE, Audience, Owner, Trust
from memoranda_conformance.builders import (
    ANN,
    BEN,
    FOR_A,
    FOR_B,
    GUIDE,
    START,
    a_line,
    an_episode,
    terms_of_record,
)
from tests.engines.dice import Dice

if TYPE_CHECKING:
    from tests.engines.random_work import World

OWNERS = (ANN, BEN, GUIDE)
AUDIENCES = (EVERYONE, FOR_A, FOR_B, Audience.of_groups(["g1", "g2"]), Audience.of_groups(["g1"]))


def episode(work: World, dice: Dice, owner: Owner) -> c.Change:
    """An episode, now and then with calls that were cut off."""
    thread = dice.pick((None, work.some(dice, owner, "thread")))
    episode = an_episode(
        owner, at=work.now, id=work.fresh(), thread=thread, agent=dice.pick(("a", None))
    )
    whole = WholeCall(place=1, call=ToolCall(tool="search", output="much"))
    overflow = Overflow(id=work.fresh(), owner=owner, episode=episode.id, calls=(whole,))
    terms = terms_of_record(episode) or b""
    return c.RecordEpisode(episode, terms, dice.pick((None, FOR_A)), dice.pick((None, overflow)))


def an_item(work: World, dice: Dice, owner: Owner) -> c.Change:
    """An item, one that comes from elsewhere, or what is done to one."""
    if dice.rarely(3):
        held = work.some(dice, owner, "item")
        done: tuple[c.Change, ...] = (
            RenewItem(held),
            DeleteItem(held),
            DeleteItem(held, 1 + dice.number(3)),
        )
        return dice.pick(done)
    ttl = dice.pick((None, None, 30.0))
    made = Item(
        id=work.some(dice, owner, "item", "memory") if dice.rarely(20) else work.fresh(),
        owner=owner,
        audience=dice.pick((EVERYONE, *AUDIENCES)),
        namespace=dice.pick((("a",), ("a", "b"), ("a\x1f", "b"))),
        name=dice.pick(("x", "x", "y")),
        value=dice.pick(("tea", "gin", 1, None, {"t": ["tea", {"n": 1.5}], "u": "ale"})),
        index=dice.pick((None, None, (), ("t[0]",))),
        agent=dice.pick(("a", None)),
        trust=dice.pick((Trust.USER, Trust.USER, Trust.WEB)),
        created_at=work.now,
        updated_at=work.now,
        ttl=ttl,
        expires_at=expiry_of(ttl, work.now),
    )
    if dice.rarely():
        return c.Import(made.changed(version=1 + dice.number(3)), terms_of_record(made))
    return PutItem(made, terms_of_record(made) or b"", dice.pick((None, None, None, 0, 1)))


def experience(work: World, dice: Dice, owner: Owner) -> c.Change:
    """A line, or what is done to one."""
    if dice.number(2):
        return line_change(work, dice, owner)
    evidence = [
        (each, work.some(dice, each, "memory", "message")) for each in OWNERS[: dice.number(4)]
    ]
    line = a_line(owner, "ask first", evidence, id=work.fresh(), audience=dice.pick(AUDIENCES))
    return c.AddExperience(line)


def line_change(work: World, dice: Dice, owner: Owner) -> c.Change:
    """The changes to a line of experience."""
    line, whose = work.some(dice, owner, "experience"), dice.pick(OWNERS)
    sources = (work.some(dice, whose, "memory", "message"),)
    evidence = Evidence(owner=whose, sources=sources, guarded_at=dice.pick((None, START)))
    changes: tuple[c.Change, ...] = (
        c.AddEvidence(line, evidence),
        c.DoubtEvidence(line, whose, sources, dice.rarely(2)),
        c.ApproveExperience(line, not dice.rarely()),
        c.RetireExperience(line, "so"),
    )
    return dice.pick(changes)
