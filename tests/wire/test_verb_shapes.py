"""The shapes of verbs: every argument of every verb has its form on the wire."""

from __future__ import annotations

import inspect

import memoranda
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS, PARTS
from memoranda.wire.verb_shapes import FORMS, LOCAL


def test_every_verb_of_the_book_is_in_the_table_or_left_out_with_a_reason():
    known = {one.function for one in OPERATIONS.values()}
    for part, kind in {"": memoranda.Book, **PARTS}.items():
        for name, function in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                assert (function in known) != (f"{part}.{name}".strip(".") in NOT_OFFERED), name


def test_every_parameter_of_every_verb_has_a_form_on_the_wire_or_never_crosses():
    without = {
        f"{verb.name}.{one.name}: {one.annotation}"
        for verb in OPERATIONS.values()
        for one in list(inspect.signature(verb.function).parameters.values())[1:]
        if str(one.annotation) not in FORMS.keys() | LOCAL.keys()
    }
    assert without == set()
