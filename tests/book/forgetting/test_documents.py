"""Forgetting a fact in documents: spans in the strings of memories' data and of inserted
documents.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Book, InvalidInput, NotAllowed
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import restore
from memoranda.book.forgetting.look import NOT_OWN
from memoranda.model.memories import Memory
from memoranda.model.redactions import SENTENCE, SOMEBODY_ELSE
from memoranda.model.values import utc_now

TRIP = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "notes": {"type": "string"},
        "reason": {"type": "string"},
        "stops": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["to", "reason"],
}


@pytest.fixture(params=["memory://", "file"])
async def book(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None) as opened:
        await opened.schemas.put("Trip", parameters=TRIP, update_mode="insert")
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


async def remembered(book: Book, content: str, **fields: Any) -> str:
    return str(
        (
            await book.remember(
                "ana", content, **{"agent": "guide", "audience": "global", **fields}
            )
        ).id
    )


async def trip(book: Book, **fields: Any) -> str:
    data = {"schema": "Trip", "document": {"to": "Porto", **fields}}
    return await remembered(book, "A trip to Porto", data=data)


async def read(book: Book, id: str) -> Memory:
    found = await book.records.get("ana", id, as_owner=True)
    assert isinstance(found, Memory)
    return found


async def test_a_sentence_in_a_field_of_an_inserted_document_is_found_and_taken(book: Book) -> None:
    to_porto = await trip(
        book, notes="Two nights. I live in Lisbon. Take the train.", reason="A wedding"
    )
    home = await remembered(book, "Lives in Lisbon", key="home")
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    (part,) = found.spans
    assert (str(part.message), part.type, part.span.path) == (to_porto, "memory", "/document/notes")
    assert (part.text.strip(), part.why) == ("I live in Lisbon.", SENTENCE)
    assert [str(trace.id) for trace in found.changes] == [to_porto]

    planned = await book.forget("ana", home, dry_run=True, as_owner=True)
    assert planned.removed["parts of memories"] == 1
    assert (await read(book, to_porto)).data["document"]["notes"].startswith("Two nights. I live")
    receipt = await book.forget("ana", plan=planned, as_owner=True)
    assert receipt.removed["parts of memories"] == 1
    assert [one.message for one in receipt.redacted] == [part.message]
    left = await read(book, to_porto)
    document = {"to": "Porto", "notes": "Two nights. Take the train.", "reason": "A wedding"}
    assert (left.data, left.content) == (
        {"schema": "Trip", "document": document},
        "A trip to Porto",
    )
    assert not any("Lisbon" in trace.text for trace in receipt.still_tells)


async def test_no_version_of_the_document_says_it_any_more(book: Book) -> None:
    to_porto = await trip(book, notes="I live in Lisbon. Two nights.", reason="A wedding")
    home = await remembered(book, "Lives in Lisbon")
    await book.forget("ana", home, as_owner=True)
    steps = await book.records.history("ana", to_porto, as_owner=True)
    assert [(step.verb, step.record is None) for step in steps] == [
        ("remember", True),
        ("redact", False),
    ]
    assert "Lisbon" not in str([step.record for step in steps]) + str(steps[-1].record.model_dump())  # type: ignore[union-attr]


async def test_a_field_of_which_nothing_is_left_is_unset_also_where_its_schema_requires_it(
    book: Book,
) -> None:
    to_porto = await trip(book, notes="Two nights.", reason="I live in Lisbon.", stops=["Coimbra"])
    home = await remembered(book, "Lives in Lisbon")
    await book.forget("ana", home, as_owner=True)
    assert (await read(book, to_porto)).data["document"] == {
        "to": "Porto",
        "notes": "Two nights.",
        "stops": ["Coimbra"],
    }


async def test_an_entry_of_a_list_leaves_it_and_the_others_stay_in_their_order(book: Book) -> None:
    stops = [
        "Aveiro",
        "I live in Lisbon.",
        "Coimbra. I live in Lisbon.",
        {"at": "I live in Lisbon."},
    ]
    note = await remembered(book, "Stops on the way", data={"stops": stops, "nights": 2})
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", home, as_owner=True)
    assert (await read(book, note)).data == {"stops": ["Aveiro", "Coimbra.", {}], "nights": 2}
    assert receipt.removed["parts of memories"] == 3
    # What is taken next is found where it is now.
    coimbra = await remembered(book, "Works in Coimbra")
    other = await remembered(
        book, "A list", data=["x", ["I work in Coimbra.", "y", "I work in Coimbra."], "z"]
    )
    await book.forget("ana", coimbra, as_owner=True)
    assert (await read(book, other)).data == ["x", ["y"], "z"]
    assert [span.path for span in (await read(book, other)).removed] == ["/1/0", "/1/2"]


async def test_fields_that_a_native_form_keeps_are_words_in_a_document(book: Book) -> None:
    note = await remembered(book, "A contact", data={"name": "I live in Lisbon.", "status": "new"})
    home = await remembered(book, "Lives in Lisbon")
    await book.forget("ana", home, as_owner=True)
    assert (await read(book, note)).data == {"status": "new"}


async def test_a_number_leaves_data_with_its_field_if_the_field_says_what_it_is(book: Book) -> None:
    note = await remembered(
        book, "A form", data={"age": 42, "bus": 42, "ages": [7, 42], "more": {"age": 7}}
    )
    age = await remembered(book, "Is 42 years old", key="age")
    await book.forget("ana", age, as_owner=True)
    assert (await read(book, note)).data == {"bus": 42, "ages": [7], "more": {"age": 7}}


async def test_a_document_about_somebody_else_is_listed_and_taken_once_it_is_named(
    book: Book,
) -> None:
    mia = await remembered(
        book, "A friend", subject="Mia", data={"notes": "Lives in Lisbon. Sails."}
    )
    home = await remembered(book, "Lives in Lisbon")
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    (listed,) = found.listed
    assert (found.spans, listed.why, str(listed.message)) == ((), SOMEBODY_ELSE, mia)
    await book.forget("ana", home, take=[listed.name], as_owner=True)
    assert (await read(book, mia)).data == {"notes": "Sails."}


async def test_a_bound_value_that_tells_it_takes_its_memory(book: Book) -> None:
    note = await remembered(book, "As they said", key="about", data={"value": "I live in Lisbon."})
    home = await remembered(book, "Lives in Lisbon")
    receipt = await book.forget("ana", home, as_owner=True)
    assert {str(id) for id in receipt.ids} == {home, note}


async def test_an_agent_takes_no_words_from_another_agents_document(book: Book) -> None:
    theirs = await remembered(
        book, "A trip", data={"notes": "I live in Lisbon. Two nights."}, agent="other"
    )
    home = await remembered(book, "Lives in Lisbon")
    found = await book.forgetting.find_traces("ana", home, agent="guide")
    assert found.spans == ()
    assert (str(found.still_tells[0].id), found.still_tells[0].why) == (theirs, NOT_OWN)
    with pytest.raises(NotAllowed):
        await book.forgetting.redact("ana", theirs, 0, 3, path="/notes", agent="guide")


async def test_what_rests_on_the_words_of_a_document_alone_goes_with_them(book: Book) -> None:
    note = await remembered(
        book, "A trip", data={"notes": "I live in Lisbon. We sail from Cascais."}
    )
    rests = await remembered(book, "In Lisbon they live", sources=[note])
    sails = await remembered(book, "Sails from Cascais", sources=[note])
    receipt = await book.forgetting.redact("ana", note, 0, 18, path="/notes", as_owner=True)
    assert {str(id) for id in receipt.ids} == {rests}
    assert (await read(book, note)).data == {"notes": "We sail from Cascais."}
    assert [str(id) for id in (await read(book, sails)).sources] == [note]


async def test_a_part_of_data_needs_its_pointer_and_the_content_never_changes(book: Book) -> None:
    note = await remembered(
        book, "A trip", data={"schema": "Trip", "document": {"notes": "Two nights."}}
    )
    with pytest.raises(
        InvalidInput, match="path: give the JSON pointer of a string in the data of memory"
    ):
        await book.forgetting.redact("ana", note, 0, 3, as_owner=True)
    for path in ("/document/none", "/schema", "/document"):
        with pytest.raises(InvalidInput, match=f"the data at '{path}' of memory"):
            await book.forgetting.redact("ana", note, 0, 3, path=path, as_owner=True)


async def test_hidden_words_of_a_document_come_back_by_undo_and_go_for_good_when_it_is_finished(
    book: Book,
) -> None:
    words = {"notes": "I live in Lisbon. Two nights.", "stops": ["I live in Lisbon.", "Porto"]}
    note = await remembered(book, "A trip", data=words)
    home = await remembered(book, "Lives in Lisbon")
    hidden = await book.forgetting.hide("ana", home, as_owner=True)
    left = {"notes": "Two nights.", "stops": ["Porto"]}
    assert (await read(book, note)).data == left
    await book.undo("ana", hidden.receipt.position, as_owner=True)
    assert ((await read(book, note)).data, (await read(book, note)).removed) == (words, ())

    again = await book.forgetting.hide("ana", home, as_owner=True)
    receipt = await book.forgetting.finish("ana", again.receipt, as_owner=True)
    assert receipt.removed["parts of memories"] == 2
    assert (await read(book, note)).data == left
    steps = await book.records.history("ana", note, as_owner=True)
    assert not any(
        "Lisbon" in str(step.record.model_dump()) for step in steps if step.record is not None
    )


async def test_a_restored_backup_has_the_words_of_no_document_that_were_forgotten_since(
    tmp_path: Path,
) -> None:
    async with memoranda.open(tmp_path / "book.db", embed=None) as book:
        note = await remembered(
            book, "A trip", data=["I live in Lisbon.", "I like tea. Two nights."]
        )
        tea = await remembered(book, "Likes tea")
        home = await remembered(book, "Lives in Lisbon")
        await book.admin.backup(tmp_path / "backup.db")
        await book.forget("ana", home, as_owner=True)
        await book.forget("ana", tea, as_owner=True)
        assert (await read(book, note)).data == ["Two nights."]
    await restore(
        partial(open_engine, create=False),
        tmp_path / "backup.db",
        tmp_path / "restored.db",
        at=utc_now(),
    )
    async with memoranda.open(tmp_path / "restored.db", embed=None) as book:
        assert (await read(book, note)).data == ["Two nights."]
        assert (await read(book, note)).removed


async def test_an_import_brings_no_words_of_a_document_back(tmp_path: Path, book: Book) -> None:
    note = await remembered(book, "A trip", data={"notes": "I live in Lisbon. Two nights."})
    home = await remembered(book, "Lives in Lisbon")
    lines = [line async for line in book.admin.export("ana")]
    await book.forget("ana", home, as_owner=True)
    await book.admin.import_(lines)
    assert (await read(book, note)).data == {"notes": "Two nights."}
