"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from memoranda.cli.exits import EXIT_CODES, FOUND_FAULTS, INTERRUPTED, OK, PIPE_CLOSED
from memoranda.cli.program import COMMANDS, program

LINE_LENGTH = 120

#: Options of every command that opens a book; the page describes them once.
COMMON = (
    "--book",
    "--tenant",
    "--config",
    "--json",
    "--debug",
    "--owner",
    "--owner-kind",
    "--agent",
    "--group",
    "--as-owner",
    "--operation",
)


def reference() -> str:
    """Return the reference as Markdown."""
    context = click.Context(program, info_name="memoranda")
    parts = ["## Options that many commands share", "", *_options(_shared(context)), ""]
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        parts += _command(name, command, click.Context(command, info_name=name, parent=context))
    return "\n".join([*parts, *_exits()]).strip() + "\n"


def _shared(context: click.Context) -> list[click.Parameter]:
    found: dict[str, click.Parameter] = {}
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            if parameter.opts[0] in COMMON:
                found.setdefault(parameter.opts[0], parameter)
    return [found[name] for name in COMMON if name in found]


def _command(name: str, command: click.Command, context: click.Context) -> list[str]:
    usage = " ".join(command.collect_usage_pieces(context)[1:])
    text = [f"## memoranda {name}", "", f"`memoranda {name} {usage}`".replace(" `", "`"), ""]
    help = (command.help or "").strip()
    for part in help.split("\n\n"):
        words = " ".join(part.split())
        text += [
            textwrap.fill(words, LINE_LENGTH, break_long_words=False, break_on_hyphens=False),
            "",
        ]
    own = [p for p in command.params if isinstance(p, click.Option) and p.opts[0] not in COMMON]
    text += [*_options(own), ""] if own else []
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            text += _command(
                f"{name} {inner}", found, click.Context(found, info_name=inner, parent=context)
            )
    return text


def _options(options: Sequence[click.Parameter]) -> list[str]:
    rows = ["| option | meaning |", "|---|---|"]
    for option in options:
        assert isinstance(option, click.Option)
        names = ", ".join(f"`{name}`" for name in option.opts)
        names += "".join(f" / `{name}`" for name in option.secondary_opts)
        value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
        if isinstance(option.type, click.Choice):
            value = " " + " / ".join(option.type.choices)
        rows.append(f"| {names}{value} | {(option.help or '').strip()} |")
    return rows


def _exits() -> list[str]:
    rows = ["## Exit codes", "", "| code | when |", "|---|---|", f"| {OK} | done |"]
    rows.append(
        f"| {FOUND_FAULTS} | errors were found, a book is unhealthy, or the answer was no |"
    )
    by_code: dict[int, list[str]] = {}
    for name, code in EXIT_CODES.items():
        if code != FOUND_FAULTS:
            by_code.setdefault(code, []).append(name)
    rows += [f"| {code} | {', '.join(names)} |" for code, names in sorted(by_code.items())]
    rows += [
        f"| {INTERRUPTED} | interrupted |",
        f"| {PIPE_CLOSED} | the reader of the output went away |",
    ]
    return rows
