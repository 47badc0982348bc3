"""A book whose owners, agents and groups each have recognisable words in every kind of record, and
credentials for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import memoranda
from memoranda.book import Book
from memoranda.model.records import Audience, AudienceKind, Owner, OwnerKind

#: Begins every word that a stranger must never read.
CANARY = "zqcanary"
#: Ends such a word in an agent's description, which a credential for no agent may read.
LISTED = "listed"
OWN, VICTIM, NOBODY, PERSON = "ann", "bob", "bub", "pam"
AGENT, GROUP = "helper", "team"
HIDDEN_AGENT, HIDDEN_GROUP = "warden", "circle"
OTHER_TENANT = "rival"
_PAST_SECONDS = 0.05


@dataclass
class Own:
    """Records of one owner: their ids by name."""

    ids: dict[str, Any] = field(default_factory=dict)

    def texts(self) -> set[str]:
        """Return all ids as texts."""
        return {
            str(one) for word, one in self.ids.items() if isinstance(one, UUID) and word != "lesson"
        }


@dataclass
class Population:
    """The owners of a book with their records, and the secrets of the keys."""

    owners: dict[str, Own]
    #: Ids of records that nobody but their own readers may name.
    secret_ids: frozenset[str]
    keys: dict[str, str]


async def populate(path: Path) -> Population:
    """Make the book in this file: two tenants with owners of the same names."""
    async with memoranda.open(path, worker=False, embed=None) as book:
        owners = {
            OWN: await furnish(book, OWN, "own"),
            VICTIM: await furnish(book, VICTIM, f"{CANARY}victim"),
            PERSON: await furnish(book, PERSON, "pams"),
        }
        hidden = await _hide(book, OWN)
        await _agents(book, owners)
        await book.schemas.put(
            "Own", parameters={"type": "object", "properties": {"a": {"type": "string"}}}
        )
        keys = await _keys(book)
    async with memoranda.open(path, worker=False, embed=None, tenant=OTHER_TENANT) as other:
        there = await furnish(other, VICTIM, f"{CANARY}rival")
        new = await other.keys.create("rivals admin", role="admin")
        keys["rival"] = new.secret
    secrets = owners[VICTIM].texts() | there.texts() | {str(id) for id in hidden}
    return Population(owners, frozenset(secrets), keys)


async def furnish(book: Book, owner: str, word: str) -> Own:
    """Give an owner one of everything, each with this word in it."""
    has: dict[str, Any] = {"owner": owner}
    thread = await book.thread(owner, name=f"{owner}talk", title=f"{word} title", agent=AGENT)
    has["thread"] = thread.id
    spoken = await thread.append(
        "user", f"{word} said that my dog is called {word}rex", operation=f"{owner}op"
    )
    has["message"] = spoken.items[0].id
    has["operation"] = f"{owner}op"
    for number in range(6):
        made = await book.remember(
            owner,
            f"{word} likes tea number {number}",
            agent=AGENT,
            tags=[f"{word}tag"],
            data={"a": word},
        )
        has[f"memory{number}"] = made.items[0].id
    episode = await book.episodes.record(
        owner, goal=f"{word} goal", outcome="succeeded", summary=f"{word} sum"
    )
    has["episode"] = episode.items[0].id
    for name in ("x", "y", "z"):
        value, operation = {"text": f"{word} item"}, f"{owner}put{name}"
        put = await book.items.put(owner, ["notes"], name, value, agent=AGENT, operation=operation)
        has[f"item{name}"] = put.items[0].id
    await book.profiles.put(owner, {"name": f"{word}name"})
    await _rule(book, owner, has)
    # Its silence would end while requests are made, and a job that an administrator runs would form
    # it.
    await thread.unschedule()
    return Own(has)


async def _rule(book: Book, owner: str, has: dict[str, Any]) -> None:
    """Store what no credential of an agent may end or replace, each with its place in the
    ledger.
    """
    everyone, team = Audience.everyone(), Audience.of_groups([GROUP])
    rules: list[tuple[str, dict[str, Any]]] = [
        ("persons", {"trust": "operator", "pinned": True, "as_owner": True, "audience": everyone}),
        ("operators", {"trust": "operator", "audience": everyone}),
        ("kept", {"trust": "user", "pinned": True, "audience": everyone}),
        ("teams", {"trust": "operator", "as_owner": True, "audience": team}),
        ("marked", {"audience": everyone, "agent": AGENT}),
        ("refuted", {"audience": everyone}),
    ]
    for name, fields in rules:
        made = await book.remember(owner, f"rule {name}", external_id=f"{owner}{name}", **fields)
        has[name], has[f"{name}_at"] = made.id, made.position
    marked = await book.memories.amend(owner, has["marked"], {"pinned": True}, as_owner=True)
    refuted = await book.memories.retract(owner, has["refuted"], as_owner=True)
    has["marked_at"], has["refuted_at"] = marked.position, refuted.position
    passed = await book.remember(
        owner, "rule passed on", trust="user", agent=AGENT, audience=everyone
    )
    has["passed"] = passed.id


async def _hide(book: Book, owner: str) -> list[UUID]:
    """Store what an owner's hidden agent and group alone may read."""
    found = []
    for audience, who in (
        (Audience(kind=AudienceKind.SELF, agent=HIDDEN_AGENT), {"agent": HIDDEN_AGENT}),
        (
            Audience(kind=AudienceKind.GROUP, groups=(HIDDEN_GROUP,)),
            {"agent": AGENT, "groups": [HIDDEN_GROUP]},
        ),
    ):
        said = f"{CANARY}hidden{owner} tea"
        found.append((await book.remember(owner, said, audience=audience, **who)).items[0].id)
        found.append(
            (await book.items.put(owner, ["notes"], "x", {"t": said}, audience=audience, **who))
            .items[0]
            .id
        )
    return found


