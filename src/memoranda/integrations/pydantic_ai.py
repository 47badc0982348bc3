"""Gives any agent of PydanticAI a memory: one capability that recalls, offers tools, and keeps what was said."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
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
from memoranda.book.parsing import as_owner, as_view
from memoranda.errors import InvalidInput, MemorandaError
from memoranda.integrations.pydantic_messages import clean, placed, prompt_text, whole
from memoranda.integrations.pydantic_runs import Runs, history, thread_of
from memoranda.integrations.tools import TOOLS, Call, MemoryTools, Scope
from memoranda.model.ledger import Receipt
from memoranda.text.tokens import Count

__all__ = ["Lost", "Memoranda", "Scope", "history"]

_log = logging.getLogger("memoranda.integrations")

#: So much of a prompt is enough of a question.
_QUESTION = 2000

#: Told of a run that could not be kept: its messages, and why.
Lost: TypeAlias = Callable[[Sequence[ModelMessage], Exception], None]


@dataclass
class _Run:
    """What one run holds; no other run sees it."""

    scope: Scope
    #: How many messages it was given as its history.
    before: int
    thread: ThreadHandle | None = None
    #: The text of its context, once it was made; the same at every step.
    context: str | None = None
    #: The run's own list, which the framework goes on filling.
    messages: list[ModelMessage] = field(default_factory=list)


@dataclass
class Memoranda(AbstractCapability[AgentDepsT]):
    """Recalls for every run, offers tools within the run's scope, and keeps what was said in the run's thread."""

    book: Book
    #: Whose memory a run uses: one for all runs, or found from the run's dependencies.
    scope: Scope | Callable[[RunContext[AgentDepsT]], Scope]
    _: KW_ONLY
    #: Which tools the model is offered.
    tools: Sequence[str] = TOOLS
    #: Whether a context is recalled for each run, in at most so many tokens, of so many passages.
    recall: bool = True
    budget: int = 2000
    limit: int = 10
    count: Count | None = None
    #: What the model's own tool ``recall`` shows, and at most how much of it.
    order: Literal["recent", "most_used"] = "recent"
    most: int = 50
    #: Whether what was said is kept.
    record: bool = True
    #: Whether each run is a task of its own, whose thread is closed with an episode.
    closes: bool = False
    #: Whether a book that cannot be reached fails the run.
    strict: bool = False
    lost: Lost | None = None
    _run: _Run | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        unknown = sorted(set(self.tools) - set(TOOLS))
        if unknown:
            raise InvalidInput(f"tools: {unknown[0]!r} is none of {', '.join(TOOLS)}", field="tools")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a book cannot be named in a file."""
        return None

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Memoranda[AgentDepsT]:
        """The capability of one run, with what it holds."""
        scope = self.scope if isinstance(self.scope, Scope) else self.scope(ctx)
        # A scope that is malformed is the application's mistake, and no book that is down.
        as_owner(scope.owner, self.book.tenant)
        as_view(scope.who)
        own = replace(self)
        own._run = _Run(scope, len(ctx.messages))
        return own

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Keep what was said, however the run ends."""
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
        """Place the context before what the user said, in this request and nowhere else."""
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
        """The tools that the model is offered."""
        offered: FunctionToolset[AgentDepsT] = FunctionToolset(id="memoranda")

        async def remember(
            ctx: RunContext[AgentDepsT],
            content: str,
            kind: str = "fact",
            key: str | None = None,
            audience: str = "self",
            applies_when: str = "",
        ) -> str:
            """Keep one statement about the user that will matter in later conversations.

            Args:
                content: The statement, short and complete in itself.
                kind: What sort it is: preference, fact, instruction, context, experience or note.
                key: A name for what holds once at a time, such as favorite_color; a later statement takes its place.
                audience: Who may read it: self (you alone), group (your group's agents), global (all agents).
                applies_when: When it applies, where it does not always.
            """
            run = self._own()
            call = Call(ctx.run_id or "", ctx.tool_call_id or "", run.thread)
            return await self._tools().remember(call, content, kind, key, audience, applies_when)

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
            """Remove a statement for good, because the user asks for it.

            Args:
                key: The statement's key, or its id where it has none.
            """
            return await self._tools().forget(key)

        for tool in (remember, recall, search, forget):
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
        """Close a thread with the episode of what was done in it.

        What is not given is taken from what was said: the goal is the user's first message, the summary the last
        answer, the outcome ``failed`` where the last run raised.
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
            raise InvalidInput("this capability serves runs of an agent: give it to one, in `capabilities`")
        return self._run

    def _tools(self) -> MemoryTools:
        return MemoryTools(self.book, self._own().scope, self.most, self.order, self.strict)

    def _runs(self) -> Runs:
        return Runs(self.book, frozenset(self.tools))

    async def _open(self, ctx: RunContext[AgentDepsT], run: _Run) -> None:
        try:
            run.thread = await thread_of(self.book, run.scope, ctx.conversation_id or ctx.run_id or "")
        except MemorandaError as error:
            if self.strict:
                raise
            _log.warning("The thread of run %s cannot be reached: %s", ctx.run_id, error)

    async def _context(self, ctx: RunContext[AgentDepsT], run: _Run) -> str:
        """The context's text; empty where there is none, or where the book cannot be reached."""
        question = clean(prompt_text(ctx.prompt))[:_QUESTION].strip() or None
        # What the model is sent as its history need not be told twice.
        thread = None if run.before else run.thread
        try:
            context = await self.book.context(
                run.scope.owner,
                question,
                thread=thread,
                budget=self.budget,
                limit=self.limit,
                count=self.count,
                **run.scope.who,
            )
        except MemorandaError as error:
            if self.strict:
                raise
            _log.warning("Run %s goes without its memory: %s", ctx.run_id, error)
            return ""
        return context.text

    def _broken(self, ctx: RunContext[AgentDepsT], run: _Run, error: BaseException) -> list[ModelMessage]:
        """What was said in a run that raised, nothing of it by halves."""
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
        """Write a run down; what cannot be written is told."""
        if not self.record or not messages:
            return
        try:
            if run.thread is None:
                run.thread = await thread_of(self.book, run.scope, ctx.conversation_id or ctx.run_id or "")
            runs, failed = self._runs(), error is not None
            kept = await runs.keep(run.thread, run.scope, ctx.run_id or "", messages, failed=failed)
            if kept and self.closes:
                await runs.close(run.thread, outcome="failed" if failed else "succeeded")
        except (MemorandaError, ValueError) as fault:
            # A ValueError is a message's that cannot be written as JSON.
            _log.error("Run %s is not kept, with its %d messages: %s", ctx.run_id, len(messages), fault)
            if self.lost is not None:
                self.lost(messages, fault)
            if self.strict and error is None:
                raise
