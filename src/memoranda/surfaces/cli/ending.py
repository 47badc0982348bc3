"""How a command ends that does not end well: what people are told, and the exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import Any

import click

from memoranda.errors import InvalidInput, MemorandaError
from memoranda.surfaces.cli import exits, streams
from memoranda.surfaces.cli.glyphs import one_line, takes_colour

DEBUG_VARIABLE = "MEMORANDA_DEBUG"
#: Lines of items that were refused in one batch.
_ITEMS = 20

_DEBUG = "memoranda.debug"
_DONE = "memoranda.done"
#: How the library's messages name its own options, and what to do at a shell instead, by the error's code.
_PYTHON_OPTION = re.compile(r"\bread_only=True|\bwithout read_only\b|\bwithout create=False\b")
_AT_A_SHELL = {
    "read_only": "let this user write the file and its folder, and try again",
    "version": "let this user write the file and its folder, and try again; that brings it forward",
    "not_a_book": "check --book, or make a book there with: memoranda init",
}


def show_origins(ctx: click.Context) -> None:
    """Errors of this command come with where they came from."""
    ctx.meta[_DEBUG] = True


def mark_done(ctx: click.Context) -> None:
    """What the command was to change is kept; from here on only its answer can fail."""
    ctx.meta[_DONE] = True


def tell(exc: Exception, meta: dict[str, Any]) -> int:
    """Tell why the command ended; returns the exit code."""
    if isinstance(exc, BrokenPipeError):
        streams.discard(sys.stdout)
        return exits.PIPE_CLOSED
    streams.settle(sys.stdout)
    if meta.get(_DEBUG) or os.environ.get(DEBUG_VARIABLE):
        _say("".join(traceback.format_exception(exc)).rstrip())
    if isinstance(exc, MemorandaError):
        complain(in_shell_words(exc), _other_items(exc))
        return exits.EXIT_CODES[exc.code]
    if meta.get(_DONE):
        complain(f"done and kept, but the answer could not be written ({_reason(exc)}): do not do it again")
        return exits.EXIT_CODES["unanswered"]
    if isinstance(exc, OSError):
        complain(f"{exc.filename or 'the system'}: {_reason(exc)}")
        return exits.EXIT_CODES["storage"]
    complain(
        f"this is a fault in memoranda ({_reason(exc)}): please report it, with what the same command "
        f"says under {DEBUG_VARIABLE}=1"
    )
    return exits.EXIT_CODES["fault"]


def complain(message: str, others: list[str] | None = None) -> None:
    """An error for people, on the error stream."""
    colour = takes_colour(sys.stderr)
    label = click.style("error:", fg="red", bold=True) if colour else "error:"
    _say(f"{label} {one_line(message)}", colour=colour)
    for other in others or ():
        _say(f"       {one_line(other)}")


def note(message: str) -> None:
    """What people should know although the command did what it was to do, on the error stream."""
    _say(f"note: {one_line(message)}")


def _say(text: str, *, colour: bool = False) -> None:
    """Where not even an error can be written, the exit code says it alone."""
    try:
        click.echo(text, err=True, color=colour)
    except OSError:
        streams.discard(sys.stderr)


def _reason(exc: Exception) -> str:
    if isinstance(exc, OSError):
        return exc.strerror or str(exc)
    return f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__


def in_shell_words(exc: MemorandaError) -> str:
    """An error's message, where it names an option of the Python library, as the command line says it."""
    message = str(exc).replace("view='owner'", "--as-owner")
    if exc.code in _AT_A_SHELL and _PYTHON_OPTION.search(message):
        found, _, _ = message.rpartition(": ")
        return f"{found}: {_AT_A_SHELL[exc.code]}"
    return message


def _other_items(exc: MemorandaError) -> list[str]:
    if not isinstance(exc, InvalidInput):
        return []
    others = [str(error) for error in exc.errors if error is not exc]
    left = len(others) - _ITEMS
    return others[:_ITEMS] + ([f"and {left} more"] if left > 0 else [])
