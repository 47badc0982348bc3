"""A client that a well-known generator makes of the document can be imported, and makes a round
trip.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.frameworks.service.conftest import Live

PROGRAM = """
from memoranda_client import AuthenticatedClient
from memoranda_client.api.book import recall, remember
from memoranda_client.models import RecallArguments, RememberArguments

with AuthenticatedClient(base_url={url!r}, token={secret!r}) as client:
    body = RememberArguments.from_dict({{"content": "likes green tea", "key": "drink"}})
    stored = remember.sync_detailed("ann", client=client, body=body)
    assert stored.status_code == 200, stored
    body = RecallArguments.from_dict({{"query": "tea"}})
    found = recall.sync_detailed("ann", client=client, body=body)
    assert found.status_code == 200, found
    assert found.parsed.to_dict(), found
    print(found.content.decode())
"""


def test_a_generated_client_makes_a_round_trip(live: Live) -> None:
    document = live.folder / "openapi.json"
    request = urllib.request.Request(
        f"{live.url}/openapi.json", headers={"Authorization": f"Bearer {live.secret}"}
    )
    with urllib.request.urlopen(request) as answer:
        document.write_bytes(answer.read())
    config = live.folder / "config.json"
    # The generator knows no lines of JSON: the client takes and gives them as bytes.
    lines = {"application/x-ndjson": "application/octet-stream"}
    config.write_text(
        json.dumps(
            {
                "project_name_override": "memoranda-client",
                "post_hooks": [],
                "content_type_overrides": lines,
            }
        )
    )
    made = subprocess.run(
        [
            str(Path(sys.executable).with_name("openapi-python-client")),
            *("generate", "--path", str(document), "--config", str(config), "--fail-on-warning"),
        ],
        cwd=live.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    program = PROGRAM.format(url=live.url, secret=live.secret)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=live.folder / "memoranda-client",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "likes green tea" in ran.stdout
