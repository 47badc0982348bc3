"""The process's own streams, where they are closed, full or read by nobody."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

import click


def mend() -> None:
    """Stand in for streams that the caller closed.

    A free descriptor would be taken by the next file that is opened, and the book is a file: what somebody
    writes on descriptor 2 must not land in it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - it lasts as long as the process
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding lacks is spelled out instead of ending the command.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def put(text: str | bytes, *, nl: bool = True, color: bool | None = None) -> None:
    """Write a part of the answer; the error says that it was the answer which could not be written."""
    try:
        click.echo(text, nl=nl, color=color)
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, "standard output") from exc


def settle(stream: TextIO) -> None:
    """Write out what a stream still holds; what cannot be is discarded, so that no exit trips on it."""
    try:
        stream.flush()
    except (OSError, ValueError):
        discard(stream)


def discard(stream: TextIO) -> None:
    """What is still buffered goes nowhere, without a complaint at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
