"""The command that erases: ``forget``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args
from uuid import UUID

import click

from memoranda.book import Book
from memoranda.book.forgetting.planning import What
from memoranda.book.input import Who, as_view
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned, seen_as
from memoranda.cli.output.json_text import json_value
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import print_records
from memoranda.cli.session import Session, confirm
from memoranda.errors import StorageError
from memoranda.model.ledger import ErasureReceipt, Scrubbed
from memoranda.model.memories import Memory
from memoranda.model.quotations import quote
from memoranda.model.records import Owner
from memoranda.model.redactions import Asking, Trace, Traces
from memoranda.ports import CopiesItself

#: The most records that are shown before the question.
_SHOWN = 10
#: The most lines of a plan, and places that it quotes.
_LINES, _PLACES = 12, 4
#: The most facts that it quotes.
_FACTS = 3
_STILL_IN = (
    "these backups may still contain it; forget the same ids with --backups, or delete the backups:"
)


@click.command("forget")
@opens_book
@owned("[ID...]", optional=True)
@seen_as
@option(
    "--about WORDS",
    "What these words mean, such as 'where I live' or 'my salary and my address', instead of IDs.",
)
@option("--key TEXT", "The memory that has this key, instead of IDs.")
@option(
    "--what",
    "Of a memory: the fact, with the parts of messages and documents that tell it, or the record alone [default: fact].",
    of=get_args(What),
    default="fact",
)
@option("--take PART...", "Also take a part of a message that --dry-run lists, by its name.")
@click.option(
    "--earlier/--no-earlier",
    default=True,
    help="Earlier values of its key go, too [default: earlier].",
)
@option("--keep ID...", "An earlier value that stays.")
@option(
    "--ask-model",
    "Ask the language model if other records tell it in other words; the plan says what that costs.",
)
@option("--dry-run", "Show what would go, and change nothing.")
@option(
    "--finish POSITION",
    "Erase what the operation at this position has hidden, as 'about' lists it, instead of IDs.",
    of=int,
)
@option("--everything", "Erase all that the book holds of the owner; needs --as-owner.")
@option("--backups", "Also rewrite the book's own backups without it.")
@option(
    "--scrub",
    "Also clear the book's files of erased content; without OWNER, of everything erased before.",
)
@option("--yes", "Do not ask for confirmation.")
def forget_command(
    session: Session,
    party: Owner | None,
    words: Sequence[str],
    who: Who,
    yes: bool,
    scrub: bool,
    **how: Any,
) -> None:
    """Erase memories, messages, episodes or threads by id, with everything that comes from them
    alone.

    Of a memory the fact goes: the memories that say the same, the earlier values of its key, and
    the parts of all records that tell it by its words or its value. Other wordings are not searched
    for. What is shown before the question is what is done.

    This cannot be undone. If an id is not there for this view, nothing is erased; ids that were
    erased before are listed as such. The receipt counts what was removed from each place, and names
    the places that may still contain it. On a server, removed rows stay in its files as dead rows
    until --scrub rewrites every table; a table is locked while it is rewritten.
    """
    if party is None and scrub and not how["everything"]:
        if how["backups"]:
            raise click.UsageError(
                "--backups needs an OWNER; --scrub without OWNER only clears the book's own files"
            )
        _scrub_alone(session)
        return
    if party is None:
        raise click.UsageError(
            "the owner is missing: give OWNER and IDs, or only --scrub to clear the book's files"
        )
    given = (how["about"], how["key"], how["finish"])
    if bool(how["everything"]) + bool(words) + sum(one is not None for one in given) != 1:
        raise click.UsageError("give either IDs, --about, --key, --everything or --finish")
    if how["finish"] is not None and how["dry_run"]:
        raise click.UsageError("--finish has no --dry-run: memoranda about lists what is hidden")
    done = session.run(_forget(session, party, words, who, yes, scrub, how))
    if (
        not session.print_json({**json_value(done.receipt), "rewritten": done.rewritten})
        and not how["dry_run"]
    ):
        print_erasure(session.printer, done)
    if scrub and done.receipt.pending_because:
        exits.leave(exits.FOUND_FAULTS)


def _scrub_alone(session: Session) -> None:
    async def scrub() -> Scrubbed:
        async with session.writing() as book:
            return await book.admin.scrub()

    done = session.run(scrub())
    if not session.print_json({"state": _state(done), "pending_because": done.pending_because}):
        _print_state(session.printer, done.pending_because)
    if done.pending_because:
        exits.leave(exits.FOUND_FAULTS)


def _state(done: Scrubbed) -> str:
    return "complete" if done.complete else "pending"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of an erasure in the book and in its backups."""

    receipt: ErasureReceipt
    #: Backups that were rewritten.
    rewritten: tuple[str, ...]


