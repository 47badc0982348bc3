"""Job handlers that maintain a book: its file, search terms, vectors and notes for backups."""

from __future__ import annotations

from memoranda.book.admin.backup_files import REWRITE, clear_leftovers
from memoranda.book.admin.erasure_notes import NOTE, note_erasure
from memoranda.door import pack_terms
from memoranda.embedding import VectorMaker
from memoranda.errors import Busy, EmbedderDown
from memoranda.model.changes import ERASE_REST, FOLLOW, Job, JobDraft, Postponed
from memoranda.model.ledger import Actor, Target
from memoranda.model.records import WHOLE
from memoranda.model.vectors import EMBED
from memoranda.ports import Clock, Engine, LargeShelfIndex, SearchesLargeShelves
from memoranda.text.terms import RULE
from memoranda.worker import Handler

#: Passages whose terms are recomputed in one step.
_TERMS_STEP = 500
#: Seconds between attempts to clear the file while another process reads it.
_SCRUB_SECONDS = 5.0
#: Seconds before a job for another embedder is looked at again.
_OTHERS_SECONDS = 60.0


async def refresh_terms(engine: Engine) -> int:
    """Recompute the search terms that an older rule made; recall uses the old ones until then."""
    done = 0
    while stale := await engine.stale_terms(RULE, _TERMS_STEP):
        terms = {record.id: pack_terms(record) or b"" for record in stale}
        done += await engine.put_terms(RULE, terms, {record.id: record.version for record in stale})
    return done


def embedding(engine: Engine, clock: Clock, maker: VectorMaker) -> Handler:
    """Return the handler of embedding jobs; a job for another embedder is put back, for another
    process to do.
    """

    async def embed(job: Job) -> None:
        if job.key == maker.embedding.name:
            try:
                await maker.catch_up()
            except EmbedderDown as down:
                if not maker.stopped:
                    raise
                # The book closes: this is no failed attempt.
                raise Postponed(str(down), until=clock()) from down
        else:
            # It is for another embedding: leave it to a process with that embedder.
            await engine.put(JobDraft(kind=job.kind, key=job.key, delay=_OTHERS_SECONDS), clock())

    return embed


def indexing(index: LargeShelfIndex) -> Handler:
    """Return the handler of the job that updates the index of large shelves."""

    async def update(_: Job) -> None:
        await index.update()

    return update


def upkeep(engine: Engine, clock: Clock, maker: VectorMaker | None = None) -> dict[str, Handler]:
    """Return the job handlers that maintain a book."""

    async def scrub(job: Job) -> None:
        try:
            clear = (await engine.scrub()).complete
        except Busy:
            clear = False
        if not clear:
            # Another process uses the file. A new job waits again, and no failure is counted.
            await engine.put(JobDraft(kind=job.kind, key=job.key, delay=_SCRUB_SECONDS), clock())

    async def terms(job: Job) -> None:
        await refresh_terms(engine)

    async def note(job: Job) -> None:
        await note_erasure(engine, job)

    async def rewrite(job: Job) -> None:
        if not await clear_leftovers(engine):
            await engine.put(JobDraft(kind=job.kind, key=job.key, delay=_OTHERS_SECONDS), clock())

    async def erase_rest(job: Job) -> None:
        if job.owner is not None:
            await engine.erase(Target(job.owner, WHOLE, Actor("system"), everything=True), clock())

    handlers: dict[str, Handler] = {
        "scrub": scrub,
        "terms": terms,
        NOTE: note,
        REWRITE: rewrite,
        ERASE_REST: erase_rest,
    }
    if isinstance(engine, SearchesLargeShelves):
        handlers[FOLLOW] = indexing(engine.large_shelves)
    return handlers if maker is None else {**handlers, EMBED: embedding(engine, clock, maker)}
