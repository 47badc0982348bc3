"""Tables of errors, statuses and reasons."""

from __future__ import annotations

from typing import get_args

from memoranda import errors as tree
from memoranda.cli.exits import EXIT_CODES
from memoranda.errors import MemorandaError
from memoranda.model.ledger import IGNORED, LEFT_OUT_BECAUSE
from memoranda.recall.context.result import Reason
from memoranda.wire.problems import TITLES, status_of

#: What a client does after each status.
_AFTER = {
    400: "mend the request: its body is compressed or no JSON object in UTF-8, or a header is sent twice",
    401: "send a valid key or token",
    403: "use another credential; a web page of another origin is refused, too",
    404: "it is not there, or it is not yours: both look the same",
    405: "use a method that `Allow` names",
    406: "accept both forms of an answer of MCP",
    408: "send it again",
    409: "read what is stored, or use another `Idempotency-Key`",
    410: "nothing: it was forgotten",
    412: "read it again, and send its version as `If-Match`",
    413: "send less",
    421: "ask the service by its own name, or set `service.allowed_hosts`",
    422: "mend the arguments that `errors` names",
    429: "wait as long as `Retry-After` says, and send it again",
    500: "look into the service's log under the request's id",
    503: "wait as long as `Retry-After` says, and send it again with the same `Idempotency-Key`",
    507: "make room on the disk; nothing was stored",
}
#: Why a context leaves out something that it found.
_REASONS = {
    "budget": "there was no room for it",
    "beyond_a_quarter": "turns of other conversations take at most a quarter of the budget",
    "in_conversation": "it is a turn of the conversation, which the context has already",
    "told_twice": "another entry says the same",
    "expired": "it is no longer true: its `valid_to` has passed",
    "disputed": "it contradicts a protected memory, and the person decides",
    "covered_by_memory": "a memory in the context tells the part that answers the question",
    "outdated": "the part that answers the question was superseded or retracted since",
    "no_words": "it has no words, such as a call of a tool alone",
    "acknowledges": "it only acknowledges, such as “Noted. Anything else?”",
    "repeats_question": "the user has asked the same before",
    "repeats_context": "it only repeats what the context has",
}


def errors() -> str:
    """Return a row for each error: its parent, code, exit code and status, and what it means."""
    rows = ["| error | is a | code | exit code | HTTP | meaning |", "|---|---|---|--:|--:|---|"]
    for name, kind in vars(tree).items():
        if not isinstance(kind, type) or not issubclass(kind, MemorandaError):
            continue
        about = " ".join((kind.__doc__ or "").split()).replace("``", "`")
        parent = "" if kind is MemorandaError else f"`{kind.__mro__[1].__name__}`"
        status = status_of(kind("")) if kind is not MemorandaError else 500
        rows.append(
            f"| `{name}` | {parent} | `{kind.code}` | {EXIT_CODES[kind.code]} | {status} | {about} |"
        )
    return "\n".join(rows)


def statuses() -> str:
    """Return a row for each HTTP status: what it says, and what to do then."""
    assert _AFTER.keys() == TITLES.keys()
    rows = ["| status | title | what to do |", "|---|---|---|"]
    return "\n".join(
        [*rows, *(f"| {status} | {title} | {_AFTER[status]} |" for status, title in TITLES.items())]
    )


def left_out_of_contexts() -> str:
    """Return why a context leaves out what it found."""
    assert {one for group in _flat(Reason) for one in group} == _REASONS.keys()
    return _table("reason", _REASONS)


def left_out_of_forming() -> str:
    """Return why forming leaves out a part of an answer."""
    return _table("code", LEFT_OUT_BECAUSE)


def ignored() -> str:
    """Return why a receipt names a part of a request as ignored."""
    return _table("code", IGNORED)


def _flat(union: object) -> list[tuple[str, ...]]:
    return [get_args(part) for part in get_args(union)]


def _table(head: str, words: dict[str, str]) -> str:
    rows = [f"| {head} | why |", "|---|---|"]
    return "\n".join([*rows, *(f"| `{name}` | {why} |" for name, why in words.items())])
