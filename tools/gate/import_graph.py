"""The imports between the Python files of this checkout, read without importing anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from tools.checkout import ROOT

FOLDERS = (
    "src",
    "conformance",
    "tests",
    "tools",
    "proofs",
    "bench",
    "evals",
    "examples",
    "templates",
)
#: Folders that stand on the path of Python.
_ROOTS = ("src/", "conformance/", "templates/memory_service/src/")
#: A module's name that is written out as a text, as in a patch.
_WRITTEN = re.compile(
    r"""["']((?:memoranda|memoranda_conformance|tests|tools|proofs|bench|evals)(?:\.\w+)+)["']"""
)
#: An import by a name that is made up when it runs.
_BY_NAME = re.compile(r"""\bimport_module\((?!\s*["'])""")


def read_graph(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the files that each file imports, both as paths in the checkout."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    names = {
        path.relative_to(root).as_posix(): path for path in paths if "__pycache__" not in path.parts
    }
    modules = {_module(name): name for name in names}
    return {name: _imported(name, path.read_text("utf-8"), modules) for name, path in names.items()}


def _module(name: str) -> str:
    for root in _ROOTS:
        name = name.removeprefix(root)
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported(name: str, text: str, modules: Mapping[str, str]) -> set[str]:
    """Return the files that one file imports; the fixtures that pytest gives a test count as
    imports of it.
    """
    module = _module(name)
    package = module if name.endswith("__init__.py") else module.rpartition(".")[0]
    named = {*_WRITTEN.findall(text), *_names(ast.parse(text).body, package)}
    found = {modules[one] for one in named if one in modules}
    if _BY_NAME.search(text):
        # It imports modules by names that are made up when it runs; those are below it.
        found |= {
            other for one, other in modules.items() if package and one.startswith(f"{package}.")
        }
    if name.startswith("tests/"):
        above = (str(folder / "conftest.py") for folder in PurePosixPath(name).parents)
        found |= {path for path in above if _module(path) in modules}
    return found - {name}


def _names(body: Iterable[ast.AST], package: str) -> Iterator[str]:
    """Return the dotted names of all imports, also of those in functions; only statements can hold
    an import.
    """
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, [above, node.module]))
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
        else:
            for part in ("body", "orelse", "finalbody", "handlers", "cases"):
                if isinstance(held := getattr(node, part, None), list):
                    yield from _names(held, package)


def reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """Return a file and all that it imports, directly or not."""
    found, open_ = {start}, [start]
    while open_:
        for other in graph.get(open_.pop(), ()):
            if other not in found:
                found.add(other)
                open_.append(other)
    return found
