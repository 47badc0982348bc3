"""Settings of dreams, for all agents and for single ones, under the names of EDDI's
``userMemoryConfig.dream``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from memoranda.errors import InvalidInput
from memoranda.formation.formation_settings import DREAM, own_settings
from memoranda.model.profiles import Agent
from memoranda.model.values import Value, refused

_AT = f"settings.{DREAM}"
#: As a time zone: that of each owner.
OWNERS_ZONE: Final = "owner"


class DreamSettings(Value):
    """What a night does with memories, and when. Every setting has an effect; an unknown one is
    refused.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
    )

    enabled: bool = Field(
        default=False,
        description="Whether nights are done by the schedule; a night by hand needs no setting.",
    )
    schedule: str = Field(
        default="0 3 * * *",
        description="When a night begins: minute, hour, day, month and day of the week, as cron has them.",
    )
    time_zone: str = Field(
        default="UTC",
        description="The zone of the schedule, or 'owner': that of the field `time_zone` of each owner's profile, else UTC.",
    )
    prune_stale_after_days: float = Field(
        default=90,
        ge=0,
        le=36_500,
        description="Days without use after which a memory is archived; 0 archives none.",
    )
    detect_contradictions: bool = Field(
        default=True, description="Whether a night's report counts contradictions."
    )
    contradiction_resolution: Literal["off", "keep_newest"] = Field(
        default="off",
        description="keep_newest: of contradicting values the newest supersedes those whose readers all read it, too.",
    )
    summarize_interactions: bool = Field(
        default=False, description="True is refused: merging memories loses true ones."
    )
    max_cost_per_run: float = Field(
        default=0.5,
        ge=0,
        description="For EDDI's name alone: a night asks no model, so it costs nothing.",
    )
    max_users_per_run: int = Field(
        default=1000,
        ge=1,
        description="Owners in one night; the next night begins with those after them.",
    )
    cross_agent_maintenance: bool = Field(
        default=False, description="Whether the nights of this agent look at all agents' memories."
    )

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, given: str) -> str:
        if given != OWNERS_ZONE and zone_named(given) is None:
            raise ValueError(
                f"{given!r} is no time zone; give a name such as 'Europe/Berlin', or 'owner'"
            )
        return given

    @field_validator("schedule")
    @classmethod
    def _five_fields(cls, given: str) -> str:
        # Imported by the programs that have schedules.
        from cronsim import CronSim, CronSimError  # noqa: PLC0415

        try:
            if len(given.split()) == 5 and next(
                CronSim(given, datetime(2026, 1, 1, tzinfo=UTC)), None
            ):
                return given
        except CronSimError:
            pass
        raise ValueError(
            f"{given!r} is no schedule; give five fields, as in '0 3 * * *': at three each night"
        )

    @field_validator("summarize_interactions")
    @classmethod
    def _summarises_nothing(cls, given: bool) -> bool:
        if given:
            raise ValueError(
                "a night merges no memories: that loses true ones and made recall no better; leave it false"
            )
        return given

    def next_night(self, now: datetime, zone: ZoneInfo | None = None) -> datetime:
        """Return when the next night begins, in the zone of the settings unless another is given;
        on a day of a clock change once.
        """
        from cronsim import CronSim  # noqa: PLC0415

        last = now.astimezone(
            zone or (UTC if self.time_zone == OWNERS_ZONE else ZoneInfo(self.time_zone))
        )
        return max(next(CronSim(self.schedule, last)).astimezone(UTC), now + timedelta(seconds=1))

    def check(self, settings: Mapping[str, Any]) -> DreamSettings:
        """Return these settings with an agent's own; raise ``InvalidInput`` if those cannot be
        used.
        """
        own = own_settings(settings, DREAM, "{'enabled': True}")
        names = [*map(to_camel, type(self).model_fields)]
        for name in own:
            if name not in names:
                from difflib import get_close_matches  # noqa: PLC0415 - only for this message

                near = get_close_matches(to_camel(name), names, 1)
                meant = (
                    f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(names))}"
                )
                raise InvalidInput(
                    f"{_AT}.{name}: nothing reads this; {meant}", field=f"{_AT}.{name}"
                )
        try:
            return type(self).model_validate({**self.model_dump(by_alias=True), **own})
        except ValidationError as exc:
            raise refused(exc, at=_AT) from exc

    def for_agent(self, agent: Agent | None) -> DreamSettings:
        """Return these settings, replaced by the agent's own; with own ones that cannot be read
        there are no nights.
        """
        try:
            return self if agent is None else self.check(agent.settings)
        except InvalidInput:
            return DreamSettings()


def zone_named(name: object) -> ZoneInfo | None:
    """Return the time zone of a name, or None."""
    try:
        return ZoneInfo(name) if isinstance(name, str) else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
