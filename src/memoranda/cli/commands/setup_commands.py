"""Commands that set up a machine: ``weights`` and ``completion``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from memoranda.cli import exits
from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.session import Session
from memoranda.embedding import EmbeddingSettings
from memoranda.embedding.embedder_choice import MULTILINGUAL
from memoranda.embedding.local_model import LIBRARIES, missing_libraries
from memoranda.embedding.model_files import WeightsFolder, cache_folder, check, install, places
from memoranda.embedding.multilingual_model import MULTILINGUAL_LIBRARIES
from memoranda.embedding.multilingual_weights import weights_place
from memoranda.errors import NotFound, WeightsUnfit, installing
from memoranda.settings import settings


@click.group("weights", cls=CommandGroup)
def weights_command() -> None:
    """Show or install the local embedding model, with which the book finds by meaning as well as by
    words.
    """


@dataclass(frozen=True, slots=True)
class Look:
    """The state of the local model's files in one folder; ``wrong`` is empty if they can be
    used.
    """

    place: str
    folder: Path | None
    wrong: str


@weights_command.command("show")
@opens_book
def show_command(session: Session) -> None:
    """Show the places of the local model in use, and check its files; exit code 1 if it cannot be
    used.
    """
    given = settings("embedding", EmbeddingSettings)
    many = given.use == MULTILINGUAL
    looks = [
        _look(place)
        for place in ([weights_place(given.weights)] if many else places(given.weights))
    ]
    used = next((look for look in looks if not look.wrong), None)
    needed = MULTILINGUAL_LIBRARIES if many else LIBRARIES
    libraries = {name: _version(name) for name in needed}
    usable = used is not None and not missing_libraries(needed)
    if not session.print_json(
        {"usable": usable, "used": used, "places": looks, "libraries": libraries}
    ):
        for look in looks:
            state = look.wrong or f"{look.folder}: complete"
            session.printer.labelled(
                f"  {look.place:<8}", state, style="warning" if look.wrong else "good"
            )
        for name, found in libraries.items():
            session.printer.labelled(
                f"  {name}  ", found or "not installed", style="" if found else "warning"
            )
        if many and not usable:
            session.printer.say(f"install it with: {installing(MULTILINGUAL)}", "strong")
        elif not many:
            _advise(session, there=used is not None)
    if not usable:
        exits.leave(exits.FOUND_FAULTS)


@weights_command.command("install")
@option("--cache", "Install into your cache folder instead of the environment.")
@opens_book
def install_command(session: Session, cache: bool) -> None:
    """Install the package with the model's files, using this environment's pip or uv.

    It is one release with a known hash, without its dependencies: 90 MB. If it is installed,
    nothing is done.
    """
    target = cache_folder() if cache else None
    if cache and target is None:
        raise NotFound("there is no home folder for a cache: leave --cache out")
    before = _whole()
    if before is None:
        install(target)
    found = before or _whole()
    if found is None:
        raise WeightsUnfit(
            "the package was installed, but its files are damaged or incomplete; see: memoranda weights show"
        )
    if not session.print_json({"folder": found, "installed": before is None}):
        verb = "already installed" if before else "installed"
        session.printer.say(f"{verb}: {found}", "good")
        _advise(session, there=True)


def _advise(session: Session, *, there: bool) -> None:
    if missing_libraries():
        session.printer.say(f"install the libraries with: {installing('embed')}", "strong")
    if not there:
        session.printer.say("install the files with: memoranda weights install", "strong")


def _whole() -> Path | None:
    """Return the first folder with all of the local model's published files, unchanged."""
    return next((look.folder for look in map(_look, places()) if not look.wrong), None)


def _look(place: WeightsFolder) -> Look:
    wrong = place.problem()
    if not wrong and place.folder is not None:
        try:
            check(place.folder, place.files)
        except WeightsUnfit as exc:
            wrong = str(exc)
    return Look(place.name, place.folder, wrong)


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


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
