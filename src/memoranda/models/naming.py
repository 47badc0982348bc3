"""From a model's name to the model, in PydanticAI; the only file that imports it, and only when a model is named."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memoranda.errors import InvalidInput


def pydantic_ai(room: str) -> Any:
    """One of its modules, brought in when it is needed: that takes more than a second."""
    try:
        return import_module(f"pydantic_ai.{room}")
    except ImportError as exc:
        raise InvalidInput(
            f"models: a language model needs PydanticAI ({exc}); install it with: pip install 'memoranda[models]'",
            field="models",
        ) from exc


def model_of(model: Any) -> Any:
    """The model of a name such as ``openai:gpt-5-mini``, or the model that is given."""
    of = pydantic_ai("models")
    if isinstance(model, of.Model):
        return model
    if not isinstance(model, str):
        raise InvalidInput(
            f"models: {type(model).__name__} is no model of PydanticAI; give its name, such as openai:gpt-5-mini, "
            "or a Model",
            field="models",
        )
    try:
        return of.infer_model(model)
    except (ImportError, ValueError, pydantic_ai("exceptions").UserError) as exc:
        raise InvalidInput(f"models: {model} cannot be used: {exc}", field="models") from exc


def require_schema_support(model: Any) -> None:
    """Refuse a model whose provider cannot be asked to hold an answer to a schema."""
    try:
        profile = model.profile
    except NotImplementedError:
        # Several models in one: it depends on which of them answers.
        return
    if not profile.get("supports_json_schema_output", False):
        raise InvalidInput(
            f"models.native_output: {model.model_name} cannot be held to a schema by its provider; leave native_output off",
            field="models.native_output",
        )
