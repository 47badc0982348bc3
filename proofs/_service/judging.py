"""A service over a copy of the book, and what its answers must not tell."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import memoranda
from memoranda.access import key_check
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.book import Book
from memoranda.book.all_operations import OPERATIONS
from memoranda.mcp_server.http_mount import McpMount
from memoranda.operations import Role
from memoranda.service.app import make_app
from proofs._service.asking import Answer, Ask, ask
from proofs._service.attacks import KINDS, Attack, attack, every_owner
from proofs._service.mcp_attacks import as_rest
from proofs._service.own_calls import TRIED, own_call, request_of
from proofs._service.population import (
    CANARY,
    LISTED,
    OTHER_TENANT,
    OWN,
    PERSON,
    Population,
    hidden_state,
)

#: Credentials that open nothing.
_DEAD = frozenset({"expired", "revoked", "unknown"})
#: A credential of another tenant that a mistaken check of tokens lets in.
_STRAY = Principal("stray", OTHER_TENANT, Role.ADMIN, binding="stray")
_EDITORS = ("editor", "person", "app", "learner")
_ROLES = {"viewer": Role.VIEWER, **dict.fromkeys(_EDITORS, Role.EDITOR)}
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: Headers that differ between any two answers.
_OWN_HEADERS = ("x-request-id", "content-length")
_NO_LIMITS = ServiceSettings(
    requests_per_minute=0, compatible=("eddi", "gdpr", "langgraph", "knowledge")
)
#: How often the kinds of requests come that a removed check concerns.
_FOCUS = 0.5


class Leak(Exception):
    """An answer with something of another's, or a change that no request may make."""

    def __init__(self, what: str, requests: int) -> None:
        super().__init__(f"after {requests} requests: {what}")
        self.requests = requests


