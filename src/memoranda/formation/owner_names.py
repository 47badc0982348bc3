"""Names by which a conversation may call its owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from memoranda.formation.schemas.definitions import PROFILE
from memoranda.model.drafts import Reading, ReadMessage
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter
from memoranda.model.records import RecordType, View, those_of
from memoranda.ports import Records
from memoranda.storage.decide.strangers import OWNER_WORDS, other_speaker
from memoranda.text.scripts import comparable_text

_NAME: Final = "name"
#: The newest messages of a thread that are read to see who speaks in it.
_NEWEST: Final = 1_000


def owner_names(reading: Reading) -> frozenset[str]:
    """Return the names of a reading's owner in comparable form: words for the user, the id, the
    profile's name, the speaker's.
    """
    called = (name for read in reading.messages if read.called for name in forms_of(read.called))
    id = comparable_text(reading.thread.owner.id)
    return frozenset({id, *profile_names(reading.profiles), *called, *OWNER_WORDS})


def forms_of(name: str) -> frozenset[str]:
    """Return a name and its first word, in comparable form."""
    return (
        frozenset({comparable_text(name), comparable_text(name.split()[0])})
        if name.split()
        else frozenset()
    )


def profile_names(profiles: Iterable[ProfileDocument]) -> frozenset[str]:
    """Return the forms of the name that the owner's profile has."""
    names = (
        document.body.get(_NAME) for document in profiles if document.schema_name == PROFILE.name
    )
    return frozenset(form for name in names if isinstance(name, str) for form in forms_of(name))


def lone_speaker(messages: Iterable[Message]) -> str | None:
    """Return the display name under which all user messages come; None if there are several, or the
    owner is named otherwise.
    """
    speakers = [other_speaker(message) for message in messages if message.role == "user"]
    forms = {None if name is None else comparable_text(name) for name in speakers}
    return speakers[0] if len(forms) == 1 else None


async def owner_speakers(
    records: Records,
    thread: Thread,
    view: View,
    said: Sequence[Message],
    profiles: Iterable[ProfileDocument],
) -> frozenset[str]:
    """Return the names of speakers who are the owner: that of the profile, else of the only speaker
    of the thread.
    """
    named, lone = profile_names(profiles), lone_speaker(said)
    if named or lone is None:
        return named
    if said[0].seq > 1:
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id, newest_first=True)
        page = await records.scan(thread.owner, view, only, None, _NEWEST)
        lone = lone_speaker(those_of(Message, page.records))
    return frozenset() if lone is None else forms_of(lone)


def as_read(message: Message, owners: Collection[str], *, context: bool) -> ReadMessage:
    """Return a message to read; if its speaker has one of these names, it is the owner's own."""
    speaker = other_speaker(message) if message.role == "user" else None
    if speaker is None or forms_of(speaker).isdisjoint(owners):
        return ReadMessage(message=message, context=context)
    return ReadMessage(message=message.changed(speaker=None), context=context, called=speaker)
