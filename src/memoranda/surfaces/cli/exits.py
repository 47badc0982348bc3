"""Exit codes: what a script learns without reading a word."""

from __future__ import annotations

from typing import NoReturn

import click

OK = 0
#: Faults were found, a book is unhealthy, or the answer was no.
FOUND_FAULTS = 1
USAGE = 2
INTERRUPTED = 130
#: As a shell shows a program that the end of a pipe stopped.
PIPE_CLOSED = 141

#: An error's ``code``, or what else ended the command → the exit code.
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
    "erased": 6,
    "storage": 7,
    "busy": 8,
    "read_only": 9,
    "full": 10,
    "corrupt": 11,
    "not_a_book": 12,
    "version": 13,
    # The change is made and kept, and only its answer is lost: the one failure after which nothing is to be repeated.
    "unanswered": 14,
    "embedding": 15,
    "model": 16,
    "moved": 17,
    "unfinished": 18,
    "outcome_unknown": 19,
    # Of the program itself; the number is the one of sysexits.h.
    "fault": 70,
    # As a shell shows a program that SIGTERM ended.
    "terminated": 143,
}


def leave(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise click.exceptions.Exit(code)
