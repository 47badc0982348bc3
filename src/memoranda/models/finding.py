"""Finds the language models that a book shall have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from memoranda.errors import InvalidInput
from memoranda.model.values import Value
from memoranda.models.remote import RemoteModels
from memoranda.ports import Models

#: No language model, as the settings say it.
NONE = "none"
#: Under this name, among models by task, stands the one for all other tasks.
DEFAULT = "default"


class ModelsSettings(Value):
    """Which language models are asked, and how."""

    #: The model where nobody says otherwise: ``none`` or ``provider:model``.
    use: str = Field(default=NONE, min_length=1)
    #: Other models for some tasks, each as ``task=provider:model``.
    tasks: tuple[str, ...] = ()
    #: The longest that one request may take.
    timeout_seconds: float = Field(default=120.0, gt=0, le=86_400, allow_inf_nan=False)
    #: How many requests may be under way at once.
    max_concurrent: int = Field(default=4, ge=1, le=256)
    #: Whether the provider is asked to hold answers to their schema.
    native_output: bool = False


def find(wish: Any = None, settings: ModelsSettings | None = None) -> Models | None:
    """The models that are wished for, or else those of the settings; None where there shall be none.

    A wish is ``provider:model``, a model of PydanticAI, a mapping of tasks to such, or any ``Models``.
    """
    chosen = settings or ModelsSettings()
    if wish is None and chosen.use != NONE:
        wish = {DEFAULT: chosen.use, **_tasks(chosen)}
    if wish is None or wish == NONE:
        return None
    if isinstance(wish, Models):
        return wish
    by_task = dict(wish) if isinstance(wish, Mapping) else {DEFAULT: wish}
    if DEFAULT not in by_task:
        raise InvalidInput(
            f"models: name a model for the task {DEFAULT!r} too: it does the rest", field="models"
        )
    return RemoteModels(
        by_task.pop(DEFAULT),
        by_task,
        seconds=chosen.timeout_seconds,
        at_once=chosen.max_concurrent,
        native=chosen.native_output,
    )


def _tasks(chosen: ModelsSettings) -> dict[str, str]:
    found = {}
    for line in chosen.tasks:
        task, _, model = (part.strip() for part in line.partition("="))
        if not task or not model:
            raise InvalidInput(f"models.tasks: write {line!r} as task=provider:model", field="models.tasks")
        found[task] = model
    return found
