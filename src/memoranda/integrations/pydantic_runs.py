"""Storage of PydanticAI runs: each run is stored once in a thread, and threads are closed with an
episode.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse

from memoranda.book import Book, ThreadHandle
from memoranda.errors import NotFound, OperationReused
from memoranda.integrations.native_threads import clean, every_message
from memoranda.integrations.pydantic_messages import (
    FORM,
    content_of,
    drafts_of,
    messages_of,
    native_form,
)
from memoranda.integrations.tools import Scope, digest
from memoranda.model.ledger import Receipt
from memoranda.model.messages import Message
from memoranda.model.records import RecordType

_log = logging.getLogger("memoranda.integrations")

#: The most characters of the last answer that become the summary of an episode.
_SUMMARY: Final = 1000


async def history(thread: ThreadHandle, *, budget: int | None = None) -> list[ModelMessage]:
    """Return a thread's messages for ``message_history``: all, or the newest within a budget of
    tokens.
    """
    if budget is not None:
        return messages_of((await thread.window(budget)).messages)
    return messages_of([one async for one in every_message(thread)])


async def thread_of(book: Book, scope: Scope, conversation: str) -> ThreadHandle:
    """Open the thread that a scope names, or else the thread of the framework's conversation."""
    named = scope.thread or conversation
    if isinstance(named, UUID):
        return await book.thread(scope.owner, id=named, **scope.who)
    return await book.thread(scope.owner, name=named, audience=scope.audience, **scope.who)


@dataclass(frozen=True, slots=True)
class Runs:
    """Stores the messages of PydanticAI runs in threads."""

    book: Book
    #: Tools whose arguments and answers are already in the book.
    quiet: AbstractSet[str]

    async def keep(
        self,
        thread: ThreadHandle,
        scope: Scope,
        run: str,
        messages: Sequence[ModelMessage],
        *,
        failed: bool,
    ) -> bool:
        """Append a run's messages, all or none; skip those that an earlier attempt stored.

        Return False if the run was stored before.
        """
        operation = _operation(thread, run)
        if (
            failed
            and await self.book.records.operation(thread.owner, operation, **scope.who) is not None
        ):
            return False
        limits = await self.book.agents.limits(scope.agent)
        drafts, reduced = drafts_of(
            messages, run=run, agent=scope.agent, quiet=self.quiet, longest=limits.message_length
        )
        if reduced:
            _log.warning(
                "Run %s: %d messages are stored in a shortened form: too large, or not text",
                run,
                reduced,
            )
        attempts, earlier = await self._earlier(thread, scope, operation)
        drafts = _unsaid(drafts, earlier)
        if failed:
            operation = f"{operation}:failed:{attempts}"
        again = False
        for part, start in enumerate(range(0, len(drafts), limits.batch)):
            try:
                receipt = await thread.append(
                    drafts[start : start + limits.batch],
                    operation=f"{operation}:{part}" if part else operation,
                )
            except OperationReused:
                # The run was stored before, and was repeated with other words.
                _log.info("Run %s was stored before", run)
                return False
            again = again or receipt.repeated
        # If an interrupted attempt stored the first parts, the rest is stored now.
        return not again

    async def close(
        self,
        thread: ThreadHandle,
        *,
        goal: str | None = None,
        outcome: str | None = None,
        summary: str | None = None,
        tags: Sequence[str] = (),
        result: Any = None,
        operation: str | None = None,
    ) -> Receipt:
        """Close a thread with an episode; arguments that are None are taken from the thread's
        messages.
        """
        said = [one async for one in every_message(thread)]
        if outcome is None:
            outcome = "failed" if await self._broke_off(thread, said) else "succeeded"
        standing = await thread.get()
        limits = self.book.door.limits
        if standing.agent is not None:
            limits = await self.book.agents.limits(standing.agent)
        longest = limits.content_length
        if goal is None:
            goal = next((one.content for one in said if one.role == "user"), "(nothing was asked)")
        if summary is None:
            answers = [one.content for one in said if one.role == "assistant"]
            summary = answers[-1] if answers else ""
        if standing.ended_at is not None:
            # The thread was continued after it was closed.
            await thread.set(status="running")
        episode = {
            "goal": _cut(goal, longest),
            "summary": _cut(summary, _SUMMARY),
            "outcome": outcome,
            "tags": tuple(tags),
            "started_at": standing.started_at,
            "tool_calls": _calls(messages_of(said), self.quiet),
        }
        status = "completed" if outcome == "succeeded" else "failed"
        return await thread.close(status, result=result, episode=episode, operation=operation)

    async def _earlier(
        self, thread: ThreadHandle, scope: Scope, operation: str
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of earlier failed attempts at a run, and the forms of their
        messages.
        """
        attempts = 0
        ids: list[UUID] = []
        while True:
            receipt = await self.book.records.operation(
                thread.owner, f"{operation}:failed:{attempts}", **scope.who
            )
            if receipt is None:
                break
            ids += receipt.ids(RecordType.MESSAGE)
            attempts += 1
        forms = []
        for id in ids:
            try:
                record = await self.book.records.get(thread.owner, id, **scope.who)
            except NotFound:
                continue
            form = native_form(record) if isinstance(record, Message) else None
            if form is not None:
                forms.append(dict(form))
        return attempts, forms

    async def _broke_off(self, thread: ThreadHandle, said: Sequence[Message]) -> bool:
        """True if the last run in a thread ended with an exception."""
        forms = [form for form in map(native_form, said) if form is not None and form.get("run_id")]
        if not forms:
            return False
        operation = _operation(thread, forms[-1]["run_id"])
        return (
            await thread.operation(operation) is None
            and await thread.operation(f"{operation}:failed:0") is not None
        )


def _operation(thread: ThreadHandle, run: str) -> str:
    return digest("run", str(thread.id), run)


def _unsaid(
    drafts: list[dict[str, Any]], earlier: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Drop the first messages that an earlier attempt at the run has stored already."""
    same = 0
    while same < min(len(drafts), len(earlier)) and content_of(
        drafts[same]["native"][FORM]
    ) == content_of(earlier[same]):
        same += 1
    return drafts[same:]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _calls(messages: Sequence[ModelMessage], quiet: AbstractSet[str]) -> list[dict[str, Any]]:
    """Return the tool calls in the messages with their results, except calls of ``quiet`` tools."""
    calls: dict[str, dict[str, Any]] = {}
    for message in messages:
        if isinstance(message, ModelResponse):
            for call in message.tool_calls:
                if call.tool_name not in quiet:
                    calls[call.tool_call_id] = {
                        "tool": " ".join(clean(call.tool_name).split()) or "(unnamed)",
                        "inputs": call.args_as_dict() or None,
                        "called_at": message.timestamp,
                        "success": False,
                    }
        elif isinstance(message, ModelRequest):
            for part in message.parts:
                made = calls.get(getattr(part, "tool_call_id", ""))
                if made is not None and part.part_kind == "tool-return":
                    made["output"] = clean(part.model_response_str())
                    made["success"] = part.outcome == "success"
    return list(calls.values())
