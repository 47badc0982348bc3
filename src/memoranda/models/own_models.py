"""Language models of an application's own: calls within a time limit, and errors without their texts."""

from __future__ import annotations

from memoranda.errors import ModelDown, ModelFailed
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.models.json_answer import Unreadable, read_json
from memoranda.ports import Models
from memoranda.time_limits import TimeLimit, TookTooLong

#: The longest time for closing, in seconds.
_CLOSING_SECONDS = 10.0


class OwnModels:
    """The ``Models`` that an application passed. One that does not answer in time is down."""

    def __init__(self, models: Models, seconds: float) -> None:
        self.models = models
        self._limit = TimeLimit(seconds)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask once; every exception that is none of ours becomes ``ModelFailed``, which names its class only.

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