async def _forget(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    yes: bool,
    scrub: bool,
    how: Mapping[str, Any],
) -> Forgotten:
    async with session.writing() as book:
        copies = await _copies(book) if how["backups"] else ()
        if how["finish"] is not None:
            confirm(
                f"Erase what position {how['finish']} has hidden? This cannot be undone.", yes=yes
            )
            receipt = await book.forgetting.finish(
                party, how["finish"], backups=how["backups"], **who
            )
        else:
            planned, question = await _planned(
                session, book, party, words, who, copies, {**how, "yes": yes}
            )
            if how["dry_run"]:
                return Forgotten(planned, ())
            if question:
                confirm(f"{question} This cannot be undone.", yes=yes)
            wanted: dict[str, Any] = (
                {"everything": True} if planned.plan is None else {"plan": planned.plan}
            )
            receipt = await book.forget(party, backups=how["backups"], **wanted, **who)
        if scrub:
            cleared = await _scrubbed(book)
            receipt = replace(
                receipt, state=_state(cleared), pending_because=cleared.pending_because
            )
    return Forgotten(receipt, tuple(copy for copy in copies if copy not in receipt.still_in))


async def _planned(
    session: Session,
    book: Book,
    party: Owner,
    words: Sequence[str],
    who: Who,
    copies: Sequence[str],
    how: Mapping[str, Any],
) -> tuple[ErasureReceipt, str]:
    """Return what would go, and the question to ask before it does; it is printed for people."""
    if how["everything"]:
        planned = await book.forget(party, everything=True, dry_run=True, **who)
        if how["dry_run"] and not session.json:
            _print_counts(session.printer, f"this would go for {party}:", planned.removed)
        return planned, f"Erase everything that the book holds of {party}?"
    planned = await book.forget(
        party, words, about=how["about"], key=how["key"], what=how["what"], take=how["take"], earlier=how["earlier"], keep=how["keep"],
        ask_model=how["ask_model"], dry_run=True, **who,
    )  # fmt: skip
    assert planned.plan is not None
    found = await book.engine.get(party, as_view(who), planned.plan.ids)
    # With --yes nothing is printed before it is done: a closed output must not keep it from being
    # done.
    if not session.json and (how["dry_run"] or (found and not how["yes"])):
        if not planned.plan.memories:
            print_records(session.printer, list(found.values())[:_SHOWN])
        print_plan(session.printer, planned.plan)
    named = _named(party, planned.plan.ids, found, copies)
    parts = len(planned.plan.spans)
    if parts and named:
        named += f" and {parts} {'part' if parts == 1 else 'parts'} of others"
    return planned, f"Erase {named}, with everything that comes from it alone?" if named else ""


def print_plan(printer: Printer, plan: Traces) -> None:
    """Print in at most twelve lines what goes, what stays without it, and what else has the same
    value.
    """
    for line in plan_lines(plan):
        printer.say(line)


