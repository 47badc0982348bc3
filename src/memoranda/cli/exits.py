"""How a command ends: its exit code, its message on standard error, and its reaction to a request
to stop.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

from memoranda.cli.output.terminal import flush_or_discard, one_line, takes_colour
from memoranda.errors import InvalidInput, MemorandaError

OK = 0
#: The command worked and the answer is bad news: faults were found, a book is unhealthy, the user
#: said no.
FOUND_FAULTS = 1
USAGE = 2
INTERRUPTED = 130
#: A shell shows the same for a program that wrote into a closed pipe.
PIPE_CLOSED = 141

#: The exit code of each error's ``code``, and of the other ways to end.
EXIT_CODES = {
    "error": 1,
    "invalid": USAGE,
    "limit": USAGE,
    "not_found": 3,
    "conflict": 4,
    "stale": 4,
    "operation_reused": 4,
    "has_dependents": 4,
    "not_allowed": 5,
    "restricted": 5,
    "erased": 6,
    "storage": 7,
    "busy": 8,
    "read_only": 9,
    "full": 10,
    "corrupt": 11,
    "not_a_book": 12,
    "version": 13,
    # The change is stored and only its answer is lost: the one failure after which nothing should
    # be repeated.
    "unanswered": 14,
    "embedding": 15,
    "model": 16,
    "moved": 17,
    "unfinished": 18,
    "outcome_unknown": 19,
    # A bug in the program itself; the number is the one of sysexits.h.
    "fault": 70,
    # A shell shows the same for a program that SIGTERM ended.
    "terminated": 143,
}

DEBUG_VARIABLE = "MEMORANDA_DEBUG"
#: Lines that are printed for refused items of one batch.
_ITEMS = 20

_DEBUG = "memoranda.debug"
_DONE = "memoranda.done"
#: The library's messages name options of Python; at a shell the advice depends on the error's code.
_PYTHON_OPTION = re.compile(r"\bread_only=True|\bwithout read_only\b|\bwithout create=False\b")
_OPTIONS = {
    "as_owner=True": "--as-owner",
    "with with_dependents=True": "with --with-dependents",
    "use retract_source to": "use retract --source to",
}
_AT_A_SHELL = {
    "read_only": "let this user write the file and its folder, and try again",
    "version": "let this user write the file and its folder, and try again; that brings it forward",
    "not_a_book": "check --book, or make a book there with: memoranda init",
}


def leave(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)


@contextmanager
def sigterm_interrupts() -> Iterator[threading.Event]:
    """Make SIGTERM interrupt like Ctrl-C, so that cleanup runs; the returned event is set if it was
    SIGTERM.
    """
    asked = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Some senders, timeout(1) among them, signal twice: the second must not stop the cleaning
        # up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        asked.set()
        raise KeyboardInterrupt

    # A caller that made this process ignore SIGTERM did so on purpose.
    usual = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not usual or threading.current_thread() is not threading.main_thread():
        yield asked
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def ctrl_c_interrupts() -> Iterator[None]:
    """Make Ctrl-C interrupt at once; by itself, asyncio waits until a task has ended, which may
    wait for input.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_at_once() -> NoReturn:
    """End the interrupted process although a thread of it waits for input; what was to be closed is
    closed.
    """
    was_terminated = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    complain("terminated" if was_terminated else "interrupted")
    os._exit(EXIT_CODES["terminated"] if was_terminated else INTERRUPTED)


def show_traceback(ctx: click.Context) -> None:
    """Print a traceback with the error of this command."""
    ctx.meta[_DEBUG] = True


def mark_done(ctx: click.Context) -> None:
    """Note that the change is stored: an error after this can only be one of printing the
    answer.
    """
    ctx.meta[_DONE] = True


def report(exc: Exception, meta: dict[str, Any]) -> int:
    """Print why the command ended, and return the exit code."""
    flush_or_discard(sys.stdout)
    if isinstance(exc, BrokenPipeError):
        return PIPE_CLOSED
    if meta.get(_DEBUG) or os.environ.get(DEBUG_VARIABLE):
        _print_error("".join(traceback.format_exception(exc)).rstrip())
    if isinstance(exc, MemorandaError):
        complain(in_shell_words(exc), _other_items(exc))
        return EXIT_CODES[exc.code]
    if meta.get(_DONE):
        complain(
            f"the change is stored, but the answer could not be written ({_reason(exc)}): do not repeat it"
        )
        return EXIT_CODES["unanswered"]
    if isinstance(exc, OSError):
        complain(f"{exc.filename or 'the system'}: {_reason(exc)}")
        return EXIT_CODES["storage"]
    complain(
        f"this is a bug in memoranda ({_reason(exc)}): please report it, with the output of the same command "
        f"under {DEBUG_VARIABLE}=1"
    )
    return EXIT_CODES["fault"]


def complain(message: str, others: list[str] | None = None) -> None:
    """Print an error on standard error."""
    _print_error(f"{click.style('error:', fg='red', bold=True)} {one_line(message)}")
    for other in others or ():
        _print_error(f"       {one_line(other)}")


def note(message: str) -> None:
    """Print a note on standard error, although the command succeeded."""
    _print_error(f"note: {one_line(message)}")


def _print_error(text: str) -> None:
    """Print on standard error; if that fails too, ignore it: the exit code still tells."""
    try:
        click.echo(text, err=True, color=takes_colour(sys.stderr))
    except OSError:
        flush_or_discard(sys.stderr)


def _reason(exc: Exception) -> str:
    if isinstance(exc, OSError):
        return exc.strerror or str(exc)
    return f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__


def in_shell_words(exc: MemorandaError) -> str:
    """Return an error's message with options of the command line in place of those of the Python
    library.
    """
    message = str(exc)
    for written, option in _OPTIONS.items():
        message = message.replace(written, option)
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
