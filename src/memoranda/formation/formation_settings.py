"""Settings of formation, for all agents and for single ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from memoranda.errors import InvalidInput
from memoranda.model.profiles import Agent
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, RecordType, slot_of, those_of
from memoranda.model.values import Name, Value, refused
from memoranda.ports import Records

#: The key of an agent's own formation settings, among all its settings.
SECTION: Final = "forming"
#: The key of an agent's own settings of sharing.
SHARING: Final = "sharing"
#: The keys of an agent's own limits, and of its own choices for contexts.
LIMITS: Final = "limits"
CONTEXT: Final = "context"
#: The key of what a night does with its memories.
DREAM: Final = "dream"
_SECTIONS: Final = (SECTION, SHARING, LIMITS, CONTEXT, DREAM)
#: The kind of the job that gives a quiet thread its episode.
QUIET: Final = "episode"
#: The settings that an agent may set for itself.
AGENT_SETTINGS: Final = frozenset(
    {
        *("enabled", "idle_seconds", "max_wait_seconds", "language", "episode_after_hours"),
        *("prompt_tokens", "answer_tokens", "window_tokens"),
    }
)
#: Spellings in agents' stored settings → the settings' names today. Agents keep what they stored,
#: so both are read.
STORED_NAMES: Final = {"on": "enabled", "silence": "idle_seconds", "max_wait": "max_wait_seconds"}


async def agent_named(records: Records, tenant: Owner, name: str | None) -> Agent | None:
    """Return the record of an agent; None if there is none, or no agent is named."""
    if name is None:
        return None
    only = Filter(types=frozenset({RecordType.AGENT}), slots=(slot_of(RecordType.AGENT, name),))
    page = await records.scan(tenant, WHOLE, only, None, 1)
    return next(iter(those_of(Agent, page.records)), None)


class FormingSettings(Value):
    """When and how conversations are formed (turned into memories)."""

    enabled: bool = Field(default=True, description="False: nothing is formed.")
    idle_seconds: float = Field(
        default=30.0,
        ge=0,
        le=86_400,
        description="Seconds without a new message after which a thread is formed.",
    )
    max_wait_seconds: float = Field(
        default=600.0,
        ge=0,
        le=604_800,
        description="Seconds after its first unformed message by which a thread is formed, even if messages keep coming.",
    )
    language: Name | None = Field(
        default=None,
        description="The language in which notes are written; unset: the language of the conversation.",
    )
    prompt_tokens: int = Field(
        default=8_000,
        ge=500,
        le=1_000_000,
        description="Most tokens of data in one question to a model.",
    )
    answer_tokens: int = Field(
        default=4_000, ge=100, le=200_000, description="Most tokens of a model's answer."
    )
    window_tokens: int = Field(
        default=2_000,
        ge=0,
        le=1_000_000,
        description="Tokens of a thread that stay as they were said; older messages are summarised. 0: nothing is summarised.",
    )
    window_hours: float | None = Field(
        default=48.0,
        gt=0,
        le=876_000,
        allow_inf_nan=False,
        description="A gap of more hours than this between messages ends a thread's window; the messages stay stored.",
    )

    fallback: Literal["none", "rules"] = Field(
        default="none",
        description="What forms a part meanwhile of which no answer of the model could be used: nothing, or rules.",
    )
    episode_after_hours: float = Field(
        default=24.0,
        ge=0,
        le=876_000,
        allow_inf_nan=False,
        description="Hours without a message after which a thread that nobody closed gets an episode; 0: it gets none.",
    )

    @model_validator(mode="after")
    def _longer(self) -> FormingSettings:
        if self.max_wait_seconds < self.idle_seconds:
            raise ValueError(
                "max_wait_seconds is shorter than idle_seconds; make it at least as long"
            )
        return self

    def for_agent(self, agent: Agent | None) -> FormingSettings:
        """Return these settings, replaced by the agent's own where it has some.

        An agent's settings that cannot be read are left out, but never the one that turns formation
        off.
        """
        if agent is None:
            return self
        try:
            return self._with(agent.settings)
        except InvalidInput:
            return self.model_copy(update={"enabled": False}) if _is_off(agent.settings) else self

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ``InvalidInput`` if an agent's settings cannot be used, or if nothing reads one of
        them.
        """
        for name in settings:
            if name not in _SECTIONS:
                raise InvalidInput(
                    f"settings.{name}: nothing reads this setting of an agent; known are {', '.join(_SECTIONS)}",
                    field=f"settings.{name}",
                )
        self._with(settings)

    def _with(self, settings: Mapping[str, Any]) -> FormingSettings:
        at = f"settings.{SECTION}"
        given: dict[str, Any] = {}
        for name, value in own_settings(settings, SECTION, "{'idle_seconds': 5}").items():
            today = STORED_NAMES.get(name, name)
            if today not in AGENT_SETTINGS:
                known = ", ".join(sorted(AGENT_SETTINGS))
                raise InvalidInput(
                    f"{at}.{name}: an agent has no such setting; known are {known}",
                    field=f"{at}.{name}",
                )
            if today in given:
                raise InvalidInput(
                    f"{at}: {today} is given twice, once under its earlier name; give only {today}",
                    field=f"{at}.{name}",
                )
            given[today] = value
        idle = given.get("idle_seconds")
        if "max_wait_seconds" not in given and isinstance(idle, (int, float)):
            given["max_wait_seconds"] = max(self.max_wait_seconds, idle)
        return replaced_by(self, given, at)


def own_settings(settings: Mapping[str, Any], section: str, example: str) -> Mapping[str, Any]:
    """Return an agent's own settings of a section; raise ``InvalidInput`` where they are not an
    object.
    """
    own = settings.get(section)
    if own is not None and not isinstance(own, Mapping):
        at = f"settings.{section}"
        raise InvalidInput(f"{at}: give an object, such as {example}", field=at)
    return own or {}


_S = TypeVar("_S", bound=Value)


def replaced_by(settings: _S, own: Mapping[str, Any], at: str) -> _S:
    """Return settings in which an agent's own replace the others; raise ``InvalidInput`` if those
    cannot be used.
    """
    try:
        return type(settings).model_validate({**settings.model_dump(), **own})
    except ValidationError as exc:
        raise refused(exc, at=at) from exc


def _is_off(settings: Mapping[str, Any]) -> bool:
    """True if an agent's settings turn formation off, in whichever spelling."""
    own = settings.get(SECTION)
    given = (
        [own[name] for name in ("enabled", "on") if name in own] if isinstance(own, Mapping) else []
    )
    return any(not _is_on(value) for value in given)


def _is_on(value: Any) -> bool:
    try:
        return FormingSettings.model_validate({"enabled": value}).enabled
    except ValidationError:
        return True
