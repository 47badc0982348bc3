"""The program ``memoranda``: its commands, and the end of each command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

import memoranda
from memoranda.cli import exits
from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.output.terminal import open_missing_streams


class Entry(NamedTuple):
    """A command's module, and its one-line help, so that ``--help`` need not load the module.

    A module is in the folder ``commands``, unless its folder is named.
    """

    module: str
    does: str


COMMANDS = {
    "demo": Entry("demo", "Show in a minute what Memoranda does, on a book of its own."),
    "init": Entry("book", "Create a book."),
    "append": Entry("write", "Add messages to a thread."),
    "remember": Entry("write", "Store a statement as a memory."),
    "recall": Entry("recall", "Find the records that answer a question."),
    "context": Entry("recall", "Build the text that an agent reads before it answers."),
    "get": Entry("record", "Show one record."),
    "list": Entry("record", "List records, or owners."),
    "why": Entry("record", "Show the sources of a record, and its changes."),
    "history": Entry("record", "Show all changes of a record, or an owner's ledger."),
    "profile": Entry("profile", "Show a person's profile, or set and remove its fields."),
    "about": Entry("profile", "Show what is known about a person."),
    "undo": Entry("write", "Undo a whole operation."),
    "update": Entry("write", "Correct a memory by a newer one that keeps its key."),
    "retract": Entry("write", "Mark a memory as no longer believed."),
    "experience": Entry("experience", "List and review what agents have learnt across users."),
    "forget": Entry("forget", "Erase records for good."),
    "restrict": Entry("service_commands.restrict", "Restrict what is done with an owner's data."),
    "unrestrict": Entry("service_commands.restrict", "Lift the restriction of an owner."),
    "forget-all": Entry("bulk", "Erase all records of an owner that meet conditions."),
    "export": Entry("export", "Write a book, or one owner's part, as JSON Lines."),
    "import": Entry("export", "Read an export into the book."),
    "migrate": Entry("migrate", "Take over what another program stored in MongoDB."),
    "backup": Entry("backup", "Copy the book while it is in use, and verify the copy."),
    "restore": Entry("backup", "Restore a backup to a new file, without what was erased since."),
    "copy": Entry("copy", "Copy the book to another engine, and let it move there."),
    "verify": Entry("book", "Check every record against the ledger."),
    "reembed": Entry("book", "Compute all vectors with the current model, while recall works."),
    "rebuild": Entry("book", "Recompute columns, links, counts and search terms."),
    "doctor": Entry("doctor", "Check the health of the book, its file and its disk."),
    "dream": Entry("dream", "Archive what nobody used for long, and tell what contradicts itself."),
    "form": Entry("work", "Make memories from what an owner said."),
    "worker": Entry("work", "Do the book's background jobs until it is stopped."),
    "serve": Entry("service_commands.serve", "Serve the book over HTTP, with MCP and a worker."),
    "keys": Entry(
        "service_commands.keys", "Create, list, rotate and revoke the keys of a service."
    ),
    "mcp": Entry("service_commands.mcp", "Serve the memory to a coding agent over MCP."),
    "audit": Entry("service_commands.audit", "List who read what kind of thing about whom."),
    "call": Entry("call", "Call any operation of the book; those without a command, too."),
    "usage": Entry("usage", "Show what language models used and cost."),
    "jobs": Entry("work", "List, run, retry or drop background jobs."),
    "views": Entry("views", "Make views of a book on MongoDB for people at a shell."),
    "weights": Entry("setup", "Show or install the local embedding model."),
    "completion": Entry("setup", "Print the completion script of a shell."),
}


class Program(CommandGroup):
    """The group of all commands: it loads each command's module on demand, and reports every
    error.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which the help shows them, without loading a command."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command; None if there is none of that
        name.
        """
        if cmd_name not in COMMANDS:
            return None
        place = (
            COMMANDS[cmd_name].module
            if "." in COMMANDS[cmd_name].module
            else f"commands.{COMMANDS[cmd_name].module}"
        )
        module = import_module(f"memoranda.cli.{place}_commands")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table above, so that ``--help`` imports none of their
        modules.
        """
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.does) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and flush its output; report any error that is not click's own, and exit
        with its code.
        """
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as exc:  # noqa: BLE001 - this is the last place that can report it
            exits.leave(exits.report(exc, ctx.meta))

    def main(  # type: ignore[override] # it never returns
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command line and exit the process with the exit code; this never returns."""
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
                # An error before any command runs, as with --help on a full disk.
                code = exits.report(exc, {})
        sys.exit(code if isinstance(code, int) else exits.OK)


def _interrupted(how: str) -> int:
    exits.complain(f"{how}: what was confirmed before is stored")
    return exits.EXIT_CODES["terminated"] if how == "terminated" else exits.INTERRUPTED


def _misused(exc: click.ClickException) -> int:
    message = exc.format_message()
    if isinstance(exc, click.UsageError):
        where = exc.ctx.command_path if exc.ctx else "memoranda"
        message = f"{message.removesuffix('.')}; see {where} --help"
    exits.complain(message)
    return exc.exit_code


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    # The version is looked up only here: that takes longer than the help.
    if asked and not ctx.resilient_parsing:
        click.echo(f"{ctx.find_root().info_name} {memoranda.__version__}")
        ctx.exit()


@click.command(
    cls=Program,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.pass_context
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@option(
    "--book ADDRESS",
    "The book: a path, postgresql://… or mongodb://…. All options here may also follow the command.",
)
@option("--tenant NAME", "The tenant that the owners belong to.")
@option("--config FILE", "A file with settings, in TOML.")
@option("--json", "Print the answer as JSON.", "as_json")
@option("--debug", "Print a traceback with an error.")
def program(ctx: click.Context, /, **_: Any) -> None:
    """Memoranda: a durable memory for AI agents, kept in one file.

    Start with `memoranda demo`, or create a book with `memoranda init`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the program."""
    program()
