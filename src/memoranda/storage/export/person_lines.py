"""Lines of an export about one person, beside the person's own records; an import skips them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from memoranda.model.book_rows import OwnerPieces
from memoranda.model.ledger import Entry, Verb
from memoranda.model.service_records import RESTRICTING, AboutOwner, Holding
from memoranda.storage.export.write import Showing, portable, restriction_part
from memoranda.storage.rows import entry_of, owner_of

#: The kind of these lines; ``what`` says more.
ABOUT = "about"
_ERASING = {Verb.ERASE: "erased", Verb.AGE: "left_by_age", Verb.REDACT: "lost_words"}


def about_lines(found: AboutOwner, showing: Showing) -> Iterator[dict[str, Any]]:
    """Yield the lines about an owner: records of others, restriction and who restricted and lifted
    it, reads, usage of models, and erasures.
    """
    for what, line in _lines(found, showing):
        yield {"line": ABOUT, "what": what, **line}


def _lines(found: AboutOwner, showing: Showing) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in found.held:
        used = found.key_uses.get(one.record.id)
        yield "held", _held(one, showing) | ({} if used is None else {"used_at": used.isoformat()})
    if found.restriction is not None:
        yield "restriction", restriction_part(found.restriction)
    for read in found.reads:
        names = {"by": read.principal or None, "verb": read.verb, "surface": read.surface}
        what = "restricting" if read.verb in RESTRICTING else "read"
        yield what, {"at": read.at.isoformat(), **names}
    for spent in found.spent:
        yield "usage", spent.model_dump(mode="json", exclude={"tenant", "owner"})
    for at in found.erased:
        yield "erasure", {"at": at.isoformat(), "everything": True}
    if found.own is not None:
        yield from (("erasure", line) for line in _erasures(found.own))


def _held(one: Holding, showing: Showing) -> dict[str, Any]:
    record = portable(showing(one.record))
    owner = one.record.owner
    return {
        "of": {"kind": owner.kind.value, "id": owner.id},
        "goes_with_the_owner": one.goes,
        "record": {name: value for name, value in record.items() if name not in one.left_out},
        **(
            {"left_out": sorted(one.left_out & record.keys())}
            if one.left_out & record.keys()
            else {}
        ),
    }


def _erasures(own: OwnerPieces) -> Iterator[dict[str, Any]]:
    """Yield the erasures of single records: when they were, and how many records of each kind they
    took.
    """
    frame = own.frame
    assert frame.names is not None
    owner = owner_of(*frame.names)
    for piece in own.entries:
        entry: Entry = entry_of((0, *piece, frame.era, None), owner)
        counts: dict[str, Counter[str]] = {}
        for line in entry.lines:
            if line.verb in _ERASING:
                counts.setdefault(_ERASING[line.verb], Counter())[line.type.value] += 1
        if counts:
            told = {name: dict(sorted(some.items())) for name, some in counts.items()}
            yield {"at": entry.at.isoformat(), **told}
