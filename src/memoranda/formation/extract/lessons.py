"""Reads the lines of experience in a model's answer: what is new, and what says a shown line
again.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.attribution import Attribution
from memoranda.formation.extract.citations import Citations, Problems, text_of
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.schemas.json_values import printable
from memoranda.model.drafts import Lesson
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS
from memoranda.model.values import refused
from memoranda.text.similarity import coverage

LINE_LENGTH: Final = 500


class LessonReader:
    """Reads what an agent learnt, and checks its sources."""

    def __init__(
        self, prompt: Prompt, citations: Citations, attribution: Attribution, problems: Problems
    ) -> None:
        self._prompt = prompt
        self._citations = citations
        self._attribution = attribution
        self._problems = problems

    def lesson(self, at: str, given: dict[str, Any]) -> Lesson | None:
        """Return a line of experience, with the shown line that it repeats; otherwise report why
        not.
        """
        report = self._problems.reporter(at)
        shown = self._shown(given.get("repeats"), report)
        field, line = given.get("field"), text_of(given.get("line"))
        if shown is not None and not line:
            field, line = shown.field, shown.line
        if not line or not field or len(line) > LINE_LENGTH:
            reason = f"a line needs a field and a text of at most {LINE_LENGTH} characters"
            report("line", reason, mendable=len(line) <= LINE_LENGTH)
            return None
        cited = self._citations.read(given.get("sources"), report)
        if not cited:
            return None
        said = [message for message, _ in cited if message.trust not in STRANGERS]
        if self._attribution.is_lesson_of_strangers(line, said):
            report("stranger", "what only a tool or a web page says is not experience of the agent")
            return None
        if shown is not None and not _bears(shown.line, said):
            report("claimed", "the cited messages do not speak of the line that it names")
            if line == shown.line:
                return None
            shown = None
        try:
            return Lesson.model_validate(
                {
                    "field": field,
                    "line": line,
                    "repeats": None if shown is None else shown.id,
                    "cited": tuple(one for _, one in cited),
                }
            )
        except ValidationError as exc:
            report("invalid", str(refused(exc)))
            return None

    def _shown(self, given: Any, report: Report) -> ExperienceLine | None:
        """Return the shown line with a handle; report a handle of none."""
        if not given:
            return None
        found = self._prompt.lessons.get(given)
        if found is None:
            report("unknown", f"no line of experience {printable(given)} was shown")
        return found


def _bears(line: str, said: list[Message]) -> bool:
    """True if these messages have a word of the line in common with it."""
    return any(coverage(line, message.content) for message in said)
