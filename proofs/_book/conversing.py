"""Attempts on another owner's threads, profiles and episodes, and attempts to undo another's
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.book.input import as_actor
from memoranda.errors import Conflict, HasDependents, InvalidInput, MemorandaError, NotFound, Stale
from memoranda.model import changes as c
from memoranda.model.messages import Thread
from memoranda.model.records import EVERYONE, Owner, OwnerKind, View
from memoranda.model.values import new_id
from proofs._book import world
from proofs._book.oracle import Leak, may_read
from proofs._book.session import Session, who
from proofs._book.writes import as_agent, born_as, upon


async def undo(s: Session) -> None:
    """Check that a position refers to the owner's own ledger only."""
    party, view = s.someone()
    standing = s.truth.era(party)
    last = standing[1] if standing else 0
    # Mostly one of the newest, on which nothing rests yet.
    position = (
        max(1, last - s.rng.randrange(4)) if s.rng.random() < 0.7 else s.rng.randint(1, last + 2)
    )
    together = s.rng.random() < 0.5
    answer = await s.told(
        s.book(party).undo(party, position, with_dependents=together, **who(view)),
        party,
        view,
        "undo",
    )
    if isinstance(answer, Conflict) and "let the book make ids" in str(answer):
        raise Leak(f"undo of {position} by {party.parts} restored another record: {answer}")
    if isinstance(answer, HasDependents):
        _check_built_upon(s, party, position, answer.positions)
    if not isinstance(answer, MemorandaError):
        if position > last:
            raise Leak(f"undo of {position} by {party.parts}, whose ledger ends at {last}")
        done, asked = {item.id for item in answer.items}, s.truth.touched(party, position)
        # What was archived, and was changed or erased since, stays and is named.
        stays = {part.id for part in answer.ignored if part.code in ("changed", "erased")}
        if not asked <= done | stays or not (done | stays <= asked or together):
            raise Leak(
                f"undo of {position} restored {done}, kept {stays}, and it had touched {asked}"
            )
        s.absorb(answer, party, view)


def _check_built_upon(s: Session, party: Owner, position: int, later: Sequence[int]) -> None:
    """Check that a later position changed one of the same records, or one that depends on them."""
    base = s.truth.touched(party, position)
    resting = {
        known.id for known in s.oracle.of[party].values() if base.intersection(known.grounds) or known.thread in base
    }  # fmt: skip
    for each in later:
        if each <= position or not s.truth.touched(party, each) & (base | resting):
            raise Leak(
                f"undo of {position} by {party.parts} is refused for {each}, which has nothing to do with it"
            )


async def undo_what_an_agent_learnt_from(s: Session) -> None:
    """Check that an owner cannot notice that an agent has learnt from a statement."""
    party, view = s.someone()
    if party.kind is not OwnerKind.USER:
        return
    agent = Owner(tenant=party.tenant, kind=OwnerKind.AGENT, id="a")
    for _ in range(s.rng.randint(0, 2)):
        s.touched.add(agent)
        word = s.word(agent, EVERYONE)
        added = await s.book(party).experience.add("a", "heuristics", f"mind {word}")
        s.absorb(added, agent, world.VIEWS[-1], born=EVERYONE)
    text = f"only {s.word(party, EVERYONE)}"
    said = await s.told(
        s.book(party).remember(party, text, audience=EVERYONE), party, View(), "remember"
    )
    if isinstance(said, MemorandaError):
        return
    s.absorb(said, party, View(), born=EVERYONE)
    s.touched.add(agent)
    line = f"heed {s.word(agent, EVERYONE)}"
    evidence: dict[str, Sequence[UUID | str]] = {party.id: [said.id]}
    learnt = await s.book(party).experience.add("a", "heuristics", line, evidence=evidence)
    s.absorb(learnt, agent, world.VIEWS[-1], born=EVERYONE)
    if s.rng.random() < 0.5:
        retired = await s.book(party).experience.retire("a", learnt.id)
        s.absorb(retired, agent, world.VIEWS[-1], asked=[learnt.id])
    undone = await s.told(
        s.book(party).undo(party, said.position, as_owner=True), party, view, "undo"
    )
    if isinstance(undone, MemorandaError):
        if not isinstance(undone, Conflict) or isinstance(undone, HasDependents):
            raise Leak(f"an agent's experience stands in {party.parts}'s way: {undone}")
        return
    s.absorb(undone, party, world.VIEWS[-1])


