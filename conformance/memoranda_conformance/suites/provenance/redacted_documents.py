"""Tests of redaction in documents: parts of strings in a memory's data or an item are taken out for
good, or hidden.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, InvalidInput, NotAllowed, NotFound, Stale
from memoranda.model.changes import Hide, Import, Undo
from memoranda.model.items import DeleteItem
from memoranda.model.ledger import Verb
from memoranda.model.memories import searched_text
from memoranda.model.records import EVERYONE, WHOLE, RecordType
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_B,
    FOR_A,
    SMALL,
    Follower,
    Pen,
    adopted,
    exported,
    packed,
    vectors_of,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.redaction import HOME, LEFT, SAID, part, taking, target
from memoranda_conformance.suites.stores.items import a_put

NOTES = "/document/notes"
DATA: dict[str, Any] = {
    "schema": "Trip",
    "document": {"to": "Porto", "notes": SAID, "stops": [HOME, "Aveiro"]},
}
SHORT = {"schema": "Trip", "document": {"to": "Porto", "notes": LEFT, "stops": ["Aveiro"]}}
SPANS = (part(SAID, HOME, NOTES), Span(start=0, end=len(HOME), path="/document/stops/0"))


class RedactedDocumentsSuite(Suite):
    """Tests that words taken out of a document are nowhere any more, and that the rest of it
    stays.
    """

    async def test_a_document_stays_without_the_words_that_are_taken_out(
        self, engine: Engine
    ) -> None:
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
        assert [(step.verb, step.record) for step in steps] == [
            (Verb.REMEMBER, None),
            (Verb.REDACT, left),
        ]
        # Recall finds it by what is left, and its vector is made anew.
        assert (await Follower(engine).follow())[EVERYONE][trip].terms == packed(
            searched_text(left) or ""
        )
        assert [one.id for one in await engine.lacking(SMALL, 10)] == [trip]
        assert (await engine.verify()).faults == ()

    async def test_places_in_lists_stay_those_of_what_was_stored_first(
        self, engine: Engine
    ) -> None:
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
        await engine.erase(
            target(pen, redactions=[Redaction(copy, past.redactions[0].spans)]), pen.tick()
        )
        assert (await pen.read(copy)).data == left.data

    async def test_what_came_from_the_words_of_a_document_goes_with_them(
        self, engine: Engine
    ) -> None:
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

    async def test_words_are_taken_only_as_they_were_read_and_by_who_may(
        self, engine: Engine
    ) -> None:
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

    async def test_an_item_stays_without_the_words_that_are_taken_out_and_is_found_by_the_others(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        file = (await pen.write(a_put(pen, "file", {"notes": SAID, "stops": [HOME, "Aveiro"]}))).id
        text = (await pen.write(a_put(pen, "text", SAID))).id
        await engine.put_vectors(SMALL, vectors_of(SMALL, file, text))
        spans = (part(SAID, HOME, "/notes"), Span(start=0, end=len(HOME), path="/stops/0"))
        redactions = (*taking(file, *spans), *taking(text, part(SAID, HOME, "")))
        receipt = await engine.erase(target(pen, redactions=redactions), pen.tick())

        left = await pen.read(file)
        assert (left.value, left.version) == ({"notes": LEFT, "stops": ["Aveiro"]}, 2)
        assert (await pen.read(text)).value == LEFT
        assert receipt.removed["parts of items"] == 3
        assert (receipt.redacted[0].spans, receipt.redacted[0].at) == (spans, left.updated_at)
        rows = (await Follower(engine).follow())[EVERYONE]
        assert [rows[id].terms for id in (file, text)] == [
            packed(left.passage_text()),
            packed(LEFT),
        ]
        assert {one.id for one in await engine.lacking(SMALL, 10)} == {file, text}
        steps = await engine.history(ANN, WHOLE, file)
        assert [(step.verb, step.record) for step in steps] == [
            (Verb.PUT, None),
            (Verb.REDACT, left),
        ]
        assert (await engine.verify()).faults == ()

    async def test_an_export_without_the_emptied_versions_is_imported(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        text = (await pen.write(a_put(pen, "text", SAID))).id
        thread = await pen.open()
        (said,) = await pen.say(thread, SAID)
        redactions = (*taking(text, part(SAID, HOME, "")), Redaction(said, (part(SAID, HOME),)))
        await engine.erase(target(pen, redactions=redactions), pen.tick())
        await adopted(another, ANN, await exported(engine, ANN))
        copied = Pen(another)
        assert (await copied.read(text)).value == LEFT and (await copied.read(said)).content == LEFT
        assert [step.record for step in await another.history(ANN, WHOLE, text)] == [
            None,
            await copied.read(text),
        ]

    async def test_an_item_of_which_nothing_is_left_is_erased(self, engine: Engine) -> None:
        pen = Pen(engine)
        bare = (await pen.write(a_put(pen, "file", {"notes": [HOME], "more": {}}))).id
        text = (await pen.write(a_put(pen, "text", HOME))).id
        kept = (await pen.write(a_put(pen, "kept", {"notes": HOME, "n": 0}))).id
        size = len(HOME)
        places = ((bare, "/notes/0"), (text, ""), (kept, "/notes"))
        redactions = [taking(id, Span(start=0, end=size, path=path))[0] for id, path in places]
        receipt = await engine.erase(target(pen, redactions=redactions), pen.tick())
        assert set(receipt.ids) == {bare, text}
        assert (await pen.read(kept)).value == {"n": 0}
        # The name is free.
        await pen.write(a_put(pen, "text", "anew", expect=0))

    async def test_a_redaction_knows_the_value_of_an_item_that_had_the_words(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        file = (await pen.write(a_put(pen, "file", [SAID, "x"]))).id
        first = (await pen.read(file)).updated_at
        await pen.write(a_put(pen, "file", [HOME, SAID]))
        now = (await pen.read(file)).updated_at
        earlier = Redaction(file, (part(SAID, HOME, "/0"),), at=first)
        present = taking(
            file, Span(start=0, end=len(HOME), path="/0"), part(SAID, HOME, "/1"), version=2
        )
        receipt = await engine.erase(target(pen, redactions=(earlier, *present)), pen.tick())
        assert (await pen.read(file)).value == [LEFT]
        assert {one.at: len(one.spans) for one in receipt.redacted} == {first: 1, now: 2}
        steps = await engine.history(ANN, WHOLE, file)
        assert [step.record is None for step in steps] == [True, True, False]

        # What is stored afterwards is another value; only its earlier versions are emptied.
        past = (await engine.erasures()).redactions
        assert {(one.message, one.at) for one in past} == {(file, first), (file, now)}
        await pen.write(a_put(pen, "file", [SAID, SAID]))
        await engine.erase(target(pen, redactions=past), pen.tick())
        assert (await pen.read(file)).value == [SAID, SAID]
        # A copy that has an earlier value loses the words of that one.
        copy = (await pen.write(a_put(pen, "copy", [SAID, "x"]))).id
        then = (await pen.read(copy)).updated_at
        later = Redaction(copy, (part(SAID, HOME, "/0"),), at=then)
        other = Redaction(copy, (Span(start=0, end=9, path="/0"),), at=now)
        await engine.erase(target(pen, redactions=(later, other)), pen.tick())
        assert (await pen.read(copy)).value == [LEFT, "x"]
        # The same value again, with other paths, or with another time to live, has the same places.
        await pen.write(a_put(pen, "copy", [LEFT, "x"], ttl=60))
        assert (await pen.read(copy)).removed == (part(SAID, HOME, "/0"),)
        assert (await engine.verify()).faults == ()

    async def test_an_earlier_value_loses_its_words_and_the_present_one_stays(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        changed = (await pen.write(a_put(pen, "file", SAID))).id
        first = (await pen.read(changed)).updated_at
        await pen.write(a_put(pen, "file", "Harmless"))
        gone = (await pen.write(a_put(pen, "gone", SAID))).id
        await pen.write(DeleteItem(gone))
        theirs = (await pen.write(a_put(pen, "theirs", SAID, audience=FOR_A))).id
        await pen.write(DeleteItem(theirs))
        (deleted,) = await pen.scan(AT_B, types=frozenset({RecordType.ITEM}), withdrawn=True)
        assert (deleted.id, deleted.withdrawn) == (gone, True)
        versions = await engine.versions(ANN, AT_B, [changed, gone, theirs, new_id()])
        assert [[one.version for one in found] for found in versions.values()] == [
            [1, 2],
            [1, 2],
            [],
            [],
        ]
        redactions = (
            Redaction(changed, (part(SAID, HOME, ""),), at=first),
            *taking(gone, part(SAID, HOME, ""), version=2),
        )
        await engine.erase(target(pen, redactions=redactions), pen.tick())
        assert (await pen.read(changed)).value == "Harmless"
        for id in (changed, gone):
            steps = await engine.history(ANN, WHOLE, id)
            assert not any(
                "Oslo" in str(step.record.model_dump()) for step in steps if step.record is not None
            )
        assert (await engine.verify()).faults == ()

    async def test_hidden_words_of_an_item_come_back_by_undo_and_are_erased_whatever_was_stored_since(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        file = (await pen.write(a_put(pen, "file", SAID))).id
        receipt = await pen.write(Hide((), taking(file, part(SAID, HOME, ""))))
        assert (await pen.read(file)).value == LEFT
        assert (await Follower(engine).follow())[EVERYONE][file].terms == packed(LEFT)
        await pen.write(Undo(receipt.position))
        assert ((await pen.read(file)).value, (await pen.read(file)).removed) == (SAID, ())
        with pytest.raises(Conflict, match="undone"):
            await engine.erase(target(pen, hidden=receipt.position), pen.tick())

        again = await pen.write(Hide((), taking(file, part(SAID, HOME, ""), version=3)))
        await pen.write(a_put(pen, "file", "Another"))
        await engine.erase(target(pen, hidden=again.position), pen.tick())
        assert (await pen.read(file)).value == "Another"
        steps = await engine.history(ANN, WHOLE, file)
        assert [step.record for step in steps if step.record is not None] == [await pen.read(file)]
        assert (await engine.verify()).faults == ()

    async def test_an_import_brings_no_item_back_that_was_erased_or_lost_words(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        file = (await pen.write(a_put(pen, "file", SAID))).id
        gone = (await pen.write(a_put(pen, "gone", SAID))).id
        held = [await pen.read(id) for id in (file, gone)]
        await engine.erase(
            target(pen, gone, redactions=taking(file, part(SAID, HOME, ""))), pen.tick()
        )
        receipt = await pen.write(*(Import(item, packed(item.passage_text())) for item in held))
        assert [(part.code, part.id) for part in receipt.ignored] == [
            ("differs", file),
            ("erased", gone),
        ]
        assert (await pen.read(file)).value == LEFT
        another = held[1].changed(id=new_id(), name="file")
        receipt = await pen.write(Import(another, packed(another.passage_text())))
        assert [part.code for part in receipt.ignored] == ["taken"]
