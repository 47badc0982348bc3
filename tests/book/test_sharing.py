"""Sharing: one setting or one argument makes a person's memory common to their agents."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, NotAllowed
from memoranda.model.memories import Memory
from memoranda.model.records import OwnerKind
from memoranda.testing.clock import HandClock

TOOL = {"trust": "tool"}


@pytest.fixture(params=["sqlite", "memory"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "book.db") if request.param == "sqlite" else "memory://"


async def known(book: memoranda.Book, agent: str, **who: object) -> set[str]:
    page = await book.records.list("ana", types="memory", agent=agent, **who)  # type: ignore[arg-type]
    return {record.content for record in page.records if isinstance(record, Memory)}


async def talk(book: memoranda.Book, agent: str, *said: str, **how: object) -> None:
    thread = await book.thread("ana", agent=agent, **how)  # type: ignore[arg-type]
    for text in said:
        await thread.append("user", text)
    await thread.close()
    await book.jobs.run()


async def test_a_second_agent_knows_nothing_unless_somebody_says_so(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        await talk(book, "coach", "I live in Boston.")
        await book.remember("ana", "Likes rain", agent="coach")
        assert await known(book, "coach") == {"Lives in Boston", "Likes rain"}
        assert (await known(book, "tutor"), await book.profiles.get("ana", agent="tutor")) == (
            set(),
            {},
        )


async def test_one_argument_of_open_makes_memories_profile_and_episodes_common(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock, audience="global") as book:
        await talk(book, "coach", "I live in Boston.", "I am 34 years old.")
        await book.remember("ana", "Likes rain", agent="coach")
        await book.profiles.patch("ana", {"name": "Ana"}, agent="coach")
        await book.episodes.record("ana", goal="Plan a trip", outcome="succeeded", agent="coach")
        assert {"Lives in Boston", "Likes rain"} <= await known(book, "tutor")
        assert await book.profiles.get("ana", agent="tutor") == {
            "name": "Ana",
            "home": "Boston",
            "age": 34,
        }
        goals = {episode.goal for episode in await book.episodes.list("ana", agent="tutor")}
        assert goals == {"Plan a trip", "I live in Boston."}
        context = await book.context("ana", "Where does Ana live?", agent="tutor")
        assert "Boston" in context.text
        # An audience that a call names stays the call's.
        await book.remember("ana", "Snores", agent="coach", audience="self")
        assert "Snores" not in await known(book, "tutor")


async def test_the_setting_holds_for_a_tenant_and_an_agent_has_its_own(
    tmp_path: Path, clock: HandClock
) -> None:
    config = tmp_path / "memoranda.toml"
    config.write_text('[sharing]\ndefault = "global"\n')
    async with memoranda.open("memory://", clock=clock, config=config) as book:
        await book.agents.put("doctor", settings={"sharing": {"default": "self"}})
        await book.remember("ana", "Takes insulin", agent="doctor")
        await talk(book, "doctor", "I work as a nurse.")
        await book.remember("ana", "Likes rain", agent="coach")
        assert await known(book, "tutor") == {"Likes rain"}
        assert "Takes insulin" in await known(book, "doctor")
    async with memoranda.open("memory://", clock=clock) as book:
        await book.agents.put("coach", settings={"sharing": {"default": "global"}})
        await book.remember("ana", "Likes rain", agent="coach")
        await book.remember("ana", "Likes snow", agent="tutor")
        assert await known(book, "guide") == {"Likes rain"}


async def test_a_group_default_reaches_the_agents_of_the_group(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock, audience="group") as book:
        await book.remember("ana", "Is on the blue team", agent="coach", groups=["blue"])
        await book.remember("ana", "Has no group", agent="hermit")
        assert await known(book, "tutor", groups=["blue"]) == {"Is on the blue team"}
        assert (await known(book, "tutor"), await known(book, "hermit")) == (
            set(),
            {"Has no group"},
        )


async def test_the_setting_widens_nothing_that_stands(tmp_path: Path, clock: HandClock) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, clock=clock) as book:
        await book.remember("ana", "Snores", agent="coach")
        thread = await book.thread("ana", name="monday", agent="coach")
        await thread.append("user", "I live in Boston.")
    async with memoranda.open(path, clock=clock, audience="global") as book:
        clock.advance(hours=1)
        await book.jobs.run()
        assert await known(book, "coach") == {"Snores", "Lives in Boston"}
        assert await known(book, "tutor") == set()
        again = await book.thread("ana", name="monday", agent="coach")
        assert again.id != thread.id


async def test_what_strangers_say_stays_with_the_agent(address: str, clock: HandClock) -> None:
    async with memoranda.open(address, clock=clock, audience="global") as book:
        thread = await book.thread("ana", agent="coach")
        told = (await thread.append({"role": "tool", "content": "Ana's card is blocked"})).id
        other = (await thread.append("user", "Ana snores.", speaker="Ben")).id
        own = (await thread.append("user", "I like tea")).id
        for content, fields in {
            "Her card is blocked": {"sources": [told]},
            "Reads a blog on tea": {"trust": "web"},
            "Snores": {"sources": [other]},
            "Likes tea": {"sources": [own]},
        }.items():
            await book.remember("ana", content, agent="coach", **fields)  # type: ignore[arg-type]
        await book.episodes.record(
            "ana", goal="Read a page", outcome="succeeded", agent="coach", trust="web"
        )
        assert await known(book, "tutor") == {"Likes tea"}
        assert len(await known(book, "coach")) == 4
        assert await book.episodes.list("ana", agent="tutor") == []


async def test_rules_keep_what_another_speaker_says_with_the_agent(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        thread = await book.thread("ana", agent="coach", audience="global")
        await thread.append("user", "I live in Boston.")
        for _ in range(2):
            await thread.append("user", "I live in Lisbon.", speaker="Ben")
            clock.advance(hours=1)
            await book.jobs.run()
        assert await known(book, "tutor") == {"Lives in Boston"}
        page = await book.records.list("ana", types="memory", agent="coach")
        found = [record for record in page.records if isinstance(record, Memory)]
        assert sorted((one.content, one.subject, one.confirmations) for one in found) == [
            ("Lives in Boston", None, 0),
            ("Lives in Lisbon", "Ben", 1),
        ]


async def test_an_unknown_word_for_sharing_is_refused_where_it_is_given(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match="audience: 'everyone' is not one of self, group, global"
    ):
        await memoranda.open("memory://", audience="everyone")  # type: ignore[arg-type]
    async with memoranda.open("memory://") as book:
        for settings, at in (
            ({"default": "all"}, "default"),
            ({"defaults": "self"}, "defaults"),
            ("self", ""),
        ):
            with pytest.raises(InvalidInput, match=f"settings.sharing.*{at}"):
                await book.agents.put("coach", settings={"sharing": settings})
    config = tmp_path / "memoranda.toml"
    config.write_text('[sharing]\ndefault = "all"\n')
    with pytest.raises(InvalidInput, match=r"sharing\.default"):
        await memoranda.open("memory://", config=config)


async def test_the_person_sees_who_reads_how_much_and_an_agent_does_not(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        await book.remember("ana", "Likes tea", agent="coach", audience="global")
        await book.remember("ana", "Snores", agent="coach")
        await book.episodes.record("ana", goal="Slept", outcome="succeeded", agent="coach")
        found = await book.records.readers("ana", as_owner=True)
        assert [(one.audience.kind.value, one.audience.agent, one.records) for one in found] == [
            ("global", None, {"memory": 1}),
            ("self", "coach", {"episode": 1, "memory": 1}),
        ]
        with pytest.raises(NotAllowed, match="as_owner=True"):
            await book.records.readers("ana", agent="coach")


async def test_a_global_key_keeps_its_first_author_and_history_names_who_wrote(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        how = {"key": "city", "audience": "global"}
        first = await book.remember("ana", "Lives in York", agent="coach", **how)  # type: ignore[arg-type]
        new = await book.remember("ana", "Lives in Rome", agent="tutor", **how)  # type: ignore[arg-type]
        record = await book.records.get("ana", new.id, agent="guide")
        assert isinstance(record, Memory) and (record.agent, record.supersedes) == (
            "coach",
            (first.id,),
        )
        assert [
            step.actor.id for step in (await book.why("ana", new.id, agent="guide")).history
        ] == ["tutor"]
        # The author of the key may forget it, and who wrote to it may not.
        with pytest.raises(NotAllowed):
            await book.forget("ana", new.id, agent="tutor")
        own = await book.remember(
            "ana", "Likes Rome", agent="tutor", key="likes", audience="global"
        )
        assert isinstance(kept := await book.records.get("ana", own.id, agent="coach"), Memory)
        assert kept.agent == "tutor"
        await book.forget("ana", [new.id, first.id], agent="coach")


async def test_memories_of_a_group_are_shown_to_an_agent_whose_view_names_the_group(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        team = memoranda.Owner(kind=OwnerKind.GROUP, id="blue")
        await book.remember(
            team, "Releases are on Monday", key="release", agent="lead", audience="global"
        )
        await book.remember(team, "Thinks of leaving", agent="lead")
        other = memoranda.Owner(kind=OwnerKind.GROUP, id="red")
        await book.remember(other, "Is behind schedule", agent="lead", audience="global")
        await book.remember("ana", "Likes tea", agent="coach")
        seen = await book.context("ana", "When is the release?", agent="coach", groups=["blue"])
        (block,) = [block for block in seen.blocks if block.name == "group_memories"]
        assert 'of group "blue", key: "release"] Releases are on Monday' in block.text
        assert "leaving" not in seen.text and "behind" not in seen.text and "Likes tea" in seen.text
        for who in (
            {"agent": "coach"},
            {"agent": "coach", "groups": ["green"]},
            {"as_owner": True},
        ):
            without = await book.context("ana", "When is the release?", **who)
            assert "release" not in without.text.lower().replace("<", "")


async def test_memories_of_groups_are_shown_pinned_first_and_then_the_newest_of_all_groups(
    address: str, clock: HandClock
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        blue, red = (memoranda.Owner(kind=OwnerKind.GROUP, id=name) for name in ("blue", "red"))
        await book.remember(
            blue, "Deploy on Mondays only", agent="lead", audience="global", pinned=True
        )
        for place in range(10):
            await book.remember(blue, f"Ticket {place} is done", agent="lead", audience="global")
        await book.remember(red, "The office moves", agent="lead", audience="global")
        seen = await book.context("ana", agent="coach", groups=["blue", "red"], limit=3)
        (block,) = [block for block in seen.blocks if block.name == "group_memories"]
        shown = (
            "Deploy on Mondays only",
            "The office moves",
            "Ticket 9 is done",
            "Ticket 8 is done",
        )
        assert all(text in block.text for text in shown) and "Ticket 7" not in block.text


async def test_a_read_that_is_empty_because_of_its_view_tells_the_developer_and_no_agent(
    address: str, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with memoranda.open(address, clock=clock) as book:
        await book.remember("ana", "Likes tea", agent="coach")
        await book.profiles.patch("ana", {"name": "Ana"}, agent="coach")
        caplog.set_level(logging.DEBUG, "memoranda.view")
        assert (await book.context("ana", agent="tutor")).text == ""
        assert await book.profiles.get("ana", agent="tutor") == {}
        assert (await book.about("ana", agent="tutor")).records == {}
        assert [line.split(":")[0] for line in caplog.messages] == [
            "context found nothing",
            "profile found nothing",
            "about found nothing",
        ]
