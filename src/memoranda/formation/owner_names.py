"""Names by which a conversation may call its owner."""

from __future__ import annotations

from memoranda.model.drafts import Reading
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text

_NAME = "name"


def owner_names(reading: Reading) -> frozenset[str]:
    """Return the names of a reading's owner in comparable form: words for the user, the id, and the profile's name."""
    names = {comparable_text(reading.thread.owner.id)}
    for document in reading.profiles:
        name = document.body.get(_NAME)
        if isinstance(name, str) and name.strip():
            names |= {comparable_text(name), comparable_text(name.split()[0])}
    return frozenset(names | OWNER_WORDS)
