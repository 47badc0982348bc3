"""The command that shows what language models used and cost: ``usage``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, get_args

import click

from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned
from memoranda.cli.output.json_text import json_value
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.session import Session
from memoranda.model.language_models import By, Spent, Sums, total, totals
from memoranda.model.records import Owner

_NAMELESS = {"owner": "(not named)", "agent": "(none)"}
_NUMBERS = ("CALLS", "UNANSWERED", "TOKENS IN", "CACHED", "TOKENS OUT", "PRICE")


class DayType(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic in newer releases only
    """Parameter type: a day."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Parse an ISO day such as 2026-03-01; any other text is a usage error."""
        if isinstance(value, date):
            return value
        try:
            return date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a day; write 2026-03-01", param, ctx)


@click.command("usage")
@opens_book
@owned(most=0, optional=True)
@option("--agent NAME", "Only calls for this agent.")
@option("--since DAY", "Only calls on this day or later, in UTC.", of=DayType())
@option("--until DAY", "Only calls before this day, in UTC.", of=DayType())
@option(
    "--by",
    "Add the calls up by this [default: day].",
    of=sorted({*get_args(By)} - {"tenant"}),
    default="day",
)
def usage_command(
    session: Session, party: Owner | None, words: Sequence[str], by: By, **only: Any
) -> None:
    """Show what language models used and cost, for the whole tenant or for one owner.

    A call is unanswered if its answer never reached the book; its cost is unknown.
    """
    found = session.run(_usage(session, party, only))
    sums, together = totals(found, by), total(found)
    rows = [{by: name, **_sums(sums[name])} for name in sums]
    if not session.print_json({"by": by, "usage": rows, "total": _sums(together)}):
        _print_usage(session.printer, by, sums, together)


async def _usage(session: Session, party: Owner | None, only: Mapping[str, Any]) -> Sequence[Spent]:
    async with session.reading() as book:
        return await book.admin.usage(party, **only)


def _sums(sums: Sums) -> dict[str, Any]:
    return {**json_value(sums), "unanswered": sums.unanswered}


def _print_usage(printer: Printer, by: By, sums: Mapping[Any, Sums], together: Sums) -> None:
    if not sums:
        printer.say("no language model was called", "faint")
        return
    columns = [Column(by.upper()), *(Column(title, right=True) for title in _NUMBERS)]
    rows = [[_name(by, name), *_numbers(each)] for name, each in sums.items()]
    printer.table(columns, [*rows, ["total", *_numbers(together)]])
    if together.unpriced:
        printer.say(
            f"answers with an unknown price: {together.unpriced:,} of {together.answers:,}",
            "warning",
        )


def _name(by: By, name: Any) -> str:
    return _NAMELESS.get(by, "") if name is None else str(name)


def _numbers(sums: Sums) -> list[str]:
    counts = (sums.calls, sums.unanswered, sums.tokens_in, sums.tokens_cached, sums.tokens_out)
    return [*(f"{count:,}" for count in counts), _price(sums)]


def _price(sums: Sums) -> str:
    known = f"{sums.price:.6f} {sums.currency}"
    if not sums.unpriced:
        return known
    return "unknown" if sums.unpriced == sums.answers else f"at least {known}"
