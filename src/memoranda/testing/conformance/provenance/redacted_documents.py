"""Tests of redaction in documents: parts of the strings in a memory's data are taken out for good, or hidden."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, InvalidInput, NotAllowed, NotFound, Stale
from memoranda.model.changes import Hide, Undo
from memoranda.model.ledger import Verb
from memoranda.model.records import EVERYONE, WHOLE
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, AT_B, FOR_A, SMALL, Follower, Pen, packed, vectors_of
from memoranda.testing.conformance.redaction import HOME, LEFT, SAID, part, taking, target
from memoranda.testing.suite import Suite

NOTES = "/document/notes"
DATA: dict[str, Any] = {
    "schema": "Trip",
    "document": {"to": "Porto", "notes": SAID, "stops": [HOME, "Aveiro"]},
}
SHORT = {"schema": "Trip", "document": {"to": "Porto", "notes": LEFT, "stops": ["Aveiro"]}}
SPANS = (part(SAID, HOME, NOTES), Span(start=0, end=len(HOME), path="/document/stops/0"))


class RedactedDocumentsSuite(Suite):
    """Tests that words taken out of a document are nowhere any more, and that the rest of it stays."""

    async def test_a_document_stays_without_the_words_that_are_taken_out(self, engine: Engine) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        trip = await pen.remember("A trip", data=DATA)
        await engine.put_vectors(SMALL, vectors_of(SMALL, trip))
        receipt = await engine.erase(target(pen, redactions=taking(trip, *SPANS)), pen.tick())

        left = await pen.read(trip)
        assert (left.data, left.content, left.version) == (SHORT, "A trip", 2)
        assert receipt.redacted == (Redaction(trip, SPANS),)
        assert (receipt.removed["parts of memories"], receipt.removed["versions"]) == (2, 1)
        steps = await engine.history(ANN, WHOLE, trip)
        assert [(step.verb, step.record) for step in steps] == [(Verb.REMEMBER, None), (Verb.REDACT, left)]
        # Its words are those of before, so it keeps its terms and its vector.
        assert (await Follower(engine).follow())[EVERYONE][trip].terms == packed("A trip")
        assert await engine.lacking(SMALL, 10) == []
        assert (await engine.verify()).faults == ()

    async def test_places_in_lists_stay_those_of_what_was_stored_first(self, engine: Engine) -> None:
        pen = Pen(engine)
        trip = await pen.remember("A trip", data=["Rome", HOME, [HOME, "Oslo is cold. We ski."]])
        first = taking(trip, Span(start=0, end=15, path="/1"), Span(start=0, end=15, path="/2/0"))
        await engine.erase(target(pen, redactions=first), pen.tick())
        assert (await pen.read(trip)).data == ["Rome", ["Oslo is cold. We ski."]]
        then = taking(trip, Span(start=0, end=14, path="/1/0"), version=2)
        receipt = await engine.erase(target(pen, redactions=then), pen.tick())
        assert receipt.redacted == (Redaction(trip, (Span(start=0, end=14, path="/2/1"),)),)
        left = await pen.read(trip)
        assert left.data == ["Rome", ["We ski."]]

        past = await engine.erasures()
        assert [(one.path, one.start, one.end) for one in past.redactions[0].spans] == [
            ("/1", 0, 15),
            ("/2/0", 0, 15),
            ("/2/1", 0, 14),
        ]
        again = target(pen, redactions=[Redaction(trip, past.redactions[0].spans)])
        await engine.erase(again, pen.tick())
        assert (await pen.read(trip)).data == left.data
        # A copy that lacks them all loses them at once.
        copy = await pen.remember("A copy", data=["Rome", HOME, [HOME, "Oslo is cold. We ski."]])
        await engine.erase(target(pen, redactions=[Redaction(copy, past.redactions[0].spans)]), pen.tick())
        assert (await pen.read(copy)).data == left.data

    async def test_what_came_from_the_words_of_a_document_goes_with_them(self, engine: Engine) -> None:
        pen = Pen(engine)
        trip = await pen.remember("A trip", data=DATA)
        home = await pen.remember("Live in Oslo", sources=(trip,))
        tea = await pen.remember("Likes tea", sources=(trip,))
        receipt = await engine.erase(target(pen, redactions=taking(trip, *SPANS)), pen.tick())
        assert set(receipt.ids) == {home}
        assert ((await pen.read(tea)).sources, (await pen.read(tea)).version) == ((trip,), 1)

    async def test_hidden_words_of_a_document_come_back_by_undo_and_are_erased_when_that_is_finished(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        trip = await pen.remember("A trip", data=DATA)
        receipt = await pen.write(Hide((), taking(trip, *SPANS)))
        assert (await pen.read(trip)).data == SHORT
        await pen.write(Undo(receipt.position))
        assert ((await pen.read(trip)).data, (await pen.read(trip)).removed) == (DATA, ())
        with pytest.raises(Conflict, match="undone"):
            await engine.erase(target(pen, hidden=receipt.position), pen.tick())

        again = await pen.write(Hide((), taking(trip, *SPANS, version=3)))
        erased = await engine.erase(target(pen, hidden=again.position), pen.tick())
        assert erased.redacted == (Redaction(trip, SPANS),)
        assert (await pen.read(trip)).data == SHORT
        steps = await engine.history(ANN, WHOLE, trip)
        assert [step.record for step in steps if step.record is not None] == [await pen.read(trip)]
        assert (await engine.verify()).faults == ()

    async def test_words_are_taken_only_as_they_were_read_and_by_who_may(self, engine: Engine) -> None:
        pen = Pen(engine)
        trip = await pen.remember("A trip", data=DATA, agent="a", audience=EVERYONE)
        private = await pen.remember("Theirs", data=DATA, agent="a", audience=FOR_A)
        with pytest.raises(Stale, match=f"memory {trip} was read at version 2"):
            await engine.erase(target(pen, redactions=taking(trip, *SPANS, version=2)), pen.tick())
        for span in (
            Span(start=0, end=3),
            Span(start=0, end=3, path="/schema"),
            Span(start=0, end=99, path=NOTES),
        ):
            with pytest.raises(InvalidInput):
                await engine.erase(target(pen, redactions=taking(trip, span)), pen.tick())
        for memory, refusal in ((trip, NotAllowed), (private, NotFound)):
            asked = target(Pen(engine, view=AT_B), redactions=taking(memory, *SPANS))
            with pytest.raises(refusal):
                await engine.erase(asked, pen.tick())
        assert (await pen.read(trip)).version == 1
