"""Check that relative links and anchors in the checkout's Markdown lead somewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tools.checkout import ROOT, files

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_INLINE = re.compile(
    r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)?)>?(?:\s+[\"'(][^)]*)?\)"
)
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)>?")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)(?:\s+#+)?\s*$")
_NAMED = re.compile(r"<[a-zA-Z][^>]*\s(?:id|name)=[\"']([^\"']+)[\"']")
_ELSEWHERE = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:|^//")
_LINK_TEXT = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines outside fenced blocks of code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def targets(text: str) -> Iterator[tuple[int, str]]:
    """Yield each link of a document with its line; text in code is not a link."""
    for number, line in prose(text):
        bare = _CODE.sub("", line)
        for link in [*_INLINE.finditer(bare), *_REFERENCE.finditer(bare)]:
            yield number, link[1]


def anchors(text: str) -> set[str]:
    """Return the anchors of a document: its headings, as code hosts spell them, and explicit
    ids.
    """
    found: set[str] = set()
    for _, line in prose(text):
        found.update(_NAMED.findall(line))
        heading = _HEADING.match(line)
        if heading:
            plain = _LINK_TEXT.sub(r"\1", heading[1]).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            again = 0
            while (numbered := f"{slug}-{again}" if again else slug) in found:
                again += 1
            found.add(numbered)
    return found


def problems(root: Path) -> list[str]:
    """Return every link that leads nowhere, or out of the checkout."""
    said = []
    for document in files(root):
        if document.suffix != ".md":
            continue
        for number, target in targets(document.read_text(encoding="utf-8")):
            wrong = None if _ELSEWHERE.match(target) else _follow(root, document, target)
            if wrong:
                said.append(f"{document.relative_to(root)}:{number}: {target}: {wrong}")
    return said


def _follow(root: Path, document: Path, target: str) -> str | None:
    path, _, fragment = target.partition("#")
    path = unquote(path)
    place = (
        document
        if not path
        else (root / path[1:] if path.startswith("/") else document.parent / path)
    )
    place = place.resolve()
    if not place.is_relative_to(root.resolve()):
        return "leads out of the checkout"
    if not place.exists():
        return "there is no such file"
    if fragment and place.suffix == ".md":
        known = anchors(place.read_text(encoding="utf-8"))
        if unquote(fragment).lower() not in {anchor.lower() for anchor in known}:
            return "there is no such heading"
    return None


def main() -> int:
    """Check the whole checkout."""
    said = problems(ROOT)
    sys.stdout.write("".join(f"{line}\n" for line in said))
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
