"""How an option of a command is declared: its usage, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class MomentType(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic in newer releases only
    """Parameter type: a date, or a time with its zone."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Parse an ISO date, which means its midnight in UTC, or a time; a time without a zone is a
        usage error.
        """
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is not a time; write 2026-03-01 or 2026-03-01T09:30:00Z", param, ctx
            )
        if re.fullmatch(r"[\d-]+", value) and "T" not in value:
            return found.replace(tzinfo=UTC)
        if found.tzinfo is None:
            self.fail(f"{value!r} has no time zone; add Z or an offset such as +02:00", param, ctx)
        return found


MOMENT = MomentType()


def option(
    usage: str, says: str, into: str = "", *, of: Any = None, default: Any = None
) -> Callable[[F], F]:
    """Declare an option: ``--pinned`` is a flag, ``--key KEY`` has a value, ``--tag TAG...`` may be
    repeated, ``--at TIME`` is a moment.

    ``into`` is the argument that gets it where that has another name. ``of`` is its type or its
    choices, with which the value needs no name.
    """
    name, _, value = usage.partition(" ")
    names = (name, into) if into else (name,)
    if not value and of is None:
        return click.option(*names, is_flag=True, help=says)
    if of is None and value == "TIME":
        of = MOMENT
    if isinstance(of, type) and issubclass(of, Enum):
        of = [one.value for one in of]
    if isinstance(of, (list, tuple)):
        of = click.Choice(of)
    metavar, multiple = value.removesuffix("...") or None, value.endswith("...")
    return click.option(
        *names, metavar=metavar, type=of, multiple=multiple, default=default, help=says
    )
