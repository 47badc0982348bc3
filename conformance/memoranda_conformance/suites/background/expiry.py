"""Conformance tests of time: what has ended or expired at the moment of a read."""

from __future__ import annotations

from datetime import timedelta

from memoranda.model.records import COMMITMENT
from memoranda.ports import Engine
from memoranda_conformance.builders import START, Pen
from memoranda_conformance.suite import Suite

DAY = timedelta(days=1)


class ExpirySuite(Suite):
    """Tests of reads around the moment at which something ends."""

    async def test_a_filter_leaves_out_memories_that_have_ended_and_nothing_else(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "I am in Rome this week")
        rome = await pen.remember("is in Rome", kind="context", valid_to=START + DAY)
        owed = await pen.remember("will send the list", kind=COMMITMENT, valid_to=START + DAY)
        soon = await pen.remember("moves to Bonn", valid_from=START + 9 * DAY)

        async def current(at: timedelta) -> set[object]:
            return {record.id for record in await pen.scan(current_at=START + at)} - {thread}

        moment = timedelta(microseconds=1)
        assert await current(DAY - moment) == {said, rome, owed, soon}
        assert await current(DAY) == {said, owed, soon}
        assert {record.id for record in await pen.scan()} == {thread, said, rome, owed, soon}
