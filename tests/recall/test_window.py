"""Tests of the window: it begins with a user's turn, and keeps each tool call with its result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.messages import Message
from memoranda.recall.context.first_steps import Measure, fit
from memoranda.recall.context.turns import choose, is_users_turn
from tests.recall.test_context import message

FORMS: dict[str, tuple[Any, Any]] = {
    "chat completions": (
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ),
    "responses": (
        {"type": "function_call", "id": "fc9", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    ),
    "content blocks": (
        {
            "role": "assistant",
            "content": [{"type": "text"}, {"type": "tool_use", "id": "c1", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}],
        },
    ),
    "parts": (
        {
            "kind": "response",
            "parts": [{"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c1"}],
        },
        {
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "f", "tool_call_id": "c1"}],
        },
    ),
    "graph": (
        {"type": "ai", "tool_calls": [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}]},
        {"type": "tool", "tool_call_id": "c1", "content": "ok"},
    ),
    "camel case": (
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f"}],
        },
        {
            "role": "tool",
            "id": "m3",
            "content": [{"type": "tool-result", "toolCallId": "c1", "result": "ok"}],
        },
    ),
    "function parts": (
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "id": "c1"}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": {}, "id": "c1"}}],
        },
    ),
}


def thread(*roles: str, natives: dict[int, Any] | None = None) -> list[Message]:
    named = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
    forms = natives or {}
    return [
        message(f"{place}", place + 1, named[role], native=forms.get(place))
        for place, role in enumerate("".join(roles))
    ]


def seen(messages: list[Message], budget: int, whole: bool = True) -> list[int]:
    chosen = choose(messages, budget, lambda _: 1, whole=whole)
    return [] if chosen is None else [one.seq - 1 for one in chosen.of(messages)]


def test_the_window_holds_as_many_whole_runs_as_fit() -> None:
    turns = thread("ua", "uata", "ua")
    assert seen(turns, 8) == list(range(8))
    assert seen(turns, 7) == [2, 3, 4, 5, 6, 7]
    assert seen(turns, 5) == [6, 7]
    assert seen(turns, 2) == [6, 7]


def test_what_stands_before_the_first_users_turn_is_left_out() -> None:
    assert seen(thread("saua"), 10) == [2, 3]
    assert seen(thread("sa"), 10) == []


def test_a_run_too_long_keeps_its_question_and_its_newest_steps() -> None:
    turns = thread("u", "at" * 10, "a")
    assert seen(turns, 4) == [0, 19, 20, 21]
    assert seen(turns, 3) == [0, 21]
    assert seen(turns, 1) == [0]


def test_parallel_calls_stay_together() -> None:
    turns = thread("u", "attt", "a")
    assert seen(turns, 5) == [0, 5]
    assert seen(turns, 6) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("form", FORMS)
def test_a_result_that_comes_after_another_question_still_has_its_call(form: str) -> None:
    call, result = FORMS[form]
    role = "u" if '"user"' in str(result).replace("'", '"') else "t"
    # The result comes only after the user asked again.
    turns = thread("ua", "u", role, "a", "ua", natives={1: call, 3: result})
    assert not is_users_turn(turns[3])
    assert seen(turns, 7) == [0, 1, 2, 3, 4, 5, 6]
    assert seen(turns, 6) == [5, 6]
    # Of a thread that is not read to its beginning, a result without its call is not begun with.
    assert seen(turns[2:], 5, whole=False) == [5, 6]


@pytest.mark.parametrize("form", FORMS)
def test_a_long_run_in_a_frameworks_form_is_not_cut_between_call_and_result(form: str) -> None:
    call, result = FORMS[form]
    role = "u" if '"user"' in str(result).replace("'", '"') else "t"
    turns = thread("u", "aa", role, "a", natives={1: call, 3: result})
    assert seen(turns, 5) == [0, 1, 2, 3, 4]
    assert seen(turns, 4) == [0, 4]
    assert seen(turns, 3) == [0, 4]


@given(st.text("uatts", max_size=30), st.integers(0, 34))
def test_every_window_begins_with_a_user_and_parts_nothing(roles: str, budget: int) -> None:
    turns = thread(roles)
    window = seen(turns, budget)
    assert len(window) <= budget
    if window:
        assert roles[window[0]] == "u"
        assert window[-1] == len(roles) - 1 or len(window) == 1
        for place in window:
            before = place
            while before >= 0 and roles[before] == "t":
                before -= 1
            # A tool's result stands in it with whatever it answers, and all between.
            assert before < 0 or set(range(before, place)) <= set(window)


def kept(
    turns: list[Message],
    budget: int = 100,
    limit: int = 100,
    keep_first: int = 0,
    read: int | None = None,
) -> list[int]:
    """Return the places of a window's messages, where only the thread's beginning and its newest
    ``read`` messages are known.
    """
    newest = turns if read is None else turns[-read:]
    room = Measure(budget, limit, lambda _: 1)
    whole = len(newest) == len(turns)
    found = fit(turns[:40], newest, room, whole=whole, keep_first=keep_first)
    return [] if found is None else [one.seq - 1 for one in found.messages]


def test_the_leading_system_messages_stay_with_the_newest_turns() -> None:
    turns = thread("ss", "ua" * 3)
    assert kept(turns, 8) == list(range(8))
    assert kept(turns, 4) == [0, 1, 6, 7]
    assert kept(turns, 4, read=3) == [0, 1, 6, 7]
    # A system message in the middle is a message like any other.
    assert kept(thread("ua", "sua"), 2) == [3, 4]


def test_first_steps_stay_if_they_are_asked_for() -> None:
    turns = thread("s", "ua" * 5)
    assert kept(turns, 5) == [0, 7, 8, 9, 10]
    assert kept(turns, 5, keep_first=2) == [0, 1, 2, 9, 10]
    assert kept(turns, 5, keep_first=2, read=4) == [0, 1, 2, 9, 10]
    # The newest turn goes first: there is room for one first step, then for none.
    assert kept(turns, 4, keep_first=2) == [0, 1, 9, 10]
    assert kept(turns, 3, keep_first=2) == [0, 9, 10]
    # A thread that fits is whole, whatever is asked for.
    assert kept(turns, 11, keep_first=1) == list(range(11))


def test_first_steps_are_not_parted_from_the_results_of_their_calls() -> None:
    call, result = FORMS["chat completions"]
    turns = thread("ua", "t", "a", "ua" * 3, natives={1: call, 2: result})
    assert kept(turns, 7, keep_first=2) == [0, 1, 2, 6, 7, 8, 9]
    assert kept(turns, 4, keep_first=2) == [0, 8, 9]


def test_a_long_first_run_keeps_its_first_and_its_newest_steps() -> None:
    turns = thread("u", "at" * 10, "a")
    assert kept(turns, 6, keep_first=3) == [0, 1, 2, 19, 20, 21]


def test_a_window_holds_no_more_messages_than_its_limit() -> None:
    turns = thread("s", "ua" * 5)
    assert kept(turns, limit=3) == [0, 9, 10]
    assert kept(turns, limit=5, keep_first=2) == [0, 1, 2, 9, 10]
    assert kept(thread("u", "at" * 10), limit=4) == [0, 19, 20]
    assert kept(turns, limit=1) == []


@given(
    st.text("s", max_size=3),
    st.text("uatts", max_size=30),
    st.integers(0, 34),
    st.integers(1, 34),
    st.integers(0, 6),
    st.integers(1, 40),
)
def test_every_window_keeps_its_limits_and_the_beginning_and_parts_nothing(
    system: str, roles: str, budget: int, limit: int, keep_first: int, read: int
) -> None:
    roles = system + roles
    turns = thread(roles)
    window = kept(turns, budget, limit, keep_first, min(read, len(turns)) or None)
    assert len(window) <= min(budget, limit) and window == sorted(set(window))
    if not window:
        return
    lead = len(roles) - len(roles.lstrip("s"))
    assert window[:lead] == list(range(lead))
    for place in window:
        before = place
        while before >= 0 and roles[before] == "t":
            before -= 1
        if before >= lead and place - before < read:
            assert before in window
