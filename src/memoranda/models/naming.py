"""Models of PydanticAI by name. Only this file imports it, and only when a model is named."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memoranda.errors import InvalidInput, installing


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
        raise InvalidInput(f"models: {model} cannot be used: {exc}", field="models") from exc


def require_schema_support(model: Any) -> None:
    """Raise an error if the model's provider cannot enforce the schema of an answer."""
    try:
        profile = model.profile
    except NotImplementedError:
        # A model that combines several: it depends on which of them answers.
        return
    if not profile.get("supports_json_schema_output", False):
        raise InvalidInput(
            f"models.native_output: the provider of {model.model_name} cannot enforce a schema; turn native_output off",
            field="models.native_output",
        )
