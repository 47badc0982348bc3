"""Usage adds up without making up a price, and nothing private is shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda.model.language_models import MOST_EARLIER, Earlier, ModelAnswer, ModelRequest, Usage

ONE = Usage(
    provider="a",
    model="m",
    calls=1,
    tokens_in=10,
    tokens_cached=4,
    tokens_out=2,
    price=Decimal("0.1"),
)


def test_usages_add_up() -> None:
    total = sum([ONE, ONE.model_copy(update={"provider": "b"}), ONE], Usage())
    assert (total.provider, total.model, total.calls) == ("a, b", "m", 3)
    assert (total.tokens_in, total.tokens_cached, total.tokens_out) == (30, 12, 6)
    assert total.price == Decimal("0.3")


def test_nothing_added_changes_nothing() -> None:
    assert Usage() + ONE == ONE + Usage() == ONE
    assert Usage() + Usage() == Usage()


def test_a_price_that_is_unknown_in_part_is_unknown() -> None:
    unknown = ONE.model_copy(update={"price": None})
    assert (ONE + unknown).price is None is (unknown + ONE).price
    assert (ONE + ONE.model_copy(update={"currency": "EUR"})).price is None


def test_an_answer_is_kept_as_json_and_comes_back_the_same() -> None:
    answer = ModelAnswer(text='{"a": 1}', value={"a": 1}, usage=ONE)
    assert ModelAnswer.model_validate_json(answer.model_dump_json()) == answer


def test_neither_printing_nor_refusing_shows_what_was_said() -> None:
    good: dict[str, Any] = {
        "task": "t",
        "instructions": "secret",
        "content": "secret",
        "answer_schema": {"secret": 1},
    }
    earlier = Earlier(answer="secret", faults=("no end",))
    request = ModelRequest(**good, largest=1, earlier=(earlier,))
    answer = ModelAnswer(text="secret", value={"secret": 1})
    assert "secret" not in f"{request!r} {answer!r} {request} {answer}"
    with pytest.raises(ValidationError) as caught:
        ModelRequest(**{**good, "content": "secret \x00"}, largest=0)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"instructions": " "},
        {"content": "half \ud83d"},
        {"largest": 0},
        {"earlier": (Earlier(answer="", faults=("a",)),) * (MOST_EARLIER + 1)},
    ],
    ids=["no content", "no instructions", "broken", "no answer", "too often"],
)
def test_a_question_that_cannot_be_asked_is_refused(wrong: dict[str, object]) -> None:
    good = {"task": "t", "instructions": "i", "content": "c", "answer_schema": {}, "largest": 1}
    with pytest.raises(ValidationError):
        ModelRequest.model_validate({**good, **wrong})


def test_a_fault_is_named_for_every_answer_that_is_handed_back() -> None:
    with pytest.raises(ValidationError):
        Earlier(answer="{", faults=())
