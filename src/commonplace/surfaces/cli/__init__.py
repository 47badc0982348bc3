"""The command line: every verb of a book, for people at a terminal and for scripts."""

from commonplace.surfaces.cli.program import main

__all__ = ["main"]
