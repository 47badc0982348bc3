"""The embeddings of an open book: who computes vectors, when, and why there may be none."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.book.input import BY_MEANING
from memoranda.errors import EmbeddingFailed, StorageError
from memoranda.model.ledger import Receipt, Verb
from memoranda.model.query import BookFacts, Hits
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Owner
from memoranda.model.vectors import SetState
from memoranda.ports import Engine, MakesVectors
from memoranda.tasks import quiet_task
from memoranda.worker import Worker

#: Called with the number of vectors made so far.
Made = Callable[[int], None]

#: A recall makes the vectors of what its process has just written for the owner: at most so many,
#: for so many seconds. Of more, or earlier, the worker makes them.
_NEW, _NEW_SECONDS = 32, 3.0
#: Of so many owners what was just written is known.
_NEW_OWNERS = 1000
#: What a write does to a passage that is then found by what it says.
_KEPT = frozenset({Verb.APPEND, Verb.REMEMBER, Verb.CONFIRM, Verb.ADD})
_log = logging.getLogger("memoranda.embedding")


class Embeddings:
    """The embeddings of one open book: who computes them, when, and why there may be none."""

    def __init__(
        self,
        engine: Engine,
        maker: MakesVectors | None = None,
        worker: Worker | None = None,
        *,
        no_vectors_because: str = "",
    ) -> None:
        self._engine = engine
        self.maker = maker
        self._worker = worker
        #: Why recall compares no vectors; empty if it does.
        self.no_vectors_because = no_vectors_because
        #: Why the embedder made no vector of the last question; empty where it did.
        self.failing = ""
        self._wanted = False
        self.stopping = asyncio.Event()
        #: The task that computes vectors of newly stored passages, if this process runs it.
        self.working: asyncio.Task[None] | None = None
        #: The passages that were just written here, and when the last one was.
        self._new: dict[Owner, tuple[float, list[UUID]]] = {}

    # ── life ──────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start a worker that computes vectors of stored passages, if recall reads vectors of this
        embedding.
        """
        self._wanted = True
        if self._worker is not None and not self.no_vectors_because and self.working is None:
            worker = self._worker
            self.working = quiet_task(lambda: worker.run(self.stopping))

    def stop(self) -> None:
        """Stop the worker after its current job, and wait no longer for an embedder that does not
        answer.
        """
        self._wanted = False
        self.stopping.set()
        if self.maker is not None:
            self.maker.stop()

    async def close(self) -> None:
        """Close the embedder."""
        if self.maker is not None:
            await self.maker.close()

    # ── making ────────────────────────────────────────────────────────────────────────────────────

    async def reached(self, receipt: Receipt, wait_for: str, made: Made | None = None) -> Receipt:
        """Return the receipt with the state of its passages' vectors; compute them now if
        ``wait_for`` asks for it.
        """
        if not (ids := kept(receipt)):
            return receipt
        if wait_for == "stored" and not self.no_vectors_because:
            if self.working is not None:
                self._note_new(receipt.owner, ids)
            return receipt
        if self.maker is None or self.no_vectors_because:
            return replace(receipt, no_vectors_because=self.no_vectors_because)
        lack = await self._embed(self.maker, receipt.owner, ids, made)
        return (
            replace(receipt, no_vectors_because=lack)
            if lack
            else replace(receipt, state="embedded")
        )

    def _note_new(self, owner: Owner, ids: Sequence[UUID]) -> None:
        now = time.monotonic()
        at, before = self._new.pop(owner, (0.0, []))
        if len(self._new) >= _NEW_OWNERS:
            del self._new[next(iter(self._new))]
        # One more than are made tells that there are too many.
        self._new[owner] = (now, [*(before if now - at < _NEW_SECONDS else ()), *ids][: _NEW + 1])

    async def embed_new(self, owner: Owner) -> None:
        """Make the vectors of what this process has just written for an owner, so that a recall
        finds it by meaning at once.
        """
        at, ids = self._new.pop(owner, (0.0, []))
        if self.maker is not None and 0 < len(ids) <= _NEW and time.monotonic() - at < _NEW_SECONDS:
            await self._embed(self.maker, owner, ids, None)

    async def _embed(
        self, maker: MakesVectors, owner: Owner, ids: Sequence[UUID], made: Made | None
    ) -> str:
        """Compute the vectors of these records and return why there are none, or an empty text. The
        records stay stored either way.
        """
        try:
            # The writer may have no right to read them.
            records = await self._engine.get(owner, WHOLE, ids)
            if await maker.make(list(records.values()), made) or not records:
                return ""
            return await self._unread()
        except (EmbeddingFailed, StorageError) as exc:
            _log.warning("vectors of what was just stored are made later: %s", exc)
            return f"vectors are made later: {exc}"

    async def catch_up(self, made: Made | None = None) -> int:
        """Compute the missing vectors of passages and return how many were made."""
        if self.maker is None or self.no_vectors_because:
            return 0
        done = await self.maker.catch_up(made)
        await self.end_job()
        return done

    async def lack(self) -> int:
        """Return how many passages have no vector of this embedding."""
        if self.maker is None:
            return 0
        sets = await self._engine.vector_sets()
        have = sum(one.count for one in sets if one.name == self.maker.embedding.name)
        return max(_passages(await self._engine.facts()) - have, 0)

    async def end_job(self) -> None:
        """Run the waiting embedding job, which removes it, once all passages have a vector."""
        if self._worker is None or self.maker is None:
            return
        if not await self._engine.lacking(self.maker.embedding, 1):
            await self._worker.drain()

    async def renew(self, made: Made | None = None) -> int:
        """Compute all vectors again while recall still reads the old ones; then switch to the new
        ones.
        """
        if self.maker is None:
            raise EmbeddingFailed(f"this book has no embedder: {self.no_vectors_because}")
        done = await self.maker.renew(made)
        self.no_vectors_because = ""
        await self.end_job()
        if self._wanted:
            self.start()
        return done

    # ── asking ────────────────────────────────────────────────────────────────────────────────────

    async def search(
        self,
        find: Callable[..., Awaitable[Hits]],
        question: str,
        given: NDArray[np.float32] | None,
        mode: str,
    ) -> Hits:
        """Return what ``find`` finds with the question's vector, and why no vectors were compared
        if none were.
        """
        if mode not in BY_MEANING:
            self.note_read((found := await find()).reads)
            return found
        vector = await self.of_question(question, given, needed=mode == "meaning")
        found = await find(vector=vector)
        if self.note_read(found.reads):
            # Another process has switched the book to this process's embedding: find by meaning at
            # once.
            vector = await self.of_question(question, given, needed=False)
            found = await find(vector=vector)
        if vector is None or self.no_vectors_because:
            found.no_vectors_because = self.no_vectors_because or self.failing
        return found

    async def of_question(
        self, question: str, given: NDArray[np.float32] | None, *, needed: bool
    ) -> NDArray[np.float32] | None:
        """Return the vector of a question; None if there is none, which is an error only if it is
        ``needed``.
        """
        if needed and (why := await self._unread()):
            raise EmbeddingFailed(f"mode: recall by meaning is not possible here: {why}")
        if given is not None or self.maker is None or self.no_vectors_because:
            return given
        try:
            made = await self.maker.query(question)
        except EmbeddingFailed as exc:
            self.failing = str(exc)
            if needed:
                raise
            _log.warning("recall uses words alone: %s", exc)
            return None
        self.failing = ""
        return made

    async def examine(self) -> None:
        """Note the embedder's error if it is known to fail; no vector is computed to find out."""
        if self.maker is not None:
            try:
                await self.maker.check()
            except EmbeddingFailed as exc:
                self.failing = str(exc)

    def note_read(self, name: str) -> bool:
        """Note which set the book reads, since another process may have changed it; True if it is
        ours again.
        """
        mine = "" if self.maker is None else self.maker.embedding.name
        if not mine or not name or (name == mine) is (not self.no_vectors_because):
            return False
        if name == mine:
            self.no_vectors_because = ""
            _log.info("recall uses words and meaning again, with %s", mine)
            if self._wanted:
                self.start()
            return True
        why = f"the book has vectors of {name} now, not of {mine}; open it again with that model"
        self.no_vectors_because = why
        _log.warning("recall uses words alone: %s", why)
        return False

    async def _unread(self) -> str:
        """Return why recall reads no vectors of this embedding, or an empty text, as the book is
        now.
        """
        for one in await self._engine.vector_sets():
            self.note_read(one.name if one.state is SetState.ACTIVE else "")
        return self.no_vectors_because

    async def facts(self, found: BookFacts, *, whole: bool) -> BookFacts:
        """Add the state of the vectors to facts about a tenant or the whole book."""
        sets = await self._engine.vector_sets()
        active = next((one for one in sets if one.state is SetState.ACTIVE), None)
        self.note_read("" if active is None else active.name)
        passages = _passages(found)
        counts = {
            one.name: one.count if whole else found.details["vectors"].get(one.name, 0)
            for one in sets
        }
        have = 0 if active is None else counts[active.name]
        vectors: dict[str, Any] = {
            "reads": "" if active is None else active.name,
            "passages": passages,
            "have": have,
            "lack": max(passages - have, 0),
            "making": {one.name: counts[one.name] for one in sets if one is not active},
            "no_vectors_because": self.no_vectors_because or self.failing,
        }
        return replace(found, details={**found.details, "vectors": vectors})


def _passages(found: BookFacts) -> int:
    return sum(found.records.get(type_.value, 0) for type_ in PASSAGE_TYPES)


def kept(receipt: Receipt) -> list[UUID]:
    """Return the ids of the passages that a write has stored or confirmed."""
    return [
        item.id
        for item in receipt.items
        if item.type in PASSAGE_TYPES and item.verb in _KEPT and not item.erased
    ]
