"""Hooks of the site's generator: the README is its first page, and links out of the documentation
become plain words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: Files beside the documentation that are pages of the site.
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the files beside the documentation as pages."""
    from mkdocs.structure.files import File  # type: ignore[import-not-found]  # noqa: PLC0415 - the site's environment has it

    for name, page in BESIDE.items():
        text = linked((ROOT / name).read_text("utf-8"), ROOT / name)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page whose links lead to pages of the site."""
    source = DOCS / page.file.src_uri
    return markdown if page.file.src_uri in BESIDE.values() else linked(markdown, source)


def linked(markdown: str, source: Path) -> str:
    """Return Markdown of a file with links that are right in the site."""
    at = DOCS if source.parent == ROOT else source.parent

    def one(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, _, fragment = target.partition("#")
        if "://" in target or not path:
            return found[0]
        place = (source.parent / path).resolve()
        if place.name in BESIDE and place.parent == ROOT:
            place = DOCS / BESIDE[place.name]
        elif not place.is_relative_to(DOCS):
            return words
        way = Path(*[".."] * len(at.relative_to(DOCS).parts)) / place.relative_to(DOCS)
        return f"{mark}[{words}]({way.as_posix()}{f'#{fragment}' if fragment else ''})"

    return _LINK.sub(one, markdown)
