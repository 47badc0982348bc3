"""The texts of prompts, each in a file with a version: a stored answer says to which version it was
given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION: Final = "version: "
_SECTION: Final = "=== "
#: Ends a line that goes on in the next one.
_GOES_ON: Final = "\\\n"


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A prompt's text, in named sections."""

    #: Grows with each change of the text.
    version: int
    sections: Mapping[str, str]


@cache
def prompt_file(name: str) -> PromptFile:
    """Return a prompt by the name of its file, read once."""
    text = files(__package__).joinpath(f"{name}.txt").read_text("utf-8").replace(_GOES_ON, "")
    head, *parts = text.split(f"\n{_SECTION}")
    sections = {}
    for part in parts:
        title, _, body = part.partition("\n")
        sections[title.strip()] = body.strip()
    return PromptFile(int(head.removeprefix(_VERSION)), MappingProxyType(sections))
