"""The command that erases by conditions: ``forget-all``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from memoranda.book.forgetting.bulk import BulkReceipt
from memoranda.book.input import Who
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned, seen_as
from memoranda.cli.output.json_text import json_value
from memoranda.cli.output.printer import Column
from memoranda.cli.session import Session, confirm
from memoranda.model.records import Owner


@click.command("forget-all")
@opens_book
@owned(most=0)
@seen_as
@option(
    "--type ...",
    "Records of this type; repeatable [default: memory].",
    "types",
    of=["memory", "message", "episode", "thread"],
)
@option("--kind KIND...", "Only records of this kind; repeatable.")
@option("--before TIME", "Only what was observed, said or begun before this time.")
@option("--source ID", "Only records that cite this one.")
@option("--thread ID", "Only records of this thread.")
@option("--dry-run", "Count what would be erased, and erase nothing.")
@option("--backups", "Also rewrite the book's own backups without it.")
@option("--yes", "Do not ask for confirmation.")
def forget_all_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    yes: bool,
    dry_run: bool,
    backups: bool,
    types: tuple[str, ...],
    **only: Any,
) -> None:
    """Erase all records of an owner that meet every condition given, with everything that comes
    from them alone.

    This cannot be undone. Give at least one of --kind, --before, --source and --thread; see what it
    would erase with --dry-run. Many records are erased some at a time. If an error stops it, the
    same command goes on.
    """
    only = {
        name: value for name, value in {**only, "types": types}.items() if value not in (None, ())
    }
    receipt = session.run(_forget_all(session, party, {**only, **who}, yes, dry_run, backups))
    if not session.print_json(json_value(receipt)):
        _print(session, receipt)
    if receipt.left_to_do:
        exits.leave(exits.FOUND_FAULTS)


async def _forget_all(
    session: Session,
    party: Owner,
    given: Mapping[str, Any],
    yes: bool,
    dry_run: bool,
    backups: bool,
) -> BulkReceipt:
    async with session.writing() as book:
        planned = await book.forgetting.forget_all(party, dry_run=True, **given)
        if dry_run or not planned.found:
            return planned
        counted = ", ".join(f"{count} {name}" for name, count in sorted(planned.found.items()))
        confirm(
            f"Erase of {party}: {counted}, with everything that comes from them alone? This cannot be undone.",
            yes=yes,
        )
        return await book.forgetting.forget_all(party, backups=backups, **given)


def _print(session: Session, receipt: BulkReceipt) -> None:
    printer = session.printer
    if not receipt.found:
        printer.say(
            f"no record of {receipt.owner} meets the conditions; nothing was erased", "warning"
        )
        return
    counted = receipt.found if receipt.dry_run else receipt.removed
    printer.say("would be erased" if receipt.dry_run else f"erased for {receipt.owner}", "good")
    rows = [[place, str(number)] for place, number in counted.items()]
    printer.table(
        [Column("TYPE" if receipt.dry_run else "PLACE"), Column("RECORDS", right=True)], rows
    )
    if receipt.dry_run:
        return
    for place in receipt.still_in:
        printer.say(f"may still contain it: {place}", "warning")
    if receipt.pending_because:
        printer.say(f"the book's own files: pending: {receipt.pending_because}", "warning")
    if receipt.left_to_do:
        printer.say(f"left to do: {receipt.left_to_do}", "warning")
