"""A chat model of LangChain as the language model of a book."""

from __future__ import annotations

import json
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from memoranda.errors import ModelDown
from memoranda.model.language_models import ModelAnswer, ModelRequest, Usage

_FORM: Final = "\n\nAnswer with one JSON object and nothing else. It follows this JSON Schema: "
_AGAIN: Final = "That answer has faults. Give the whole answer again, without them:\n"
#: Answers of providers that are asked again later: too early, too many, or their own fault.
_LATER: Final = frozenset({408, 409, 425, 429})


class ChatModels:
    """The models of a book for ``memoranda.open(models=…)``: a chat model of LangChain, with its
    callbacks and traces.

    ``name`` is recorded as who forms the book; without it, the class and the model's own name are.
    The most tokens of an answer are a setting of the chat model: LangChain has no common word for
    them.
    """

    def __init__(self, model: BaseChatModel, *, name: str | None = None) -> None:
        self.model = model
        own = next(
            (str(found) for one in ("model_name", "model") if (found := getattr(model, one, None))),
            "",
        )
        self._name = name or f"{type(model).__name__}:{own or model._llm_type}"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask the chat model once and return its answer."""
        try:
            reply = await self.model.ainvoke(
                _messages(request), {"run_name": f"memoranda {request.task}"}
            )
        except Exception as exc:
            status = getattr(exc, "status_code", None)
            if (
                isinstance(exc, OSError)
                or status in _LATER
                or (isinstance(status, int) and status >= 500)
            ):
                raise ModelDown(f"{self._name} did not answer ({type(exc).__name__})") from exc
            raise
        text = reply.text if isinstance(reply.text, str) else reply.text()
        refused = reply.response_metadata.get("finish_reason") == "content_filter"
        fault = "the model refuses to answer" if refused else ""
        return ModelAnswer(text=text, fault=fault, refused=refused, usage=self._usage(reply))

    def named(self, task: str) -> str:
        """Return the name under which its calls are counted."""
        return self._name

    async def close(self) -> None:
        """Leave the chat model open: it belongs to the application."""

    def _usage(self, reply: AIMessage) -> Usage:
        used: Any = reply.usage_metadata or {}
        provider, _, model = self._name.partition(":")
        return Usage(
            provider=provider,
            model=model or provider,
            calls=1,
            tokens_in=used.get("input_tokens", 0),
            tokens_cached=(used.get("input_token_details") or {}).get("cache_read") or 0,
            tokens_out=used.get("output_tokens", 0),
        )


def _messages(request: ModelRequest) -> list[BaseMessage]:
    """Return the question, then each unusable answer with its faults."""
    schema = json.dumps(request.answer_schema, ensure_ascii=False, separators=(",", ":"))
    asked: list[BaseMessage] = [
        SystemMessage(request.instructions + _FORM + schema),
        HumanMessage(request.content),
    ]
    for earlier in request.earlier:
        faults = "\n".join(f"- {fault}" for fault in earlier.faults)
        asked += [AIMessage(earlier.answer or "(nothing)"), HumanMessage(_AGAIN + faults)]
    return asked
