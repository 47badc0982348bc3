"""A capability that gives any PydanticAI agent a memory: it inserts context, offers tools, and stores each run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import tzinfo
from typing import Any, Literal, TypeAlias

import anyio
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import FunctionToolset

from memoranda.book import Book, ThreadHandle
from memoranda.book.context_requests import request_of
from memoranda.book.forgetting.hidden_facts import Hidden
from memoranda.book.input import as_audience, as_view, owner_named
from memoranda.errors import InvalidInput, MemorandaError
from memoranda.integrations.native_threads import clean
from memoranda.integrations.pydantic_messages import placed, prompt_text, whole
from memoranda.integrations.pydantic_runs import Runs, history, thread_of
from memoranda.integrations.tools import TOOLS, TOOLS_BY_NAME, Call, MemoryTools, Scope
from memoranda.model.ledger import Receipt
from memoranda.text.token_count import Count

__all__ = ["Lost", "Memoranda", "Scope", "history"]

_log = logging.getLogger("memoranda.integrations")

#: The most characters of a prompt that are used as the question.
_QUESTION = 2000

#: Called with the messages of a run that could not be stored, and the error.
Lost: TypeAlias = Callable[[Sequence[ModelMessage], Exception], None]


@dataclass
class _Run:
    """The state of one run; runs share nothing."""

    scope: Scope
    #: The number of messages that it was given as its history.
    before: int
    thread: ThreadHandle | None = None
    #: The text of its context once it is built; every step of the run gets the same.
    context: str | None = None
    #: What the model's calls have hidden.
    hidden: list[Hidden] = field(default_factory=list)
    #: The run's own list of messages; the framework appends to it.
    messages: list[ModelMessage] = field(default_factory=list)


@dataclass
class Memoranda(AbstractCapability[AgentDepsT]):
    """Inserts context into every run, offers tools within the run's scope, and stores the messages in the run's thread."""

    book: Book
    #: The owner and agent of a run: one scope for all runs, or a function of the run's context.
    scope: Scope | Callable[[RunContext[AgentDepsT]], Scope]
    _: KW_ONLY
    #: The tools that the model is offered; ``read_turns`` only if it is named.
    tools: Sequence[str] = TOOLS
    #: True recalls a context for each run, with at most ``budget`` tokens; with a ``limit``, of at most so many hits
    #: and memories.
    recall: bool = True
    budget: int | None = None
    limit: int | None = None
    count: Count | None = None
    #: The types of records and the kinds of memories in a context; None: all.
    types: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    #: The reader's time zone, or a function of the run's context: the context then tells the time.
    time_zone: str | tzinfo | Callable[[RunContext[AgentDepsT]], str | tzinfo | None] | None = None
    #: The order in which the tool ``recall`` shows memories, and the most that it shows.
    order: Literal["recent", "most_used"] = "recent"
    most: int = 50
    #: True lets the tool ``remember`` store statements that all agents of the owner read (audience ``global``).
    allow_global: bool = False
    #: True stores the messages of each run.
    record: bool = True
    #: True treats each run as a task of its own, and closes its thread with an episode.
    closes: bool = False
    #: True lets a run fail if the book cannot be reached.
    strict: bool = False
    lost: Lost | None = None
    _run: _Run | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        known = (*TOOLS, *TOOLS_BY_NAME)
        unknown = sorted(set(self.tools) - set(known))
        if unknown:
            raise InvalidInput(
                f"tools: {unknown[0]!r} is not a tool; choose from {', '.join(known)}",
                field="tools",
            )
        if not isinstance(self.book, Book):
            raise InvalidInput(
                "book: give an open book, as `async with memoranda.open(…) as book` has it",
                field="book",
            )
        if not callable(self.scope):
            self._checked(self.scope)
        zone = None if callable(self.time_zone) else self.time_zone
        budget, limit = (1 if given is None else given for given in (self.budget, self.limit))
        request_of(None, None, budget, limit, self.count, self.types, self.kinds, zone)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None, because a book cannot be written into a configuration file."""
        return None

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Memoranda[AgentDepsT]:
        """Return a copy of this capability with the state of one run."""
        scope = self._checked(self.scope(ctx) if callable(self.scope) else self.scope)
        own = replace(self)
        own._run = _Run(scope, len(ctx.messages))
        return own

    def _checked(self, scope: Any) -> Scope:
        """Return a scope; raise for a malformed one, which is a mistake of the application, not an unreachable book."""
        if not isinstance(scope, Scope):
            raise InvalidInput(
                f"scope: give Scope(owner, agent), or a function that returns one, not {type(scope).__name__}",
                field="scope",
            )
        owner_named(scope.owner, self.book.tenant)
        as_audience(scope.audience, as_view(scope.who))
        return scope

    async def wrap_run(
        self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        """Store the messages of the run, however it ends."""
        run = self._own()
        try:
            if self.record or run.scope.thread is not None:
                await self._open(ctx, run)
            result = await handler()
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self._keep(ctx, run, self._broken(ctx, run, error), error)
            raise
        with anyio.CancelScope(shield=True):
            await self._keep(ctx, run, result.new_messages(), None)
        return result

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Insert the context before the user's prompt, in this request only."""
        run = self._own()
        run.messages = ctx.messages
        if self.recall:
            if run.context is None:
                run.context = await self._context(ctx, run)
            if run.context:
                messages = list(request_context.messages)
                request_context.messages = placed(messages, run.context, ctx.run_id)
        return request_context

    def get_toolset(self) -> FunctionToolset[AgentDepsT] | None:
        """Return the tools that the model is offered."""
        offered: FunctionToolset[AgentDepsT] = FunctionToolset(id="memoranda")

        async def remember(
            ctx: RunContext[AgentDepsT],
            content: str,
            kind: str = "",
            key: str | None = None,
            audience: str = "self",
            applies_when: str = "",
            replaces: str | None = None,
        ) -> str:
            """Keep one statement about the user that will matter in later conversations.

            Args:
                content: The statement, short and complete in itself.
                kind: What sort it is: preference, fact (unless you say otherwise), instruction, context, experience or note.
                key: A name for what holds once at a time, such as favorite_color; a later statement takes its place.
                audience: Who may read it: self (you alone), group (your group's agents)_GLOBAL_.
                applies_when: When it applies, where it does not always.
                replaces: The id of a statement of yours that this one corrects; what you leave out stays as it was.
            """
            call = self._call(ctx)
            return await self._tools().remember(
                call, content, kind, key, audience, applies_when, replaces
            )

        async def recall(ctx: RunContext[AgentDepsT]) -> str:
            """Show what is remembered of the user."""
            return await self._tools().recall()

        async def search(ctx: RunContext[AgentDepsT], query: str) -> str:
            """Search what is remembered of the user, and what was done for them before.

            Args:
                query: What to look for, in a few words.
            """
            return await self._tools().search(query)

        async def forget(ctx: RunContext[AgentDepsT], key: str) -> str:
            """Take a statement out of the memory, because the user asks for it.

            Args:
                key: The statement's key, or its id where it has none.
            """
            return await self._tools().forget(self._call(ctx), key)

        async def read_turns(ctx: RunContext[AgentDepsT], first: int, last: int) -> str:
            """Read earlier turns of this conversation word for word, where only a summary of them is shown.

            Args:
                first: The number of the first turn to read; the conversation begins with 1.
                last: The number of the last turn to read, at most 20 in one call.
            """
            return await self._tools().read_turns(self._call(ctx), first, last)

        # The model is told of the widest audience only if the application allows it.
        remember.__doc__ = (remember.__doc__ or "").replace(
            "_GLOBAL_", ", global (all agents)" if self.allow_global else ""
        )
        for tool in (remember, recall, search, forget, read_turns):
            if tool.__name__ in self.tools:
                offered.add_function(tool)
        return offered if self.tools else None

    async def close(
        self,
        thread: ThreadHandle,
        *,
        goal: str | None = None,
        outcome: Literal["succeeded", "failed", "abandoned"] | None = None,
        summary: str | None = None,
        tags: Sequence[str] = (),
        result: Any = None,
        operation: str | None = None,
    ) -> Receipt:
        """Close a thread with an episode of what was done in it.

        Arguments that are None are taken from the messages: the goal is the user's first message, the summary is
        the last answer, and the outcome is ``failed`` if the last run raised.
        """
        return await self._runs().close(
            thread,
            goal=goal,
            outcome=outcome,
            summary=summary,
            tags=tags,
            result=result,
            operation=operation,
        )

    def _own(self) -> _Run:
        if self._run is None:
            raise InvalidInput(
                "this capability only works inside a run: give it to an agent in `capabilities`"
            )
        return self._run

    def _tools(self) -> MemoryTools:
        scope = self._own().scope
        return MemoryTools(self.book, scope, self.most, self.order, self.strict, self.allow_global)

    def _call(self, ctx: RunContext[AgentDepsT]) -> Call:
        run = self._own()
        said = None if ctx.prompt is None else clean(prompt_text(ctx.prompt))
        return Call(ctx.run_id or "", ctx.tool_call_id or "", run.thread, said, run.hidden)

    def _runs(self) -> Runs:
        return Runs(self.book, frozenset(self.tools))

    async def _open(self, ctx: RunContext[AgentDepsT], run: _Run) -> None:
        try:
            run.thread = await thread_of(
                self.book, run.scope, ctx.conversation_id or ctx.run_id or ""
            )
        except MemorandaError as error:
            if self.strict:
                raise
            _log.warning("Run %s cannot reach its thread: %s", ctx.run_id, error)

    async def _context(self, ctx: RunContext[AgentDepsT], run: _Run) -> str:
        """Return the text of the run's context, or an empty text; if the book fails, log it, or raise if ``strict``."""
        question = clean(prompt_text(ctx.prompt))[:_QUESTION].strip() or None
        try:
            context = await self.book.context(
                run.scope.owner,
                question,
                thread=run.thread,
                # The thread's messages are not repeated if the model gets them as its history.
                conversation=not run.before,
                budget=self.budget,
                limit=self.limit,
                count=self.count,
                types=self.types,
                kinds=self.kinds,
                time_zone=self.time_zone(ctx) if callable(self.time_zone) else self.time_zone,
                **run.scope.who,
            )
        except MemorandaError as error:
            if self.strict:
                raise
            _log.warning("Run %s continues without its memory: %s", ctx.run_id, error)
            return ""
        return context.text

    def _broken(
        self, ctx: RunContext[AgentDepsT], run: _Run, error: BaseException
    ) -> list[ModelMessage]:
        """Return the messages of a run that raised; tool calls without an answer get one."""
        said = [message for message in run.messages if message.run_id == ctx.run_id]
        if not said and ctx.prompt is not None:
            prompt = UserPromptPart(ctx.prompt)
            said = [ModelRequest([prompt], run_id=ctx.run_id, conversation_id=ctx.conversation_id)]
        return whole(said, f"the run ended with {type(error).__name__}")

    async def _keep(
        self,
        ctx: RunContext[AgentDepsT],
        run: _Run,
        messages: Sequence[ModelMessage],
        error: BaseException | None,
    ) -> None:
        """Store the messages of a run; report those that cannot be stored."""
        if not self.record or not messages:
            return
        try:
            if run.thread is None:
                run.thread = await thread_of(
                    self.book, run.scope, ctx.conversation_id or ctx.run_id or ""
                )
            runs, failed = self._runs(), error is not None
            kept = await runs.keep(run.thread, run.scope, ctx.run_id or "", messages, failed=failed)
            if run.hidden:
                # The user's wish, the calls and the answer may tell what was forgotten.
                await self._tools().hide_since(
                    Call(ctx.run_id or "", "", run.thread, None, run.hidden)
                )
            if kept and self.closes:
                await runs.close(run.thread, outcome="failed" if failed else "succeeded")
        except (MemorandaError, ValueError) as fault:
            # A ValueError comes from a message that cannot be written as JSON.
            _log.error(
                "Run %s is not stored, with its %d messages: %s", ctx.run_id, len(messages), fault
            )
            if self.lost is not None:
                self.lost(messages, fault)
            if self.strict and error is None:
                raise
