"""Everything about one person over HTTP: with the credential of the person or of an administrator,
and of nobody else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2
import pytest

import memoranda
from memoranda.access.key_check import KeyCheck
from memoranda.access.read_audit import ReadAudit
from memoranda.service.doorkeeper import Doorkeeper
from tests.service.conftest import asking

PATHS = ("/v1/export?owner=ann&everything=true", "/admin/gdpr/ann/export")


@pytest.fixture
async def keys(book: memoranda.Book) -> dict[str, str]:
    """Keys of two persons, of a program and of an administrator, in a book with experience from
    both persons.
    """
    tea, rum = (
        (await book.remember("ann", "likes tea")).id,
        (await book.remember("ben", "likes rum")).id,
    )
    await book.experience.add("guide", "heuristics", "serve tea", evidence={"ann": [tea]})
    await book.experience.add(
        "guide", "heuristics", "Ben wants rum", evidence={"ann": [tea], "ben": [rum]}
    )
    await book.admin.restrict("ann")
    made = {
        "ann": await book.keys.create("ann-phone", role="viewer", person="ann"),
        "ben": await book.keys.create("ben-phone", role="editor", person="ben"),
        "shop": await book.keys.create("shop", role="editor"),
        "root": await book.keys.create("root", role="admin"),
    }
    return {name: key.secret for name, key in made.items()}


@pytest.fixture
def audit(book: memoranda.Book) -> ReadAudit:
    return ReadAudit(book)


@pytest.fixture
async def http(book: memoranda.Book, audit: ReadAudit) -> AsyncIterator[httpx2.AsyncClient]:
    async with asking(
        book, authenticate=Doorkeeper(book, KeyCheck(book), None), audit=audit
    ) as client:
        yield client


async def asked(http: httpx2.AsyncClient, path: str, secret: str) -> httpx2.Response:
    return await http.get(path, headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("path", PATHS)
async def test_the_person_and_an_administrator_get_it_and_others_nothing(
    http: httpx2.AsyncClient, keys: dict[str, str], path: str
) -> None:
    for name in ("ann", "root"):
        answer = await asked(http, path, keys[name])
        assert answer.status_code == 200
        for word in ("serve tea", '"restriction"', "ann-phone"):
            assert word in answer.text
        for word in ("ben", "Ben", "rum"):
            assert word not in answer.text
    for name in ("ben", "shop"):
        refused = await asked(http, path, keys[name])
        assert refused.status_code in (403, 404) and "tea" not in refused.text


async def test_its_lines_are_those_of_the_library_and_reads_name_programs(
    book: memoranda.Book, http: httpx2.AsyncClient, audit: ReadAudit, keys: dict[str, str]
) -> None:
    for path, name in (("/v1/owners/ann/count", "shop"), (PATHS[0], "root"), (PATHS[0], "ann")):
        assert (await asked(http, path, keys[name])).status_code == 200
    await audit.flush()
    told = [line async for line in book.admin.export("ann", everything=True)]
    reads = [line for line in map(json.loads, told) if line.get("what") == "read"]
    assert [(line["by"], line["verb"], line["surface"]) for line in reads] == [
        ("shop", "records.count", "rest"), ("root", "admin.export", "rest"), ("ann-phone", "admin.export", "rest"),
    ]  # fmt: skip
    answer = await asked(http, PATHS[0], keys["root"])
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.text.splitlines() == told
    records = (await asked(http, PATHS[1], keys["root"])).json()["records"]
    assert records == [json.loads(line) for line in told]


async def test_it_needs_an_owner(http: httpx2.AsyncClient, keys: dict[str, str]) -> None:
    refused = await asked(http, "/v1/export?everything=true", keys["root"])
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "everything"


async def test_of_a_person_who_was_erased_it_tells_the_restriction_the_erasure_and_the_audit(
    http: httpx2.AsyncClient, audit: ReadAudit, keys: dict[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {keys['root']}"}
    assert (await http.delete("/admin/gdpr/ann", headers=headers)).status_code == 200
    await audit.flush()
    lines = [
        json.loads(line) for line in (await asked(http, PATHS[0], keys["root"])).text.splitlines()
    ]
    assert [line["line"] for line in lines if line["line"] != "about"] == ["head", "last"]
    assert {line["what"] for line in lines if line["line"] == "about"} == {
        *("restriction", "restricting", "erasure", "read"),
    }
    assert "forget everything" in {line.get("verb") for line in lines}
    assert "tea" not in json.dumps(lines)
