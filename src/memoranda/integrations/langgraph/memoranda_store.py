"""A LangGraph store whose items are a book's: durable, with history, undo and erasure, each owner's
apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from memoranda.book import Book
from memoranda.book.admin.retention import clear_expired
from memoranda.book.input import Who, as_flag, as_view
from memoranda.errors import InvalidInput, StorageError
from memoranda.integrations.langgraph.langchain_embedder import LangChainEmbedder
from memoranda.integrations.langgraph.owner_batches import OwnerBatches, OwnerQueues
from memoranda.model.records import Owner
from memoranda.sync import SyncBook, open_sync
from memoranda.wire.langgraph_store import (
    AudienceOf,
    Labels,
    NamespaceOwners,
    OwnerOf,
    Place,
    paths_of,
)


def owner_from_run(name: str = "user_id") -> OwnerOf:
    """Return a function that takes the owner's id from the run: ``config["configurable"][name]``.

    A client of a LangGraph server chooses ``configurable`` itself: there, name
    ``langgraph_auth_user_id``, which the server sets.
    """

    def owner_of(_namespace: Labels) -> str:
        config = var_child_runnable_config.get() or {}
        owner = config.get("configurable", {}).get(name)
        if not isinstance(owner, str) or not owner:
            raise InvalidInput(
                f"owner: this call is in no run with configurable[{name!r}]; invoke the graph with "
                f'config={{"configurable": {{{name!r}: …}}}}',
                field="owner",
            )
        return owner

    return owner_of


T = TypeVar("T")


class HomeLoop:
    """A book with the event loop that its calls run on."""

    def __init__(self, book: Book | SyncBook | str | Path, embed: LangChainEmbedder | None) -> None:
        self._own: SyncBook | None = None
        if isinstance(book, (str, Path)):
            book = self._own = open_sync(book, embed="auto" if embed is None else embed)
        if isinstance(book, SyncBook):
            self.book: Book = book.book
            self.loop: asyncio.AbstractEventLoop = book.run(_running())
        elif isinstance(book, Book):
            self.book, self.loop = book, _here()
        else:
            raise InvalidInput(
                f"book: give an open book or the address of one, not {type(book).__name__}",
                field="book",
            )
        if self._own is None and embed is not None:
            self._compare(embed)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the book's loop, from whatever loop this is called on."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        try:
            self.check()
        except BaseException:
            work.close()
            raise
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def check(self) -> None:
        """Raise ``StorageError`` if the loop has ended, with its book."""
        if self.loop.is_closed():
            raise StorageError(
                "the book of this store is closed: open it again, and make a new store"
            )

    def _compare(self, embed: LangChainEmbedder) -> None:
        maker = self.book.embeddings.maker
        if maker is None or maker.embedding != embed.embedding:
            raise InvalidInput(
                "index.embed: this book makes its vectors with another embedder; open it with "
                "memoranda.open(…, embed=LangChainEmbedder(embed, dims)), or give the store its address",
                field="index.embed",
            )

    def close(self) -> None:
        """Close the book if the store opened it."""
        if self._own is not None:
            self._own.close()


def _here() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise InvalidInput(
            "book: this book belongs to an event loop, and none runs here: make the store inside it, or give it a book "
            "of memoranda.open_sync(…), or an address",
            field="book",
        ) from None


async def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


class MemorandaStore(AsyncBatchedBaseStore):
    """A store for LangGraph, langmem and deepagents over a book, an open one or one at an address.

    ``owner_of`` returns the owner of a namespace; nothing is guessed, and a namespace without an
    owner is refused. A search or listing whose prefix spans owners needs ``across_owners``: True
    for all, or a list. ``audience_of`` names the readers of what is stored in a namespace. ``ttl``
    is LangGraph's ``TTLConfig``; what has expired is never returned. ``index`` is its
    ``IndexConfig``: ``fields`` that search finds by default, and with an address ``embed`` and
    ``dims``. ``erase_deleted`` erases deleted items with their history. ``agent``, ``groups`` and
    ``view`` say who reads and writes.
    """

    supports_ttl = True

    # LangGraph's own: each makes one operation of its arguments and calls ``batch`` or ``abatch``.
    get = BaseStore.get
    search = BaseStore.search
    put = BaseStore.put
    delete = BaseStore.delete
    list_namespaces = BaseStore.list_namespaces
    aget = BaseStore.aget
    asearch = BaseStore.asearch
    aput = BaseStore.aput
    adelete = BaseStore.adelete
    alist_namespaces = BaseStore.alist_namespaces

    def __init__(
        self,
        book: Book | SyncBook | str | Path,
        *,
        owner_of: OwnerOf,
        audience_of: AudienceOf | None = None,
        across_owners: bool | Collection[str | Owner] = False,
        ttl: TTLConfig | None = None,
        index: Mapping[str, Any] | None = None,
        erase_deleted: bool = False,
        **who: Unpack[Who],
    ) -> None:
        # The queue and the task of the class above are not needed: calls wait in one queue for each
        # owner.
        self._task: asyncio.Task[None] | None = None
        as_view(who)
        self.ttl_config = ttl
        self.index_config = index
        embedder = _embedder_of(index)
        self.embeddings = None if embedder is None else embedder.embeddings
        fields = None if index is None else index.get("fields") or index.get("text_fields")
        self._home = HomeLoop(book, embedder)
        self._loop = self._home.loop
        opened = self._home.book
        self._owners = NamespaceOwners(
            opened.tenant, opened.admin.owners, owner_of, audience_of, across_owners
        )
        self._queues = OwnerQueues(
            OwnerBatches(
                self._home.book,
                self._owners,
                who,
                fields=None
                if fields is None
                else paths_of([fields] if isinstance(fields, str) else fields),
                embeds=embedder is not None,
                erases=as_flag(erase_deleted, "erase_deleted"),
            )
        )

    def __del__(self) -> None:
        """Leave the book open: who opened it closes it."""

    # ── operations ────────────────────────────────────────────────────────────────────────────────

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together and wait for their results; not on the thread of the book's own
        event loop.
        """
        self._home.check()
        results: list[Result] = super().batch(ops)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations together: reads see what was there before the writes, and the last write
        of a key counts.

        The writes on one owner and one audience are one operation of the book: all of them, or
        none.
        """
        # The owners are asked here, in the caller's own context, which may be that of a run.
        placed = [(op, self._placed(op)) for op in map(_checked, ops)]
        return await self._home.run(self._each_owner(placed))

    async def _each_owner(self, placed: list[tuple[Op, Place | None]]) -> list[Result]:
        groups: dict[Owner | None, list[int]] = {}
        for at, (_, place) in enumerate(placed):
            groups.setdefault(None if place is None else place.owner, []).append(at)
        results: list[Result] = [None] * len(placed)

        async def run(owner: Owner | None, positions: list[int]) -> None:
            answers = await self._queues.run(owner, [placed[at] for at in positions])
            for at, answer in zip(positions, answers, strict=True):
                results[at] = answer

        # What is read across owners is read before any of this batch is written.
        if None in groups:
            await run(None, groups.pop(None))
        if len(groups) == 1:
            await run(*groups.popitem())
        elif groups:
            outcomes = await asyncio.gather(
                *(run(*group) for group in groups.items()), return_exceptions=True
            )
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
        return results

    def _placed(self, op: Op) -> Place | None:
        if isinstance(op, (GetOp, PutOp)):
            return self._owners.of_item(op.namespace)
        if isinstance(op, SearchOp):
            return self._owners.of_prefix(op.namespace_prefix)
        begins = [one.path for one in op.match_conditions or () if one.match_type == "prefix"]
        return self._owners.of_prefix(max(begins, key=len, default=()), listing=True)

    # ── life ──────────────────────────────────────────────────────────────────────────────────────

    async def asweep_ttl(self) -> int:
        """Erase now what has expired, which the book does by itself within an hour; return how many
        records went.
        """
        return await self._home.run(self._swept())

    def sweep_ttl(self) -> int:
        """Erase now what has expired, and wait for it; ``asweep_ttl`` is for coroutines."""
        self._home.check()
        return asyncio.run_coroutine_threadsafe(self._swept(), self._loop).result()

    async def _swept(self) -> int:
        book, swept = self._home.book, 0
        for owner in await book.admin.owners():
            swept += await clear_expired(book.engine, book.door.clock, owner)
        return swept

    def close(self) -> None:
        """Close the book if the store opened it."""
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)


def _checked(op: Op) -> Op:
    if not isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)):
        raise InvalidInput(f"op: a {type(op).__name__} is no operation of a store", field="op")
    validate_op_namespace(op)
    return op


def _embedder_of(index: Mapping[str, Any] | None) -> LangChainEmbedder | None:
    if index is None or index.get("embed") is None:
        return None
    if "dims" not in index:
        raise InvalidInput(
            "index.dims: give the number of dimensions of the embeddings", field="index.dims"
        )
    return LangChainEmbedder(index["embed"], index["dims"], name=index.get("name"))