def plan_lines(plan: Traces) -> list[str]:
    """Return the lines of a plan for people, without a quotation twice."""
    named = {memory.id for memory in plan.memories}
    told = [memory.content for memory in plan.memories]
    head = [f"forget: {_quoted(memory.content)}" for memory in plan.memories[:_FACTS]]
    head += [f"  and {len(plan.memories) - _FACTS} more"] if len(plan.memories) > _FACTS else []
    kept = [one for one in plan.earlier if one.id not in plan.ids]
    gone = [one for one in plan.earlier if one.id in plan.ids]
    if gone:
        shown = ", ".join(
            f"{_quoted(one.content)} of {one.observed_at:%Y-%m-%d}" for one in gone[:2]
        )
        head.append(f"earlier values, which go too unless --keep ID: {shown}{_more(gone, 2)}")
        told += [one.content for one in gone]
    tail = _what_stays(plan, kept)
    whole, cut = {one.id for one in plan.goes}, {one.message for one in plan.spans}
    parts = [
        (one.text, f"{one.type.value}{', whole' * (one.message in whole)}") for one in plan.spans
    ]
    shown_above = {*cut, *named, *(one.id for one in gone)}
    parts += [
        (one.text, f"{one.type.value}, whole") for one in plan.goes if one.id not in shown_above
    ]
    places: dict[str, tuple[str, Counter[str]]] = {}
    for text, where in parts:
        plain = " ".join(text.casefold().split()).strip(" .,;")
        if plain and not any(plain in one.casefold() for one in told):
            same = next((one for one in places if plain in one or one in plain), plain)
            places.setdefault(same, (text, Counter()))[1][where] += 1
    if parts:
        in_these = len(parts) - sum(where.total() for _, where in places.values())
        words = f", {in_these} of them in these words" if in_these else ""
        head.append(f"{len(parts)} places tell it{words}{':' if places else ''}")
    room = min(_PLACES, _LINES - 2 - len(head) - len(tail))
    new = [
        f"  {_quoted(text)} ({', '.join(_number(name, number) for name, number in where.items())})"
        for text, where in places.values()
    ]
    more = [f"  and {len(new) - room} more; --json lists them"] if len(new) > room else []
    return [*head, *new[:room], *more, *tail, _of_other_wordings(plan.asking)]


def _of_other_wordings(asking: Asking | None) -> str:
    if asking is None or not asking.records:
        return "other wordings are not searched for"
    which = f"{asking.records} records that share a word or topic with it"
    which = (
        f"the newest {which}, not {asking.left_out} older" if asking.left_out else f"the {which}"
    )
    if asking.asked:
        return f"other wordings: a model was asked of {which}; nothing else was searched"
    cost = f"{asking.calls} calls, at most {asking.tokens:,} tokens"
    return f"other wordings are not searched for; --ask-model asks a model of {which}: {cost}"


def _number(name: str, number: int) -> str:
    return name if number == 1 else f"{number} × {name}"


def _what_stays(plan: Traces, kept: Sequence[Memory]) -> list[str]:
    """Return the lines of a plan that say what stays: without it, or as it is."""
    lines = []
    if plan.changes:
        counts = Counter(one.type.value for one in plan.changes)
        lines.append(
            f"stays without it: {', '.join(f'{number} {name}' for name, number in counts.items())}"
        )
    if kept:
        lines.append(
            f"earlier values that stay: {_quoted(kept[0].content)} {kept[0].id}{_more(kept, 1)}"
        )
    if plan.listed:
        one = plan.listed[0]
        lines.append(
            f"goes only with --take {one.name}: {_quoted(one.text)} ({one.why}){_more(plan.listed, 1)}"
        )
    still = [
        one
        for one in plan.still_tells
        if one.text not in {part.text.strip(" ,;") for part in plan.listed}
    ]
    if still:
        lines.append(f"stays: {_quoted(still[0].text)} ({still[0].why}){_more(still, 1)}")
    return lines


def _more(those: Sequence[object], shown: int) -> str:
    return f" and {len(those) - shown} more" if len(those) > shown else ""


