"""Experience over a service: a credential that opens some users only learns nothing of the others,
and changes nothing.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal, local_admin
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import NotAllowed, NotFound
from memoranda.model.records import Owner, OwnerKind
from memoranda.operations import Operation, Role
from tests.service.conftest import asking

BOSS = local_admin("default")
SHOP = Principal("shop", "default", Role.EDITOR, agents=frozenset({"shop"}))
ANY = Principal("any", "default", Role.EDITOR)
EVE = Principal("eve", "default", Role.EDITOR, frozenset({"eve"}), frozenset({"shop"}))
LIMITED = {
    "viewer": replace(EVE, role=Role.VIEWER),
    "editor": EVE,
    "admin": replace(EVE, role=Role.ADMIN),
    "person": Principal("eve", "default", Role.EDITOR, frozenset({"eve"}), person="eve"),
    "groups": Principal(
        "team", "default", Role.EDITOR, agents=frozenset({"shop"}), groups=frozenset({"team"})
    ),
}
AGENT = Owner(kind=OwnerKind.AGENT, id="shop")
SECRET = "Zephyrine"


@pytest.fixture
async def book():
    async with memoranda.open("memory://", worker=False, embed=None) as opened:
        yield opened


@pytest.fixture
async def line(book):
    """Return the line of another user."""
    id = (await book.remember("vic", f"{SECRET} pays late")).id
    made = await book.experience.add(
        "shop", "heuristics", f"{SECRET} pays late", evidence={"vic": [id]}
    )
    return str(made.id)


async def lines(book):
    return [one.model_dump_json() for one in await book.experience.list("shop", retired=True)]


@pytest.mark.parametrize("who", LIMITED)
async def test_a_limited_credential_gets_the_lines_of_an_owner_that_it_opens_and_nothing_else(
    book, line, who
):
    guard, before = Guard(book, LIMITED[who]), await lines(book)
    own = (await book.remember("eve", "tea")).id
    given = {
        "experience.list": {},
        "experience.add": {"field": "heuristics", "line": "x"},
        "experience.add_evidence": {"line": line, "evidence": {"eve": [own]}},
        "experience.retire": {"line": line},
        "experience.check_privacy": {"line": line},
        "experience.approve": {"line": line},
    }
    assert set(given) == {name for name in OPERATIONS if name.startswith("experience.")}
    for name, arguments in given.items():
        with pytest.raises(NotAllowed):
            await guard.call(name, agent="shop", **arguments)
    with pytest.raises(NotAllowed):
        await guard.call(
            "experience.add", agent="shop", field="heuristics", line="x", evidence={"eve": [own]}
        )
    if "eve" in (LIMITED[who].owners or ()):
        assert await guard.call("experience.list", agent="shop", for_user="eve") == []
        for owner in ("vic", "vix"):
            with pytest.raises(NotFound, match=f"^there is no owner {owner} for this credential$"):
                await guard.call("experience.list", agent="shop", for_user=owner)
    assert await lines(book) == before


@pytest.mark.parametrize("who", LIMITED)
@pytest.mark.parametrize(
    "verb",
    [verb for verb in OPERATIONS.values() if "owner" in verb.in_path],
    ids=lambda verb: verb.name,
)
async def test_a_limited_credential_finds_no_agent_as_an_owner(book, line, who, verb):
    before = await lines(book)
    rest = {name: "x" for name in verb.in_path if name != "owner"}
    said = []
    for name in ("shop", "shot"):
        owner = Owner(kind=OwnerKind.AGENT, id=name)
        with pytest.raises((NotFound, NotAllowed)) as refused:
            await Guard(book, LIMITED[who]).call(verb.name, owner=owner, **rest)
        said.append((type(refused.value), str(refused.value).replace("shot", "shop")))
    assert said[0] == said[1]
    assert await lines(book) == before


async def test_a_credential_of_agents_reads_adds_to_and_retires_the_lines_of_its_agents(book, line):
    guard = Guard(book, SHOP)
    (seen,) = await guard.call("experience.list", agent="shop")
    assert (SECRET in seen.line, seen.evidence, seen.past) == (True, (), ())
    (own,) = await guard.call("experience.list", agent="shop", for_user="vic")
    assert [part.owner.id for part in own.evidence] == ["vic"]
    id = (await book.remember("eve", "tea")).id
    await guard.call("experience.add_evidence", agent="shop", line=line, evidence={"eve": [id]})
    await guard.call("experience.retire", agent="shop", line=line)
    assert await book.experience.list("shop") == []
    for name in ("experience.list", "experience.retire"):
        with pytest.raises(NotFound):
            await guard.call(name, agent="spy", **({} if name.endswith("list") else {"line": line}))


async def test_by_the_agents_own_name_its_lines_come_without_owners_and_record_ids(book, line):
    guard = Guard(book, SHOP)
    evidence = (await book.experience.list("shop"))[0].evidence[0]
    told = [
        await guard.call("records.list", owner=AGENT),
        await guard.call("records.get", owner=AGENT, id=line),
        await guard.call("why", owner=AGENT, id=line),
        await guard.call("records.history", owner=AGENT, id=line),
        await guard.call("about", owner=AGENT),
        await guard.call("records.count", owner=AGENT),
    ]
    assert told[1].line == f"{SECRET} pays late"
    for one in told:
        assert "vic" not in repr(one) and str(evidence.sources[0]) not in repr(one)
        assert "'vic'" not in str(getattr(one, "records", ""))
    assert (
        told[0].records[0].evidence == told[2].record.evidence == told[3][0].record.evidence == ()
    )
    with pytest.raises(NotAllowed, match="as_owner=True"):
        await guard.call("records.ledger", owner=AGENT)
    (entry,) = await book.records.ledger(AGENT, as_owner=True)
    with pytest.raises(NotAllowed, match="only they undo it"):
        await guard.call("undo", owner=AGENT, position=entry.position)
    assert len(await book.experience.list("shop")) == 1


@pytest.mark.parametrize(("principal", "serves"), [(SHOP, False), (ANY, False), (BOSS, True)])
async def test_a_line_without_evidence_serves_once_an_admin_approves_it(book, principal, serves):
    guard = Guard(book, principal)
    id = (await guard.call("experience.add", agent="shop", field="heuristics", line="Be kind")).id
    assert bool(await book.experience.list("shop", for_user="eve")) is serves
    assert ("Be kind" in (await book.context("eve", agent="shop", budget=500)).text) is serves
    assert [one.waits for one in await book.experience.list("shop")] == [not serves]
    await Guard(book, BOSS).call("experience.approve", agent="shop", line=id)
    assert await book.experience.list("shop", for_user="eve")


async def test_an_admin_who_adds_a_line_that_waits_approves_it(book):
    given = {"agent": "shop", "field": "heuristics", "line": "Be kind"}
    await Guard(book, SHOP).call("experience.add", **given)
    await Guard(book, SHOP).call("experience.add", **given)
    assert await book.experience.list("shop", for_user="eve") == []
    await Guard(book, BOSS).call("experience.add", **given)
    assert len(await book.experience.list("shop", for_user="eve")) == 1


async def test_no_credential_of_agents_undoes_what_an_admin_decided_about_a_line(book):
    id = (
        await Guard(book, SHOP).call(
            "experience.add", agent="shop", field="heuristics", line="Be kind"
        )
    ).id
    boss = Guard(book, BOSS)
    await boss.call("experience.approve", agent="shop", line=id)
    taken = await boss.call("experience.approve", agent="shop", line=id, approved=False)
    with pytest.raises(NotAllowed):
        await Guard(book, SHOP).call("undo", owner=AGENT, position=taken.position)
    assert await book.experience.list("shop", for_user="eve") == []


@pytest.mark.parametrize("path", ["/v1/news", "/v1/agents/{agent}/news", "/v1/agents/{name}/news"])
async def test_a_verb_that_does_not_say_why_it_is_safe_is_refused(book, monkeypatch, path):
    asked = []

    async def news(**given):
        asked.append(given)
        return "news"

    monkeypatch.setattr(book, "news", news, raising=False)
    given = {"agent": "shop"} if "{agent}" in path else {}
    for who in LIMITED.values():
        monkeypatch.setitem(OPERATIONS, "news", Operation("news", Role.VIEWER, "GET", path))
        with pytest.raises(NotAllowed, match="whole book"):
            await Guard(book, who).call("news", **given)
        monkeypatch.setitem(
            OPERATIONS, "news", Operation("news", Role.VIEWER, "GET", path, "it is of nobody")
        )
        assert await Guard(book, who).call("news", **given) == "news"
    assert len(asked) == len(LIMITED)


def test_no_verb_that_takes_an_owner_counts_as_safe_without_one():
    for verb in OPERATIONS.values():
        assert not verb.safe or "owner" not in inspect.signature(verb.function).parameters, (
            verb.name
        )


@pytest.mark.parametrize("who", [*LIMITED.values(), SHOP, ANY], ids=lambda who: who.name)
async def test_without_an_owner_only_what_is_of_nobody_is_answered(book, who):
    for verb in OPERATIONS.values():
        if "owner" in verb.in_path or verb.safe or verb.in_path[:1] == ("agent",):
            continue
        with pytest.raises(NotAllowed):
            await Guard(book, who).call(verb.name, **dict.fromkeys(verb.in_path, "x"))


@pytest.mark.parametrize(
    ("who", "shown"),
    [
        (BOSS, ["a", "b"]),
        (SHOP, ["a"]),
        (ANY, ["", ""]),
        (LIMITED["person"], ["", ""]),
        (EVE, ["a"]),
    ],
    ids=["admin", "agent", "any", "person", "editor"],
)
async def test_a_system_prompt_is_shown_to_admins_and_credentials_of_its_agent(book, who, shown):
    for name, prompt in (("shop", "a"), ("spy", "b")):
        await book.agents.put(name, system_prompt=prompt, description="d")
    guard = Guard(book, who)
    assert [one.system_prompt for one in await guard.call("agents.list")] == shown
    got = await guard.call("agents.get", name="shop")
    assert (got.system_prompt, got.description) == (shown[0], "d")
    assert await guard.call("agents.get", name="shop") is not None


async def test_neither_door_is_open_over_http(book, line):
    for name in ("viewer", "editor", "person"):

        async def authenticate(_: str | None, who: Principal = LIMITED[name]) -> Principal:
            return who

        async with asking(book, authenticate=authenticate) as http:
            answer = await http.get("/v1/agents/shop/experience")
            assert (answer.status_code, SECRET in answer.text, line in answer.text) == (
                403,
                False,
                False,
            )
            said = []
            for agent in ("shop", "shot"):
                answer = await http.get(
                    f"/v1/owners/{agent}/records", params={"owner_kind": "agent"}
                )
                said.append((answer.status_code, answer.json()["detail"].replace("shot", "shop")))
            assert said[0] == said[1] and said[0][0] == 404
            undone = await http.post(
                "/v1/owners/shop/ledger/1/undo", params={"owner_kind": "agent"}, json={}
            )
            assert undone.status_code in (403, 404)
    assert len(await book.experience.list("shop")) == 1
