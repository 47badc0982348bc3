"""The examples with LangGraph run as they stand, the server's with the SDK's own client."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

import memoranda
from tests.integrations.test_examples import EXAMPLES, run


def test_the_chatbot_knows_on_its_second_run_what_it_was_told_on_the_first(tmp_path: Path):
    first = run("langgraph_store.py", tmp_path, str(tmp_path / "book.db"))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("ana> Which nuts am I allergic to?\nYou have not told me.\n")
    assert first.stdout.endswith("ben> Which nuts am I allergic to?\nYou have not told me.\n")
    assert first.stdout.count("You told me: I am allergic to walnuts and other nuts.") == 1
    again = run("langgraph_store.py", tmp_path, str(tmp_path / "book.db"))
    assert again.stdout.count("You told me: ") == 2


@contextmanager
def served(folder: Path, book: Path) -> Iterator[str]:
    """Serve the example's graph and store with ``langgraph dev``, and return the address."""
    shutil.copytree(EXAMPLES / "langgraph_server", folder / "server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    around = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    around |= {
        "NOTES_BOOK": str(book),
        "MEMORANDA_EMBEDDING_USE": "none",
        "LANGSMITH_TRACING": "false",
    }
    around |= {
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    program = str(Path(sys.executable).parent / "langgraph")
    command = [
        program,
        "dev",
        "--no-browser",
        "--no-reload",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    log = folder / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder / "server",
            env=around,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(600):
                assert server.poll() is None, log.read_text()[-3000:]
                try:
                    with urllib.request.urlopen(f"{address}/ok", timeout=1):
                        break
                except OSError:
                    time.sleep(0.2)
            else:
                pytest.fail(f"the server did not start: {log.read_text()[-3000:]}")
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


async def test_langgraph_dev_serves_a_book_as_its_store_by_path(tmp_path: Path):
    book = tmp_path / "notes.db"
    with served(tmp_path, book) as address:
        client: Any = get_client(url=address)
        transport = client.http.client
        store = client.store
        await store.put_item(["notes", "ana"], key="tea", value={"text": "likes green tea"})
        assert (await store.get_item(["notes", "ana"], key="tea"))["value"] == {
            "text": "likes green tea"
        }
        assert await store.get_item(["notes", "ben"], key="tea") is None
        found = await store.search_items(["notes", "ana"], query="green tea", limit=5)
        assert [(item["key"], item["score"]) for item in found["items"]] == [("tea", 1.0)]
        assert (await store.list_namespaces(prefix=["notes", "ana"]))["namespaces"] == [
            ["notes", "ana"]
        ]
        done = await client.runs.wait(
            None, "notes", input={"said": "has a cat"}, config={"configurable": {"user_id": "ana"}}
        )
        assert done["notes"][0] == "has a cat"
        await store.delete_item(["notes", "ana"], key="tea")
        assert await store.get_item(["notes", "ana"], key="tea") is None
        await transport.aclose()
    async with memoranda.open(book, worker=False) as opened:
        assert [item.name for item in await opened.items.list("ana")] == ["has a cat"]
        assert (await opened.admin.verify(whole=True)).faults == ()
