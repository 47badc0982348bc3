"""Language models of any provider, asked through PydanticAI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from decimal import Decimal
from typing import Any

from memoranda import telemetry
from memoranda.errors import ModelDown
from memoranda.model.asking import ModelAnswer, ModelRequest, Usage
from memoranda.model.values import NAME_LENGTH
from memoranda.models.naming import model_of, pydantic_ai, require_schema_support
from memoranda.models.reading import LONGEST_ANSWER, Unreadable, read_json
from memoranda.models.telling import model_error

#: What follows the instructions, unless the provider itself holds the answer to the schema.
_SCHEMA = "\n\nAnswer with one JSON object and nothing else. It follows this JSON Schema:\n"
_AGAIN = "This answer cannot be used:\n"
#: Providers refuse an empty turn; this stands for it.
_NOTHING = "(nothing)"


class RemoteModels:
    """Asks once, within a time, so many at once; what goes wrong is said in one way for all providers."""

    def __init__(
        self,
        model: Any,
        tasks: Mapping[str, Any] | None = None,
        *,
        seconds: float = 120.0,
        at_once: int = 4,
        native: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        #: Models made here from their names, which are closed here too.
        self._made: dict[str, Any] = {}
        self._default = self._model(model)
        #: Another model for another task.
        self._tasks = {task: self._model(other) for task, other in (tasks or {}).items()}
        if native:
            for one in (self._default, *self._tasks.values()):
                require_schema_support(one)
        #: The longest that one request may take, its wait for a free place aside.
        self._seconds = seconds
        self._places = asyncio.Semaphore(at_once)
        self._native = native
        self._settings = dict(settings or {})
        self._entered: AsyncExitStack | None = None
        self._entering = asyncio.Lock()

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask once; what goes wrong before an answer came is ``ModelDown`` or ``ModelRefused``."""
        model = self._tasks.get(request.task, self._default)
        async with self._places:
            await self._enter()
            with telemetry.span("ask"):
                response = await self._response(model, request)
        answer = _answer(request, response, _usage(model, response))
        telemetry.count("asks")
        telemetry.count("asks.tokens_in", answer.usage.tokens_in)
        telemetry.count("asks.tokens_out", answer.usage.tokens_out)
        return answer

    def named(self, task: str) -> str:
        """Provider and name of the model that a task is asked of."""
        model = self._tasks.get(task, self._default)
        return _line(f"{model.system}:{model.model_name}")

    async def close(self) -> None:
        """Close what was opened here; a model that was given stays as it is."""
        entered, self._entered = self._entered, None
        if entered is not None:
            await entered.aclose()

    def _model(self, given: Any) -> Any:
        if not isinstance(given, str):
            return model_of(given)
        if given not in self._made:
            self._made[given] = model_of(given)
        return self._made[given]

    async def _enter(self) -> None:
        """Open the made models' connections, in the event loop that asks."""
        async with self._entering:
            if self._entered is None:
                async with AsyncExitStack() as entered:
                    for model in self._made.values():
                        await entered.enter_async_context(model)
                    self._entered = entered.pop_all()

    async def _response(self, model: Any, request: ModelRequest) -> Any:
        faults = pydantic_ai("exceptions")
        ask = pydantic_ai("direct").model_request
        messages, parameters = self._messages(request), self._parameters(request)
        settings = self._settings_for(model, request)
        try:
            async with asyncio.timeout(self._seconds):
                # Not instrumented: who traces their own agents does not thereby trace what was said here.
                return await ask(
                    model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                )
        except (faults.AgentRunError, faults.UserError, faults.FallbackExceptionGroup, OSError) as exc:
            failure = model_error(model.model_name, self._seconds, exc, faults)
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            # A client stumbles in such ways over a reply that is JSON, and no answer.
            failure = ModelDown(
                f"{model.model_name} replied with something that is no answer ({type(exc).__name__})"
            )
        # Not within the handler, and not from what it caught: a provider's words may quote what was sent.
        raise failure

    def _messages(self, request: ModelRequest) -> list[Any]:
        """The question, and after it each answer that was not good enough, with its faults."""
        of = pydantic_ai("messages")
        instructions = self._instructions(request)

        def said(text: str) -> Any:
            return of.ModelRequest(parts=[of.UserPromptPart(content=text)], instructions=instructions)

        messages = [said(request.content)]
        for earlier in request.earlier:
            messages.append(of.ModelResponse(parts=[of.TextPart(content=earlier.answer or _NOTHING)]))
            messages.append(said(_AGAIN + "\n".join(f"- {fault}" for fault in earlier.faults)))
        return messages

    def _instructions(self, request: ModelRequest) -> str:
        """How every prompt of a task begins, to the letter, so that providers find it in their caches."""
        if self._native:
            return request.instructions
        schema = json.dumps(request.answer_schema, ensure_ascii=False, separators=(",", ":"))
        return f"{request.instructions}{_SCHEMA}{schema}"

    def _parameters(self, request: ModelRequest) -> Any:
        parts = [pydantic_ai("messages").InstructionPart(content=self._instructions(request))]
        of = pydantic_ai("models").ModelRequestParameters
        if not self._native:
            return of(output_mode="text", instruction_parts=parts)
        held = pydantic_ai("output").OutputObjectDefinition(json_schema=request.answer_schema, name="answer")
        return of(output_mode="native", output_object=held, allow_text_output=False, instruction_parts=parts)

    def _settings_for(self, model: Any, request: ModelRequest) -> dict[str, Any]:
        settings: dict[str, Any] = {"cache": {"messages": False}}
        if "max_retries" not in model.unsupported_settings:
            settings["max_retries"] = 0
        # What a model was given with its own settings was meant.
        unsaid = {name: value for name, value in settings.items() if name not in (model.settings or {})}
        return unsaid | self._settings | {"max_tokens": request.largest}


