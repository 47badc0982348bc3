"""The command line, for people at a terminal and for scripts."""

from memoranda.cli.program import main

__all__ = ["main"]
