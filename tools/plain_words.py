"""Count riddles and crowded folders; no count may grow.

python -m tools.plain_words             check today's counts against tools/plain_words.json
python -m tools.plain_words --update    lower the stored counts to today's; never raise one
python -m tools.plain_words --list      print every finding
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tools.checkout import ROOT, files

COUNTS = Path("tools/plain_words.json")
PACKAGE = Path("src/memoranda")

#: The longest line of a Markdown page, in characters.
LINE_LENGTH = 160
#: The most modules beside each other in one folder.
FOLDER_SIZE = 16
#: In these folders each engine or suite may name a module like its counterpart elsewhere.
SAME_NAMES_ALLOWED = {"engines", "testing"}
#: Nouns that end like a gerund.
NOUNS_ALLOWED = {"ranking"}
#: Findings printed for a count that grew.
SHOWN = 20

#: A docstring that begins with one of these is a clause without its verb.
OPENINGS = set("what whatever whose who whom whoever whether where wherever which".split())
#: The second word must follow the first.
OPENING_PAIRS = {("by", "what"), ("of", "what"), ("that", "which"), ("how", "far"), ("as", "whom")}

#: Turns of phrase that a reader has to work out: alternatives for each word, in order. "*," is any word with a comma.
TURNS = [
    [set(alternatives.split("|")) for alternatives in turn.split()]
    for turn in (
        "told",
        "tell|tells of",
        "rest|rests|rested on",
        "stand|stands|stood in|on|behind|beside|there|under",
        "held of|by|against|for",
        "is|are held",
        "go|goes|went with",
        "let|lets go|be",
        "lay|lays|laid",
        "come|comes|came of",
        "become|becomes|became of",
        "lack|lacks|lacked",
        "meanwhile",
        "whoever",
        "of a|an *,",
    )
]


def is_indirect(line: str) -> bool:
    """True if a first docstring line begins with a clause or contains a riddle."""
    spoken = [word.strip("()\"'“”").lower() for word in line.split()]
    bare = [word.strip(".,;:!?") for word in spoken]
    if bare and (bare[0] in OPENINGS or tuple(bare[:2]) in OPENING_PAIRS):
        return True
    return any(
        all(_matches(spoken[place + n], bare[place + n], word) for n, word in enumerate(turn))
        for turn in TURNS
        for place in range(len(bare) - len(turn) + 1)
    )


def _matches(spoken: str, bare: str, alternatives: set[str]) -> bool:
    return bare in alternatives or ("*," in alternatives and spoken.endswith(","))


def findings(root: Path) -> dict[str, list[str]]:
    """Every finding, under the name of the rule that it breaks."""
    listed = files(root)
    modules = [path for path in listed if path.suffix == ".py" and path.is_relative_to(root / PACKAGE)]
    return {
        "docstrings with an indirect first line": [line for path in modules for line in _riddles(root, path)],
        "modules named by a gerund": [
            f"{path.relative_to(root)}"
            for path in _named(modules)
            if path.stem.endswith("ing") and path.stem not in NOUNS_ALLOWED
        ],
        "modules that share their name with another": _shared_names(root, modules),
        f"modules beyond {FOLDER_SIZE} in one folder": _crowded(root, modules),
        "folders that hold nothing but one folder": _lonely(root, modules),
        f"Markdown lines over {LINE_LENGTH} characters": [
            f"{path.relative_to(root)}:{number}: {len(line)} characters"
            for path in listed
            if path.suffix == ".md"
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if len(line) > LINE_LENGTH
        ],
    }


def _riddles(root: Path, path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if is_indirect(first):
                line = 1 if isinstance(node, ast.Module) else node.lineno
                found.append(f"{path.relative_to(root)}:{line}: {first}")
    return found


def _named(modules: list[Path]) -> list[Path]:
    return [path for path in modules if path.stem not in {"__init__", "__main__"}]


def _shared_names(root: Path, modules: list[Path]) -> list[str]:
    own = [path for path in _named(modules) if not SAME_NAMES_ALLOWED & set(path.relative_to(root).parts)]
    times = Counter(path.stem for path in own)
    shared = sorted((path.stem, path.relative_to(root).as_posix()) for path in own if times[path.stem] > 1)
    return [place for _, place in shared]


def _crowded(root: Path, modules: list[Path]) -> list[str]:
    beside: dict[Path, list[Path]] = defaultdict(list)
    for path in _named(modules):
        beside[path.parent].append(path)
    return [
        f"{path.relative_to(root)}: one of {len(paths)} modules in its folder"
        for _, paths in sorted(beside.items())
        for path in sorted(paths)[FOLDER_SIZE:]
    ]


def _lonely(root: Path, modules: list[Path]) -> list[str]:
    inside: dict[Path, set[Path]] = defaultdict(set)
    for path in modules:
        for folder in path.relative_to(root).parents:
            if folder.is_relative_to(PACKAGE) and folder != PACKAGE:
                inside[folder.parent].add(folder)
    with_modules = {path.relative_to(root).parent for path in _named(modules)}
    return sorted(
        folder.as_posix() for folder, held in inside.items() if len(held) == 1 and folder not in with_modules
    )


def problems(found: dict[str, list[str]], allowed: dict[str, int]) -> list[str]:
    """One line for each count that grew, followed by its findings."""
    said = []
    for rule, places in found.items():
        if len(places) > allowed.get(rule, 0):
            said.append(f"{rule}: {len(places)}, and at most {allowed.get(rule, 0)} are allowed:")
            said += [f"    {place}" for place in places[:SHOWN]]
            if len(places) > SHOWN:
                said.append(f"    and {len(places) - SHOWN} more: python -m tools.plain_words --list")
    return said


def lower(found: dict[str, list[str]], allowed: dict[str, int]) -> dict[str, int]:
    """The stored counts lowered to today's; a count that grew keeps its old limit."""
    return {rule: min(allowed.get(rule, 0), len(places)) for rule, places in found.items()}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Check the counts, or lower or list them first."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.plain_words", description="Hold words plain and folders small."
    )
    parser.add_argument("--update", action="store_true", help="lower the stored counts; never raise one")
    parser.add_argument("--list", action="store_true", help="print every finding")
    given = parser.parse_args(arguments)
    found = findings(root)
    stored = root / COUNTS
    allowed: dict[str, int] = json.loads(stored.read_text(encoding="utf-8"))
    if given.update:
        allowed = lower(found, allowed)
        stored.write_text(json.dumps(allowed, indent=4) + "\n", encoding="utf-8")
    if given.list:
        for rule, places in found.items():
            sys.stdout.write("".join(f"{rule}: {place}\n" for place in places))
    said = problems(found, allowed)
    sys.stdout.write("".join(f"{line}\n" for line in said))
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
