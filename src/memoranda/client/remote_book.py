"""The book of a service: each verb of ``Book`` is one request, made from its declaration."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memoranda.book import Book, ThreadHandle
from memoranda.book.admin.transfer import ImportReport
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS, PARTS
from memoranda.book.forgetting.decisions import ForgetSettings
from memoranda.client.request_arguments import arguments_of, request_of
from memoranda.client.transport import Asked, Transport, place_of
from memoranda.errors import InvalidInput, VersionMismatch
from memoranda.model.records import Limits, Owner, View
from memoranda.model.values import utc_now
from memoranda.operations import Operation
from memoranda.secrets.modes import SecretsMode
from memoranda.wire.results import ThreadAddress, from_json

if TYPE_CHECKING:
    import httpx2

#: The version of the interface that this client speaks.
_API = "v1"


class Link:
    """The connection of a book and its parts to their service."""

    def __init__(self, transport: Transport, tenant: str) -> None:
        self.transport = transport
        self.tenant = tenant

    async def call(self, verb: Operation, given: dict[str, Any]) -> Any:
        """Ask the service for a verb, and return its result."""
        answer = await self.transport.ask(request_of(verb, given, self.tenant))
        try:
            found = from_json(verb.name, answer)
        except InvalidInput as exc:
            raise VersionMismatch(
                f"the service answers in another form than this client reads: {exc}"
            ) from None
        if isinstance(found, ThreadAddress):
            return RemoteThread(self, found.owner, found.thread, found.view)
        return found


def _remote(verb: Operation) -> Callable[..., Any]:
    """Return the method that asks a service for a verb, with the signature and the documentation of
    the book's.
    """

    @functools.wraps(verb.function)
    async def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await self._link.call(verb, arguments_of(verb, args, kwargs))

    return call


def _refused(name: str, function: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """Return the method that says where to do what no service does for its callers."""

    @functools.wraps(function)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        raise InvalidInput(f"{name}: not over HTTP: {reason}", field=name)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            raise InvalidInput(f"{name}: not over HTTP: {reason}", field=name)

        return awaited
    return call


class RemoteThread(ThreadHandle):
    """One thread of a service's book, as one view sees it."""

    __slots__ = ()

    def __init__(self, link: Link, owner: Owner, id: UUID, view: View) -> None:
        made: Mapping[str, Any] = {
            "_services": link,
            "owner": owner,
            "id": id,
            "_view": view,
            "_agent": view.agent,
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)


def _of_thread(verb: Operation) -> Callable[..., Any]:
    """Return the method of a thread: like a book's, with the thread and its reader."""

    @functools.wraps(verb.function)
    async def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = arguments_of(verb, args, kwargs)
        if verb.name == "thread.append":
            given = _as_messages(given)
        given.pop("thread", None)
        return await self._services.call(
            verb, {**given, "owner": self.owner, "thread": self.id, **_reader(self._view)}
        )

    return call


def _reader(view: View) -> dict[str, Any]:
    if view.whole:
        return {"as_owner": True}
    return {} if view.agent is None else {"agent": view.agent, "groups": list(view.groups)}


#: What belongs to an append as a whole; everything else is of its one message.
_OF_APPEND = frozenset(
    "role_or_messages content operation expect_last state expect wait_for".split()
)


