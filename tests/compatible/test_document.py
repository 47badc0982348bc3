"""The document has each path once, whatever its parameters are called, with the routes of other
products.
"""

from __future__ import annotations

import re

from tests.compatible.conftest import Clients


async def test_no_two_paths_differ_only_in_the_names_of_their_parameters(clients: Clients) -> None:
    paths = (await clients().get("/openapi.json")).json()["paths"]
    assert {
        "/store/items",
        "/usermemorystore/memories/{userId}",
        "/admin/gdpr/{userId}",
    } <= paths.keys()
    shapes = [re.sub(r"{\w+}", "{}", path) for path in paths]
    assert len(shapes) == len(set(shapes))
