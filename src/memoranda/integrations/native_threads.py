"""Threads that keep the items of a framework's session as they are, beside the text that recall
finds.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memoranda.book import Book, ThreadHandle
from memoranda.errors import Erased, InvalidInput, NotFound, OperationReused
from memoranda.integrations.tools import Scope, digest
from memoranda.model.messages import NO_WORDS, Message, Role, Thread
from memoranda.model.records import RecordType, those_of
from memoranda.model.values import is_id
from memoranda.paging import by_cursor

#: Messages that are read at once.
_PAGE: Final = 1000
#: The key of an item that a book cannot keep as a JSON object, such as one with a NUL: its JSON
#: text, in ASCII.
_AS_TEXT: Final = "_json"
#: Levels of an item that a message's own JSON may have, with one to spare.
_DEEPEST: Final = 30


@dataclass(frozen=True, slots=True)
class NativeItem:
    """One item of a framework's session, and what a book stores beside it."""

    item: Mapping[str, Any]
    role: Role
    text: str
    #: Its id in the framework; an item with an id is stored once.
    id: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NativeThread:
    """The thread of one scope, for items of one framework; their key in ``native`` is ``form``."""

    book: Book
    scope: Scope
    form: str
    #: Tags and title of a new thread.
    tags: Sequence[str] = ()
    title: str = ""

    async def there(self) -> ThreadHandle | None:
        """Return the thread, or None if there is none."""
        named = self.scope.thread
        if isinstance(named, str) and is_id(named):
            # As an id it would mean a record's own: only opening it by name finds the thread that
            # is called so.
            return await self._by_name(named)
        try:
            return await self.book.thread(self.scope.owner, id=named, **self.scope.who)
        except NotFound:
            return None

    async def opened(self) -> ThreadHandle:
        """Return the thread; create it if there is none."""
        found = await self.there()
        if found is not None:
            return found
        if not isinstance(self.scope.thread, str):
            raise NotFound(f"no thread {self.scope.thread} that this view may see")
        return await self._by_name(self.scope.thread)

    async def _by_name(self, name: str) -> ThreadHandle:
        scope = self.scope
        return await self.book.thread(
            scope.owner,
            name=name,
            title=self.title,
            tags=self.tags,
            audience=scope.audience,
            **scope.who,
        )

    async def add(self, items: Sequence[NativeItem], *, operation: str | None = None) -> None:
        """Append items, all or none; with an ``operation`` that was used before, nothing is
        appended again.

        More than one call may hold (``limits.batch``) are appended in parts, in order.
        """
        if not items:
            return
        thread = await self.opened()
        limits = await self.book.agents.limits(self.scope.agent)
        drafts = [self._draft(one, limits.message_length, place) for place, one in enumerate(items)]
        for part, start in enumerate(range(0, len(drafts), limits.batch)):
            named = operation if operation is None or not part else f"{operation}:{part}"
            await thread.append(drafts[start : start + limits.batch], operation=named)

    async def add_each(self, items: Sequence[NativeItem]) -> None:
        """Append each item once, in order: one whose id is stored, or was forgotten, is left out.

        An item without an id is known by its place after one that has an id.
        """
        if not items:
            return
        thread = await self.opened()
        longest = (await self.book.agents.limits(self.scope.agent)).message_length
        named, offset = None, 0
        for place, one in enumerate(items):
            named, offset = (one.id, 0) if one.id is not None else (named, offset + 1)
            draft = self._draft(one, longest, place)
            about = (named,) if one.id is not None else (named, offset, _text_of(one.item))
            operation = None if named is None else digest(self.form, str(thread.id), *about)
            try:
                await thread.append(draft, operation=operation)
            except (Erased, OperationReused):
                # It is stored in an earlier form, or was forgotten: neither is written again.
                continue

    async def messages(self, newest: int | None = None) -> list[Message]:
        """Return the thread's messages, oldest first: all, or the newest."""
        thread = await self.there()
        if thread is None or newest == 0:
            return []
        if newest is not None and newest <= _PAGE:
            return await thread.newest(newest)
        found = [one async for one in every_message(thread)]
        return found if newest is None else found[-newest:]

    async def pop(self) -> Message | None:
        """Erase the newest message and return it; two callers at once never get the same."""
        while True:
            newest = await self.messages(1)
            if not newest:
                return None
            if not (
                await self.book.forget(self.scope.owner, newest[0].id, **self.scope.who)
            ).repeated:
                return newest[0]

    async def clear(self) -> None:
        """Erase the messages, with everything that was made from them alone."""
        thread = await self.there()
        if thread is not None:
            await self.book.forgetting.forget_all(
                self.scope.owner, types=RecordType.MESSAGE.value, thread=thread.id, **self.scope.who
            )

    def item_of(self, message: Message) -> dict[str, Any] | None:
        """Return the item that a message was made from; None if another module stored it."""
        native = message.native if isinstance(message.native, dict) else {}
        if self.form + _AS_TEXT in native:
            item: dict[str, Any] = json.loads(native[self.form + _AS_TEXT])
            return item
        own = native.get(self.form)
        return own if isinstance(own, dict) else None

    def _draft(self, one: NativeItem, longest: int, place: int) -> dict[str, Any]:
        try:
            written = _text_of(one.item)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"items[{place}]: cannot be written as JSON: {error}", field="items"
            ) from None
        item = json.loads(written)
        native = {self.form: item} if _is_plain(item) else {self.form + _AS_TEXT: written}
        text = clean(one.text)
        text = NO_WORDS if not text or text.isspace() else text
        return {
            "role": one.role,
            "content": text if len(text) <= longest else text[: longest - 1] + "…",
            "agent": self.scope.agent,
            "observed_at": one.said_at,
            "native": native,
        }


def named_thread(scope: Scope) -> Scope:
    """Return the scope of a session; refuse one that names no thread."""
    if scope.thread is None:
        raise InvalidInput(
            "scope: name the session's thread, as in Scope('ada', 'agent', thread='session-1')"
        )
    return scope


async def every_message(
    thread: ThreadHandle, first: int = 1, last: int | None = None
) -> AsyncIterator[Message]:
    """Yield the messages of a thread between two places, oldest first."""
    async for page in by_cursor(
        lambda cursor: thread.messages(first=first, last=last, cursor=cursor, limit=_PAGE)
    ):
        for message in those_of(Message, page.records):
            yield message


async def threads_tagged(book: Book, scope: Scope, tag: str) -> list[Thread]:
    """Return all threads of a scope's owner with a tag."""
    found: list[Thread] = []
    async for page in by_cursor(
        lambda cursor: book.records.list(
            scope.owner, types="thread", only={"tags": tag}, cursor=cursor, limit=_PAGE, **scope.who
        )
    ):
        found += those_of(Thread, page.records)
    return found


def texts(content: Any, part: Callable[[Mapping[str, Any]], str | None]) -> str:
    """Return the text of a message's content: a text, or a list of parts that ``part`` reads."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(filter(None, (part(one) for one in parts if isinstance(one, Mapping))))


def clean(text: str) -> str:
    """Remove what a book cannot store: NUL characters and single halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _text_of(item: Any) -> str:
    return json.dumps(item, allow_nan=False)


def _is_plain(value: Any, depth: int = 0) -> bool:
    """True if a book can keep a JSON value as it is: no NUL, no half of a surrogate pair, and not
    too deep.
    """
    if isinstance(value, str):
        return clean(value) == value
    if isinstance(value, dict):
        inner: Any = [*value, *value.values()]
    else:
        inner = value if isinstance(value, list) else ()
    return depth < _DEEPEST and all(_is_plain(one, depth + 1) for one in inner)
