"""Tests of formation's state and spending: how far a thread was formed, and each call and answer
counted once.
"""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from memoranda.errors import InvalidInput, LimitReached, NotFound, Stale
from memoranda.model.changes import KEPT_LENGTH, Change, Import, MarkFormed, SetThread, Undo
from memoranda.model.language_models import Spent, SpentFilter, Sums, Usage, total
from memoranda.model.ledger import Verb
from memoranda.model.messages import SummariseThread
from memoranda.model.records import Owner, RecordType
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_B,
    BEN,
    FOR_A,
    START,
    Pen,
    a_thread,
    adopted,
    exported,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.job_waits import leased, put

DAY = START.date()
PRICED = Usage(
    calls=1, tokens_in=900, tokens_cached=300, tokens_out=80, price=Decimal("0.000123456789")
)


def started_call(owner: Owner | None = ANN, **fields: Any) -> Spent:
    """Return a call to a language model that was started today."""
    tenant = "default" if owner is None else owner.tenant
    given = {
        "tenant": tenant,
        "owner": owner,
        "agent": "a",
        "day": DAY,
        "task": "form",
        "model": "p:m",
        "calls": 1,
    }
    return Spent.model_validate({**given, **fields})  # fmt: skip


async def add_owners(engine: Engine, *owners: Owner) -> None:
    """Add owners to the book."""
    for owner in owners:
        await Pen(engine, owner).remember("something")


async def all_sums(engine: Engine, tenant: str = "default") -> Sums:
    """Return the sums of the tenant's spending, after checking that both queries agree."""
    found = await engine.spent_in_all(tenant)
    assert found == total(await engine.spent(tenant))
    return found


