"""The program: its commands by name, and how a command ends."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.surfaces.cli import exits
from commonplace.surfaces.cli.glyphs import one_line, takes_colour

#: Lines of items that were refused in one batch.
_ITEMS = 20


class Entry(NamedTuple):
    """Where a command is, and what it does, so that help need not load it."""

    room: str
    does: str


COMMANDS = {
    "demo": Entry("demo", "Show what the book does, on a book of its own."),
    "init": Entry("upkeep", "Make a book."),
    "append": Entry("messages", "Add what was said to a thread."),
    "remember": Entry("memories", "Keep a statement."),
    "recall": Entry("passages", "Find what answers a question, by its words."),
    "context": Entry("contexts", "Make the text that an agent reads before it answers."),
    "get": Entry("records", "Show one record."),
    "list": Entry("records", "List records, or owners."),
    "why": Entry("evidence", "Show why the book holds a record."),
    "history": Entry("evidence", "Show every change of a record, or an owner's ledger."),
    "undo": Entry("memories", "Reverse a whole operation."),
    "retract": Entry("memories", "Say that a memory is no longer held."),
    "forget": Entry("erasure", "Remove for good."),
    "export": Entry("exports", "Write a book, or one owner's part, as JSON Lines."),
    "import": Entry("exports", "Take in an export."),
    "backup": Entry("backups", "Copy the book while it is in use, and verify the copy."),
    "restore": Entry("backups", "Put a backup to a new place, without what was erased since."),
    "verify": Entry("upkeep", "Hold every record against the ledger."),
    "rebuild": Entry("upkeep", "Make anew what is derived by code."),
    "doctor": Entry("doctor", "Examine the book and where it lives."),
    "jobs": Entry("jobs", "Look after work that waits."),
    "weights": Entry("weights", "Look after the local model that finds by meaning."),
    "completion": Entry("completion", "Print a shell's completion script."),
}


class Program(click.Group):
    """Loads a command when it is asked for, and ends every command in one way."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        room = import_module(f"commonplace.surfaces.cli.{COMMANDS[cmd_name].room}")
        command: click.Command = getattr(room, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.does) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except BrokenPipeError:
            _leave_the_pipe()
        except CommonplaceError as exc:
            _refuse(ctx, str(exc), exits.EXIT_CODES[exc.code], _other_items(exc))
        except OSError as exc:
            _refuse(
                ctx, f"{exc.filename or 'the system'}: {exc.strerror or exc}", exits.EXIT_CODES["storage"]
            )

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override] # it never returns
        for stream in (sys.stdout, sys.stderr):
            # What a terminal's encoding lacks is spelled out instead of ending the command.
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="backslashreplace")
        extra.pop("standalone_mode", None)
        code: object = None
        try:
            code = super().main(args, prog_name or "commonplace", standalone_mode=False, **extra)
        except click.Abort:
            _complain("interrupted; what had been confirmed before is kept")
            code = exits.INTERRUPTED
        except click.UsageError as exc:
            where = exc.ctx.command_path if exc.ctx else "commonplace"
            _complain(f"{exc.format_message().removesuffix('.')}; see {where} --help")
            code = exc.exit_code
        except click.ClickException as exc:
            _complain(exc.format_message())
            code = exc.exit_code
        sys.exit(code if isinstance(code, int) else exits.OK)


def _other_items(exc: CommonplaceError) -> list[str]:
    if not isinstance(exc, InvalidInput):
        return []
    others = [str(error) for error in exc.errors if error is not exc]
    left = len(others) - _ITEMS
    return others[:_ITEMS] + ([f"and {left} more"] if left > 0 else [])


def _refuse(ctx: click.Context, message: str, code: int, others: Sequence[str] = ()) -> NoReturn:
    if ctx.meta.get("commonplace.debug"):
        traceback.print_exc()
    _complain(message)
    for other in others:
        click.echo(f"       {one_line(other)}", err=True)
    exits.leave(code)


def _complain(message: str) -> None:
    colour = takes_colour(sys.stderr)
    label = click.style("error:", fg="red", bold=True) if colour else "error:"
    click.echo(f"{label} {one_line(message)}", err=True, color=colour)


def _leave_the_pipe() -> NoReturn:
    """Nobody reads on: what is still buffered goes nowhere, without a complaint at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    exits.leave(exits.PIPE_CLOSED)


@click.command(
    cls=Program,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.pass_context
@click.version_option(package_name="commonplace", message="%(prog)s %(version)s")
@click.option(
    "--book", metavar="PATH", help="The book; like all options here, it may also follow the command."
)
@click.option("--tenant", metavar="NAME", help="The tenant whose owners are meant.")
@click.option("--config", metavar="FILE", help="Settings in TOML.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def program(ctx: click.Context, /, **_: Any) -> None:
    """Commonplace: a durable memory for AI agents, kept in one file.

    Begin with `commonplace init`, or see `commonplace demo`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the program."""
    program()
