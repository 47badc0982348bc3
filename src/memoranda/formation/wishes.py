"""Wishes: when and how conversations are formed, as the settings say, and as an agent's own say otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field, ValidationError, model_validator

from memoranda.errors import InvalidInput
from memoranda.model.owner import WHOLE, Owner
from memoranda.model.profiles import Agent
from memoranda.model.query import Filter
from memoranda.model.records import RecordType, slot_of, those_of
from memoranda.model.values import Name, Value, refused
from memoranda.ports import Records

#: Under this name stand an agent's own wishes among its settings.
SECTION: Final = "forming"
#: What an agent may wish otherwise than the settings.
OF_AGENTS: Final = frozenset({"on", "silence", "max_wait", "language"})


async def agent_named(records: Records, tenant: Owner, name: str | None) -> Agent | None:
    """What a tenant says of an agent; None where nothing is said, or no agent is named."""
    if name is None:
        return None
    only = Filter(types=frozenset({RecordType.AGENT}), slots=(slot_of(RecordType.AGENT, name),))
    page = await records.scan(tenant, WHOLE, only, None, 1)
    return next(iter(those_of(Agent, page.records)), None)


class FormingSettings(Value):
    """When and how conversations become memories."""

    on: bool = True
    #: Seconds of silence after which a thread is formed, and after which it is however much is said.
    silence: float = Field(default=30.0, ge=0, le=86_400)
    max_wait: float = Field(default=600.0, ge=0, le=604_800)
    #: The language in which notes are written; None for the one that was spoken.
    language: Name | None = None
    #: Tokens of data that one question to a model holds, and the most that its answer may have.
    prompt_tokens: int = Field(default=8_000, ge=500, le=1_000_000)
    answer_tokens: int = Field(default=4_000, ge=100, le=200_000)
    #: Tokens of a thread that stay as they were said; what is older is summed up. 0: nothing is.
    window_tokens: int = Field(default=2_000, ge=0, le=1_000_000)
    #: Hours after the last turn by which a window ends; None: never.
    window_hours: float | None = Field(default=48.0, gt=0, le=876_000, allow_inf_nan=False)

    @model_validator(mode="after")
    def _longer(self) -> FormingSettings:
        if self.max_wait < self.silence:
            raise ValueError("max_wait is shorter than silence")
        return self

    def of(self, agent: Agent | None) -> FormingSettings:
        """The same, as an agent wishes it; what cannot be read of its wishes is as it is for all."""
        if agent is None:
            return self
        try:
            return self._with(agent.settings)
        except InvalidInput:
            return self

    def check(self, settings: Mapping[str, Any]) -> None:
        """Refuse settings of an agent whose wishes could not be followed."""
        self._with(settings)

    def _with(self, settings: Mapping[str, Any]) -> FormingSettings:
        at = f"settings.{SECTION}"
        wished = settings.get(SECTION)
        if wished is None:
            return self
        if not isinstance(wished, Mapping):
            raise InvalidInput(f"{at}: give an object, such as {{'silence': 5}}", field=at)
        for name in sorted(map(str, set(wished) - OF_AGENTS)):
            known = ", ".join(sorted(OF_AGENTS))
            raise InvalidInput(
                f"{at}.{name}: no such wish of an agent; known are {known}", field=f"{at}.{name}"
            )
        given = dict(wished)
        if "silence" in given and "max_wait" not in given and isinstance(given["silence"], (int, float)):
            given["max_wait"] = max(self.max_wait, given["silence"])
        try:
            return FormingSettings.model_validate({**self.model_dump(), **given})
        except ValidationError as exc:
            raise refused(exc, at=at) from exc
