"""The screen of what is formed: it lets through no secret, and nothing that the user asked not to
keep.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from memoranda.formation.privacy.unwanted import Span, unwanted_spans
from memoranda.model.messages import Message
from memoranda.secrets.masks import MASK, masked_data
from memoranda.secrets.spans import SecretClass
from memoranda.text.similarity import content_words, coverage

#: A statement rests on unwanted words if they cover this share of it, and more of it than
#: everything else does.
_RESTS: Final = 0.5
#: Words that only say that there is a secret; with fewer others than this, a statement is only the
#: secret.
_OF_SECRETS: Final = frozenset(
    word
    for kind in SecretClass
    for word in (*content_words(kind.value), *content_words(f"{kind.value}s"))
) | frozenset(
    "number code secret user their his her the credential log in login sign use enter with to asked asks remember remembered is ist es lautet und passwort kennwort pin nummer karte konto "
    "kreditkarte reisepass ausweis contraseña clave número tarjeta cuenta pasaporte api access mi mein meine der die das la el de del".split()
)
_LEAST_WORDS: Final = 2

#: Stands for a message of which nothing is to be kept.
NOT_KEPT: Final = "(not to be kept)"
SECRET: Final = ("secret", "it tells a secret, such as a password or the number of a card")
UNWANTED: Final = ("unwanted", "the user asked not to keep it")


class Fault(NamedTuple):
    """Why a part of an answer is left out: a stable code, and a reason that a model can be
    shown.
    """

    code: str
    reason: str


class Withheld:
    """The parts of a reading's messages that are not to be kept, and the check of what was formed
    against them.
    """

    def __init__(self, messages: Iterable[Message], *, keeps_secrets: bool = False) -> None:
        self._keeps_secrets = keeps_secrets
        said = [message for message in messages if message.role == "user"]
        contents = [message.content for message in said]
        spans = unwanted_spans(contents)
        #: Message → the parts of it that the user asks not to keep.
        self.spans: dict[UUID, list[Span]] = {
            message.id: found for message, found in zip(said, spans, strict=True) if found
        }
        self._unwanted = [
            "\n".join(text[one.start : one.end] for one in found)
            for text, found in zip(contents, spans, strict=True)
            if found
        ]

    def masked(self, given: Any) -> Any:
        """Return a part of an answer with masks in place of secrets."""
        return given if self._keeps_secrets else masked_data(given)

    def fault(self, text: str, cited: Sequence[Message]) -> Fault | None:
        """Return why a statement that cites these messages is not kept, or None."""
        if not self._keeps_secrets and is_only_secret(text):
            return Fault(*SECRET)
        return Fault(*UNWANTED) if self._rests_on_unwanted(text, cited) else None

    def screened(
        self,
        part: str,
        given: Mapping[str, Any],
        messages: Mapping[str, Message],
        report: Callable[[str, str], None],
    ) -> dict[str, Any] | None:
        """Return an entry of a model's answer with masks, without operations that are not kept;
        None if nothing of it is kept.

        ``messages`` are those that were shown, by handle. What is left out is reported.
        """
        shown: dict[str, Any] = self.masked(dict(given))
        if part == "patches":
            operations = given.get("operations")
            if not isinstance(operations, list) or not operations:
                return shown
            kept = [
                one
                for one in map(self._operation, operations)
                if not isinstance(one, dict)
                or self._is_kept(
                    _written(one), _cited(one, messages) or _cited(shown, messages), report
                )
            ]
            return {**shown, "operations": kept} if kept else None
        text = shown.get(_TEXTS.get(part, ""))
        if isinstance(text, str) and not self._is_kept(
            _told(shown, text), _cited(shown, messages), report
        ):
            return None
        return shown

    def _operation(self, given: Any) -> Any:
        """Return an operation of a patch with masks; its path may tell that the value is a
        secret.
        """
        if self._keeps_secrets or not isinstance(given, dict):
            return given
        name = str(given.get("path", "")).rsplit("/", 1)[-1]
        value = {"value": masked_data(given["value"], name)} if "value" in given else {}
        return {**masked_data(given), **value}

    def _is_kept(
        self, text: str, cited: Sequence[Message], report: Callable[[str, str], None]
    ) -> bool:
        fault = self.fault(text, cited)
        if fault is not None:
            report(fault.code, fault.reason)
        return fault is None

    def overlaps(self, message: UUID, span: tuple[int, int]) -> bool:
        """True if a part of a message is among what the user asks not to keep."""
        return any(span[0] < one.end and one.start < span[1] for one in self.spans.get(message, ()))

    def _rests_on_unwanted(self, text: str, cited: Sequence[Message]) -> bool:
        if not self._unwanted:
            return False
        rest = "\n".join(
            _without(message.content, self.spans.get(message.id, ())) for message in cited
        )
        if cited and len(content_words(rest)) < _LEAST_WORDS:
            # Only unwanted words are cited, whichever words the statement has.
            return True
        most = max(coverage(text, unwanted) for unwanted in self._unwanted)
        return most >= _RESTS and most > coverage(text, rest)


#: Part of an answer → the field with its statement.
_TEXTS: Final = {"notes": "content", "experience": "line"}


def _told(given: Mapping[str, Any], text: str) -> str:
    """Return the statement of a note with its key, which may tell what the value is."""
    key = given.get("key")
    return f"{key}: {text}" if isinstance(key, str) and MASK.search(text) else text


def _written(operation: Mapping[str, Any]) -> str:
    """Return what an operation of a patch writes, as text."""
    value = operation.get("value")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cited(given: Mapping[str, Any], messages: Mapping[str, Message]) -> list[Message]:
    """Return the shown messages that an entry names as its sources."""
    sources = given.get("sources")
    named = (
        [one.get("message") if isinstance(one, dict) else one for one in sources]
        if isinstance(sources, list)
        else []
    )
    return [
        messages[handle]
        for handle in dict.fromkeys(one for one in named if isinstance(one, str))
        if handle in messages
    ]


def is_only_secret(text: str) -> bool:
    """True if a text with a mask says hardly more than that there is a secret."""
    if not MASK.search(text):
        return False
    words = [word for word in content_words(MASK.sub(" ", text)) if word not in _OF_SECRETS]
    return len(words) < _LEAST_WORDS


def without_unwanted(messages: Sequence[Message]) -> list[Message]:
    """Return messages without the parts that the user asks not to keep; ``NOT_KEPT`` stands where
    nothing is left.
    """
    held = Withheld(messages, keeps_secrets=True).spans
    left = ((message, _without(message.content, held.get(message.id, ()))) for message in messages)
    return [
        message.changed(content=text if len(content_words(text)) >= _LEAST_WORDS else NOT_KEPT)
        if message.id in held
        else message
        for message, text in left
    ]


def _without(text: str, spans: Iterable[Span]) -> str:
    for one in sorted(spans, reverse=True):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text
