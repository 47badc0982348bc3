"""The examples of extending Memoranda do what they say."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

from examples.extending.json_lines_door import serve
from tools.checkout import ROOT


def test_an_operation_is_one_method_in_one_file_and_is_on_every_surface() -> None:
    command = [sys.executable, "-m", "examples.extending.one_operation"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "1 file changed" in said
    assert "Python, awaited: True" in said and "Python, blocking: True" in said
    assert "any door, by the guard: True" in said and "client: True" in said
    assert "REST: memories.star" in said and "OpenAPI: True" in said
    assert '"verb": "amend"' in said.partition("command line: ")[2]


async def test_a_door_of_another_kind_gets_every_operation_with_its_checks(tmp_path: Path) -> None:
    asked = [
        {"call": "remember", "owner": "ana", "content": "I like tea", "operation": "one"},
        {"call": "remember", "owner": "ana", "content": "I like tea", "operation": "one"},
        {"call": "recall", "owner": "ana", "query": "tea", "limt": 1},
        {"call": "thread", "owner": "ana", "name": "talk"},
        {
            "call": "thread.append",
            "owner": "ana",
            "thread": "talk",
            "messages": [{"role": "user", "content": "hi"}],
        },
        {"call": "nothing"},
        {"call": "records.count", "owner": "ana"},
    ]
    out = io.StringIO()
    await serve(str(tmp_path / "book.db"), ["no json", *map(json.dumps, asked)], out)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert "no JSON" in told[0]["problem"]["detail"]
    assert (
        told[1]["result"]["items"] == told[2]["result"]["items"] and told[2]["result"]["repeated"]
    )
    assert "did you mean limit" in told[3]["problem"]["detail"]
    assert told[5]["result"]["items"][0]["type"] == "message"
    assert "name an operation" in told[6]["problem"]["detail"]
    assert told[7]["result"] == 3
