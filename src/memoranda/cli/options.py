"""Options that several commands share, and their conversion into arguments for the book."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import click
from pydantic import ValidationError

from memoranda.assembly import DEFAULT_FILE
from memoranda.book.input import Conditions, Who, as_id
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.output.printer import Printer
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput
from memoranda.model.data_filters import names_data
from memoranda.model.records import DEFAULT_TENANT, Owner, OwnerKind, RecordType
from memoranda.model.values import refused

Command = Callable[..., None]

BOOK_VARIABLE = "MEMORANDA_BOOK"


class ConditionsType(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic in newer releases only
    """Conditions on data, as a JSON object."""

    name = "conditions"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the conditions; anything else is a usage error."""
        if isinstance(value, dict):
            return value
        try:
            found = json.loads(value)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not all(map(names_data, found)):
            self.fail('give a JSON object of paths, such as {"data.age": {"gte": 30}}', param, ctx)
        return found


def opens_book(command: Command) -> Command:
    """Decorate a command: it gets a ``session``, which opens the book that the options name."""

    @option(
        "--book ADDRESS",
        f"The book: a path, postgresql://… or mongodb://… [default: ${BOOK_VARIABLE} or ./{DEFAULT_FILE}].",
    )
    @option("--tenant NAME", f"The tenant that the owners belong to [default: {DEFAULT_TENANT}].")
    @option("--config FILE", "A file with settings, in TOML.")
    @option("--json", "Print the answer as JSON.", "as_json")
    @option("--debug", "Print a traceback with an error.")
    @functools.wraps(command)
    def opened(
        book: str | None,
        tenant: str | None,
        config: str | None,
        as_json: bool,
        debug: bool,
        **rest: Any,
    ) -> None:
        ctx = click.get_current_context()
        before = ctx.find_root().params
        if debug or before.get("debug"):
            exits.show_traceback(ctx)
        tenant = _given("--tenant", tenant, before.get("tenant"))
        session = Session(
            address=_given("--book", book, before.get("book")) or _usual_book(),
            tenant=tenant or DEFAULT_TENANT,
            config=_given("--config", config, before.get("config")),
            printer=Printer.for_stdout(json=as_json or bool(before.get("as_json"))),
            whole=tenant is None,
        )
        command(session=session, **rest)

    return opened


def _usual_book() -> str:
    return _given(f"${BOOK_VARIABLE}", os.environ.get(BOOK_VARIABLE)) or DEFAULT_FILE


def _given(name: str, *values: str | None) -> str | None:
    """Return the first value that was given; refuse an empty one, which usually comes from an unset
    shell variable.
    """
    value = next((value for value in values if value is not None), None)
    if value is not None and not value.strip():
        raise click.UsageError(
            f"{name} is empty: give it a value, or leave it out to get the default"
        )
    return value


def owned(
    rest: str = "", *, least: int = 0, most: int | None = None, optional: bool = False
) -> Callable[[Command], Command]:
    """Decorate a command: it gets the owner as ``party`` and its other arguments as ``words``;
    ``rest`` is for the help.
    """
    owner = "[OWNER]" if optional else "OWNER"

    def decorate(command: Command) -> Command:
        @click.argument("words", nargs=-1, metavar=f"{owner} {rest}".rstrip())
        @option("--owner NAME", "The owner; give it here or as the first argument.")
        @option(
            "--owner-kind",
            "The kind of owner [default: user].",
            of=OwnerKind,
            default=OwnerKind.USER.value,
        )
        @functools.wraps(command)
        def with_owner(
            session: Session,
            words: tuple[str, ...],
            owner: str | None,
            owner_kind: str,
            **given: Any,
        ) -> None:
            name, others = (
                (owner, words) if owner is not None else (words[0] if words else None, words[1:])
            )
            if name is None and not optional:
                raise click.UsageError(
                    f"the owner is missing: give OWNER{f' and {rest}' if rest else ''}"
                )
            if len(others) < least or (most is not None and len(others) > most):
                raise click.UsageError(
                    f"expected after the owner: {rest or 'nothing'}; quote a text of several words"
                )
            party = None if name is None else _party(session.tenant, owner_kind, name)
            command(session=session, party=party, words=others, **given)

        return with_owner

    return decorate


def _party(tenant: str, kind: str, name: str) -> Owner:
    try:
        return Owner(tenant=tenant, kind=OwnerKind(kind), id=name)
    except ValidationError as exc:
        raise refused(exc, at="owner") from exc


