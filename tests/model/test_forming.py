"""Readings and what comes of them: values that cannot mix owners, threads or orders."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from memoranda.model.drafts import Draft, Formed, ProfilePatch, Reading, ReadMessage, WantedSchema
from memoranda.model.memories import Cited
from memoranda.model.values import new_id
from memoranda_conformance.builders import ANN, BEN, START, a_memory, a_message, a_thread

THREAD = a_thread(ANN)


def said(seq: int, *, context: bool = False) -> ReadMessage:
    return ReadMessage(message=a_message(ANN, THREAD.id, f"turn {seq}", seq=seq), context=context)


def test_a_reading_tells_the_new_messages_from_their_context():
    reading = Reading(thread=THREAD, messages=(said(1, context=True), said(2), said(3)), now=START)

    assert [message.seq for message in reading.new] == [2, 3]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"messages": (said(2), said(1))}, "in the order"),
        ({"messages": (said(1), said(1))}, "given twice"),
        ({"messages": (said(1), said(2, context=True))}, "come before"),
        (
            {"messages": (ReadMessage(message=a_message(ANN, new_id(), "elsewhere", seq=1)),)},
            "another thread",
        ),
        (
            {"messages": (ReadMessage(message=a_message(BEN, THREAD.id, "mine", seq=1)),)},
            "another thread",
        ),
        ({"candidates": (a_memory(BEN, "Ben's"),)}, "another owner"),
        ({"schemas": (WantedSchema(name="Profile"), WantedSchema(name="Profile"))}, "given twice"),
    ],
)
def test_a_reading_is_of_one_thread_of_one_owner_in_its_order(wrong, words):
    with pytest.raises(ValidationError, match=words):
        Reading(thread=THREAD, now=START, **wrong)


def test_only_a_schema_that_is_due_is_found():
    schemas = (WantedSchema(name="Profile"), WantedSchema(name="Episode", due=False))
    reading = Reading(thread=THREAD, schemas=schemas, now=START)

    assert reading.due("Profile") is not None
    assert reading.due("Episode") is None


def test_a_note_that_cites_nothing_is_refused():
    with pytest.raises(ValidationError, match="cited"):
        Draft(content="Likes tea", observed_at=START, cited=())


def test_what_was_formed_has_one_patch_for_a_schema_and_may_be_empty():
    patch = ProfilePatch(
        schema_name="Profile",
        operations=({"op": "add", "path": "/name"},),
        cited=(Cited(message=new_id()),),
    )

    assert Formed().empty
    assert not Formed(patches=(patch,)).empty
    with pytest.raises(ValidationError, match="given twice"):
        Formed(patches=(patch, patch))
