"""The program: its commands by name, and how a command ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.output.terminal import open_missing_streams


class Entry(NamedTuple):
    """The module of a command, and its help in one line, so that ``--help`` need not load it."""

    module: str
    does: str


COMMANDS = {
    "demo": Entry("demo", "Show what the book does, on a book of its own."),
    "init": Entry("book", "Make a book."),
    "append": Entry("write", "Add what was said to a thread."),
    "remember": Entry("write", "Keep a statement."),
    "recall": Entry("recall", "Find what answers a question, by its words."),
    "context": Entry("recall", "Make the text that an agent reads before it answers."),
    "get": Entry("record", "Show one record."),
    "list": Entry("record", "List records, or owners."),
    "why": Entry("record", "Show why the book holds a record."),
    "history": Entry("record", "Show every change of a record, or an owner's ledger."),
    "undo": Entry("write", "Reverse a whole operation."),
    "retract": Entry("write", "Say that a memory is no longer held."),
    "experience": Entry("experience", "Look after what agents have learnt across users."),
    "forget": Entry("forget", "Remove for good."),
    "export": Entry("export", "Write a book, or one owner's part, as JSON Lines."),
    "import": Entry("export", "Take in an export."),
    "backup": Entry("backup", "Copy the book while it is in use, and verify the copy."),
    "restore": Entry("backup", "Put a backup to a new place, without what was erased since."),
    "copy": Entry("copy", "Copy the book to another engine, and let it move there."),
    "verify": Entry("book", "Hold every record against the ledger."),
    "reembed": Entry("book", "Make all vectors with the present model, while recall goes on."),
    "rebuild": Entry("book", "Make anew what is derived by code."),
    "doctor": Entry("doctor", "Examine the book and where it lives."),
    "form": Entry("work", "Make memories of what an owner said."),
    "worker": Entry("work", "Do the book's work until told to stop: form, make vectors, clear."),
    "usage": Entry("usage", "Tell what language models used and cost."),
    "jobs": Entry("work", "Look after work that waits."),
    "weights": Entry("setup", "Look after the local model that finds by meaning."),
    "completion": Entry("setup", "Print a shell's completion script."),
}


class Program(click.Group):
    """Loads a command when it is asked for, and ends every command in one way."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"memoranda.surfaces.cli.commands.{COMMANDS[cmd_name].module}_commands")
        command: click.Command = getattr(module, f"{cmd_name}_command")
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
            exits.leave(exits.report(exc, ctx.meta))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override] # it never returns
        open_missing_streams()
        extra.pop("standalone_mode", None)
        with exits.sigterm_interrupts() as terminated:
            try:
                code = super().main(args, prog_name or "memoranda", standalone_mode=False, **extra)
            except click.Abort:
                code = _interrupted("terminated" if terminated.is_set() else "interrupted")
            except click.ClickException as exc:
                code = _misused(exc)
            except Exception as exc:  # noqa: BLE001 - as above
                # Before there is a command to end, as with --help on a full disk.
                code = exits.report(exc, {})
        sys.exit(code if isinstance(code, int) else exits.OK)


def _interrupted(how: str) -> int:
    exits.complain(f"{how}; what had been confirmed before is kept; a copy goes on when it is run again")
    return exits.EXIT_CODES["terminated"] if how == "terminated" else exits.INTERRUPTED


def _misused(exc: click.ClickException) -> int:
    message = exc.format_message()
    if isinstance(exc, click.UsageError):
        where = exc.ctx.command_path if exc.ctx else "memoranda"
        message = f"{message.removesuffix('.')}; see {where} --help"
    exits.complain(message)
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