def seen_as_agent(command: Command) -> Command:
    """Decorate a command: it gets ``who``, the agent that reads or writes."""

    @option("--agent NAME", "Read and write as this agent.")
    @option("--group NAME...", "A group that the agent belongs to; repeatable.", "groups")
    @functools.wraps(command)
    def with_agent(agent: str | None, groups: tuple[str, ...], **given: Any) -> None:
        command(who=Who(agent=agent, groups=groups), **given)

    return with_agent


def seen_as(command: Command) -> Command:
    """Decorate a command: it gets ``who``, an agent or the owner, as whom it reads."""

    @option("--as-owner", "Read as the owner, who sees every record of theirs.")
    @functools.wraps(command)
    def with_view(as_owner: bool, who: Who, **given: Any) -> None:
        command(who=Who(**who, as_owner=True) if as_owner else who, **given)

    return seen_as_agent(with_view)


#: Decorates a command: it gets ``operation``, under which a repeated write is applied only once.
once = option(
    "--operation ID",
    "Your own id for this write; the same id and request are applied only once.",
)


def waits_for_vectors(command: Command) -> Command:
    """Decorate a command: it gets ``wait``, True if it computes the vectors of what it writes
    before it ends.
    """

    @option(
        "--no-wait", "Do not wait for the vectors of what is written; a worker makes them later."
    )
    @functools.wraps(command)
    def with_wait(no_wait: bool, **given: Any) -> None:
        command(wait=not no_wait, **given)

    return with_wait


#: Filters of the records that are shown, in the order of the help.
_CONDITIONS = (
    option(
        "--type ...",
        "Only records of this type; repeatable.",
        "types",
        of=RecordType,
    ),
    option("--kind KIND...", "Only records of this kind or role; repeatable.", "kinds"),
    option(
        "--status STATUS...",
        "Only records with this status, such as superseded; repeatable.",
        "statuses",
    ),
    option("--thread ID", "Only records of this thread."),
    option("--since TIME", "Only what was said or observed at this time or later."),
    option("--until TIME", "Only what was said or observed before this time."),
    option("--valid-at TIME", "Only memories that were valid at this time."),
    option("--as-of TIME", "Show what was true at this time, even if it was superseded since."),
    option("--known-at TIME", "Show what the book knew at this time."),
    option("--key KEY...", "Only memories with this key; repeatable.", "keys"),
    option("--subject NAME", "Only memories about this subject."),
    option("--of-agent NAME", "Only records that this agent wrote, or messages to it."),
    option("--tag TAG...", "Only records with one of these tags; repeatable.", "tags"),
    option("--trust WAY...", "Only records with this trust, such as user; repeatable."),
    option("--pinned", "Only pinned memories."),
    option("--schema NAME...", "Only documents of this schema; repeatable."),
    option(
        "--namespace LABEL...",
        "Only items in this namespace and below it; repeatable, a label each.",
    ),
    option(
        "--data JSON",
        'Only records whose data meets these conditions, such as {"data.age": {"gte": 30}}.',
        of=ConditionsType(),
    ),
    option("--include-ended", "Recall also memories whose time has ended."),
)
#: The filters that are passed on under their own names.
_ONLY = "kinds statuses thread since until valid_at as_of known_at keys subject tags trust schema namespace".split()


def narrowed(command: Command) -> Command:
    """Decorate a command: it gets ``types`` and ``only``, filters of the records that it shows."""

    @functools.wraps(command)
    def with_conditions(
        types: tuple[str, ...], of_agent: str | None, data: dict[str, Any] | None, **given: Any
    ) -> None:
        chosen = {name: given.pop(name) for name in _ONLY}
        mine = {name: None if value == () else value for name, value in chosen.items()}
        flags = {name: given.pop(name) for name in ("pinned", "include_ended")}
        only: Conditions = {"agent": of_agent, **flags, **mine, **(data or {})}
        command(types=types or None, only=only, **given)

    for condition in reversed(_CONDITIONS):
        with_conditions = condition(with_conditions)
    return with_conditions


def versions(pairs: Sequence[str]) -> dict[Any, int]:
    """Parse the record versions that the caller expects, given as ``ID=VERSION``."""
    from_text: dict[Any, int] = {}
    for pair in pairs:
        id, sign, version = pair.rpartition("=")
        if not sign or not version.isdigit():
            raise InvalidInput(f"expect: {pair!r} is not ID=VERSION", field="expect")
        from_text[as_id(id, "expect")] = int(version)
    return from_text
