"""Keep files and functions small; listed exceptions may only shrink.

python -m tools.ratchet             check
python -m tools.ratchet --update    lower or drop entries that are larger than needed
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

from tools.checkout import ROOT, files

#: The law: no entry allows more.
MOST_LINES = 600
#: The rules: a larger file or function needs an entry.
FILE_LINES = 400
FUNCTION_LINES = 60

FOLDERS = ("src", "conformance", "tests", "proofs", "bench", "evals", "tools", "examples")
ENTRIES = Path("tools/ratchet.json")

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Piece:
    """A file, or a function in it as `path::Class.function`, with its size in lines."""

    name: str
    lines: int
    #: The size up to which no entry is needed.
    free: int


def pieces(root: Path) -> list[Piece]:
    """Return every file and function that has a limit, in the order of the tree."""
    found = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        is_code = path.suffix == ".py" and name.split("/")[0] in FOLDERS
        if is_code or name == "dev":
            source = path.read_text(encoding="utf-8")
            found.append(Piece(name, len(source.splitlines()), FILE_LINES))
            found += [Piece(f"{name}::{function}", n, FUNCTION_LINES) for function, n in functions(source)]
    return found


def functions(source: str) -> list[tuple[str, int]]:
    """Return each function of a module with its lines of code, without docstrings, comments and blank lines."""
    code = _lines_of_code(source)
    found: list[tuple[str, int]] = []
    waiting: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    while waiting:
        prefix, parent = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            name = prefix
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{node.name}."
                if not isinstance(node, ast.ClassDef):
                    own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    found.append((name.removesuffix("."), len(code.intersection(own) - _docstrings(node))))
            waiting.append((name, node))
    return sorted(found)


def _lines_of_code(source: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _docstrings(function: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def problems(found: list[Piece], entries: dict[str, int]) -> list[str]:
    """Return every problem, with what to do about it."""
    said = []
    for piece in found:
        entry = entries.get(piece.name)
        if "::" not in piece.name and piece.lines > MOST_LINES:
            said.append(f"{piece.name}: {piece.lines} lines; the law is {MOST_LINES}: split it")
        elif piece.lines > piece.free and entry is None:
            said.append(
                f"{piece.name}: {piece.lines} lines; the rule is {piece.free}: split it, or, where one piece "
                f'reads better, add "{piece.name}": {piece.lines} to {ENTRIES}'
            )
        elif entry is not None and piece.lines > entry:
            said.append(
                f"{piece.name}: {piece.lines} lines; its entry allows {entry}, and entries only shrink"
            )
    lowered = lower(found, entries)
    for name, entry in entries.items():
        if name not in lowered:
            said.append(f"{name}: its entry is not needed any more: python -m tools.ratchet --update")
        elif lowered[name] < entry:
            said.append(
                f"{name}: now {lowered[name]} lines and its entry says {entry}: "
                "python -m tools.ratchet --update"
            )
    return said


def lower(found: list[Piece], entries: dict[str, int]) -> dict[str, int]:
    """Return the entries lowered to today's sizes or dropped, never raised or added."""
    today = {piece.name: piece for piece in found}
    return {
        name: min(entry, today[name].lines)
        for name, entry in sorted(entries.items())
        if name in today and today[name].lines > today[name].free
    }


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Check, or update and then check."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.ratchet", description="Hold files and functions small."
    )
    parser.add_argument(
        "--update", action="store_true", help="lower entries to today's sizes; never raise one"
    )
    given = parser.parse_args(arguments)
    found = pieces(root)
    listed = root / ENTRIES
    entries: dict[str, int] = json.loads(listed.read_text(encoding="utf-8"))
    if given.update:
        entries = lower(found, entries)
        listed.write_text(json.dumps(entries, indent=4) + "\n", encoding="utf-8")
    said = problems(found, entries)
    sys.stdout.write("".join(f"{line}\n" for line in said))
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
