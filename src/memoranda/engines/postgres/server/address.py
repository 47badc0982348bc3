"""Parses the address of a book on a server into the book's options and the addresses that asyncpg
needs.
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from memoranda.errors import InvalidInput

#: The schema of a book whose address names none.
SCHEMA = "memoranda"
#: Defaults: the most connections of a book,
CONNECTIONS = 8
#: seconds that a statement may take, except in upkeep,
LONGEST_STATEMENT = 30.0
#: and seconds to wait for a free connection, for a lock, or for a new connection.
LONGEST_WAIT = 30.0

#: Advice for characters that separate the parts of an address.
ESCAPES = "write : / ? # [ ] @ and % in a user or password as %3A %2F %3F %23 %5B %5D %40 %25"

_USUAL_PORT = "5432"
#: A server with default settings has locks to create so many.
_MOST_PARTITIONS = 256
_MOST_CONNECTIONS = 1000
_LONGEST_SECONDS = 86_400.0
#: Settings that a book makes for its sessions, each with the option of an address for it, if there
#: is one.
_OWN_SETTINGS = {
    "search_path": "schema",
    "statement_timeout": "longest_statement",
    "lock_timeout": "longest_wait",
    "idle_in_transaction_session_timeout": "longest_statement",
    "plan_cache_mode": "",
    "enable_seqscan": "",
    "join_collapse_limit": "",
    "row_security": "",
    "default_transaction_read_only": "",
    "tcp_keepalives_idle": "",
    "tcp_keepalives_interval": "",
    "tcp_keepalives_count": "",
}
_WITH_HOSTS = re.compile(r"([^/?#]*//)([^/?#]*@)?([^/?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:\[[^\[\]]*\]|[^:\[\]]*)(?::(\d{0,5}))?")


class Place(NamedTuple):
    """The parsed address of a book on a server."""

    #: Addresses for the driver, one for each host, in the order in which they are tried.
    urls: tuple[str, ...]
    schema: str
    #: The number of partitions by owner of a new book; 0 for none.
    partitions: int
    connections: int
    longest_statement: float
    longest_wait: float
    #: The name of the book's connections in the server's own lists.
    application: str
    #: True if the address says which kind of server to use (``target_session_attrs``).
    chooses: bool
    #: The address without user and password, and with what the environment adds: for messages, and
    #: to compare places.
    name: str


def parse(url: str) -> Place:
    """Parse an address: separate the book's own options from those for asyncpg."""
    try:
        parts = _split(url)
    except ValueError:
        # The parser's message may contain a password.
        raise _refused(f"it cannot be read; {ESCAPES}") from None
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    hosts = _hosts(parts)
    _refuse_service(query, hosts)
    schema = query.pop("schema", SCHEMA)
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise _refused("a schema's name has small letters, digits and _, at most 63")
    partitions = _whole(query, "partitions", 0, _MOST_PARTITIONS, 0)
    connections = _whole(query, "connections", 1, _MOST_CONNECTIONS, CONNECTIONS)
    statement = _seconds(query, "longest_statement", LONGEST_STATEMENT)
    wait = _seconds(query, "longest_wait", LONGEST_WAIT)
    application = query.pop("application_name", "memoranda")
    _refuse_own(query)
    urls = _urls(parts, query, hosts)
    name = _name(_found(hosts, query), _database(parts, query), schema)
    chooses = "target_session_attrs" in query
    return Place(urls, schema, partitions, connections, statement, wait, application, chooses, name)


def _split(url: str) -> SplitResult:
    """Split an address; each host by itself, because some versions of ``urlsplit`` refuse several
    with one in brackets.
    """
    found = _WITH_HOSTS.fullmatch(url)
    if found is None:
        return urlsplit(url)
    start, whose, hosts, rest = found.groups()
    parts = urlsplit(f"{start}{whose or ''}{rest}")
    netloc = ",".join(urlsplit(f"//{host}").netloc for host in hosts.split(","))
    return parts._replace(netloc=parts.netloc + netloc)


def _refuse_own(query: dict[str, str]) -> None:
    for setting in query:
        instead = _OWN_SETTINGS.get(setting.lower())
        if instead is not None:
            raise _refused(
                f"a book sets {setting} itself; "
                + (f"say {instead}=…" if instead else "leave it out")
            )


