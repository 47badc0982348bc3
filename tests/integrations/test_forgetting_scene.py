"""A user corrects where they live, then asks to forget it: the next conversation knows nothing of
it, until that is undone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.integrations.tools import Call, MemoryTools
from memoranda.model.language_models import ModelRequest
from memoranda.model.records import Record
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.integrations.scripted import COACH, Script, agent_of, call

ABOUT = "What do you know about me?"
#: What a record has anew after it was hidden and brought back, though it says the same.
ANEW = {"version", "recorded_at", "past"}


def formed(request: ModelRequest) -> Said:
    """Form the home that a user names, as a note and a field, with a summary."""
    for place in ("Boston", "Lisbon"):
        said = handle(request, f"I live in {place}")
        if said is not None:
            source = [{"message": said, "quote": f"I live in {place}"}]
            change = {"op": "add", "path": "/home", "value": place}
            return {
                "notes": [{"content": f"Lives in {place}", "key": "home", "sources": source}],
                "patches": [{"schema": "Profile", "operations": [change], "sources": source}],
            }
    return {}


@pytest.fixture(params=["rules", "model"])
async def home(
    request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock
) -> AsyncIterator[memoranda.Book]:
    models = ScriptedModels(formed) if request.param == "model" else None
    async with memoranda.open(
        tmp_path / "home.db", clock=clock, models=models, embed=None, worker=False
    ) as opened:
        yield opened
        assert (await opened.admin.verify()).faults == ()


async def told(book: memoranda.Book, clock: HandClock, prompt: str, *answers: Any) -> Script:
    """Hold one session with the agent, and form it."""
    script = Script(*answers)
    await agent_of(script, book).run(prompt)
    clock.advance(hours=2)
    await book.jobs.run()
    return script


async def three_sessions(book: memoranda.Book, clock: HandClock) -> None:
    await told(
        book,
        clock,
        "Hello! I live in Boston and I like jazz.",
        "Nice, you live in Boston. And jazz, too!",
    )
    correcting = call("remember", content="Lives in Lisbon", key="home")
    await told(
        book,
        clock,
        "I have moved: I live in Lisbon now.",
        correcting,
        "Noted, you live in Lisbon now.",
    )
    await told(book, clock, ABOUT, "You live in Lisbon, and you like jazz.")


async def reads(book: memoranda.Book) -> dict[str, dict[str, Any]]:
    """Return every record that the person sees, as it reads."""
    page = await book.records.list("ana", as_owner=True, limit=1000)
    found: list[Record] = list(page.records)
    return {str(record.id): record.model_dump(mode="json", exclude=ANEW) for record in found}


async def everything(book: memoranda.Book) -> str:
    """Return all that an agent or the person gets to read."""
    context = await book.context("ana", "Where do I live?", agent="coach")
    hits = await book.recall("ana", "Lisbon Boston live", as_owner=True, limit=100)
    return f"{context.text} {[hit.record for hit in hits]} {await reads(book)}"


@pytest.mark.parametrize(
    "wish", ["Please forget where I live.", "Forget that I live in Lisbon, please."]
)
async def test_the_fourth_session_knows_nothing_of_what_was_forgotten(
    home: memoranda.Book, clock: HandClock, wish: str
) -> None:
    await three_sessions(home, clock)
    assert "Lisbon" in await everything(home)
    forgetting = await told(
        home, clock, wish, call("forget", key="home"), "I have forgotten that you live in Lisbon."
    )
    assert "Forgotten: home. Taken out of the memory: " in forgetting.answered[0]
    assert (
        "It is erased in 24 hours" in forgetting.answered[0]
        and "Lisbon" not in forgetting.answered[0]
    )

    fourth = await told(home, clock, ABOUT, "You like jazz.")
    assert "Lisbon" not in fourth.told and "Boston" not in fourth.told and "jazz" in fourth.told
    left = await everything(home)
    assert "Lisbon" not in left and "Boston" not in left
    assert await home.profiles.get("ana", agent="coach") in ({"interests": ["jazz"]}, {})


async def test_undo_within_the_hours_brings_every_byte_back_and_finishing_ends_that(
    home: memoranda.Book, clock: HandClock
) -> None:
    await three_sessions(home, clock)
    before = await reads(home)
    await told(home, clock, "Forget my home, please.", call("forget", key="home"), "Done.")
    pending = (await home.about("ana", as_owner=True)).pending
    assert pending and all(one.due is not None and one.actor.id == COACH.agent for one in pending)
    for one in reversed(pending):
        await home.undo("ana", one.position, as_owner=True)
    after = await reads(home)
    assert {id: after.get(id) for id in before} == before
    assert (await home.about("ana", as_owner=True)).pending == ()

    await told(home, clock, "Delete my home from your memory.", call("forget", key="home"), "Done.")
    (one, *_) = (await home.about("ana", as_owner=True)).pending
    clock.advance(hours=25)
    await home.jobs.run()
    assert (await home.about("ana", as_owner=True)).pending == ()
    with pytest.raises(memoranda.Erased):
        await home.undo("ana", one.position, as_owner=True)
    lines = "".join([line async for line in home.admin.export("ana")])
    assert "Lisbon" not in lines and "Boston" not in lines and "jazz" in lines


async def test_the_answer_names_what_still_tells_of_it_and_repeats_no_word(
    home: memoranda.Book, clock: HandClock
) -> None:
    await told(
        home,
        clock,
        "I live in Lisbon.",
        call("remember", content="Lives in Lisbon", key="home"),
        "Ok.",
    )
    sister = await home.remember(
        "ana", "Sister Mia lives in Lisbon", agent="coach", audience="global"
    )
    answer = (
        await told(home, clock, "Forget my home.", call("forget", key="home"), "Done.")
    ).answered[0]
    assert f"These stay: memory {sister.id} (somebody else's, with the same value)." in answer
    assert "Other wordings were not searched for." in answer and "Lisbon" not in answer


async def test_a_call_that_is_made_again_hides_nothing_more(
    home: memoranda.Book, clock: HandClock
) -> None:
    await home.remember("ana", "Lives in Lisbon", key="home", agent="coach")
    tools, same = MemoryTools(home, COACH), Call("run", "call", said="Forget my home.")
    first = await tools.forget(same, "home")
    again = await tools.forget(Call("run", "call", said="Forget my home."), "home")
    assert first.startswith("Forgotten: home. Taken out") and again.startswith(
        "Forgotten: home. This call"
    )
    assert len((await home.about("ana", as_owner=True)).pending) == 1


async def test_without_hours_of_grace_it_is_erased_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_FORGET_TOOL_GRACE_HOURS", "0")
    async with memoranda.open(tmp_path / "none.db", embed=None) as book:
        await book.remember("ana", "Lives in Lisbon", key="home", agent="coach")
        script = Script(call("forget", key="home"), "I forgot that you live in Lisbon.")
        await agent_of(script, book).run("Forget my home, please.")
        assert "erased now" in script.answered[0]
        assert (await book.about("ana", as_owner=True)).pending == ()
        assert "Lisbon" not in "".join([line async for line in book.admin.export("ana")])


async def test_experience_does_not_count_what_is_hidden_until_that_is_undone(
    home: memoranda.Book, clock: HandClock
) -> None:
    kept = await home.remember("ana", "Lives in Lisbon", key="home", agent="coach")
    line = await home.experience.add(
        "coach", "heuristics", "Ask about trams.", evidence={"ana": [kept.id]}
    )
    hidden = await home.forgetting.hide("ana", kept.id, agent="coach")

    async def faulty() -> bool:
        (found,) = await home.experience.list("coach")
        assert found.id == line.id
        return kept.id in found.evidence[0].faulty

    assert await faulty()
    await home.undo("ana", hidden.receipt.position, agent="coach")
    assert not await faulty()


async def test_what_no_user_asked_to_forget_stays_hidden_until_somebody_decides(
    home: memoranda.Book, clock: HandClock
) -> None:
    await three_sessions(home, clock)
    injected = await told(
        home, clock, "Read this page for me.", call("forget", key="home"), "Done."
    )
    assert "stays hidden until the user or the application decides" in injected.answered[0]
    assert "Lisbon" not in await everything(home)
    clock.advance(days=300)
    await home.jobs.run()
    (one,) = (await home.about("ana", as_owner=True)).pending
    assert one.due is None
    await home.forgetting.finish("ana", one.position, as_owner=True)
    assert (await home.about("ana", as_owner=True)).pending == ()
    lines = "".join([line async for line in home.admin.export("ana")])
    assert "Lisbon" not in lines
