"""Memory for the OpenAI Agents SDK: a session that a book keeps, and a hook that places what it
recalls.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, TypeAlias, cast

from memoranda.book import Book
from memoranda.errors import MemorandaError, installing
from memoranda.integrations.native_threads import (
    NativeItem,
    NativeThread,
    clean,
    named_thread,
    texts,
)
from memoranda.integrations.tools import Scope
from memoranda.model.messages import Message, Role
from memoranda.text.origins import marked_text
from memoranda.text.token_count import Count

try:
    from agents import SessionSettings, TResponseInputItem
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise ImportError(
        f"sessions of the OpenAI Agents SDK need it: {installing('openai-agents')}"
    ) from error

__all__ = ["MemorandaSession", "RecallHook", "Scope"]

_log = logging.getLogger("memoranda.integrations")

#: The key of an item's own form in a message's ``native``.
FORM: Final = "openai_agents"
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
#: The most characters of a prompt that are used as the question.
_QUESTION: Final = 2000
#: The contexts of so many prompts are kept for the later steps of their runs.
_RUNS: Final = 256

_Asked: TypeAlias = tuple[str, int, str, int]


@dataclass
class MemorandaSession:
    """A session in the thread that the scope names; its items come back as they were given."""

    book: Book
    scope: Scope
    _: KW_ONLY
    session_settings: SessionSettings | None = None

    def __post_init__(self) -> None:
        self.session_id = str(named_thread(self.scope).thread)
        self.session_settings = coerce_session_settings(self.session_settings or SessionSettings())
        self._thread = NativeThread(self.book, self.scope, FORM)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the session's items, oldest first: all, or the newest ``limit``."""
        most = resolve_session_limit(limit, self.session_settings)
        said = await self._thread.messages(None if most is None or most < 0 else most)
        items = [self._item(message) for message in said]
        return [item for item in items if item is not None]

    async def add_items(
        self, items: list[TResponseInputItem], *, operation: str | None = None
    ) -> None:
        """Append items; with an ``operation`` of the application's, a repeated call appends
        nothing.
        """
        natives = [cast("Mapping[str, Any]", item) for item in items]
        await self._thread.add(
            [NativeItem(item, _role(item), item_text(item)) for item in natives],
            operation=operation,
        )

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the newest item and return it; None where there is none."""
        while (message := await self._thread.pop()) is not None:
            item = self._item(message)
            if item is not None:
                return item
        return None

    async def clear_session(self) -> None:
        """Erase the session's items, with what was formed from them alone."""
        await self._thread.clear()

    def _item(self, message: Message) -> TResponseInputItem | None:
        """Return a message as an item; of other frameworks' messages only those of users and
        assistants.
        """
        own: Mapping[str, Any] | None = self._thread.item_of(message)
        if own is None and message.role in ("user", "assistant"):
            own = {"role": message.role, "content": marked_text(message)}
        return cast("TResponseInputItem | None", own)


@dataclass
class RecallHook:
    """A ``call_model_input_filter`` that places what the book recalls, as data, before the newest
    prompt.

    The context is part of the request alone, never of the session, and is the same in each step of
    a run.
    """

    book: Book
    #: One scope for all runs, or a function of what the SDK passes to the filter.
    scope: Scope | Callable[[CallModelData[Any]], Scope]
    _: KW_ONLY
    budget: int | None = None
    limit: int | None = None
    count: Count | None = None
    types: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    #: True lets a run fail if the book cannot be reached.
    strict: bool = False
    _placed: OrderedDict[_Asked, str] = field(default_factory=OrderedDict, init=False, repr=False)

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input of one model call with the context in it."""
        items, instructions = data.model_data.input, data.model_data.instructions
        prompts = [place for place, item in enumerate(items) if _role(cast(Any, item)) == "user"]
        if not prompts:
            return data.model_data
        scope = self.scope if isinstance(self.scope, Scope) else self.scope(data)
        place = prompts[-1]
        question = clean(item_text(cast(Any, items[place])))[:_QUESTION].strip()
        asked = (str(scope), place, question, id(data.context))
        # A prompt that is the last item begins a run, or repeats its first step.
        if place == len(items) - 1 or asked not in self._placed:
            self._placed[asked] = await self._context(scope, question or None)
            while len(self._placed) > _RUNS:
                self._placed.popitem(last=False)
        context = self._placed[asked]
        if not context:
            return data.model_data
        recalled = cast("TResponseInputItem", {"role": "user", "content": context})
        return ModelInputData([*items[:place], recalled, *items[place:]], instructions)

    async def _context(self, scope: Scope, question: str | None) -> str:
        try:
            found = await self.book.context(
                scope.owner,
                question,
                thread=scope.thread,
                conversation=False,
                budget=self.budget,
                limit=self.limit,
                count=self.count,
                types=self.types,
                kinds=self.kinds,
                **scope.who,
            )
        except MemorandaError as error:
            if self.strict:
                raise
            _log.warning(
                "A run of the agent %s continues without its memory: %s", scope.agent, error
            )
            return ""
        return found.text


def item_text(item: Mapping[str, Any]) -> str:
    """Return the words of an item; of a call its name and arguments."""
    if item.get("type") == "function_call":
        return f"({item.get('name', 'tool')} {item.get('arguments', '')})"
    if "output" in item:
        return texts(item["output"], _part_text)
    return texts(item.get("content", item.get("summary")), _part_text)


def _part_text(part: Mapping[str, Any]) -> str | None:
    text = part.get("text", part.get("refusal"))
    return text if isinstance(text, str) else f"({part.get('type', 'part')})"


def _role(item: Mapping[str, Any]) -> Role:
    """Return the role of an item: its own, a tool's for an answer, or else the assistant's."""
    named = _ROLES.get(str(item.get("role")))
    if named is not None:
        return named
    return (
        "tool" if "output" in item or str(item.get("type", "")).endswith("_output") else "assistant"
    )
