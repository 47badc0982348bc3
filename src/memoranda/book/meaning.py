"""The embeddings of an open book: who computes them, when, and why there may be none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import EmbeddingFailed, StorageError
from memoranda.model.facts import BookFacts
from memoranda.model.ledger import Receipt, Verb
from memoranda.model.owner import WHOLE, Owner
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.vectors import SetState
from memoranda.ports import Engine, MakesVectors
from memoranda.worker import Worker

#: Called with the number of vectors made so far.
Made = Callable[[int], None]

#: What a write does to a passage that is then found by what it says.
_KEPT = frozenset({Verb.APPEND, Verb.REMEMBER, Verb.CONFIRM, Verb.ADD})

_log = logging.getLogger("memoranda.embedding")


class Embeddings:
    """The vectors of one open book: who makes them, when, and why there are none."""

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
        self._stop = asyncio.Event()
        #: The task that computes vectors of newly stored passages, if this process runs it.
        self.working: asyncio.Task[None] | None = None

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start computing vectors of stored passages in the background, if recall reads this embedding's vectors."""
        self._wanted = True
        if self._worker is not None and not self.no_vectors_because and self.working is None:
            self.working = asyncio.create_task(self._worker.run(self._stop))

    def stop(self) -> None:
        """Stop after the current job."""
        self._wanted = False
        self._stop.set()

    async def close(self) -> None:
        """Close the embedder."""
        if self.maker is not None:
            await self.maker.close()

    # ── making ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def reached(self, receipt: Receipt, wait_for: str, made: Made | None = None) -> Receipt:
        """Return the receipt with the state of its passages; compute their vectors now if ``wait_for`` asks for it."""
        if wait_for == "stored" and not self.no_vectors_because:
            return receipt
        ids = kept(receipt)
        if not ids:
            return receipt
        if self.maker is None or self.no_vectors_because:
            return replace(receipt, no_vectors_because=self.no_vectors_because)
        lack = await self._embed(self.maker, receipt.owner, ids, made)
        return replace(receipt, no_vectors_because=lack) if lack else replace(receipt, state="embedded")

    async def _embed(self, maker: MakesVectors, owner: Owner, ids: Sequence[UUID], made: Made | None) -> str:
        """Compute the vectors of these records and return why there are none, or an empty text. The records stay stored either way."""
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
        """How many passages have no vector of this embedding."""
        if self.maker is None:
            return 0
        sets = await self._engine.vector_sets()
        have = sum(one.count for one in sets if one.name == self.maker.embedding.name)
        return max(_passages(await self._engine.facts()) - have, 0)

    async def end_job(self) -> None:
        """Take away the job that made vectors due, where nothing is left for it to do."""
        if self._worker is None or self.maker is None:
            return
        if not await self._engine.lacking(self.maker.embedding, 1):
            await self._worker.drain()

    async def renew(self, made: Made | None = None) -> int:
        """Compute all vectors anew while recall still reads the old ones; then switch."""
        if self.maker is None:
            raise EmbeddingFailed(f"this book has no embedder: {self.no_vectors_because}")
        done = await self.maker.renew(made)
        self.no_vectors_because = ""
        await self.end_job()
        if self._wanted:
            self.start()
        return done

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def of_question(
        self, question: str, given: NDArray[np.float32] | None, *, needed: bool
    ) -> NDArray[np.float32] | None:
        """A question's vector, if it is not given; None where there is none, which is an error only if it is needed."""
        if needed and (why := self.no_vectors_because or await self._unread()):
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
        """Find out what is known to be wrong with the embedder, without letting it work."""
        if self.maker is not None:
            try:
                await self.maker.check()
            except EmbeddingFailed as exc:
                self.failing = str(exc)

    async def _unread(self) -> str:
        """Return why recall reads no vectors of this embedding, or an empty text; another process may have changed the model."""
        sets = await self._engine.vector_sets()
        name = "" if self.maker is None else self.maker.embedding.name
        if any(one.state is SetState.ACTIVE and one.name == name for one in sets):
            return ""
        return f"the book has no vectors of {name} now; open it again"

    async def facts(self, found: BookFacts) -> BookFacts:
        """Return the facts of the book, with the state of its vectors added."""
        sets = await self._engine.vector_sets()
        active = next((one for one in sets if one.state is SetState.ACTIVE), None)
        passages = _passages(found)
        have = 0 if active is None else active.count
        vectors: dict[str, Any] = {
            "reads": "" if active is None else active.name,
            "passages": passages,
            "have": have,
            "lack": max(passages - have, 0),
            "making": {one.name: one.count for one in sets if one is not active},
            "no_vectors_because": self.no_vectors_because or self.failing,
        }
        return replace(found, details={**found.details, "vectors": vectors})


def _passages(found: BookFacts) -> int:
    return sum(found.records.get(type_.value, 0) for type_ in PASSAGE_TYPES)


def kept(receipt: Receipt) -> list[UUID]:
    """The passages that a write has stored, or said again."""
    return [
        item.id
        for item in receipt.items
        if item.type in PASSAGE_TYPES and item.verb in _KEPT and not item.erased
    ]