def _print_still(printer: Printer, still_tells: Sequence[Trace], more: int) -> None:
    _print_traces(printer, "stays, and has to do with it:", still_tells[:_SHOWN], "warning")
    left = len(still_tells) - _SHOWN + more
    if left > 0:
        printer.say(f"  … and {left} more; --json lists them", "faint")


def _print_traces(printer: Printer, label: str, traces: Sequence[Trace], style: str = "") -> None:
    _print_lines(
        printer,
        label,
        [f"{one.type.value} {one.id}: {_quoted(one.text)}  ({one.why})" for one in traces],
        style,
    )


def _quoted(text: str) -> str:
    return f"“{quote(' '.join(text.split()), 100)}”"


def _print_counts(printer: Printer, label: str, removed: Mapping[str, int]) -> None:
    printer.say(label, "warning")
    printer.table(
        [Column("PLACE"), Column("COUNT", right=True)],
        [[place, str(number)] for place, number in removed.items()],
    )


async def _scrubbed(book: Book) -> Scrubbed:
    """Clear the book's files; an error becomes part of the receipt, which must still be printed."""
    try:
        return await book.admin.scrub()
    except StorageError as exc:
        return Scrubbed(str(exc))


async def _copies(book: Book) -> tuple[str, ...]:
    engine = book.engine
    return await engine.known_backups() if isinstance(engine, CopiesItself) else ()


def _named(
    party: Owner, ids: Sequence[UUID], found: Collection[UUID], copies: Sequence[str]
) -> str:
    """Describe what is to be erased, which may be nothing; what was erased before may still be in
    the book's backups.
    """
    missing = ", ".join(str(id) for id in ids if id not in found)
    named = (
        [f"{len(found)} {'record' if len(found) == 1 else 'records'} of {party}"] if found else []
    )
    if missing and copies:
        named.append(f"{missing} in the backups, if they contain it")
    return " and ".join(named)


def print_erasure(printer: Printer, done: Forgotten) -> None:
    """Print what was erased, what stays, and what may still contain it."""
    receipt = done.receipt
    if receipt.removed:
        printer.say(f"erased for {receipt.owner}", "good")
        rows = [[place, str(number)] for place, number in receipt.removed.items()]
        printer.table([Column("PLACE"), Column("REMOVED", right=True)], rows)
    else:
        printer.say(
            f"the book holds none of this for {receipt.owner}; nothing more was erased", "warning"
        )
    _print_lines(printer, "forgotten before:", receipt.repeated)
    _print_lines(
        printer,
        "backups rewritten without everything that was ever erased:",
        done.rewritten,
        "good",
    )
    _print_lines(printer, "kept, because they have other sources:", receipt.kept)
    _print_lines(
        printer, "kept, older statements that the erased ones had superseded:", receipt.superseded
    )
    if receipt.era is not None:
        printer.say(
            f"the owner's era {receipt.era} has ended; the same name can start again, empty",
            "faint",
        )
    _print_lines(printer, _STILL_IN, receipt.still_in, "warning")
    _print_still(printer, receipt.still_tells, receipt.more)
    _print_state(printer, receipt.pending_because)
    if receipt.left_to_do:
        printer.say(f"left to do: {receipt.left_to_do}", "warning")
    if receipt.unchecked:
        printer.say("not checked, because the book cannot see it:", "faint")
        for place in receipt.unchecked:
            printer.block(place, indent="  ", style="faint")


def _print_state(printer: Printer, pending: str) -> None:
    printer.say(
        f"the book's own files: {f'pending: {pending}' if pending else 'complete'}",
        "warning" if pending else "",
    )
    if pending and "forget --scrub" not in pending and "CHECKPOINT" not in pending:
        printer.say("  to finish it: memoranda forget --scrub", "warning")


def _print_lines(printer: Printer, label: str, lines: Sequence[object], style: str = "") -> None:
    if lines:
        printer.say(label, style)
        for line in lines:
            printer.say(f"  {line}")