def _as_messages(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an append with its one message as a mapping: its ``agent`` is not the
    reader's.
    """
    role = given["role_or_messages"]
    fields = {name: given.pop(name) for name in given.keys() - _OF_APPEND}
    if isinstance(role, str):
        content = {"content": given.pop("content")} if "content" in given else {}
        given["role_or_messages"] = {"role": role, **content, **fields}
    elif fields or "content" in given:
        raise InvalidInput("messages: fields of a message go into its mapping", field="messages")
    return given


#: Each operation by its function: some functions of parts are operations of the book itself.
_BY_FUNCTION = {verb.function: verb for verb in OPERATIONS.values()}


def _methods_of(part: str) -> dict[str, Any]:
    prefix = f"{part}." if part else ""
    make = _of_thread if part == "thread" else _remote
    of = PARTS[part] if part else Book
    names = {name for kind in of.__mro__ for name in vars(kind)}
    functions = {
        name: getattr(of, name) for name in names if hasattr(getattr(of, name), "declared")
    }
    methods = {
        name: make(_BY_FUNCTION[one]) for name, one in functions.items() if one in _BY_FUNCTION
    }
    for name, reason in NOT_OFFERED.items():
        own = name.removeprefix(prefix)
        if name.startswith(prefix) and "." not in own:
            methods[own] = _refused(name, functions[own], reason)
    if part == "worker":
        methods["drain"] = _remote(OPERATIONS["jobs.run"])
    return methods


def _part_class(name: str) -> type:
    methods = _methods_of(name)
    if name == "admin":
        methods |= {one: vars(_LineOperations)[one] for one in ("export", "import_")}

    def made(self: Any, link: Link) -> None:
        self._link = link

    return type(f"Remote{PARTS[name].__name__}", (PARTS[name],), {**methods, "__init__": made})


class _LineOperations:
    """The operations of an operator that send and receive lines."""

    _link: Link

    async def export(
        self, owner: str | Owner | None = None, *, masked: bool = False, everything: bool = False
    ) -> AsyncIterator[str]:
        """Yield the lines of an export; a broken connection raises StorageError."""
        given = {"owner": owner, "masked": masked, "everything": everything}
        asked = request_of(
            OPERATIONS["admin.export"],
            {name: one for name, one in given.items() if one},
            self._link.tenant,
        )
        async for line in self._link.transport.lines(asked):
            yield line

    async def import_(
        self,
        lines: Iterable[str] | AsyncIterable[str],
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        """Import the lines of an export."""
        if progress is not None:
            raise InvalidInput(
                "progress: it is told to the program that has the book; leave it out",
                field="progress",
            )
        verb = OPERATIONS["admin.import_"]
        asked = Asked(verb.method, verb.path)
        report: ImportReport = from_json(
            verb.name, await self._link.transport.send_lines(asked, _encoded(lines))
        )
        return report


_PART_CLASSES = {name: _part_class(name) for name in PARTS if name != "thread"}


class RemoteBook(Book):
    """The book of a service. Get one from ``memoranda.open("http://…", key=…)``; ``Book`` documents
    its verbs.
    """

    def __init__(self, transport: Transport, about: Mapping[str, Any]) -> None:
        # Not Book's: what that connects is behind the service.
        self.tenant = str(about.get("tenant", ""))
        self._link = Link(transport, self.tenant)
        self._about = about
        #: What programs read of the door of a book in their process; the service enforces its own.
        self.door: Any = SimpleNamespace(
            limits=Limits(), clock=utc_now, secrets=about.get("secrets")
        )
        hours = about.get("tool_grace_hours")
        self.forget_settings = (
            ForgetSettings() if hours is None else ForgetSettings(tool_grace_hours=hours)
        )
        self.embeddings: Any = SimpleNamespace(
            maker=None, no_vectors_because=self.no_vectors_because
        )
        for name, part in _PART_CLASSES.items():
            setattr(self, name, part(self._link))

    def __repr__(self) -> str:
        return f"<RemoteBook {self._link.transport.address}>"

    @property
    def address(self) -> str:
        """The address of the service."""
        return self._link.transport.address

    @property
    def no_vectors_because(self) -> str:
        """The reason why recall compared no vectors when the book was opened; empty if it did."""
        return str(self._about.get("no_vectors_because", ""))

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which the service's book treats secrets."""
        mode: SecretsMode = self._about.get("secrets", "hide")
        return mode

    @property
    def forms_by_model(self) -> bool:
        """True if a language model of the service forms memories from conversations; False if rules
        do.
        """
        return bool(self._about.get("forms_by_model"))

    @property
    def cannot_form_because(self) -> str:
        """An empty text: the service forms its threads itself."""
        return ""

    async def close(self) -> None:
        """Close the connections; the service goes on."""
        await self._link.transport.close()


async def _encoded(lines: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield _line(line)
    else:
        for line in lines:
            yield _line(line)


def _line(line: str) -> bytes:
    return line.rstrip("\n").encode(errors="surrogatepass") + b"\n"


for _name, _method in _methods_of("").items():
    if _name not in vars(RemoteBook):
        setattr(RemoteBook, _name, _method)
for _name, _method in _methods_of("thread").items():
    setattr(RemoteThread, _name, _method)


async def open_remote(
    address: str,
    key: str | None = None,
    *,
    tenant: str | None = None,
    private_hosts: Collection[str] = (),
    over: httpx2.AsyncBaseTransport | None = None,
) -> RemoteBook:
    """Open the book of a service; raise an error if there is none, or one of another version.
    ``over`` is for tests.
    """
    transport = Transport(place_of(address, key, private_hosts), over=over)
    try:
        about = await transport.ask(Asked("GET", f"/{_API}", repeatable=True))
        if (
            not isinstance(about, dict)
            or about.get("service") != "memoranda"
            or about.get("api") != _API
        ):
            raise VersionMismatch(
                f"{transport.address} is no service of Memoranda that speaks {_API}"
            )
        if tenant is not None and tenant != about.get("tenant"):
            raise InvalidInput(
                f"tenant: the credential opens {about.get('tenant')!r}; leave tenant out",
                field="tenant",
            )
    except BaseException:
        await transport.close()
        raise
    return RemoteBook(transport, about)
