"""Faults for tests to plant in a book's tables, each with the message expected from ``verify``."""

from __future__ import annotations

from typing import NamedTuple

from memoranda.model.changes import Retract
from memoranda.model.passages import Use
from memoranda.model.records import WHOLE, Owner
from memoranda.ports import Engine
from memoranda.storage.use_cases.verify import TABLE_FAULTS
from memoranda_conformance.builders import ANN, BEN, FOR_A, SMALL, START, Pen, vectors_of


class Fault(NamedTuple):
    statement: str
    told: str
    #: True if a rebuild recomputes it.
    mended: bool = True


class Tried(Exception):
    """Carries verify's findings before and after a rebuild. Raising it rolls the transaction
    back.
    """

    def __init__(self, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        self.before, self.after = before, after


#: Statements that are the same in both databases.
PLANTED = {
    "a body that is none": Fault("UPDATE records SET body = '[' WHERE type = 'thread'", "cannot be read", False),
    "another body": Fault("UPDATE records SET body = replace(body, 'tea', 'rum')", "not what was written", False),
    "an earlier body": Fault("UPDATE versions SET body = replace(body, 'tea', 'rum')", "not what was written", False),
    "a position": Fault("UPDATE records SET position = 999", "wrote it, and not 999", False),
    "an earlier position": Fault("UPDATE versions SET position = 999", "wrote it, and not 999", False),
    "a version too high": Fault("UPDATE versions SET version = 9", "behind a version that is older", False),
    "a version's shelf": Fault("UPDATE versions SET shelf = 999", "its shelf is not its owner's", False),
    "versions of nothing": Fault("UPDATE versions SET record = record + 999", "versions_without_record", False),
    "no versions": Fault("DELETE FROM versions", "not in the book", False),
    "an entry that is none": Fault("UPDATE ledger SET body = '['", "cannot be read", False),
    "a hole": Fault("DELETE FROM ledger WHERE position = 1", "its ledger has gaps", False),
    "no end of the ledger": Fault("UPDATE owners SET position = position + 1", "its ledger has gaps", False),
    "a ledger of nobody": Fault("UPDATE ledger SET owner = 99 WHERE owner = 2", "ledger_without_owner", False),
    "no shelf": Fault("UPDATE records SET shelf = 999 WHERE type = 'thread'", "record_without_shelf", False),
    "in an ended era": Fault("UPDATE owners SET erased_at = 1 WHERE no = 2", "record_without_shelf", False),
    "seq": Fault("UPDATE records SET seq = 0 WHERE type = 'message'", "its seq stands otherwise", False),
    "a tail": Fault("UPDATE records SET seq = 1 WHERE type = 'thread'", "lies behind its tail", False),
    "a slot": Fault("UPDATE records SET slot = NULL", "its slot stands otherwise"),
    "a kind": Fault("UPDATE records SET kind = 'x' WHERE type = 'memory'", "its kind stands otherwise"),
    "a status": Fault("UPDATE records SET status = 'active' WHERE status = 'retracted'", "its status stands"),
    "a time": Fault("UPDATE records SET at = at + 1", "its at stands otherwise"),
    "valid from": Fault("UPDATE records SET valid_from = 7", "its valid_from stands otherwise"),
    "valid to": Fault("UPDATE records SET valid_to = 7", "its valid_to stands otherwise"),
    "facets": Fault("UPDATE records SET facets = ''", "its facets stands otherwise"),
    "learnt": Fault("UPDATE records SET learnt = learnt - 1", "its first version was not recorded"),
    "not ended": Fault("UPDATE records SET ended = NULL", "does not fit its status"),
    "ended": Fault("UPDATE records SET ended = recorded_at WHERE ended IS NULL", "does not fit its status"),
    "held": Fault("UPDATE owners SET held = 7 WHERE no = 1", "its count of held memories is wrong"),
    "no links": Fault("DELETE FROM links WHERE length(part) = 0", "its links are not what it rests on"),
    "no unlisted sources": Fault("DELETE FROM links WHERE length(part) > 0", "its unlisted sources are not", False),
    "another unlisted source": Fault(
        "UPDATE links SET source = record WHERE source = (SELECT min(source) FROM links WHERE length(part) > 0)",
        "its unlisted sources are not",
        False,
    ),
    "no terms": Fault("DELETE FROM terms", "it has no terms"),
    "no mark": Fault("UPDATE records SET mark = 0 WHERE type = 'memory'", "it has no terms", False),
    "no vectors": Fault("DELETE FROM vectors", "vector_count"),
    "no set": Fault("DELETE FROM vector_sets", "vector_astray"),
}  # fmt: skip


def sentence(told: str) -> str:
    """Return the message of a table check from the check's name; return other texts unchanged."""
    return TABLE_FAULTS.get(told, told).split("{0}")[-1]


async def fill(engine: Engine) -> None:
    """Write a little of what can be checked, for two owners and one who was erased."""
    pen, other, gone = Pen(engine), Pen(engine, BEN), Pen(engine, Owner(id="gone"))
    thread = await pen.open(agent="a", audience=FOR_A)
    said = await pen.say(thread, "tea", "cake")
    tea = await pen.remember("likes tea", key="drink", sources=said, agent="a", audience=FOR_A)
    await pen.remember("likes tea with milk", key="drink", agent="a", audience=FOR_A)
    quiet = await pen.remember("likes quiet and tea")
    often = await pen.say(thread, *(f"rum {n}" for n in range(12)))
    await pen.remember("likes cake", sources=often, agent="a", audience=FOR_A)
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, tea, *said))
    await engine.note_use(ANN, WHOLE, {quiet: Use(strength=0.25, used_at=START, count=2)})
    await pen.write(Retract(quiet))
    await other.remember("likes rum")
    await gone.remember("was here")
    await gone.erase_all()


def missed(planted: dict[str, Fault], results: dict[str, Tried]) -> dict[str, tuple[str, ...]]:
    """Return the faults that verify did not report or the rebuild did not repair."""
    found = {}
    for name, fault in planted.items():
        tried = results[name]
        if not any(sentence(fault.told) in each for each in tried.before):
            found[name] = tried.before
        elif fault.mended and tried.after:
            found[f"{name}, after the rebuild"] = tried.after
    return found
