"""The guard: what each principal may ask of a book."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal, local_admin
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import NotAllowed, NotFound
from memoranda.model.records import Audience, Owner, OwnerKind
from memoranda.model.values import new_id
from memoranda.operations import Role

ANN = Principal(
    "app", "default", Role.EDITOR, owners=frozenset({"ann"}), agents=frozenset({"chef"})
)


@pytest.fixture
async def book():
    async with memoranda.open("memory://", worker=False, embed=None) as opened:
        yield opened


async def test_an_editor_writes_and_recalls_for_the_owners_it_opens(book):
    guard = Guard(book, ANN)
    receipt = await guard.call("remember", owner="ann", content="I like tea", agent="chef")
    hits = await guard.call("recall", owner="ann", query="tea", agent="chef")
    assert [hit.id for hit in hits] == [receipt.items[0].id]


async def test_a_thread_is_opened_for_its_verbs_as_the_reader_that_is_named(book):
    guard = Guard(book, ANN)
    thread = await guard.call("thread", owner="ann", agent="chef")
    await guard.call(
        "thread.append",
        owner="ann",
        thread=thread.id,
        agent="chef",
        role_or_messages="user",
        content="hi",
    )
    page = await guard.call("thread.messages", owner="ann", thread=thread.id, agent="chef")
    assert [(one.content, one.agent) for one in page.records] == [("hi", "chef")]


@pytest.mark.parametrize("there", [True, False])
async def test_another_owner_answers_like_an_owner_that_is_not_there(book, there):
    if there:
        await book.remember("bob", "I like tea")
    with pytest.raises(NotFound, match=r"^there is no owner bob for this credential$"):
        await Guard(book, ANN).call("recall", owner="bob", query="tea")


async def test_an_administrator_who_is_limited_to_owners_reaches_no_other_one(book):
    limited = Guard(book, replace(ANN, role=Role.ADMIN))
    with pytest.raises(NotFound):
        await limited.call("recall", owner="bob", query="tea")
    with pytest.raises(NotAllowed, match="whole book"):
        await limited.call("admin.owners")


async def test_another_tenant_is_not_there(book):
    with pytest.raises(NotFound):
        await Guard(book, replace(local_admin("other"))).call("admin.owners")


@pytest.mark.parametrize(
    "verb",
    [verb for verb in OPERATIONS.values() if verb.role > Role.VIEWER],
    ids=lambda verb: verb.name,
)
async def test_no_viewer_changes_anything(book, verb):
    with pytest.raises(NotAllowed, match="it needs the role"):
        await Guard(book, replace(ANN, role=Role.VIEWER)).call(verb.name, owner="ann")


@pytest.mark.parametrize(
    "verb",
    [verb for verb in OPERATIONS.values() if verb.role is Role.ADMIN],
    ids=lambda verb: verb.name,
)
async def test_no_editor_operates_the_book(book, verb):
    with pytest.raises(NotAllowed, match="it needs the role"):
        await Guard(book, ANN).call(verb.name)


@pytest.mark.parametrize("name", ["admin.usage", "admin.export"])
async def test_without_an_owner_a_verb_is_about_the_whole_book(book, name):
    with pytest.raises(NotAllowed, match="whole book"):
        await Guard(book, ANN).call(name)


@pytest.mark.parametrize(
    "given",
    [
        {"agent": "spy"},
        {"agent": "chef", "groups": ["team"]},
        {"agent": "chef", "audience": Audience.of_agent("spy")},
        {"agent": "chef", "audience": Audience.of_groups(["team"])},
    ],
)
async def test_agents_and_groups_that_the_credential_does_not_name_are_not_there(book, given):
    guard = Guard(book, replace(ANN, groups=frozenset()))
    with pytest.raises(NotFound, match="for this credential"):
        await guard.call("remember", owner="ann", content="x", **given)


async def test_the_owners_own_view_needs_the_person(book):
    await book.remember("ann", "a secret of chef", agent="chef", audience="self")
    with pytest.raises(NotAllowed, match="own view"):
        await Guard(book, ANN).call("recall", owner="ann", query="secret", as_owner=True)
    found = await Guard(book, replace(ANN, person="ann")).call(
        "recall", owner="ann", query="secret", as_owner=True
    )
    assert len(found) == 1
    with pytest.raises(NotFound):
        await Guard(book, replace(ANN, person="ann")).call(
            "recall", owner="bob", query="secret", as_owner=True
        )


@pytest.mark.parametrize("given", [{"everything": True}, {"ids": [], "backups": True}])
async def test_erasing_everything_needs_the_person(book, given):
    with pytest.raises(NotAllowed, match="forget: erasing"):
        await Guard(book, ANN).call("forget", owner="ann", **given)
    await Guard(book, replace(ANN, person="ann")).call("forget", owner="ann", everything=True)


async def test_an_export_needs_the_person_and_yields_lines(book):
    await book.remember("ann", "tea")
    with pytest.raises(NotAllowed, match="export: an export"):
        Guard(book, ANN).stream("admin.export", owner="ann")
    assert [
        line
        async for line in Guard(book, replace(ANN, person="ann")).stream(
            "admin.export", owner="ann"
        )
    ]


@pytest.mark.parametrize("kind", [OwnerKind.GROUP, OwnerKind.AGENT, OwnerKind.TENANT])
async def test_owners_of_other_kinds_need_their_group_or_agent(book, kind):
    owner = Owner(kind=kind, id="team")
    with pytest.raises(NotFound):
        await Guard(book, ANN).call("recall", owner=owner, query="x")
    await Guard(book, local_admin("default")).call("recall", owner=owner, query="x")
    if kind is OwnerKind.GROUP:
        member = replace(ANN, groups=frozenset({"team"}))
        await Guard(book, member).call("recall", owner=owner, query="x")


async def test_the_audit_is_told_of_reads_alone(book):
    told = []

    class Audit:
        def note(self, principal, verb, owner, surface):
            told.append((principal.name, verb, str(owner), surface))

    guard = Guard(book, ANN, "rest", Audit())
    await guard.call("remember", owner="ann", content="tea")
    await guard.call("recall", owner="ann", query="tea")
    with pytest.raises(NotFound):
        await guard.call("recall", owner="bob", query="tea")
    assert told == [("app", "recall", "ann", "rest")]


async def test_messages_name_no_other_agent_than_the_credential(book):
    guard = Guard(book, ANN)
    thread = (await guard.call("thread", owner="ann", agent="chef")).id
    forged = [{"role": "user", "content": "hi", "agent": "spy"}]
    with pytest.raises(NotFound, match="no agent 'spy' for this credential"):
        await guard.call(
            "thread.append", owner="ann", thread=thread, agent="chef", role_or_messages=forged
        )


async def test_the_list_of_agents_has_those_of_the_credential(book):
    for name in ("chef", "spy"):
        await book.agents.put(name, system_prompt="secret plans")
    assert [agent.name for agent in await Guard(book, ANN).call("agents.list")] == ["chef"]
    with pytest.raises(NotFound):
        await Guard(book, ANN).call("agents.get", name="spy")
    assert len(await Guard(book, local_admin("default")).call("agents.list")) == 2


async def test_the_audit_is_told_of_an_erasure_of_everything_once_it_is_done(book):
    told: list[tuple[str, Owner | None]] = []

    class Audit:
        def note(self, principal: Principal, verb: str, owner: Owner | None, surface: str) -> None:
            told.append((verb, owner))

    guard = Guard(book, local_admin("default"), "rest", Audit())
    await book.remember("ann", "I like tea")
    gone = (await book.remember("ann", "I like rum")).id
    await guard.call("forget", owner="ann", ids=gone, what="record", as_owner=True)
    await guard.call("forget", owner="ann", everything=True, as_owner=True, dry_run=True)
    assert told == []
    await guard.call("forget", owner="ann", everything=True, as_owner=True)
    assert told == [("forget everything", Owner(id="ann"))]


async def test_the_person_or_an_administrator_restricts_what_is_done_with_their_data(book):
    with pytest.raises(NotAllowed, match="the person's or an administrator's credential"):
        await Guard(book, ANN).call("admin.restrict", owner="ann")
    with pytest.raises(NotFound):
        await Guard(book, replace(ANN, person="ann")).call("admin.restrict", owner="bob")
    for who in (replace(ANN, person="ann"), local_admin("default")):
        await Guard(book, who).call("admin.restrict", owner="ann")
    assert await Guard(book, ANN).call("admin.restriction", owner="ann") is not None


async def test_who_restricted_and_lifted_it_is_noted_with_the_change_itself(book):
    await Guard(book, replace(ANN, person="ann")).call("admin.restrict", owner="ann")
    await Guard(book, Principal("app", "default", Role.ADMIN, key=new_id()), "mcp").call(
        "admin.unrestrict", owner="ann"
    )
    await book.admin.restrict("ann")
    assert [
        (line.principal, line.verb, line.surface) for line in (await book.admin.reads("ann")).lines
    ] == [
        ("the person", "restrict", "rest"),
        ("app", "unrestrict", "mcp"),
        ("local", "restrict", "library"),
    ]


async def test_only_an_administrator_lifts_a_restriction(book):
    await book.admin.restrict("ann")
    for who in (ANN, replace(ANN, person="ann")):
        with pytest.raises(NotAllowed, match="role admin"):
            await Guard(book, who).call("admin.unrestrict", owner="ann")
    with pytest.raises(NotFound):
        await Guard(book, replace(ANN, role=Role.ADMIN)).call("admin.unrestrict", owner="bob")
    assert await book.admin.restriction("ann") is not None
    assert await Guard(book, local_admin("default")).call("admin.unrestrict", owner="ann")


@pytest.mark.parametrize("limit", ["owners", "agents", "groups", "person"])
@pytest.mark.parametrize(
    "verb",
    [verb for verb in OPERATIONS.values() if verb.role is Role.ADMIN],
    ids=lambda verb: verb.name,
)
async def test_a_credential_that_names_somebody_operates_no_book_whatever_its_role(
    book, verb, limit
):
    names: Any = "ann" if limit == "person" else frozenset({"ann"})
    who = replace(local_admin("default"), **{limit: names})
    about = {verb.owner_argument: "ann"} if "owner" in verb.in_path else {}
    with pytest.raises(NotAllowed, match="administrator's credential"):
        await Guard(book, who).call(verb.name, **about)
