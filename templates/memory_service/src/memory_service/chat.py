"""Chat models by name, and one that needs no key, for a first try and for tests."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

#: The name of the model that needs no key.
DEMO = "demo"
#: Models of your own by name, beside those of LangChain's providers; a request can name these, too.
OWN: dict[str, BaseChatModel] = {}

_PATTERNS = (
    ("user_name", r"(?:my name is|call me|i'm|i am) ([A-Z][\w'-]*)"),
    ("home", r"i live in ([A-Z][\w' -]*)"),
    ("interests", r"i (?:like|love) ([\w' -]+)"),
)


def chat_model(name: str) -> BaseChatModel:
    """Return the chat model of this name."""
    if name == DEMO:
        return DemoModel()
    if name in OWN:
        return OWN[name]
    from langchain.chat_models import init_chat_model  # noqa: PLC0415

    found: BaseChatModel = init_chat_model(name)
    return found


class DemoModel(BaseChatModel):
    """A model of a few patterns: it forms memories from plain sentences and answers from the
    memories in its prompt.
    """

    @property
    def _llm_type(self) -> str:
        return DEMO

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        system, last = str(messages[0].content), str(messages[-1].content)
        text = _formed(last) if "<conversation>" in last else _answered(system)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def _answered(system: str) -> str:
    found = re.search(r"<memories>\n(.*?)\n</memories>", system, re.DOTALL)
    return f"I know:\n{found[1]}" if found else "Nice to meet you. I know nothing of you yet."


def _formed(prompt: str) -> str:
    """Return the answer to a question of the book: a patch of the user's document, and notes of
    what is to be remembered.
    """
    asked = prompt.rpartition("Fill: ")[2]
    operations: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for handle, label, said in re.findall(r"^- \[(m\d+) ([^\]]*)\] (.*)$", prompt, re.MULTILINE):
        if "user" not in label or "context" in label:
            continue
        sources = [{"message": handle}]
        for field, pattern in _PATTERNS:
            for value in re.findall(pattern, said, re.IGNORECASE):
                path = f"/{field}/-" if field == "interests" else f"/{field}"
                operations.append(
                    {"op": "add", "path": path, "value": value.strip(), "sources": sources}
                )
        for content in re.findall(r"remember (?:that )?([^.!?]+)", said, re.IGNORECASE):
            notes.append({"content": content[:1].upper() + content[1:].strip(), "sources": sources})
    answer: dict[str, Any] = {}
    if operations and "(User" in asked:
        answer["patches"] = [{"schema": "User", "operations": operations}]
    if notes and "notes" in asked:
        answer["notes"] = notes
    return json.dumps(answer)
