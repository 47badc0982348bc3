"""Masks take the place of secrets in texts, JSON values and records, and nothing else changes."""

from __future__ import annotations

from memoranda.secrets.masks import masked, masked_data, masked_value


def test_a_mask_names_the_class_of_what_it_hides() -> None:
    text = "Pay with 4539 1488 0343 6467, my password is hunter2!"
    assert masked(text) == "Pay with [hidden: card number], my password is [hidden: password]"


def test_a_text_with_masks_is_not_masked_again() -> None:
    once = masked("password: Tr0ub4dor&3 and token=ghp_a8Zk29xQwLm48RtYb71NcVs03HdJfGpQe5Tu")
    assert masked(once) == once


def test_a_value_is_a_secret_where_its_name_says_so() -> None:
    assert masked_value("wifi password", "hunter2") == "[hidden: password]"
    assert masked_value("town", "hunter2") == "hunter2"
    given = {
        "user": "ana",
        "password": "swordfish",
        "args": '{"api_key": "q81ZxMw7nT5kLr20BvYc"}',
        "n": [1, True, None],
    }
    assert masked_data(given) == {
        "user": "ana",
        "password": "[hidden: password]",
        "args": '{"api_key": "[hidden: key]"}',
        "n": [1, True, None],
    }


def test_json_without_a_secret_is_the_same_value() -> None:
    given = {"a": [1, 2, {"b": "c"}], "token_limit": 4096}
    assert masked_data(given) is given


def test_a_number_of_a_card_is_masked_where_it_is_no_text() -> None:
    assert masked_data({"card": 4539148803436467, "order": 4539148803436468}) == {
        "card": "[hidden: card number]",
        "order": 4539148803436468,
    }


def test_a_value_that_was_shown_under_one_name_is_hidden_under_another():
    for _ in range(2):
        assert masked_value("key of the shed", "under the mat") == "under the mat"
        assert masked_value("town", "hunter2!") == "hunter2!"
        assert masked_value("wifi password", "hunter2!") == "[hidden: password]"
