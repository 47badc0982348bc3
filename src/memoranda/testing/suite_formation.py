"""Formation's place in a book: how far a thread was formed, in the same batch as what came of it."""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidInput, NotFound, Stale
from memoranda.model.changes import Change, Import, MarkFormed, SetThread, SummariseThread, Undo
from memoranda.model.ledger import Verb
from memoranda.model.records import RecordType
from memoranda.ports import Engine
from memoranda.testing.builders import AT_B, BEN, FOR_A, Pen, a_thread
from memoranda.testing.suite import Suite

MESSAGE = frozenset({RecordType.MESSAGE})


class FormationSuite(Suite):
    """The watermark moves on with what is formed, and stays where it is when that is undone."""

    async def test_how_far_a_thread_is_formed_moves_on_and_never_back(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(title="lunch")
        assert (await pen.read(thread)).formed_through == 0
        await pen.say(thread, "tea", "cake", "rum")
        marked = await pen.write(MarkFormed(thread, 2, after=0), pen.remembering("likes tea"))
        assert [(item.verb, item.version) for item in marked.items] == [(Verb.FORM, 2), (Verb.REMEMBER, 1)]
        formed = await pen.read(thread)
        assert (formed.formed_through, formed.title, formed.version) == (2, "lunch", 2)
        late = pen.remembering("formed twice")
        for change in (MarkFormed(thread, 1), MarkFormed(thread, 3, after=0), MarkFormed(thread, 2, after=1)):
            with pytest.raises(Stale):
                await pen.write(change, late)
        again = await pen.write(MarkFormed(thread, 2))
        assert [(part.code, part.id) for part in again.ignored] == [("unchanged", thread)]
        await pen.write(MarkFormed(thread, 3, after=2))
        assert (await pen.read(thread)).formed_through == 3
        assert [record.content for record in await pen.scan(types=frozenset({RecordType.MEMORY}))] == [
            "likes tea"
        ]
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

    async def test_places_that_were_formed_elsewhere_are_not_given_out_again(self, engine: Engine) -> None:
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
        formed = await pen.write(pen.remembering("likes tea", sources=(said,)), MarkFormed(thread, 1))
        undone = await pen.write(Undo(formed.position))
        assert [(item.verb, item.id) for item in undone.items] == [(Verb.UNDO, formed.ids("memory")[0])]
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
        assert (stands.summary, stands.summary_through, stands.formed_through) == ("They had tea.", 2, 2)
        for late in (SummariseThread(thread, "late", 3), SummariseThread(thread, "late", 1, after=2)):
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

    async def test_an_undo_leaves_the_summary_and_does_not_bring_one_back(self, engine: Engine) -> None:
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
