"""The base class of groups of commands: an unknown command is answered with the nearest ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest known names as words for an error; empty if none is near."""
    near = get_close_matches(name, list(known), 3, 0.5)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


class CommandGroup(click.Group):
    """A group that suggests commands where there is none of a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; an unknown one is refused with the nearest
        names.
        """
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            meant = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"there is no command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)