async def append(s: Session) -> None:
    party, view = s.someone()
    thread = s.pick(party, view, "thread")
    known = s.oracle.records[thread]
    content = f"we said {s.word(party, known.audience)} in the garden"
    draft = world.a_message(party, thread, content, s.clock())
    expect = c.NOTHING_EXPECTED
    if s.rng.random() < 0.2:
        expect = c.Expect(last={s.pick(party, view, "thread"): 1})
    asking = s.book(party).door.write(
        party, view, as_actor(view), [c.Append(thread, (draft,))], request=None, expect=expect
    )
    answer = await s.told(asking, party, view, "append")
    if isinstance(answer, Stale):
        watched = next(iter(expect.last))
        if not s.oracle.sees(party, view, watched) and "ends at" in str(answer):
            raise Leak(
                f"{party.parts} as {view} was told where a thread ends that it may not see: {answer}"
            )
        return
    if any(not s.oracle.sees(party, view, watched) for watched in expect.last):
        raise Leak(f"an append by {party.parts} passed an expectation about what it may not see")
    seen = s.oracle.sees(party, view, thread)
    if isinstance(answer, MemorandaError):
        if seen:
            raise Leak(f"append to {thread} by {party.parts} as {view}: {answer}")
    elif not seen:
        raise Leak(f"append to {thread} by {party.parts} as {view} went through")
    else:
        s.absorb(answer, party, view, born=known.audience, asked=())


async def set_thread(s: Session) -> None:
    party, view = s.someone()
    thread = s.pick(party, view, "thread")
    word = s.word(party, s.oracle.records[thread].audience)
    changes: list[c.Change] = [c.SetThread(thread, {"title": word})]
    asking = s.book(party).door.write(party, view, as_actor(view), changes, request=None)
    await upon(s, thread, asking, party, view, "set", asked=[thread])


async def open_thread(s: Session) -> None:
    """Open a thread by a name that a thread outside the view may have."""
    party, view = s.someone()
    audience = s.audience(view)
    name = (
        s.rng.choice((f"main {s.rng.randrange(6)}", None))
        if s.rng.random() < 0.7
        else f"n {new_id()}"
    )
    opened = Thread(
        id=new_id(), owner=party, audience=audience, name=name, title=s.word(party, audience), started_at=s.clock()
    )  # fmt: skip
    asking = s.book(party).door.write(
        party, view, as_actor(view), [c.OpenThread(opened)], request=None
    )
    answer = await s.told(asking, party, view, "open a thread")
    if isinstance(answer, MemorandaError):
        if not isinstance(answer, Conflict if may_read(audience, view) else InvalidInput):
            raise Leak(f"open a thread by {party.parts} as {view}: {answer}")
        return
    if not may_read(audience, view):
        raise Leak(f"{party.parts} as {view} opened a thread for {audience}")
    for part in answer.ignored:
        if part.id is None or not s.oracle.sees(party, view, part.id):
            raise Leak(f"{party.parts} as {view} was handed thread {part.id}, which it may not see")
    s.absorb(answer, party, view, born=audience, asked=())


async def profile(s: Session) -> None:
    party, view = s.someone()
    audience = s.audience(view)
    word = s.word(party, audience)
    asking = s.book(party).profiles.patch(party, {"town": word}, audience=audience, **who(view))
    answer = await s.told(asking, party, view, "patch a profile")
    if isinstance(answer, MemorandaError):
        if may_read(audience, view) or not isinstance(answer, NotFound):
            raise Leak(f"patch of {party.parts} as {view}: {answer}")
    elif not may_read(audience, view):
        raise Leak(f"{party.parts} as {view} patched the profile of {audience}")
    else:
        s.absorb(answer, party, view, born=audience)


async def episode(s: Session) -> None:
    party, view = s.someone()
    view = View() if view.whole else view
    sources = [
        s.pick(party, view, "message", "memory", strange=0.4) for _ in range(s.rng.randint(0, 2))
    ]
    audience = s.audience(view) if s.rng.random() < 0.7 else None
    seen = all(s.oracle.sees(party, view, id) for id in sources)
    born = born_as(s, sources, audience, view)
    word = s.word(party, born or EVERYONE)
    asking = s.book(party).episodes.record(
        party,
        audience=audience,
        goal=f"dig {word}",
        outcome="succeeded",
        sources=sources,
        **as_agent(view),
    )
    answer = await s.told(asking, party, view, "record an episode")
    if isinstance(answer, MemorandaError):
        if seen and born is not None:
            raise Leak(f"episode by {party.parts} as {view} was refused: {answer}")
        return
    if not seen or born is None:
        raise Leak(
            f"an episode by {party.parts} as {view} rests on what it may not, or is too wide"
        )
    s.absorb(answer, party, view, born=born, asked=())


CONVERSING = {undo: 4, undo_what_an_agent_learnt_from: 0.4, append: 5, set_thread: 2, open_thread: 1, profile: 2,
              episode: 1.5}  # fmt: skip