def _answer(request: ModelRequest, response: Any, usage: Usage) -> ModelAnswer:
    text_part = pydantic_ai("messages").TextPart
    text = _storable("".join(part.content for part in response.parts if isinstance(part, text_part)))
    kept = text if len(text) <= LONGEST_ANSWER else ""
    if response.finish_reason == "content_filter":
        return ModelAnswer(text=kept, fault="the model refuses to answer", refused=True, usage=usage)
    try:
        return ModelAnswer(text=kept, value=read_json(text), usage=usage)
    except Unreadable as exc:
        fault = str(exc)
    if response.finish_reason == "length":
        fault = f"the answer was cut off: it may have at most {request.largest} tokens"
    return ModelAnswer(text=kept, fault=fault, usage=usage)


def _usage(model: Any, response: Any) -> Usage:
    used = response.usage
    return Usage(
        provider=_line(response.provider_name or model.system),
        model=_line(response.model_name or model.model_name),
        calls=1,
        tokens_in=max(used.input_tokens, 0),
        tokens_cached=max(used.cache_read_tokens, 0),
        tokens_out=max(used.output_tokens, 0),
        price=_price(response),
    )


def _price(response: Any) -> Decimal | None:
    """What the provider says that it cost, else what the bundled table of prices says; None where neither does."""
    used = response.usage
    if used.cost is not None:
        return Decimal(used.cost)
    if used.input_tokens <= 0:
        # Nobody counted: no tokens at no price would be a lie.
        return None
    try:
        price: Decimal = response.cost().total_price
    except (LookupError, ValueError, TypeError, ArithmeticError, AssertionError):
        return None
    return price if price.is_finite() and price >= 0 else None


def _storable(text: str) -> str:
    """The text without what no file can hold: NUL, and halves of surrogate pairs."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\x00", "\ufffd")


def _line(name: str) -> str:
    """A provider's word for itself, as one short line."""
    return "".join(character for character in _storable(name)[:NAME_LENGTH] if character.isprintable())
