"""The command group ``keys``: creates, lists, rotates and revokes the keys of a service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args
from uuid import UUID

import click

from memoranda.book.nouns.keys import NewKey
from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Column
from memoranda.cli.output.record_tables import print_receipt
from memoranda.cli.session import Session
from memoranda.model.ledger import Receipt
from memoranda.model.profiles import Key, KeyRole


@click.group("keys", no_args_is_help=False, cls=CommandGroup)
def keys_command() -> None:
    """Create, list, rotate and revoke the keys that open a service."""


@keys_command.command("create")
@opens_book
@click.argument("name")
@option(
    "--role",
    "viewer reads, editor writes, too, and admin may do everything [default: editor].",
    of=get_args(KeyRole),
    default="editor",
)
@option("--person NAME", "The user whose own key it is; it opens that user.")
@option("--for-owner NAME...", "A user that it opens; repeatable [default: all].", "owners")
@option("--for-agent NAME...", "An agent it may name; repeatable [default: all].", "agents")
@option(
    "--for-group NAME...",
    "A group it may name; repeatable [default: all, or none if it is limited to owners].",
    "groups",
)
@option("--metrics", "Let it read the metrics and the health of the service.")
@option("--expires TIME", "When it ends.", "expires_at")
def create_command(session: Session, name: str, **given: Any) -> None:
    """Create a key and print its secret, once: the book stores only a digest."""
    _print_new(session, session.run(_make(session, "create", name, **_chosen(given))))


@keys_command.command("rotate")
@opens_book
@click.argument("name")
@option(
    "--grace SECONDS",
    "How long the former secret still holds [default: 0].",
    "grace_seconds",
    of=float,
    default=0.0,
)
@option("--expires TIME", "When the key ends.", "expires_at")
def rotate_command(session: Session, name: str, **given: Any) -> None:
    """Give a key a new secret and print it, once."""
    _print_new(session, session.run(_make(session, "rotate", name, **_chosen(given))))


@keys_command.command("revoke")
@opens_book
@click.argument("key", metavar="NAME|ID")
def revoke_command(session: Session, key: str) -> None:
    """Revoke a key: it opens the service no more, within two seconds."""
    receipt = session.run(_revoke(session, key))
    if not session.print_json(receipt):
        print_receipt(session.printer, receipt)


@keys_command.command("list")
@opens_book
@option("--ended", "Also list keys that are revoked or have expired.")
def list_command(session: Session, ended: bool) -> None:
    """List the keys, with what each opens."""
    now = datetime.now(UTC)
    every, uses = session.run(_list(session))
    keys = [key for key in every if ended or _state(key, now) not in ("revoked", "expired")]
    if session.print_json(
        {"keys": [{**_shown(key), "last_used_at": uses.get(key.id)} for key in keys]}
    ):
        return
    if not keys:
        session.printer.say("there is no key: the service opens to this machine only", "faint")
        return
    columns = [Column(name) for name in ("NAME", "SECRET", "ROLE", "STATE", "LAST USED")]
    rows = [
        [
            key.name,
            _secret(key),
            key.role or ",".join(key.roles),
            _state(key, now),
            f"{uses[key.id]:%Y-%m-%d %H:%M}" if key.id in uses else "never",
            _opens(key),
        ]
        for key in keys
    ]
    session.printer.table([*columns, Column("OPENS", flexible=True)], rows)


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value not in (None, ())}


async def _make(session: Session, verb: str, name: str, **given: Any) -> NewKey:
    async with session.writing() as book:
        made: NewKey = await getattr(book.keys, verb)(name, **given)
    return made


async def _revoke(session: Session, key: str) -> Receipt:
    async with session.writing() as book:
        return await book.keys.revoke(key)


async def _list(session: Session) -> tuple[list[Key], dict[UUID, datetime]]:
    async with session.reading() as book:
        return await book.keys.list(), await book.keys.uses()


def _print_new(session: Session, new: NewKey) -> None:
    if session.print_json({"secret": new.secret, "key": _shown(new.key)}):
        return
    session.printer.say(new.secret)
    click.echo("this secret is shown once: store it now", err=True)


def _shown(key: Key) -> dict[str, Any]:
    """Return what people may see of a key: everything but the digest."""
    return key.model_dump(
        mode="json", exclude={"digest", "owner", "audience", "version", "withdrawn"}
    )


def _secret(key: Key) -> str:
    return f"mem_{key.prefix}_…" if key.prefix else "…"


def _state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked" if key.revoked_at <= now else f"until {key.revoked_at:%Y-%m-%d %H:%M}"
    if key.expires_at is None:
        return "open"
    return "expired" if key.expires_at <= now else f"until {key.expires_at:%Y-%m-%d %H:%M}"


def _opens(key: Key) -> str:
    if key.opens is not None:
        return str(key.opens)
    parts = [] if key.person is None else [f"own key of {key.person}"]
    for word in ("owners", "agents", "groups"):
        names = getattr(key, word)
        if names:
            parts.append(f"{word}: {', '.join(names)}")
    what = "; ".join(parts) or "everything"
    return f"{what}; metrics" if key.metrics else what
