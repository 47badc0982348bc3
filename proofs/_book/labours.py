"""Attempts by workers: a job's handler reaches only its owner's data, whatever ids it uses, and no
other job.
"""

from __future__ import annotations

from collections.abc import Awaitable

from memoranda.errors import LimitReached, MemorandaError
from memoranda.model import changes as c
from memoranda.model.changes import Job, JobDraft, JobState
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, WHOLE, OwnerKind
from memoranda.model.values import new_id
from proofs._book import world
from proofs._book.canaries import owner_of
from proofs._book.oracle import Leak
from proofs._book.session import Session


async def jobs(s: Session) -> None:
    """Lease two jobs as one worker, and let the first job's handler use another owner's ids."""
    engine = s.books[s.rng.choice(world.TENANTS)].engine
    for _ in range(2):
        await _put_job(s)
    worker = f"worker {s.rng.randrange(3)}"
    due = [job.id for job in await engine.jobs(JobState.WAITING, 200) if job.kind == "derive"]
    wanted = s.rng.choice(due) if due and s.rng.random() < 0.5 else None
    first = await engine.lease(["derive"], worker, s.clock(), 1e6, only=wanted)
    if first is not None and wanted not in {None, first.id}:
        raise Leak(f"a worker asked for the job {wanted} and was given {first.id}")
    second = await engine.lease(["derive"], worker, s.clock(), 1e6)
    for job in (first, second):
        if job is not None:
            _check_job(s, job, worker)
    if first is None or second is None:
        return
    await _handle(s, first)
    for job in (first, second):
        if s.rng.random() < 0.4:
            await _put_again(s, job)
    await _alone(s, second, "renew", engine.renew(second, s.clock(), 1e6))
    await _alone(s, first, "keep with", engine.keep(first, {"word": first.payload["word"]}, ()))
    ending = s.rng.choice(("finish", "fail", "give up", "postpone"))
    if ending == "finish":
        await _alone(s, first, ending, engine.finish(first))
    elif ending == "postpone":
        await _alone(s, first, ending, engine.postpone(first, s.clock(), "later"))
    else:
        later = s.clock() if ending == "fail" else None
        await _alone(s, first, ending, engine.fail(first, "enough", s.clock(), later))
    if ending == "give up" and s.truth.leases()[first.id][0] == "dead" and s.rng.random() < 0.7:
        revive = s.rng.random() < 0.5
        asking = engine.replay(first.id, s.clock()) if revive else engine.drop(first.id)
        await _alone(s, first, "replay" if revive else "drop", asking)
    await _alone(s, second, "finish", engine.finish(second))
    s.touched |= {job.owner for job in (first, second) if job.owner}
    for job in await engine.jobs(None, 200):
        # Jobs that threads put by themselves carry nothing.
        if (
            job.owner
            and job.payload
            and owner_of(str(job.payload["word"])) != world.NUMBER_OF[job.owner]
        ):
            raise Leak(f"a job of {job.owner.parts} is listed with another's payload")


async def _alone(s: Session, job: Job, what: str, asking: Awaitable[bool]) -> None:
    """Check that each call changes its own job and no other."""
    before = s.truth.leases()
    if not await asking:
        raise Leak(f"a worker could not {what} the job that it had")
    after = s.truth.leases()
    if any(lease != after.get(id) for id, lease in before.items() if id != job.id):
        raise Leak(f"to {what} one job altered others")


async def _put_again(s: Session, job: Job) -> None:
    """Add the same work while it is being done; check that it will be done once more."""
    assert job.owner is not None
    word = s.word(job.owner, EVERYONE)
    again = JobDraft(kind=job.kind, key=job.key, payload={"word": word}, records=job.records)
    patch = c.PatchProfile(new_id(), "Profile", EVERYONE, {"town": word})
    s.touched.add(job.owner)
    receipt = await s.book(job.owner).door.write(
        job.owner, WHOLE, Actor("system"), [patch], request=None, jobs=(again,)
    )
    s.absorb(receipt, job.owner, WHOLE, born=EVERYONE)


async def _put_job(s: Session) -> None:
    users = [actor for actor in s.actors if actor.kind is OwnerKind.USER]
    if not users:
        return
    party = s.rng.choice(users)
    word = s.word(party, EVERYONE)
    thread = s.pick(party, WHOLE, "thread", strange=0)
    if s.oracle.records[thread].party != party or not s.oracle.sees(party, WHOLE, thread):
        return
    said = c.Append(
        thread, (world.a_message(party, thread, f"{word} grew in the garden", s.clock()),)
    )
    kind, about = (
        s.rng.choice(("derive", "derive", "idle")),
        s.pick(party, WHOLE, "memory", strange=0),
    )
    records = (about,) if s.oracle.sees(party, WHOLE, about) else ()
    draft = JobDraft(
        kind=kind,
        key=s.rng.choice(("k", "k%", str(thread))),
        payload={"word": word},
        records=records,
    )
    receipt = await s.book(party).door.write(
        party, WHOLE, Actor("owner"), [said], request=None, jobs=(draft,)
    )
    s.absorb(receipt, party, WHOLE, born=s.oracle.records[thread].audience)


def _check_job(s: Session, job: Job, worker: str) -> None:
    word = str(job.payload.get("word"))
    if job.owner is None or job.kind != "derive" or job.worker != worker:
        raise Leak(f"{worker} was given {job}")
    if owner_of(word) != world.NUMBER_OF[job.owner]:
        raise Leak(f"a job of {job.owner.parts} carries {word}")
    if s.truth.leases()[job.id][:2] != ("leased", worker):
        raise Leak(f"{worker} works on {job.id}, which it has not leased")
    if (standing := s.truth.era(job.owner)) is None or standing[0] != job.era:
        raise Leak(f"a job of {job.owner.parts} is of era {job.era}")


async def _handle(s: Session, job: Job) -> None:
    assert job.owner is not None
    s.touched.add(job.owner)
    source = s.pick(job.owner, WHOLE, "message", "memory")
    seen = s.oracle.sees(job.owner, WHOLE, source)
    audience = s.oracle.records[source].audience
    text = f"the garden grew {s.word(job.owner, audience)}"
    memory = Memory(
        id=new_id(), owner=job.owner, content=text, sources=(source,), observed_at=s.clock()
    )
    asking = s.book(job.owner).door.write(
        job.owner, WHOLE, Actor("system"), [c.Remember(memory, audience=audience)], request=None, era=job.era,
        operation=f"job {new_id()}",
    )  # fmt: skip
    answer = await s.told(asking, job.owner, WHOLE, "a job")
    if isinstance(answer, MemorandaError):
        if seen and not isinstance(answer, LimitReached):
            raise Leak(f"a job of {job.owner.parts} with its own source: {answer}")
    elif not seen:
        raise Leak(f"a job of {job.owner.parts} rests on {source}")
    else:
        s.absorb(answer, job.owner, WHOLE, born=audience)


LABOURS = {jobs: 0.8}
