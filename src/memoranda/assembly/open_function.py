"""``open``: it loads everything that a book's first calls need, and opens the book."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from pkgutil import walk_packages
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from memoranda.assembly.remote_setup import is_service, open_service
from memoranda.errors import InvalidInput
from memoranda.model import DEFAULT_TENANT
from memoranda.package_names import loaded

if TYPE_CHECKING:
    from memoranda.book import Book
    from memoranda.model.records import Limits
    from memoranda.ports import Clock
    from memoranda.secrets.modes import SecretsMode

#: The file of a book whose address is not given.
DEFAULT_FILE = "memoranda.db"
#: The choice that the settings make.
AUTO = "auto"

#: The packages that calls of an open book use, besides its engine; each loads the libraries of an
#: extra when it needs them.
_ROOMS = "access book embedding formation model models recall secrets storage text wire".split()

#: The function that opens a book in this process, once it is loaded.
_open_here: Callable[..., Awaitable[Book]] | None = None


def load() -> Callable[..., Awaitable[Book]]:
    """Import what appending, recall and contexts need, and complete it; return the function that
    opens a book.
    """
    setup = loaded("memoranda.assembly.book_setup")
    loaded("memoranda.secrets.detection")
    loaded("memoranda.text.near_words").near_words(())
    for module, model in (("memories", "Memory"), ("messages", "Message"), ("messages", "Thread")):
        getattr(loaded(f"memoranda.model.{module}"), model).model_rebuild()
    open_here: Callable[..., Awaitable[Book]] = setup.open_here
    return open_here


def load_all() -> None:
    """Import all that a call of an open book may need, and complete it, so that no request of a
    service waits for that.
    """
    load()
    for room in _ROOMS:
        for found in walk_packages([str(Path(__file__).parents[1] / room)], f"memoranda.{room}."):
            loaded(found.name)
    kinds = [loaded("memoranda.model.values").Value]
    for kind in kinds:
        kind.model_rebuild()
        kinds += kind.__subclasses__()


class Opening:
    """The result of ``open``: ``await`` it to get the book, or use it with ``async with``, which
    also closes the book.
    """

    def __init__(self, **how: Any) -> None:
        self._how = how
        self._book: Book | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"{name}: the book is not open yet: await memoranda.open(…) first (book = await memoranda.open(…), or "
            "async with memoranda.open(…) as book); without an event loop, use memoranda.open_sync(…)"
        )

    def __enter__(self) -> NoReturn:
        raise TypeError("use async with memoranda.open(…), or with memoranda.open_sync(…)")

    def __exit__(self, *of_error: object) -> None:
        """Never run: ``__enter__`` raises."""

    def __await__(self) -> Generator[Any, None, Book]:
        return self._opened().__await__()

    async def __aenter__(self) -> Book:
        self._book = await self._opened()
        return self._book

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._book is not None:
            await self._book.close()

    async def _opened(self) -> Book:
        key, here = (
            self._how["key"],
            {name: one for name, one in self._how.items() if name != "key"},
        )
        if is_service(here["address"]):
            return await open_service(here["address"], key, here)
        if key is not None:
            raise InvalidInput("key: only the book of a service has one; leave it out", field="key")
        global _open_here
        if _open_here is None:
            # The loop goes on meanwhile.
            _open_here = await asyncio.to_thread(load)
        return await _open_here(**here)


def open(
    address: str | Path = DEFAULT_FILE,
    *,
    tenant: str = DEFAULT_TENANT,
    limits: Limits | None = None,
    config: str | Path | None = None,
    worker: bool | None = None,
    create: bool = True,
    read_only: bool = False,
    clock: Clock | None = None,
    embed: Any = AUTO,
    models: Any = AUTO,
    audience: Literal["self", "group", "global"] | None = None,
    secrets: SecretsMode | None = None,
    key: str | None = None,
) -> Opening:
    """Open a book: a path, ``sqlite:///path``, ``postgresql://…``, ``mongodb://…``, ``memory://``,
    or a service's ``https://host``.

    ``limits`` are the guardrails; without them, those of the ``config`` file and the environment
    apply. ``worker``: None, the default, does the background jobs of this tenant in this process,
    such as forming memories, and computes the vectors of every tenant. True does those of every
    tenant, as ``memoranda worker`` does; False does none. ``embed`` chooses the embedder:
    ``"auto"`` is the one the settings name, or else the local model if it is installed, or else
    none; None means words alone; or give ``"multilingual"``, a folder with the model's files,
    ``"provider:model"``, or an embedder. ``models`` chooses the language models that read
    conversations: ``"auto"`` are those the settings name; None means rules without a model; or give
    ``"provider:model"``, a mapping of tasks to such names, a model of PydanticAI, or any
    ``Models``. ``audience`` says who reads what an agent writes without naming an audience: the
    agent alone (``self``, the default), its groups, or all agents of the owner (``global``). It
    comes before the setting ``sharing.default``, and after an agent's own. ``secrets`` says what is
    done with keys, passwords, numbers of cards and the like: ``hide`` (the default) keeps records
    whole and shows models masks, ``mask`` stores masks in place of secrets, ``keep`` does nothing.
    It comes before the setting ``secrets.mode``. ``key`` opens a service; without it, the variable
    ``MEMORANDA_KEY`` does.
    """
    return Opening(
        address=address,
        tenant=tenant,
        limits=limits,
        config=config,
        worker=worker,
        create=create,
        read_only=read_only,
        clock=clock,
        embed=embed,
        models=models,
        audience=audience,
        secrets=secrets,
        key=key,
    )
