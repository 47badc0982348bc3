"""The shapes of verbs: every argument of every verb has its form on the wire."""

from __future__ import annotations

import inspect

import memoranda
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS, PARTS
from memoranda.wire.verb_shapes import uncovered


def test_every_verb_of_the_book_is_in_the_table_or_left_out_with_a_reason():
    for part, kind in {"": memoranda.Book, **PARTS}.items():
        for name in dir(kind):
            function = inspect.getattr_static(kind, name)
            if not inspect.isfunction(function) or (name.startswith("_") and name != "__call__"):
                continue
            verb = part if name == "__call__" else f"{part}.{name}".strip(".")
            assert (verb in OPERATIONS) != (verb in NOT_OFFERED), verb


def test_every_parameter_of_every_verb_has_a_form_on_the_wire_or_never_crosses():
    assert uncovered() == []
