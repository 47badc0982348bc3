"""The table of near words."""

from __future__ import annotations

from memoranda.text.near_words import near_words
from memoranda.text.terms import query_groups


def _near(word: str) -> dict[int, float]:
    return near_words(query_groups(word)[0].hashes)


def _hash(word: str) -> int:
    return query_groups(word)[0].hashes[0]


def test_words_of_like_meaning_are_near_and_others_are_not() -> None:
    near = _near("doctor")
    assert near[_hash("physician")] > near[_hash("hospital")] >= 0.55
    assert _hash("bicycle") not in near
    assert _hash("children") in _near("kids") and _hash("vehicle") in _near("cars")


def test_a_word_is_not_near_itself_and_unknown_words_have_no_near_ones() -> None:
    assert _hash("doctor") not in _near("doctor")
    assert _near("Zyxwvut") == {} and near_words(()) == {}
