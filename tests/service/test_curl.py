"""A user memory's round trip with curl: what a client of EDDI does, in twelve steps, against a real
service.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.service.live_service import live_service

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def curl(url: str, *arguments: str) -> tuple[int, Any]:
    """Return the status and the JSON of an answer."""
    command = ["curl", "--silent", "--show-error", "--write-out", "\n%{http_code}", *arguments, url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body) if body else None


def put(url: str, **entry: Any) -> tuple[int, Any]:
    return curl(url, "-X", "PUT", "-H", "Content-Type: application/json", "-d", json.dumps(entry))


def test_twelve_steps_with_curl(tmp_path: Path) -> None:
    with live_service(tmp_path / "book.db") as url:
        memories = f"{url}/usermemorystore/memories"
        ann = f"{memories}/it-user"
        colour = {"userId": "it-user", "key": "favorite_color", "value": "blue"}
        diet = {"userId": "it-user", "key": "dietary_restriction", "value": "vegetarian"}
        # 1. It is stored; a self entry without an agent is the person's.
        status, stored = put(memories, **colour, category="preference", visibility="self")
        assert status == 200 and stored["id"]
        # 2. It is listed.
        assert [one["key"] for one in curl(ann)[1]] == ["favorite_color"]
        # 3. It is read by its key.
        status, entry = curl(f"{ann}/key/favorite_color")
        assert (status, entry["value"], entry["visibility"]) == (200, "blue", "self")
        # 4. It is found in its category.
        assert [one["id"] for one in curl(f"{ann}/category/preference")[1]] == [stored["id"]]
        # 5. A second one is stored.
        status, second = put(memories, **diet, category="fact", visibility="global")
        assert status == 200 and second["id"] != stored["id"]
        # 6. Search finds a part of a value.
        assert [one["key"] for one in curl(f"{ann}/search?q=VEGE")[1]] == ["dietary_restriction"]
        # 7. Both count.
        assert curl(f"{ann}/count") == (200, {"userId": "it-user", "count": 2})
        # 8. An agent sees what is global.
        assert [one["key"] for one in curl(f"{ann}/visible")[1]] == ["dietary_restriction"]
        # 9. Writing it again replaces its value and keeps its id.
        assert put(memories, **{**colour, "value": "green"}, visibility="self") == (200, stored)
        # 10. One is deleted, and then is not there.
        assert curl(f"{memories}/entry/{stored['id']}", "-X", "DELETE") == (204, None)
        assert curl(f"{ann}/key/favorite_color")[0] == 404
        # 11. All are deleted.
        assert curl(ann, "-X", "DELETE") == (204, None)
        # 12. The list is empty.
        assert curl(ann) == (200, [])
