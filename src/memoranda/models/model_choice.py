"""Chooses language models: one named by the settings, or the application's own, with a time
limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from memoranda.errors import InvalidInput, ModelDown, ModelFailed
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.values import Value
from memoranda.models.json_answer import Unreadable, read_json
from memoranda.ports import Models
from memoranda.tasks import TimeLimit, TookTooLong

#: The longest time for closing, in seconds.
_CLOSING_SECONDS = 10.0


class OwnModels:
    """The ``Models`` that an application passed. One that does not answer in time is down."""

    def __init__(self, models: Models, seconds: float) -> None:
        self.models = models
        self._limit = TimeLimit(seconds)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask once; every exception that is none of ours becomes ``ModelFailed``, which names its
        class only.

        An answer that has only a text is read for the JSON object in it.
        """
        name = self.named(request.task)
        try:
            return _read(await self._limit.wait(lambda: self.models.ask(request)))
        except TookTooLong as exc:
            raise ModelDown(f"{name} gave {exc}") from exc
        except ModelFailed:
            raise
        except Exception as exc:
            # The text may quote what the model was shown, and the error is stored with the job.
            raise ModelFailed(f"{name} raised {type(exc).__name__}") from exc

    def named(self, task: str) -> str:
        """Return the provider and name of the model that is used for a task."""
        return self.models.named(task)

    async def close(self) -> None:
        """Close the application's models, and do not wait for long."""
        self._limit.shorten(_CLOSING_SECONDS)
        try:
            await self._limit.wait(self.models.close)
        except TookTooLong:
            return


def _read(answer: ModelAnswer) -> ModelAnswer:
    """Return an answer with the value in its text, or with the fault why there is none."""
    if answer.value is not None or answer.fault or answer.refused:
        return answer
    try:
        return answer.model_copy(update={"value": read_json(answer.text)})
    except Unreadable as exc:
        return answer.model_copy(update={"fault": str(exc)})


#: The setting for no language model.
NONE = "none"
#: The key, among models by task, of the model for all other tasks.
DEFAULT = "default"


class ModelsSettings(Value):
    """Settings of language models."""

    use: str = Field(
        default=NONE,
        min_length=1,
        description="The language model if the program names none: none or provider:model.",
    )
    tasks: tuple[str, ...] = Field(
        default=(), description="Other models for single tasks, each as task=provider:model."
    )
    timeout_seconds: float = Field(
        default=120.0,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="Longest time for one request.",
    )
    max_concurrent: int = Field(
        default=4, ge=1, le=256, description="Most requests at the same time."
    )
    native_output: bool | None = Field(
        default=None,
        description="Whether the provider is to enforce the schema of answers; unset: where it can.",
    )


def find(choice: Any = None, settings: ModelsSettings | None = None) -> Models | None:
    """Return the chosen models, by default those of the settings; None for no language model.

    ``choice`` is ``provider:model``, a model of PydanticAI, a mapping of tasks to such, or any
    ``Models``.
    """
    chosen = settings or ModelsSettings()
    if choice is None and chosen.use != NONE:
        choice = {DEFAULT: chosen.use, **_tasks(chosen)}
    if choice is None or choice == NONE:
        return None
    # Many books have no model.
    from memoranda.models.providers import RemoteModels  # noqa: PLC0415

    if isinstance(choice, Models):
        return OwnModels(choice, chosen.timeout_seconds)
    by_task = dict(choice) if isinstance(choice, Mapping) else {DEFAULT: choice}
    if DEFAULT not in by_task:
        raise InvalidInput(
            f"models: also name a model for {DEFAULT!r}: it answers all other tasks", field="models"
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
            raise InvalidInput(
                f"models.tasks: write {line!r} as task=provider:model", field="models.tasks"
            )
        found[task] = model
    return found