async def _agents(book: Book, owners: dict[str, Own]) -> None:
    """Make agents, what they learnt, and what belongs to agents and groups themselves."""
    for name, word in ((AGENT, "own"), (HIDDEN_AGENT, f"{CANARY}agent")):
        await book.agents.put(name, system_prompt=f"{word} prompt", description=f"{word}{LISTED}")
        line = (await book.experience.add(name, "heuristics", f"{word} lesson")).items[0].id
        if name == AGENT:
            for own in owners.values():
                own.ids["lesson"] = line
            victim = owners[VICTIM].ids
            evidence = {VICTIM: [victim["memory0"]]}
            learnt = await book.experience.add(
                name, "heuristics", "a lesson of another", evidence=evidence
            )
            victim["lesson"] = learnt.id
    kinds = ((OwnerKind.AGENT, HIDDEN_AGENT), (OwnerKind.GROUP, HIDDEN_GROUP))
    for kind, id in kinds:
        await book.remember(
            Owner(tenant=book.tenant, kind=kind, id=id),
            f"{CANARY}of{kind.value} tea",
            as_owner=True,
        )
    await book.remember(
        Owner(tenant=book.tenant, kind=OwnerKind.GROUP, id=GROUP), "our tea", as_owner=True
    )


async def _keys(book: Book) -> dict[str, str]:
    soon = datetime.now(UTC) + timedelta(seconds=_PAST_SECONDS)
    limits: dict[str, Any] = {"owners": [OWN], "agents": [AGENT], "groups": [GROUP]}
    wanted: dict[str, dict[str, Any]] = {
        # The first one, made at once: it has expired when it is used.
        "expired": {"role": "admin", "expires_at": soon},
        "editor": {"role": "editor", **limits},
        "twin": {"role": "editor", **limits},
        "viewer": {"role": "viewer", **limits},
        # These two open more than the others: they send only requests whose answers may name
        # nothing of it.
        "app": {"role": "editor", "owners": [OWN], "groups": [GROUP]},
        "learner": {"role": "editor", "agents": [AGENT]},
        "person": {"role": "editor", "person": PERSON, "agents": [AGENT]},
        "admin": {"role": "admin"},
        "revoked": {"role": "admin"},
    }
    made = {
        name: (await book.keys.create(name, **fields)).secret for name, fields in wanted.items()
    }
    await book.keys.revoke("revoked")
    return made


async def hidden_state(book: Book) -> str:
    """Return everything that the limited credentials must not change, as one text."""
    told: list[Any] = []
    parties: list[Any] = [VICTIM]
    parties += [
        Owner(tenant=book.tenant, kind=kind, id=id)
        for kind, id in ((OwnerKind.AGENT, HIDDEN_AGENT), (OwnerKind.GROUP, HIDDEN_GROUP))
    ]
    for party in parties:
        page = await book.records.list(party, limit=1000, as_owner=True)
        told += sorted(record.model_dump_json() for record in page.records)
    page = await book.records.list(OWN, limit=1000, as_owner=True)
    told += sorted(
        r.model_dump_json()
        for r in page.records
        if _is_hidden(r) or getattr(r, "external_id", None)
    )
    for agent in (AGENT, HIDDEN_AGENT):
        lines = await book.experience.list(agent, retired=True, limit=1000)
        told += sorted(line.model_dump_json() for line in lines)
    agents = await book.agents.list(limit=1000)
    told += sorted(one.model_dump_json() for one in agents)
    told += [one.model_dump_json() for one in await book.keys.list(limit=1000)]
    return "\n".join(map(str, told))


def _is_hidden(record: Any) -> bool:
    audience = record.audience
    names = {audience.agent, *audience.groups, getattr(record, "agent", None)}
    return bool(names & {HIDDEN_AGENT, HIDDEN_GROUP})
