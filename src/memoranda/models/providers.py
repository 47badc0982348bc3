"""Language models of any provider, through PydanticAI; and the translation of providers' errors
into ours.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from decimal import Decimal
from importlib import import_module
from typing import Any

from memoranda import telemetry
from memoranda.errors import InvalidInput, ModelDown, ModelFailed, ModelRefused, installing
from memoranda.model.language_models import ModelAnswer, ModelRequest, Usage
from memoranda.model.values import NAME_LENGTH
from memoranda.models.json_answer import LONGEST_ANSWER, Unreadable, answer_outline, read_json


def pydantic_ai(room: str) -> Any:
    """Import a module of PydanticAI when it is needed: the import takes more than a second."""
    try:
        return import_module(f"pydantic_ai.{room}")
    except ImportError as exc:
        raise InvalidInput(
            f"models: a language model needs PydanticAI ({exc}); install it with: {installing('models')}",
            field="models",
        ) from exc


def model_of(model: Any) -> Any:
    """Return the model with a name such as ``openai:gpt-5-mini``; a model is returned as it is."""
    of = pydantic_ai("models")
    if isinstance(model, of.Model):
        return model
    if not isinstance(model, str):
        raise InvalidInput(
            f"models: {type(model).__name__} is not a model of PydanticAI; pass its name, such as openai:gpt-5-mini, "
            "or a Model",
            field="models",
        )
    try:
        return of.infer_model(model)
    except (ImportError, ValueError, pydantic_ai("exceptions").UserError) as exc:
        cure = "" if ":" in model else "; name it as provider:model, such as openai:gpt-5-mini"
        raise InvalidInput(f"models: {model} cannot be used: {exc}{cure}", field="models") from exc


def enforces_schemas(model: Any) -> bool | None:
    """Return whether the model's provider can enforce the schema of an answer; None if one of
    several models answers.
    """
    try:
        return bool(model.profile.get("supports_json_schema_output", False))
    except NotImplementedError:
        return None


def require_schema_support(model: Any) -> None:
    """Raise an error if the model's provider cannot enforce the schema of an answer."""
    if enforces_schemas(model) is False:
        raise InvalidInput(
            f"models.native_output: the provider of {model.model_name} cannot enforce a schema; turn native_output off",
            field="models.native_output",
        )


#: The longest wait that a provider may ask for, in seconds.
LONGEST_WAIT = 86_400.0

#: Statuses below 500 after which the same request may succeed.
_PASSING = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CONTENT = re.compile(r"content|moderation|safety|policy|invalid_prompt")

#: PydanticAI's error (narrower ones first), the reason, and what to do.
_REFUSALS = (
    ("ModelQuotaExceededError", "quota", "the account's quota or credit is used up: raise it"),
    (
        "ModelAuthenticationError",
        "credentials",
        "it does not accept the credentials: check the key",
    ),
    ("ModelNotFoundError", "model", "it does not know the model: check the name and the address"),
    ("ModelContextWindowExceededError", "length", "the request is longer than the model accepts"),
    ("ContentFilterError", "content", "it refuses this content"),
)


def model_error(name: str, seconds: float, exc: BaseException, faults: Any) -> ModelFailed:
    """Return the error for an exception of PydanticAI; ``faults`` is its module of exceptions."""
    if isinstance(exc, faults.FallbackExceptionGroup):
        each = [model_error(name, seconds, inner, faults) for inner in exc.exceptions]
        return next((one for one in each if isinstance(one, ModelDown)), each[0])
    if isinstance(exc, TimeoutError):
        return ModelDown(f"{name} did not answer within {seconds:g} s")
    if isinstance(exc, (faults.ModelTimeoutError, faults.ModelRequestTimeout)):
        return ModelDown(f"{name} did not answer within the time limit of its own settings")
    for error, reason, words in _REFUSALS:
        if isinstance(exc, getattr(faults, error)):
            return ModelRefused(f"{name}: {words}{_code(exc)}", reason=reason)
    status = getattr(exc, "status_code", None)
    passing = status is None or status >= 500 or status in _PASSING
    if isinstance(exc, faults.ModelRequestRejectedError) or not passing:
        reason = "content" if _CONTENT.search(_code(exc)) else "request"
        return ModelRefused(f"{name} refuses the request{_code(exc)}", reason=reason)
    if isinstance(exc, faults.UserError):
        return ModelRefused(f"PydanticAI refuses the request to {name}", reason="request")
    return ModelDown(f"{name} did not answer{_code(exc)}", retry_after=_wait(exc))


