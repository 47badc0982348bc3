"""The words by which a proof tells owners apart must not be forms of each other: who forgets a
word forgets its other forms, too.
"""

from __future__ import annotations

from memoranda.text.similarity import terms_in
from proofs._book.canaries import Mint

#: All ends of three letters, and some more.
_MANY = 5_000


def test_no_canary_is_a_form_of_another():
    mint = Mint()
    forms: dict[int, str] = {}
    for canary in (mint(owner=1, audience=2) for _ in range(_MANY)):
        for form in terms_in(canary):
            assert form not in forms, f"{canary} and {forms[form]}"
            forms[form] = canary
