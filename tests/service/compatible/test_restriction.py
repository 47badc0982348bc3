"""A user whose data is restricted is refused in EDDI's words."""

from __future__ import annotations

import json

from memoranda.errors import NotAllowed
from memoranda.service.compatible.eddi_routes import answer_error


class _Restricted(NotAllowed):
    code = "restricted"


def test_a_restricted_user_is_refused_in_eddis_words() -> None:
    answer = answer_error(_Restricted("the processing of this owner's data is restricted"))
    assert answer is not None
    assert (answer.status_code, json.loads(bytes(answer.body))) == (403, {"error": "processing_restricted"})
