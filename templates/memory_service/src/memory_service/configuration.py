"""The configuration of both graphs, given by an assistant, a request or a program."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, Field

from memory_service.chat import DEMO


class MemoryType(BaseModel):
    """One kind of memory: what it holds, and how new information changes it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    description: str = ""
    #: A JSON Schema.
    parameters: dict[str, Any] = Field(default_factory=dict)
    #: ``patch``: one document for each user, which is changed in place. ``insert``: as many notes
    #: as there are.
    update_mode: Literal["patch", "insert"] = "patch"
    #: Further instructions for the model.
    system_prompt: str = ""

    def as_schema(self) -> dict[str, Any]:
        """Return it as a schema of the book, for ``thread.schedule(schemas=…)``."""
        found = {
            "name": self.name,
            "description": self.description,
            "update_mode": self.update_mode,
            "instructions": self.system_prompt,
        }
        # The book's own notes have a content and a context already.
        own = self.name == "Note" and set(self.parameters.get("properties", {})) <= {
            "content",
            "context",
        }
        return found if own else {**found, "parameters": self.parameters}


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


USER = MemoryType(
    name="User",
    description="Who the user is, kept up to date.",
    parameters={
        "type": "object",
        "properties": {
            "user_name": _text("The name that the user wants to be called by."),
            "age": {"type": "integer", "description": "The user's age in years."},
            "interests": _texts("What the user likes and cares about."),
            "home": _text("Where the user lives: town, neighbourhood."),
            "occupation": _text("What the user does for a living."),
            "conversation_preferences": _texts(
                "How the user wants to be talked to, and what to avoid."
            ),
        },
    },
)
NOTE = MemoryType(
    name="Note",
    description="Something the user said that is worth knowing in a later conversation.",
    update_mode="insert",
    parameters={
        "type": "object",
        "properties": {
            "context": _text("When it applies, and what to beware of."),
            "content": _text("What is to be remembered."),
        },
        "required": ["context", "content"],
    },
)


#: The types of who chooses none.
DEFAULT_TYPES = (USER, NOTE)


class Configuration(BaseModel):
    """The settings of an assistant or a request; only the program's environment chooses the book
    and its forming model.
    """

    #: Whose memories are read and formed. There is no default: two users without a name would share
    #: their memories.
    user_id: str = Field(min_length=1, max_length=255)
    #: The kinds of memory that are formed.
    memory_types: list[MemoryType] = Field(default_factory=lambda: [*DEFAULT_TYPES], min_length=1)
    #: Seconds without a message after which memories are formed.
    delay_seconds: float = Field(default=10, ge=0, le=86_400)
    #: The model that answers: ``demo``, which needs no key, or one of
    #: ``langchain.chat_models.init_chat_model``.
    model: str = DEMO
    system_prompt: str = (
        "You are a helpful companion. Use what you know of the user where it helps."
    )

    def schemas(self) -> list[dict[str, Any]]:
        """Return the kinds of memory as schemas of the book."""
        return [one.as_schema() for one in self.memory_types]

    @classmethod
    def of(cls, config: RunnableConfig, context: Configuration | None) -> Configuration:
        """Return a run's configuration: its context, or else what is under ``configurable``.

        Where the server has authenticated a user, a run that names another one is refused.
        """
        given = config.get("configurable", {})
        chosen = context or cls.model_validate(
            {name: given[name] for name in cls.model_fields if name in given}
        )
        known = given.get("langgraph_auth_user_id")
        if known and known != chosen.user_id:
            raise PermissionError(f"user_id: this run is of {known!r}, not of {chosen.user_id!r}")
        return chosen
