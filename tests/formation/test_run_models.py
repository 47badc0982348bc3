"""A run and its models: down, useless, refusing, too small; what was bought is used, and nothing is
bought in vain.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import ModelDown, ModelRefused
from memoranda.model.changes import JobState
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import TALK, jobs, known, notes, opened, settle


async def test_an_answer_that_was_bought_is_used_after_a_crash_and_not_bought_again(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    models = ScriptedModels(notes("Likes jazz"))
    path = tmp_path / "book.db"
    async with opened(path, clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)

        async def crash(batch: Any) -> Any:
            raise OSError("the power is gone")

        monkeypatch.setattr(book.engine, "apply", crash)
        await settle(book, clock)
    async with opened(path, clock, ScriptedModels([AssertionError("it is asked again")])) as book:
        (job,) = await jobs(book)
        assert job.state is JobState.WAITING and job.error == "OSError"
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"] and await jobs(book) == []
    assert len(models.asked) == 1


async def test_while_a_provider_is_down_all_waits_together_and_nothing_dies(clock: HandClock):
    down = True

    def say(request: ModelRequest) -> Said:
        return (
            ModelDown("the provider is away", retry_after=5)
            if down
            else notes("Likes jazz")(request)
        )

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        for place in range(30):
            await (await book.thread("ann", agent="guide", name=str(place))).append(TALK)
        for _ in range(20):
            await settle(book, clock, 180)
        waiting = await jobs(book)
        assert len(waiting) == 30 and {job.state for job in waiting} == {JobState.WAITING}
        assert {job.tries for job in waiting} == {0}
        assert "the provider is away" in waiting[0].error
        assert len(models.asked) <= 30
        assert await book.recall("ann", "jazz", agent="guide")
        down = False
        for _ in range(4):
            await settle(book, clock, 700)
        assert await jobs(book) == [] and await known(book) == ["Likes jazz"]


async def test_a_part_that_is_wrong_is_asked_for_once_more_and_the_rest_is_kept(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        good = notes("Likes jazz")(request)
        assert isinstance(good, dict)
        path = "/home" if request.earlier else "/nowhere/at/all"
        source = good["notes"][0]["sources"]
        patch = {"schema": "Profile", "sources": source}
        patch["operations"] = [{"op": "add", "path": path, "value": "New York"}]
        return {**good, "patches": [patch]} if not request.earlier else {"patches": [patch]}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Home: New York", "Likes jazz"]
        assert await book.profiles.get("ann", agent="guide") == {"home": "New York"}
    assert len(models.asked) == 2
    (earlier,) = models.asked[1].earlier
    assert "/nowhere/at/all" in earlier.answer and "patches[0]" in earlier.faults[0]


async def test_a_part_whose_answers_are_useless_is_named_and_formed_later_and_stops_nothing(
    clock: HandClock,
):
    useless = True

    def say(request: ModelRequest) -> Said:
        if useless and handle(request, "moved to Porto") is None:
            return "I would rather talk."
        if handle(request, "moved to Porto"):
            return notes("Lives in Porto", key="home")(request)
        answer = notes("Likes jazz", "Lives in New York")(request)
        assert isinstance(answer, dict)
        answer["notes"][1]["key"] = "home"
        return answer

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in New York, and I like jazz.")
        for _ in range(6):
            await settle(book, clock, 600)
        assert len(models.asked) == 9 and await known(book) == []
        waits = await thread.formed()
        (part,) = waits
        assert [one.code for one in part.left_out] == ["unusable"]
        command = f"memoranda jobs retry {waits.job}"
        about = await book.about("ann", agent="guide")
        assert waits.state == "waiting" and "messages 1 to 1" in waits.because
        for told in (waits.because, repr(about), *about.unread):
            assert command in told and "no answer of the model could be used" in told
        assert [
            hit.record.passage_text() for hit in await book.recall("ann", "jazz", agent="guide")
        ]
        # What is newer is formed meanwhile, and nothing that is formed late ends it.
        await thread.append("user", "I have moved to Porto now, by the way.")
        await settle(book, clock, 60)
        assert await known(book) == ["Lives in Porto"]
        useless = False
        await settle(book, clock, 3600)
        assert await known(book) == ["Likes jazz", "Lives in Porto"]
        assert (await thread.formed()).state == "formed"
        assert (await book.about("ann", agent="guide")).unread == ()


async def test_a_part_is_asked_about_again_three_times_and_then_only_by_hand(clock: HandClock):
    models = ScriptedModels(lambda request: "I would rather talk.")
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        for _ in range(4):
            await settle(book, clock, 300)
        assert len(models.asked) == 9
        (job,) = [job for job in await book.engine.jobs(None, 100) if job.kind == "form_late"]
        hours = []
        for _ in range(80):
            before = len(models.asked)
            await settle(book, clock, 1800)
            # A round of questions takes three; what is quiet for a day is asked about for its
            # episode beside it.
            notes = [
                one
                for one in models.asked[before:]
                if "notes" in one.content.rsplit("Fill:", 1)[-1]
            ]
            hours += [int((clock() - job.first_at).total_seconds() // 3600)] if notes else []
        assert hours == [1, 7, 31]
        waits = await thread.formed()
        assert waits.state == "given_up" and f"memoranda jobs retry {waits.job}" in waits.because


async def test_rules_may_form_such_a_part_meanwhile_and_the_model_replaces_what_nobody_touched(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORANDA_FORMING_FALLBACK", "rules")
    useless = True

    def say(request: ModelRequest) -> Said:
        return (
            "I would rather talk."
            if useless
            else notes("Resides in New York, in Brooklyn")(request)
        )

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in New York. I like jazz. I am allergic to walnuts.")
        for _ in range(4):
            await settle(book, clock, 300)
        page = await book.records.list("ann", types="memory", as_owner=True)
        made = {one.content: one for one in page.records if isinstance(one, Memory)}
        assert len(made) == 3 and all(one.tags == ("by rules",) for one in made.values())
        jazz, allergy = (
            next(one for told, one in made.items() if word in told) for word in ("jazz", "walnut")
        )
        await book.memories.amend("ann", jazz.id, {"pinned": True}, agent="guide")
        await book.forget("ann", allergy.id, agent="guide")
        useless = False
        await settle(book, clock, 3600)
        assert await known(book) == [jazz.content, "Resides in New York, in Brooklyn"]
        assert (await thread.formed()).state == "formed"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (ModelRefused("no credit", reason="quota"), "form"),
        (ModelRefused("bad key", reason="credentials"), "form"),
        (ModelRefused("not about this", reason="content"), "form_late"),
        (ModelAnswer(text="no", refused=True, fault="the model refuses to answer"), "form_late"),
    ],
)
async def test_a_refusal_waits_for_a_person_and_is_not_bought_again_and_again(
    clock: HandClock, fault: Said, kind: str
):
    models = ScriptedModels([fault])
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        (job,) = [job for job in await book.engine.jobs(None, 100) if job.kind.startswith("form")]
        assert (job.kind, job.state) == (kind, JobState.WAITING)
    assert len(models.asked) == 1


@pytest.mark.parametrize("reason", ["length", "content"])
async def test_what_is_right_is_kept_where_what_is_wrong_cannot_be_handed_back(
    clock: HandClock, reason: str
):
    def say(request: ModelRequest) -> Said:
        if request.earlier:
            return ModelRefused("not that", reason=reason)
        answer = notes("Likes jazz", "Likes tea")(request)
        assert isinstance(answer, dict)
        answer["notes"][1]["sources"] = [{"message": "m99"}]
        return answer

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"] and await jobs(book) == []
        assert (await thread.get()).formed_through == 2
    assert len(models.asked) == 2


async def test_a_refusal_to_mend_an_answer_of_which_nothing_holds_is_told(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        if request.earlier:
            return ModelAnswer(text="no", refused=True, fault="the model refuses to answer")
        return {"notes": [{"content": "Likes jazz", "sources": [{"message": "m99"}]}]}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await jobs(book) == []
        assert "refuses" in (await thread.formed()).because


async def test_a_question_that_is_too_long_is_asked_in_shorter_pieces(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        if len(request.content) > 6_000:
            return ModelRefused("too long", reason="length")
        return notes(f"Said {len(models.asked)}")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        for place in range(20):
            await thread.append("user", f"{place} " + "I like long stories about jazz. " * 30)
        await settle(book, clock)
        assert (await thread.get()).formed_through == 20
        assert await jobs(book) == [] and len(await known(book)) >= 3
