"""Tests and environments of frameworks that a run leaves out, because no change can have broken
what they cover.
"""

from __future__ import annotations

from tools.gate.changes import read_change

#: Paths whose changes ask for the tests that are marked `again`: on the rehearsed engine, in
#: partitions, on MongoDB, over HTTP, and on the example of an engine.
AGAIN_COVERS = [
    *(
        f"src/memoranda/{name}"
        for name in "storage engines client access service compatible wire door.py".split()
    ),
    "conformance",
    "examples/extending",
    "tests/engines",
    "tests/client",
]
#: Paths whose changes ask for the tests of every framework.
FRAMEWORKS_COVER = [
    *(f"src/memoranda/{name}" for name in ("integrations", "book/nouns/items.py")),
    *(f"tests/{name}" for name in ("frameworks/killing.py", "conftest.py", "fakes")),
    "examples",
    "templates",
]
#: Paths whose changes ask for the tests of one of them.
FRAMEWORK_COVERS = {
    "harness": ["tests/integrations"],
    "langgraph": [f"src/memoranda/{name}" for name in ("wire", "service", "compatible")],
    "service": [
        f"src/memoranda/{name}"
        for name in ("wire", "service", "compatible", "access", "client", "mcp_server")
    ],
}


def test_arguments(arguments: list[str], names_tests: bool) -> list[str]:
    """Return pytest's arguments: without the tests marked `again`, if nothing asks for them; say
    so.
    """
    if "--all" in arguments or "-m" in arguments or names_tests:
        return [word for word in arguments if word != "--all"]
    change = read_change()
    if why := change.reason(AGAIN_COVERS):
        print(f"with the tests marked again: {why}", flush=True)
        return arguments
    print(
        f"without the tests marked again: no path that they cover changed since {change.since}",
        flush=True,
    )
    return ["-m", "not again", *arguments]


def changed_frameworks(known: list[str]) -> list[str]:
    """Return the environments whose tests a change may break, and say why the others are left
    out.
    """
    change = read_change()
    chosen = []
    for name in known:
        own = [f"tests/frameworks/{name}{end}" for end in ("", ".in", ".lock", ".upstream")]
        if why := change.reason([*FRAMEWORKS_COVER, *FRAMEWORK_COVERS.get(name, []), *own]):
            chosen.append(name)
        print(
            f"{name}: {why or f'left out, no path that it covers changed since {change.since}'}",
            flush=True,
        )
    return chosen