class SpendingSuite(Suite):
    """Tests that every cost is counted, even if its answer is not used."""

    async def test_what_has_all_in_common_is_added_up_and_nothing_else_is(
        self, engine: Engine
    ) -> None:
        await add_owners(engine, ANN, BEN)
        others: tuple[dict[str, Any], ...] = (
            {},
            {"owner": BEN},
            {"agent": None},
            {"day": DAY + timedelta(days=1)},
            {"task": "retry"},
            {"model": "p:n"},
        )
        for _ in range(2):
            for other in others:
                await engine.note_spent(started_call(**other))
        found = await engine.spent("default")
        assert found == sorted(
            (started_call(**other, calls=2) for other in others), key=lambda spent: spent.place
        )
        assert await all_sums(engine) == Sums(calls=12)

    async def test_an_answer_is_counted_in_the_commit_that_keeps_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        about = await pen.remember("tea")
        await put(pen)
        job = await leased(pen)
        await engine.note_spent(started_call())
        assert (await all_sums(engine)).unanswered == 1
        assert await engine.keep(job, {"text": "tea"}, (about,), started_call().answered(PRICED))
        (found,) = await engine.spent("default")
        assert (found.calls, found.answers, found.unanswered, found.unpriced) == (1, 1, 0, 0)
        assert (found.tokens_in, found.tokens_cached, found.tokens_out) == (900, 300, 80)
        assert (found.price, found.currency) == (Decimal("0.000123456789"), "USD")

    async def test_prices_add_up_to_the_twelfth_decimal(self, engine: Engine) -> None:
        await add_owners(engine, ANN)
        prices = [Decimal(f"0.{number:012}") for number in (1, 1, 999_999_999_999)]
        prices += [Decimal("0.1"), Decimal("0.2"), Decimal("8000000.000000000001")]
        for number, price in enumerate(prices):
            task = "large" if price > 1 else str(number % 2)
            await engine.note_spent(started_call(calls=0, answers=1, task=task, price=price))
        expected = Decimal("8000001.300000000002")
        found = await all_sums(engine)
        assert (found.price, found.answers) == (expected, 6)

    async def test_an_unknown_price_is_counted_as_unknown(self, engine: Engine) -> None:
        await add_owners(engine, ANN)
        for usage in (PRICED, PRICED.model_copy(update={"price": None})):
            await engine.note_spent(started_call(calls=0).answered(usage))
        found = await all_sums(engine)
        assert (found.answers, found.unpriced, found.price) == (2, 1, PRICED.price)

    async def test_several_writers_at_once_lose_nothing(self, engine: Engine) -> None:
        await add_owners(engine, ANN)
        spent = started_call(answers=1, tokens_in=7, price=Decimal("0.000000000001"))
        await asyncio.gather(*(engine.note_spent(spent) for _ in range(50)))
        (found,) = await engine.spent("default")
        assert (found.calls, found.answers, found.tokens_in) == (50, 50, 350)
        assert found.price == Decimal("0.00000000005")

    async def test_what_was_paid_is_counted_where_nothing_is_kept(self, engine: Engine) -> None:
        pen = Pen(engine)
        gone = await pen.remember("tea")
        await put(pen)
        job = await leased(pen, seconds=10)
        await pen.erase(gone)
        spent = started_call(calls=0).answered(PRICED)
        assert not await engine.keep(job, {"text": "tea"}, (gone,), spent)
        pen.tick(10)
        taken = await leased(pen, "two")
        assert not await engine.keep(job, {"text": "too late"}, (), spent)
        with pytest.raises(LimitReached):
            await engine.keep(taken, {"text": "x" * KEPT_LENGTH}, (), spent)
        with pytest.raises(TypeError):
            await engine.keep(taken, {"text": {1}}, (), spent)
        (found,) = await engine.spent("default")
        assert (found.owner, found.answers) == (ANN, 4)
        await engine.postpone(taken, pen.now)
        assert (await leased(pen)).kept is None

    async def test_an_erased_owner_leaves_the_tenants_sums_without_name_or_agent(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        await add_owners(engine, ANN, BEN)
        for agent in ("a", "her own", None):
            await engine.note_spent(started_call(agent=agent).answered(PRICED))
        await engine.note_spent(started_call(BEN))
        await engine.note_spent(started_call(agent=None))
        before = await all_sums(engine)
        receipt = await pen.erase_all()
        assert receipt.removed["names on spending"] == 3
        assert await all_sums(engine) == before
        gone, ben = sorted(await engine.spent("default"), key=lambda spent: spent.owner is not None)
        assert gone == started_call(None, agent=None, calls=1).holding(gone)
        assert (gone.answers, gone.calls, ben) == (3, 1, started_call(BEN))
        assert await engine.spent("default", SpentFilter(owner=ANN)) == []
        assert "names on spending" in (await other.erase_all()).removed
        assert [spent.owner for spent in await engine.spent("default")] == [None]
        assert await all_sums(engine) == before

    async def test_what_comes_after_the_owner_was_erased_is_counted_without_a_name(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        await engine.note_spent(started_call())
        await pen.erase_all()
        answer = started_call(calls=0).answered(PRICED)
        assert not await engine.keep(job, {"text": "tea"}, (), answer)
        await engine.note_spent(started_call())
        (found,) = await engine.spent("default")
        assert (found.owner, found.agent, found.calls, found.answers) == (None, None, 2, 1)

    async def test_an_owner_who_came_back_has_nothing_of_the_era_before(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        await engine.note_spent(started_call())
        await pen.erase_all()
        await pen.remember("new here")
        await engine.keep(job, {"text": "tea"}, (), started_call(calls=0).answered(PRICED))
        assert await engine.spent_in_all("default", SpentFilter(owner=ANN)) == Sums()
        await engine.note_spent(started_call(task="new"))
        (found,) = await engine.spent("default", SpentFilter(owner=ANN))
        assert (found.task, found.answers) == ("new", 0)

    async def test_it_is_asked_for_by_owner_agent_and_days(self, engine: Engine) -> None:
        await add_owners(engine, ANN, BEN)
        days = [date(2025, 1, 31), date(2025, 2, 1), date(2025, 3, 1)]
        for number, day in enumerate(days):
            await engine.note_spent(started_call(ANN, day=day, calls=10**number, agent="a"))
            await engine.note_spent(started_call(BEN, day=day, calls=2 * 10**number, agent="b"))
        for only, calls in (
            ({"owner": ANN}, 111),
            ({"agent": "b"}, 222),
            ({"owner": ANN, "agent": "b"}, 0),
            ({"since": days[1]}, 330),
            ({"until": days[2]}, 33),
            ({"owner": BEN, "since": days[1], "until": days[2]}, 20),
            ({"agent": "%"}, 0),
        ):
            asked = SpentFilter.model_validate(only)
            assert total(await engine.spent("default", asked)).calls == calls
            assert (await engine.spent_in_all("default", asked)).calls == calls

    async def test_a_tenant_has_its_own_sums(self, engine: Engine) -> None:
        twin = Owner(tenant="Default", id=ANN.id)
        await add_owners(engine, ANN, twin)
        await engine.note_spent(started_call())
        await engine.note_spent(started_call(twin, calls=5))
        await Pen(engine, twin).erase_all()
        await engine.note_spent(started_call(None, calls=3))
        assert (await all_sums(engine)).calls == 4
        assert (await all_sums(engine, "Default")).calls == 5
        assert await all_sums(engine, "other") == Sums()
        for asked in (SpentFilter(owner=ANN), SpentFilter(owner=twin)):
            assert await engine.spent("Default", asked) == []
            assert await engine.spent_in_all("Default", asked) == Sums()

    async def test_an_export_does_not_tell_what_was_spent(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        await pen.remember("tea")
        lines = await exported(engine, ANN, private=True)
        await engine.note_spent(started_call())
        assert await exported(engine, ANN, private=True) == lines
        await adopted(another, ANN, lines)
        assert await another.spent("default") == []


MESSAGE = frozenset({RecordType.MESSAGE})


class FormationSuite(Suite):
    """Tests that a thread's ``formed_through`` grows with each formation, and stays when the
    formation is undone.
    """

    async def test_how_far_a_thread_is_formed_moves_on_and_never_back(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(title="lunch")
        assert (await pen.read(thread)).formed_through == 0
        await pen.say(thread, "tea", "cake", "rum")
        marked = await pen.write(MarkFormed(thread, 2, after=0), pen.remembering("likes tea"))
        assert [(item.verb, item.version) for item in marked.items] == [
            (Verb.FORM, 2),
            (Verb.REMEMBER, 1),
        ]
        formed = await pen.read(thread)
        assert (formed.formed_through, formed.title, formed.version) == (2, "lunch", 2)
        late = pen.remembering("formed twice")
        for change in (
            MarkFormed(thread, 1),
            MarkFormed(thread, 3, after=0),
            MarkFormed(thread, 2, after=1),
        ):
            with pytest.raises(Stale):
                await pen.write(change, late)
        again = await pen.write(MarkFormed(thread, 2))
        assert [(part.code, part.id) for part in again.ignored] == [("unchanged", thread)]
        await pen.write(MarkFormed(thread, 3, after=2))
        assert (await pen.read(thread)).formed_through == 3
        assert [
            record.content for record in await pen.scan(types=frozenset({RecordType.MEMORY}))
        ] == ["likes tea"]
        verbs = [step.verb for step in await engine.history(pen.owner, pen.view, thread)]
        assert verbs == [Verb.OPEN, Verb.FORM, Verb.FORM]

    async def test_a_thread_is_not_formed_beyond_its_end(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open(agent="a", audience=FOR_A)
        await pen.say(thread, "tea")
        for through in (2, -1, 10**30):
            with pytest.raises(InvalidInput) as refused:
                await pen.write(MarkFormed(thread, through))
            assert refused.value.field == "through"
        await pen.write(pen.saying(thread, "cake"), MarkFormed(thread, 2))
        assert (await pen.read(thread)).formed_through == 2
        with pytest.raises(NotFound):
            await pen.write(MarkFormed(thread, 2), view=AT_B)
        with pytest.raises(NotFound):
            await other.write(MarkFormed(thread, 2))

    async def test_a_watermark_in_a_batch_that_does_more_to_its_thread_does_not_hide_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "tea", "cake")
        both: tuple[tuple[Change, Change], ...] = (
            (MarkFormed(thread, 1), SetThread(thread, {"title": "lunch"})),
            (SetThread(thread, {"title": "dinner"}), MarkFormed(thread, 2)),
        )
        for through, changes in enumerate(both, start=1):
            receipt = await pen.write(*changes)
            assert [item.verb for item in receipt.items] == [Verb.SET]
            assert (await pen.read(thread)).formed_through == through

    async def test_places_that_were_formed_elsewhere_are_not_given_out_again(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = a_thread(pen.owner, formed_through=2)
        await pen.write(Import(thread))
        await pen.say(thread.id, "tea")
        (said,) = await pen.scan(thread=thread.id, types=MESSAGE)
        assert said.seq == 3
        await pen.write(MarkFormed(thread.id, 3, after=2))

    async def test_undoing_what_was_formed_leaves_the_watermark_so_that_it_is_not_formed_again_unasked(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        formed = await pen.write(
            pen.remembering("likes tea", sources=(said,)), MarkFormed(thread, 1)
        )
        undone = await pen.write(Undo(formed.position))
        assert [(item.verb, item.id) for item in undone.items] == [
            (Verb.UNDO, formed.ids("memory")[0])
        ]
        assert (await pen.read(thread)).formed_through == 1
        await pen.write(Undo(undone.position))
        assert (await pen.read(formed.ids("memory")[0])).active

    async def test_a_later_watermark_does_not_stand_in_the_way_of_an_undo_nor_go_with_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "tea", "cake")
        named = await pen.write(SetThread(thread, {"title": "lunch"}))
        first = await pen.write(pen.remembering("likes tea"), MarkFormed(thread, 1))
        second = await pen.write(pen.remembering("likes cake"), MarkFormed(thread, 2))
        await pen.write(Undo(first.position))
        await pen.write(Undo(named.position, with_dependents=True))
        found = await pen.read(thread)
        assert (found.title, found.formed_through) == ("", 2)
        assert (await pen.read(second.ids("memory")[0])).active

    async def test_a_watermark_alone_is_not_undone(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "tea")
        marked = await pen.write(MarkFormed(thread, 1))
        with pytest.raises(InvalidInput, match="cannot be undone"):
            await pen.write(Undo(marked.position))

    async def test_a_summary_moves_on_from_what_it_was_built_upon(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(title="lunch")
        await pen.say(thread, "tea", "cake", "rum")
        first = await pen.write(MarkFormed(thread, 2), SummariseThread(thread, "They had tea.", 2))
        assert [(item.verb, item.version) for item in first.items] == [(Verb.FORM, 2)]
        stands = await pen.read(thread)
        assert (stands.summary, stands.summary_through, stands.formed_through) == (
            "They had tea.",
            2,
            2,
        )
        for late in (
            SummariseThread(thread, "late", 3),
            SummariseThread(thread, "late", 1, after=2),
        ):
            with pytest.raises(Stale):
                await pen.write(late, pen.remembering("formed late"))
        for through in (0, 4, -1):
            with pytest.raises(InvalidInput) as refused:
                await pen.write(SummariseThread(thread, "beyond", through, after=2))
            assert refused.value.field == "through"
        empty = await pen.write(SummariseThread(thread, " ", 3, after=2))
        assert [(part.code, part.id) for part in empty.ignored] == [("empty", thread)]
        again = await pen.write(SummariseThread(thread, "They had tea.", 2, after=2))
        assert [part.code for part in again.ignored] == ["unchanged"]
        await pen.write(SummariseThread(thread, "They had tea and rum.", 3, after=2))
        assert (await pen.read(thread)).summary == "They had tea and rum."
        with pytest.raises(NotFound):
            await Pen(engine, BEN).write(SummariseThread(thread, "ben's", 1))

    async def test_an_undo_leaves_the_summary_and_does_not_bring_one_back(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "tea", "cake")
        named = await pen.write(SetThread(thread, {"title": "lunch"}))
        await pen.write(SummariseThread(thread, "They had tea.", 1))
        await pen.write(Undo(named.position))
        stands = await pen.read(thread)
        assert (stands.title, stands.summary, stands.summary_through) == ("", "They had tea.", 1)

    async def test_a_summary_goes_with_any_message_that_it_covers_and_with_no_other(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(name="order 7")
        said = await pen.say(thread, "tea", "cake", "rum", "gin")
        await pen.write(SummariseThread(thread, "They had tea.", 2))
        await pen.write(SummariseThread(thread, "They had tea, cake and rum.", 3, after=2))
        assert (await pen.erase(said[3])).kept == ()
        assert (await pen.read(thread)).summary_through == 3
        assert (await pen.erase(said[0])).kept == (thread,)
        stands = await pen.read(thread)
        assert (stands.summary, stands.summary_through, stands.name) == ("", 0, "order 7")
        steps = await engine.history(pen.owner, pen.view, thread)
        assert [step.record for step in steps] == [None, None, None, stands]
        await pen.write(SummariseThread(thread, "They had cake.", 4))
        assert (await pen.say(thread, "ale")) and (await pen.read(thread)).summary_through == 4
