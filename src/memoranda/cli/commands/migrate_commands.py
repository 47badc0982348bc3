"""The command ``migrate``: what other programs stored becomes records of a book."""

from __future__ import annotations

from collections.abc import Callable

import click

from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.session import Session
from memoranda.migrate.formats import FORMATS
from memoranda.migrate.run import Migration, migrate, undo
from memoranda.migrate.sources import source_of

_SHOWN = 20


@click.command("migrate")
@click.argument("format", type=click.Choice([*FORMATS]))
@click.argument("source")
@option("--dry-run", "Write nothing: say what would be written, and what would be left out.")
@option(
    "--undo RUN",
    "Take out what this run wrote, except what was changed since; that is named.",
    "undone",
)
@click.option(
    "--trust",
    type=click.Choice(["assistant", "user"]),
    default="assistant",
    show_default=True,
    help="The trust of what is written.",
)
@click.option(
    "--owner-at",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="langgraph: the place of the owner in a namespace.",
)
@option(
    "--rename", "eddi-properties: rename the collection to properties_migrated_v6 when all arrived."
)
@opens_book
def migrate_command(
    session: Session,
    format: str,
    source: str,
    dry_run: bool,
    undone: str | None,
    trust: str,
    owner_at: int,
    rename: bool,
) -> None:
    """Write into the book what another program stored at SOURCE: mongodb://…/database, or files of
    mongoexport.

    A file is named like its collection, such as users.json; a folder may have several. A second run
    writes what is new, and brings nothing back that was forgotten since; a run that was killed goes
    on where it was.
    """
    with source_of(source) as found:

        async def work() -> Migration:
            if undone:
                async with session.writing() as book:
                    return await undo(book, format, found, undone, owner_at=owner_at)
            # What a book refuses, such as a text that is too long, only a book tells.
            opening = session.rehearsing() if dry_run else session.writing()
            async with opening as book:
                with session.progress("migrating") as progress:
                    return await migrate(
                        book,
                        format,
                        found,
                        trust=trust,
                        owner_at=owner_at,
                        rename=rename and not dry_run,
                        progress=progress,
                    )

        report = session.run(work())
    if not session.print_json(report):
        _print(
            session.printer.say,
            report,
            "taken out" if undone else "would be written" if dry_run else "written",
        )


def _print(say: Callable[..., None], report: Migration, done: str) -> None:
    what = (
        ", ".join(f"{count} {verb}" for verb, count in report.written.items() if count) or "nothing"
    )
    say(
        f"run {report.run}: {what} {done}"
        + (f"; {report.before} written before" if report.before else ""),
        "good",
    )
    for name, count in report.not_taken.items():
        say(f"not taken over: {name}, in {count} documents", "warning")
    for owner in sorted(report.restricted):
        say(f"skipped: the processing of {owner} is restricted", "warning")
    for left in report.left_out[:_SHOWN]:
        say(f"left out: {left.key}: {left.why}", "warning")
    if len(report.left_out) > _SHOWN:
        say(f"left out: {len(report.left_out) - _SHOWN} more; --json lists them", "warning")
    if report.renamed:
        say(f"the collection is {report.renamed} now")
