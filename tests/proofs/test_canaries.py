"""The words by which a proof tells owners apart must not be forms of each other: who forgets a
word forgets its other forms, too.
"""

from __future__ import annotations

from memoranda.text.similarity import words_with_forms
from proofs._book.canaries import Mint

#: All ends of three letters, and some more.
_MANY = 5_000


def test_no_canary_is_a_form_of_another():
    mint = Mint()
    by_form: dict[int, str] = {}
    for _ in range(_MANY):
        canary = mint(owner=1, audience=2)
        ((_, forms),) = words_with_forms(canary)
        for form in forms:
            assert form not in by_form, f"{canary} and {by_form[form]}"
            by_form[form] = canary
