"""Opens the book of a service: its address is http:// or https://, and everything else is set up
there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memoranda.errors import InvalidInput
from memoranda.model import DEFAULT_TENANT
from memoranda.package_names import loaded

if TYPE_CHECKING:
    from memoranda.client import RemoteBook

#: The variable that has the key, where the program gives none.
KEY_VARIABLE = "MEMORANDA_KEY"
#: The variable that names hosts, with commas between them, that may get the key over plain HTTP.
HOSTS_VARIABLE = "MEMORANDA_PRIVATE_HOSTS"
#: Arguments of ``open`` that only a book in this process has, with their defaults.
_OF_THIS_PROCESS = ("limits", "config", "audience", "secrets")


def is_service(address: object) -> bool:
    """True if an address names a service."""
    return isinstance(address, str) and address.lower().startswith(("http://", "https://"))


async def open_service(address: str, key: str | None, given: Mapping[str, Any]) -> RemoteBook:
    """Open the book of a service; raise InvalidInput for an argument that the service alone can
    have.
    """
    for name in _OF_THIS_PROCESS:
        if given[name] is not None:
            raise InvalidInput(
                f"{name}: the service has its own; set it where memoranda serve runs", field=name
            )
    for name in ("embed", "models"):
        if given[name] is not None and given[name] != "auto":
            raise InvalidInput(
                f"{name}: it cannot cross a network; choose it where memoranda serve runs",
                field=name,
            )
    if given["worker"] or given["read_only"]:
        name = "worker" if given["worker"] else "read_only"
        raise InvalidInput(f"{name}: the service decides it; leave it out", field=name)
    # Most books are files. The loop goes on while the client is loaded.
    client = await asyncio.to_thread(loaded, "memoranda.client")
    tenant = given["tenant"]
    key = os.environ.get(KEY_VARIABLE) if key is None else key
    hosts = {host.strip().lower() for host in os.environ.get(HOSTS_VARIABLE, "").split(",")} - {""}
    tenant = None if tenant == DEFAULT_TENANT else tenant
    book: RemoteBook = await client.open_remote(address, key, tenant=tenant, private_hosts=hosts)
    return book
