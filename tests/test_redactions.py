"""Places of redactions: as a message was said, and as it is now."""

from __future__ import annotations

import random

from memoranda.model.messages import Message
from memoranda.model.redactions import (
    Redaction,
    as_now,
    as_said,
    cut,
    dump_redactions,
    joined,
    load_redactions,
)
from memoranda.model.values import Span, new_id
from memoranda_conformance.builders import ANN, START, a_message

DICE = random.Random(14)


def test_parts_taken_out_one_after_another_are_the_same_as_all_at_once() -> None:
    for _ in range(500):
        text = "".join(chr(0x4E00 + place) for place in range(DICE.randint(1, 30)))
        message: Message | None = a_message(ANN, new_id(), text, START)
        for _ in range(4):
            if message is None or len(message.content) < 2 or "(" in message.content:
                break
            start = DICE.randrange(len(message.content) - 1)
            span = Span(start=start, end=DICE.randint(start + 1, len(message.content)))
            said = as_said([span], message.removed)
            assert set(cut(message.content, [span])) == set(message.content) - {
                letter
                for one in as_now(said, message.removed)
                for letter in message.content[one.start : one.end]
            }
            message = message.without_spans([span])
            if message is not None:
                assert message.content == cut(text, message.removed)
                assert as_now(message.removed, message.removed) == ()


def test_redactions_are_written_without_words_and_read_again() -> None:
    id = new_id()
    spans = (Span(start=1, end=4), Span(start=0, end=2, path="/content/0/text"))
    written = dump_redactions([Redaction(id, spans)])
    assert written == [[id.hex, [[1, 4], [0, 2, "/content/0/text"]]]]
    assert list(load_redactions(written)) == [Redaction(id, spans)]
    more = Redaction(id, (Span(start=3, end=9),))
    assert joined([Redaction(id, spans), more]) == (
        Redaction(id, (Span(start=1, end=9), Span(start=0, end=2, path="/content/0/text"))),
    )
