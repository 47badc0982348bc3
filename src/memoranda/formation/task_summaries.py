"""Summaries of whole threads on demand, in three sections, by a language model; each is stored with
its thread.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from memoranda.door import Door
from memoranda.errors import Conflict, InvalidInput, ModelFailed, NotFound
from memoranda.formation.extract.citations import texts_of
from memoranda.formation.extract.model_calls import ModelCalls
from memoranda.formation.extract.summary import TASK, newest_turns_within, summary_and_turns
from memoranda.formation.formation_settings import FormingSettings
from memoranda.formation.gather import ACTOR, ThreadReader, writing_view
from memoranda.formation.privacy.withheld import without_unwanted
from memoranda.formation.prompts import prompt_file
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import MOST_POINTS, MOST_TAKEAWAYS, KeepTaskSummary, TaskSummary
from memoranda.model.records import Owner
from memoranda.secrets.masks import formed_data

_TOKENS: Final = 2_000
_POINTS: Final = {"type": "array", "items": {"type": "string"}}
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "main_points": _POINTS, "takeaways": _POINTS},
    "required": ["summary", "main_points", "takeaways"],
}


class TaskSummaries:
    """Makes summaries of threads. One that covers all messages is returned again; no model is asked
    twice for it.
    """

    def __init__(
        self,
        door: Door,
        reader: ThreadReader,
        model_calls: ModelCalls | None,
        settings: FormingSettings,
    ) -> None:
        self._door = door
        self._reader = reader
        self._model_calls = model_calls
        self._settings = settings

    async def of(self, owner: Owner, id: UUID) -> TaskSummary:
        """Return a thread's summary; ask the model if messages came since the stored one was
        made.
        """
        thread = await self._reader.thread(owner, id)
        if thread is None:
            raise NotFound(f"no thread {id}")
        said = (await self._reader.excerpt(thread, 0)).new
        if not said:
            raise InvalidInput(f"thread {id} has no messages to summarise; append some first")
        kept = thread.task_summary
        if kept is not None and kept.through == said[-1].seq:
            return kept
        if self._model_calls is None:
            raise Conflict(
                "a summary needs a language model, and this book has none: open it with models=, or set models.use"
            )
        settings = self._settings.for_agent(await self._reader.agent(thread.agent))
        shown = without_unwanted(newest_turns_within(said, settings.prompt_tokens))
        earlier = _text_of(kept) if kept is not None else thread.summary
        content = summary_and_turns(earlier, shown)
        request = ModelRequest(
            task=TASK,
            instructions=_instructions(),
            content=content,
            answer_schema=_SCHEMA,
            largest=_TOKENS,
        )
        answer = await self._model_calls.direct(owner, thread.agent, request)
        made = _read(formed_data(answer.value, self._reader.secrets), said[-1].seq)
        try:
            await self._door.write(
                owner,
                writing_view(thread),
                ACTOR,
                [KeepTaskSummary(id, made, tuple(message.id for message in said))],
                request=["task summary", str(id)],
            )
        except NotFound as exc:
            raise Conflict(
                "a message was forgotten while the summary was made; ask for it again"
            ) from exc
        return made


def _instructions() -> str:
    text = prompt_file("task_summary").sections["task"]
    return text.replace("@POINTS", str(MOST_POINTS)).replace("@TAKEAWAYS", str(MOST_TAKEAWAYS))


def _read(value: Any, through: int) -> TaskSummary:
    """Read the model's answer; raise ``ModelFailed`` if there is no summary in it."""
    given = value if isinstance(value, dict) else {}
    text = given.get("summary")
    try:
        return TaskSummary(
            summary=text.strip() if isinstance(text, str) else "",
            main_points=tuple(texts_of(given.get("main_points")))[:MOST_POINTS],
            takeaways=tuple(texts_of(given.get("takeaways")))[:MOST_TAKEAWAYS],
            through=through,
        )
    except ValidationError:
        raise ModelFailed(
            "the model's answer has no summary that can be used; ask again, or use another model"
        ) from None


def _text_of(kept: TaskSummary) -> str:
    return "\n".join([kept.summary, *kept.main_points, *kept.takeaways])
