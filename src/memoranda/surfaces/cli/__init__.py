"""The command line, for people at a terminal and for scripts."""

from memoranda.surfaces.cli.program import main

__all__ = ["main"]