class World:
    """A service, and how it was asked."""

    def __init__(self, population: Population, rng: Random) -> None:
        self._population = population
        self._rng = rng
        self._secret = {id.encode() for id in population.secret_ids}
        self._asked = 0
        self.succeeded: set[str] = set()
        self.refused = 0
        #: Who got a cursor or the id of a task, and the request that gives it back.
        self._gotten: list[tuple[str, Ask]] = []

    @asynccontextmanager
    async def opened(self, path: Path) -> AsyncIterator[None]:
        """Serve both tenants of the book in this file."""
        async with (
            memoranda.open(path, worker=False, embed=None) as self._book,
            memoranda.open(path, worker=False, embed=None, tenant=OTHER_TENANT) as rival,
        ):
            # Its library logs every refusal of a prompt.
            logging.getLogger("mcp").setLevel(logging.CRITICAL)
            mounts = McpMount(self._book), McpMount(rival)
            self._app, self._rival = _service(self._book, mounts[0]), _service(rival, mounts[1])
            self._before = await hidden_state(self._book)
            found: Leak | None = None
            async with mounts[0].running(), mounts[1].running():
                try:
                    yield
                except Leak as leak:
                    # Raised below: the tasks of MCP would wrap it in a group.
                    found = leak
            if found is not None:
                raise found

    async def ask_own(self) -> None:
        """Ask every verb once about one's own, by the credentials that may."""
        for who in ("admin", "person", "editor"):
            owner = PERSON if who == "person" else OWN
            for verb in TRIED:
                if (
                    who == "admin"
                    and OPERATIONS[verb].role is not Role.ADMIN
                    and OPERATIONS[verb].role > Role.VIEWER
                ):
                    continue
                given = own_call(verb, owner, self._population.owners[owner], self._rng)
                answer = await self._answer(who, request_of(verb, given))
                if answer.status < 300:
                    self.succeeded.add(verb)
        self._before = await hidden_state(self._book)

    async def ask_of_every_owner(self) -> None:
        """Ask each verb once for each kind of owner that is not one's own, and without an owner."""
        for who in ("editor", "viewer", "person"):
            for made in every_owner(self._population, self._rng, who):
                await self._judged(made)
        await self._unchanged()

    async def ask(self, count: int, window: int, kinds: Iterable[str] = ()) -> None:
        """Send so many requests; look after each window whether something changed that must not."""
        focus = [*kinds]
        for number in range(count):
            if focus and self._rng.random() < _FOCUS:
                kind = KINDS[self._rng.choice(focus)]
                made = kind(self._population, self._rng, "editor", self._rng.choice(TRIED))
            else:
                made = attack(self._population, self._rng)
            await self._judged(made)
            if number % 10 == 9:
                await self._steal()
            if number % window == window - 1:
                await self._unchanged()
        await self._unchanged()

    async def _judged(self, made: Attack) -> None:
        self._asked += 1
        answer = await self._answer(made.who, made.request)
        self._check(made, answer)
        if made.twin is None or made.who == "rival":
            return
        other = await self._answer(made.who, made.twin)
        there, nowhere = _told(answer, made.names), _told(other, made.names)
        if answer.status != other.status or (answer.status >= 300 and there != nowhere):
            raise self._leak(made, f"{there} and for nobody {nowhere}")

    def _check(self, made: Attack, answer: Answer) -> None:
        """Raise Leak if one answer tells something."""
        self.refused += answer.status >= 400
        if made.who in _DEAD:
            if answer.status != 401:
                raise self._leak(made, f"a credential that opens nothing got {answer.status}")
        elif (
            made.who == "stray"
            and made.request.path.startswith(("/v1/", "/mcp"))
            and answer.status < 400
        ):
            raise self._leak(
                made, f"another tenant's credential got {answer.status} {answer.body[:300]!r}"
            )
        if answer.status >= 500:
            raise self._leak(made, f"{answer.status} {answer.body[:300]!r}")
        if made.who == "rival":
            told, mine = answer.body, b"rival"
            if CANARY.encode() in told.replace(CANARY.encode() + mine, b""):
                raise self._leak(made, "a canary of another tenant")
            return
        if made.kind == "prompts":
            answer = Answer(
                answer.status,
                answer.body.replace(f"{CANARY}agent{LISTED}".encode(), b""),
                answer.headers,
            )
        if CANARY.encode() in answer.body or CANARY in str(answer.headers):
            raise self._leak(made, f"a canary: {_around(answer.body)}")
        named = str(made.request).encode()
        if found := [id for id in set(_ID.findall(answer.body)) & self._secret if id not in named]:
            raise self._leak(made, f"the id {found[0].decode()}")
        role = _ROLES.get(made.who)
        if (
            answer.status < 300
            and made.verb
            and role is not None
            and role < OPERATIONS[made.verb].role
        ):
            raise self._leak(made, f"a {role} got {answer.status}")
        if answer.status < 300 and made.is_forbidden and role is not None:
            raise self._leak(made, f"it got {answer.status}")
        if answer.status >= 300 and made.is_due:
            raise self._leak(made, f"it was refused: {answer.status} {answer.body[:300]!r}")
        if answer.status < 300:
            self._note(made, answer)

    def _note(self, made: Attack, answer: Answer) -> None:
        """Keep a cursor, or the id of a task, for others to steal."""
        body, sent = answer.json(), made.request
        if not isinstance(body, dict):
            return
        if isinstance(body.get("cursor"), str):
            pairs = tuple(pair for pair in sent.query if pair[0] != "cursor")
            stolen = Ask("GET", sent.path, (*pairs, ("cursor", body["cursor"])))
            self._gotten.append((made.who, stolen))
        elif "message_history" in body:
            self._gotten.append((made.who, Ask("GET", f"/api/tasks/{body['_id']}")))

    async def _steal(self) -> None:
        """Send a cursor or the id of a task that another credential got; it must be refused."""
        if not self._gotten:
            return
        who, stolen = self._rng.choice(self._gotten)
        thief = "twin" if who == "editor" else "editor"
        if who == "person":
            return
        self._asked += 1
        answer = await self._answer(thief, stolen)
        if answer.status < 300:
            raise self._leak(
                Attack(thief, "", "cursor", stolen),
                f"what another credential got gave {answer.status}",
            )

    async def _unchanged(self) -> None:
        """Raise Leak if something changed that no request of these credentials may change."""
        now = await hidden_state(self._book)
        if now != self._before:
            old, new = self._before.splitlines(), now.splitlines()
            changed = next((line for line in (*new, *old) if (line in old) != (line in new)), "")
            raise Leak(f"changed, or its end: {changed[:300]}", self._asked)

    async def _answer(self, who: str, request: Ask) -> Answer:
        secret = self._population.keys.get(who, who)
        app = self._rival if who == "rival" else self._app
        answer = await ask(app, request.with_header("Authorization", f"Bearer {secret}"))
        return as_rest(answer) if request.path.startswith("/mcp") else answer

    def _leak(self, made: Attack, what: str) -> Leak:
        sent = made.request
        return Leak(
            f"{made.who} {made.kind} {sent.method} {sent.path} {sent.query} {sent.body}: {what}",
            self._asked,
        )


def _service(book: Book, mount: McpMount) -> Any:
    keys = key_check.KeyCheck(book)

    async def authenticate(secret: str | None) -> Principal | None:
        if secret is None:
            return None
        return _STRAY if secret == "stray" else await keys.principal_of(secret)

    return make_app(book, _NO_LIMITS, authenticate=authenticate, mounts=[("", mount)])


def _told(answer: Answer, names: Iterable[tuple[str, str]]) -> tuple[int, str, dict[str, str]]:
    """Return an answer without what differs between any two, each name as its twin's."""
    body = answer.json()
    if isinstance(body, dict):
        body.pop("request_id", None)
    text = json.dumps(body) if body is not None else answer.body.decode(errors="replace")
    for name, other in names:
        text = text.replace(name, other)
    return (
        answer.status,
        text,
        {name: one for name, one in answer.headers.items() if name not in _OWN_HEADERS},
    )


def _around(body: bytes) -> str:
    at = body.find(CANARY.encode())
    return body[max(0, at - 150) : at + 60].decode(errors="replace")
