"""The command ``call``: every operation of the book, with its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click

from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.book.all_operations import OPERATIONS
from memoranda.cli.command_group import did_you_mean
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.session import Session, confirm
from memoranda.operations import Operation
from memoranda.wire.results import to_json
from memoranda.wire.verb_shapes import Shape, shape_of, wire_name


@click.command("call")
@opens_book
@click.argument("name", required=False, metavar="[OPERATION]")
@click.argument("pairs", nargs=-1, metavar="[ARGUMENT=VALUE]...")
@option("--yes", "Do not ask before what cannot be undone.")
@option("--arguments", "Show the arguments of the operation, and do nothing.", "asks")
def call_command(
    session: Session, name: str | None, pairs: Sequence[str], yes: bool, asks: bool
) -> None:
    """Call any operation of the book: those that no other command has, too.

    Without an operation, all are listed. Lists repeat their argument (tags=a tags=b), and objects
    are JSON (fields='{"pinned": true}'). The answer is JSON.
    """
    if name is None:
        rows = [[one.name, one.summary] for one in OPERATIONS.values()]
        session.printer.table([Column("OPERATION"), Column("DOES", flexible=True)], rows)
        return
    operation = _named(name)
    shape = shape_of(operation.name)
    if asks:
        _explain(session.printer, operation, shape)
        return
    if "lines" in shape.annotations or not inspect.iscoroutinefunction(operation.function):
        raise click.UsageError(
            f"{operation.name} reads or writes lines: run memoranda {operation.command}"
        )
    given = _read(shape, pairs)
    if operation.final and not given.get("dry_run"):
        confirm(f"{operation.name} {' '.join(pairs)}: this cannot be undone. Go on?", yes=yes)
    session.printer.document(to_json(session.run(_call(session, operation, given))))


def _explain(printer: Printer, operation: Operation, shape: Shape) -> None:
    for line in inspect.cleandoc(operation.function.__doc__ or "").splitlines():
        printer.say(line)
    printer.say()
    columns = [Column("ARGUMENT"), Column("DEFAULT"), Column("TAKES", flexible=True)]
    printer.table(
        columns,
        [
            [
                wire_name(one.name),
                "" if one.default is one.empty else repr(one.default),
                str(one.annotation),
            ]
            for one in shape.signature.parameters.values()
            if one.name not in shape.local
        ],
    )


def _named(name: str) -> Operation:
    if name in OPERATIONS:
        return OPERATIONS[name]
    raise click.UsageError(
        f"there is no operation {name!r}{did_you_mean(name, OPERATIONS)}; memoranda call lists all"
    )


def _read(shape: Shape, pairs: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a call, each checked as a request's are."""
    given = [pair.partition("=") for pair in pairs]
    if wrong := [pair for pair, (_, sign, _value) in zip(pairs, given, strict=True) if not sign]:
        raise click.UsageError(f"{wrong[0]!r} is not ARGUMENT=VALUE")
    return shape.read_pairs([(name, value) for name, _, value in given])


async def _call(session: Session, operation: Operation, given: dict[str, Any]) -> Any:
    if operation.reads:
        async with session.reading() as book:
            return await Guard(book, local_admin(book.tenant), "cli").call(operation.name, **given)
    async with session.writing() as book:
        return await Guard(book, local_admin(book.tenant), "cli").call(operation.name, **given)
