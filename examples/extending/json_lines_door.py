"""A door for programs that speak JSON Lines: a request on each line of standard input, an answer on
each of standard output.

    echo '{"call": "remember", "owner": "ana", "content": "I like tea"}' | python -m examples.extending.json_lines_door book.db

It knows no operation by name: arguments, checks and rights are those of every other door.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from typing import Any, TextIO

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import InvalidInput, MemorandaError
from memoranda.wire.problems import problem_of
from memoranda.wire.results import to_json
from memoranda.wire.verb_shapes import shape_of


async def answer(guard: Guard, line: str) -> Any:
    """Return the answer to one request as JSON values; an error is answered as it is over HTTP."""
    try:
        asked = json.loads(line)
        if not isinstance(asked, dict) or asked.get("call") not in OPERATIONS:
            raise InvalidInput("call: name an operation, such as remember or recall", field="call")
        operation = OPERATIONS[asked.pop("call")]
        id = asked.pop("operation", None) if "operation" not in operation.in_path else None
        in_path = {name: str(asked.pop(name)) for name in operation.in_path if name in asked}
        given = shape_of(operation.name).read(asked, in_path)
        if id is not None:
            given["operation"] = id
        return {"result": to_json(await guard.call(operation.name, **given))}
    except MemorandaError as exc:
        return {"problem": problem_of(exc, "")}
    except ValueError as exc:
        return {"problem": problem_of(InvalidInput(f"this line is no JSON: {exc}"), "")}


async def serve(address: str, lines: Iterable[str], out: TextIO) -> None:
    """Answer each line in turn."""
    async with memoranda.open(address) as book:
        guard = Guard(book, local_admin(book.tenant), "lines")
        for line in lines:
            out.write(json.dumps(await answer(guard, line)) + "\n")
            out.flush()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1] if len(sys.argv) > 1 else "memoranda.db", sys.stdin, sys.stdout))