def _refuse_service(query: dict[str, str], hosts: list[str]) -> None:
    """Refuse services: the file of a service may change, and several services may name the same
    place.
    """
    if "service" in query:
        raise _refused(
            "service= is not supported; write the host, port and database of the service into the address"
        )
    # The driver does not read the service file, but other programs do: they would reach another
    # server.
    if os.environ.get("PGSERVICE") and not hosts and not query.get("host"):
        raise _refused(
            "the environment variable PGSERVICE is not supported; write host, port and database into the address"
        )


def _hosts(parts: SplitResult) -> list[str]:
    """Return the address's hosts; raise InvalidInput if a part of a password may be among them."""
    whose, _, where = parts.netloc.rpartition("@")
    hosts = where.split(",")
    found = [_HOST.fullmatch(host) for host in hosts]
    # The driver takes everything after the first @ for hosts.
    if "@" in whose or parts.fragment or None in found:
        raise _refused(f"this is not host:port; {ESCAPES}")
    if any(one is not None and int(one[1] or 0) >= 65_536 for one in found):
        raise _refused("a port is a number below 65,536")
    return [host for host in hosts if host]


def _urls(parts: SplitResult, query: dict[str, str], hosts: list[str]) -> tuple[str, ...]:
    """Return one address for each host, so that a silent host leaves time for the others."""
    user = parts.netloc.rpartition("@")[:2]
    if hosts:
        each = [(f"{''.join(user)}{host}", query) for host in hosts]
    else:
        named = query.get("host", "").split(",")
        ports = query.get("port", "").split(",")
        if len(ports) == 1:
            ports *= len(named)
        if len(ports) != len(named):
            raise _refused("there are as many ports as hosts, or one port for all")
        beside = {key: value for key, value in query.items() if key not in ("host", "port")}
        each = [
            (
                parts.netloc,
                beside | ({"host": host} if host else {}) | ({"port": port} if port else {}),
            )
            for host, port in zip(named, ports, strict=True)
        ]
    return tuple(
        f"{parts.scheme}://{netloc}{parts.path}{'?' if options else ''}{urlencode(options)}"
        for netloc, options in each
    )


def _found(hosts: Sequence[str], query: dict[str, str]) -> list[tuple[str, str]]:
    """Return each host and its port as asyncpg finds them: in the address, or else in the
    environment.
    """
    ports: list[str] = []
    if not hosts:
        hosts = [host for host in query.get("host", "").split(",") if host]
        ports = [port for port in query.get("port", "").split(",") if port]
    hosts = hosts or os.environ.get("PGHOST", "").split(",")
    ports = ports or os.environ.get("PGPORT", _USUAL_PORT).split(",")
    found = []
    for nth, host in enumerate(hosts):
        own = None if host.startswith("/") else re.fullmatch(r"(.*):(\d+)", host)
        port = ports[nth] if len(ports) == len(hosts) else ports[0]
        found.append((own[1], own[2]) if own else (host.removesuffix(":"), port))
    return [
        (unquote(host).lower() if "/" not in unquote(host) else unquote(host), port)
        for host, port in found
    ]


def _database(parts: SplitResult, query: dict[str, str]) -> str:
    named = (
        unquote(parts.path[1:])
        or query.get("dbname")
        or query.get("database")
        or os.environ.get("PGDATABASE")
    )
    if named:
        return named
    user = unquote(parts.netloc.rpartition("@")[0].partition(":")[0]) or query.get("user")
    return user or os.environ.get("PGUSER") or getpass.getuser()


def _name(found: Sequence[tuple[str, str]], database: str, schema: str) -> str:
    options = {} if schema == SCHEMA else {"schema": schema}
    netloc = ""
    if all(host and "/" not in host for host, _ in found):
        netloc = ",".join(f"{host}:{port}" for host, port in found)
    else:
        hosts, ports = (",".join(each) for each in zip(*found, strict=True))
        options = ({"host": hosts} if hosts else {}) | {"port": ports} | options
    return f"postgresql://{netloc}/{quote(database, safe='')}{'?' if options else ''}{urlencode(options, safe='/,')}"


def _whole(query: dict[str, str], name: str, least: int, most: int, usual: int) -> int:
    given = query.pop(name, str(usual))
    if not re.fullmatch(r"[0-9]{1,6}", given) or not least <= int(given) <= most:
        raise _refused(f"{name} are {least} to {most}")
    return int(given)


def _seconds(query: dict[str, str], name: str, usual: float) -> float:
    given = query.pop(name, str(usual))
    if (
        not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", given)
        or not 0 < float(given) <= _LONGEST_SECONDS
    ):
        raise _refused(f"{name} is a number of seconds, above 0 and at most {_LONGEST_SECONDS:.0f}")
    return float(given)


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"address: {why}", field="address")