def _code(exc: BaseException) -> str:
    """Return the status and the provider's error code, if it looks like a code."""
    said = [getattr(exc, name, None) for name in ("status_code", "provider_error_code")]
    words = [str(word) for word in said if word is not None and _CODE.fullmatch(str(word))]
    return f" ({', '.join(words)})" if words else ""


def _wait(exc: BaseException) -> float | None:
    seconds = getattr(exc, "retry_after", None)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(float(seconds), LONGEST_WAIT)


#: Added to the instructions, unless the provider itself enforces the schema.
_OUTLINE = "\n\nAnswer with one JSON object and nothing else; a name alone is a text; leave out what is empty:\n"
_AGAIN = "This answer cannot be used:\n"
#: Sent instead of an empty turn, which providers refuse.
_NOTHING = "(nothing)"


class RemoteModels:
    """Sends requests, with limits of time and of parallel requests; errors are the same for all
    providers.
    """

    def __init__(
        self,
        model: Any,
        tasks: Mapping[str, Any] | None = None,
        *,
        seconds: float = 120.0,
        at_once: int = 4,
        native: bool | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        #: Models made here from their names; they are also closed here.
        self._made: dict[str, Any] = {}
        self._default = self._model(model)
        #: The model of a task, if it is not the default one.
        self._tasks = {task: self._model(other) for task, other in (tasks or {}).items()}
        if native:
            for one in (self._default, *self._tasks.values()):
                require_schema_support(one)
        #: The longest time for one request in seconds, without the wait for a free place.
        self._seconds = seconds
        self._places = asyncio.Semaphore(at_once)
        #: None: where the provider can, and does not refuse it.
        self._native = native
        self._loose: set[str] = set()
        self._settings = dict(settings or {})
        self._entered: AsyncExitStack | None = None
        self._entering = asyncio.Lock()

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Send a request once. Raise ``ModelDown`` or ``ModelRefused`` if there is no answer."""
        model = self._tasks.get(request.task, self._default)
        async with self._places:
            await self._enter()
            with telemetry.model_call(model.system, model.model_name, request.largest) as call:
                response = await self._any_response(model, request)
                usage = _usage(model, response)
                telemetry.model_tokens(call, usage.tokens_in, usage.tokens_cached, usage.tokens_out)
        answer = _answer(request, response, usage)
        telemetry.count("asks")
        telemetry.count("asks.tokens_in", answer.usage.tokens_in)
        telemetry.count("asks.tokens_out", answer.usage.tokens_out)
        return answer

    def named(self, task: str) -> str:
        """Return the provider and name of the model for a task."""
        model = self._tasks.get(task, self._default)
        return _line(f"{model.system}:{model.model_name}")

    async def close(self) -> None:
        """Close the models that were made here; a model that was passed in stays open."""
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
        """Open the connections of the models made here, in the event loop that uses them."""
        async with self._entering:
            if self._entered is None:
                async with AsyncExitStack() as entered:
                    for model in self._made.values():
                        await entered.enter_async_context(model)
                    self._entered = entered.pop_all()

    async def _any_response(self, model: Any, request: ModelRequest) -> Any:
        """Return the response; a provider that refuses a schema which nobody asked for by name is
        asked for text from then on.
        """
        held = self._is_held(model)
        try:
            return await self._response(model, request, held)
        except ModelRefused as refused:
            if not held or self._native or refused.reason != "request":
                raise
        response = await self._response(model, request, False)
        self._loose.add(self._key(model))
        return response

    def _is_held(self, model: Any) -> bool:
        """True if the provider of a model is to enforce the schema."""
        if self._native is not None:
            return self._native
        return self._key(model) not in self._loose and enforces_schemas(model) is True

    @staticmethod
    def _key(model: Any) -> str:
        return f"{model.system}:{model.model_name}"

    async def _response(self, model: Any, request: ModelRequest, held: bool) -> Any:
        faults = pydantic_ai("exceptions")
        ask = pydantic_ai("direct").model_request
        messages, parameters = self._messages(request, held), self._parameters(request, held)
        settings = self._settings_for(model, request)
        try:
            async with asyncio.timeout(self._seconds):
                # Not instrumented: an application that traces its agents must not thereby record
                # these texts.
                return await ask(
                    model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                )
        except (
            faults.AgentRunError,
            faults.UserError,
            faults.FallbackExceptionGroup,
            OSError,
        ) as exc:
            failure = model_error(model.model_name, self._seconds, exc, faults)
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            # Clients raise these for a reply that is JSON but not an answer.
            failure = ModelDown(
                f"{model.model_name} sent a reply that is not an answer ({type(exc).__name__})"
            )
        # Raised outside of the handler and without a cause: a provider's message may quote the
        # request.
        raise failure

    def _messages(self, request: ModelRequest, held: bool) -> list[Any]:
        """Return the messages of a request: the question, then each unusable answer with its
        faults.
        """
        of = pydantic_ai("messages")
        instructions = _instructions(request, held)

        def said(text: str) -> Any:
            return of.ModelRequest(
                parts=[of.UserPromptPart(content=text)], instructions=instructions
            )

        messages = [said(request.content)]
        for earlier in request.earlier:
            messages.append(
                of.ModelResponse(parts=[of.TextPart(content=earlier.answer or _NOTHING)])
            )
            messages.append(said(_AGAIN + "\n".join(f"- {fault}" for fault in earlier.faults)))
        return messages

    @staticmethod
    def _parameters(request: ModelRequest, held: bool) -> Any:
        parts = [pydantic_ai("messages").InstructionPart(content=_instructions(request, held))]
        of = pydantic_ai("models").ModelRequestParameters
        if not held:
            return of(output_mode="text", instruction_parts=parts)
        shape = pydantic_ai("output").OutputObjectDefinition(
            json_schema=request.answer_schema, name="answer"
        )
        return of(
            output_mode="native",
            output_object=shape,
            allow_text_output=False,
            instruction_parts=parts,
        )

    def _settings_for(self, model: Any, request: ModelRequest) -> dict[str, Any]:
        settings: dict[str, Any] = {"cache": {"messages": False}}
        if "max_retries" not in model.unsupported_settings:
            settings["max_retries"] = 0
        # Settings of the model itself have precedence over these.
        unsaid = {
            name: value for name, value in settings.items() if name not in (model.settings or {})
        }
        return unsaid | self._settings | {"max_tokens": request.largest}


def _instructions(request: ModelRequest, held: bool) -> str:
    """Return the beginning of every prompt of a task; it is always the same text, so that providers
    cache it.
    """
    return (
        request.instructions
        if held
        else f"{request.instructions}{_OUTLINE}{answer_outline(request.answer_schema)}"
    )


def _answer(request: ModelRequest, response: Any, usage: Usage) -> ModelAnswer:
    text_part = pydantic_ai("messages").TextPart
    text = _storable(
        "".join(part.content for part in response.parts if isinstance(part, text_part))
    )
    kept = text if len(text) <= LONGEST_ANSWER else ""
    if response.finish_reason == "content_filter":
        return ModelAnswer(
            text=kept, fault="the model refuses to answer", refused=True, usage=usage
        )
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
    """Return the price from the provider, else from the bundled table of prices; None if neither
    has it.
    """
    used = response.usage
    if used.cost is not None:
        return Decimal(used.cost)
    if used.input_tokens <= 0:
        # The provider did not count tokens, so the price is unknown and not 0.
        return None
    try:
        price: Decimal = response.cost().total_price
    except (LookupError, ValueError, TypeError, ArithmeticError, AssertionError):
        return None
    return price if price.is_finite() and price >= 0 else None


def _storable(text: str) -> str:
    """Replace NUL and lone halves of surrogate pairs, which cannot be stored."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\x00", "\ufffd")


def _line(name: str) -> str:
    """Return a name given by a provider, as one short line."""
    return "".join(
        character for character in _storable(name)[:NAME_LENGTH] if character.isprintable()
    )
