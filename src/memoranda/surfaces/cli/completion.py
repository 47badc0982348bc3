"""Completion for shells: ``completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of a shell.

    bash: eval "$(memoranda completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc;
    fish: memoranda completion fish > ~/.config/fish/completions/memoranda.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "memoranda", "_MEMORANDA_COMPLETE").source())
