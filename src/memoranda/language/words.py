"""The words of a language by what they mean, from its file in ``data/``.

A line of a file is ``meaning = words``; lines behind it that begin with a blank go on with it. In
tables, such as the months and the numbers from zero on, a blank stands between two entries, "|"
between variants of one, "~" between the words of one, and "-" at the end for each of the language's
``endings``. Meanings in capitals are the tokens of times; their phrases stand between "|". The
files are read at first use, and not TOML, because Python's reader of it takes longer to load than
the first recall that needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("en", "de", "es", "fr", "it", "pt", "nl", "sv")


@cache
def words(language: str) -> Mapping[str, str]:
    """Return what stands for each meaning in the file of a language, such as ``de``."""
    found: dict[str, str] = {}
    name = ""
    text = (Path(__file__).parent / "data" / f"{language}.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith(" "):
            found[name] += line.strip() if found[name].endswith("|") else f" {line.strip()}"
        elif not line.startswith("#"):
            name, _, found[name] = line.partition(" = ")
    return found


def phrases(language: str, listed: str) -> list[str]:
    """Return the phrases of a list of them, with the endings of the language."""
    endings = words(language).get("endings", "").split()
    return [
        one
        for stem in listed.replace("~", " ").split("|")
        if stem
        for one in ([stem[:-1] + end for end in endings] if stem.endswith("-") else [stem])
    ]


def table(language: str, meaning: str) -> list[list[str]]:
    """Return the entries of a table, each as its variants."""
    return [phrases(language, entry) for entry in words(language).get(meaning, "").split()]


def numbers(language: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers below a hundred in the words of a language, each with its value."""
    ones, tens = table(language, "numbers"), table(language, "tens")
    for value, names in enumerate(ones):
        yield from ((value, name) for name in names)
    for ten, names in enumerate(tens, start=2):
        yield from ((10 * ten, name) for name in names)
        for one in range(1, 10):
            for name in ones[one]:
                yield 10 * ten + one, words(language)["joined"].format(ten=names[0], one=name)
