"""The program: its commands by name, and how a command ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from memoranda.surfaces.cli import ending, exits, streams
from memoranda.surfaces.cli.termination import Termination


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
    "experience": Entry("experience", "Look after what agents have learnt across users."),
    "forget": Entry("erasure", "Remove for good."),
    "export": Entry("exports", "Write a book, or one owner's part, as JSON Lines."),
    "import": Entry("exports", "Take in an export."),
    "backup": Entry("backups", "Copy the book while it is in use, and verify the copy."),
    "restore": Entry("backups", "Put a backup to a new place, without what was erased since."),
    "copy": Entry("copying", "Copy the book to another engine, and let it move there."),
    "verify": Entry("upkeep", "Hold every record against the ledger."),
    "reembed": Entry("vectors", "Make all vectors with the present model, while recall goes on."),
    "rebuild": Entry("upkeep", "Make anew what is derived by code."),
    "doctor": Entry("doctor", "Examine the book and where it lives."),
    "form": Entry("forming", "Make memories of what an owner said."),
    "worker": Entry("forming", "Do the book's work until told to stop: form, make vectors, clear."),
    "usage": Entry("usage", "Tell what language models used and cost."),
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
        room = import_module(f"memoranda.surfaces.cli.{COMMANDS[cmd_name].room}")
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
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as exc:  # noqa: BLE001 - nobody is above to tell people what happened
            exits.leave(ending.tell(exc, ctx.meta))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override] # it never returns
        streams.mend()
        extra.pop("standalone_mode", None)
        with Termination() as termination:
            try:
                code = super().main(args, prog_name or "memoranda", standalone_mode=False, **extra)
            except click.Abort:
                code = _interrupted("terminated" if termination.asked else "interrupted")
            except click.ClickException as exc:
                code = _misused(exc)
            except Exception as exc:  # noqa: BLE001 - as above
                # Before there is a command to end, as with --help on a full disk.
                code = ending.tell(exc, {})
        sys.exit(code if isinstance(code, int) else exits.OK)


def _interrupted(how: str) -> int:
    ending.complain(f"{how}; what had been confirmed before is kept; a copy goes on when it is run again")
    return exits.EXIT_CODES["terminated"] if how == "terminated" else exits.INTERRUPTED


def _misused(exc: click.ClickException) -> int:
    message = exc.format_message()
    if isinstance(exc, click.UsageError):
        where = exc.ctx.command_path if exc.ctx else "memoranda"
        message = f"{message.removesuffix('.')}; see {where} --help"
    ending.complain(message)
    return exc.exit_code


@click.command(
    cls=Program,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.pass_context
@click.version_option(package_name="memoranda", message="%(prog)s %(version)s")
@click.option(
    "--book",
    metavar="ADDRESS",
    help="The book, a path or postgresql://…; like all options here, it may also follow the command.",
)
@click.option("--tenant", metavar="NAME", help="The tenant whose owners are meant.")
@click.option("--config", metavar="FILE", help="Settings in TOML.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def program(ctx: click.Context, /, **_: Any) -> None:
    """Memoranda: a durable memory for AI agents, kept in one file.

    Begin with `memoranda init`, or see `memoranda demo`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the program."""
    program()
