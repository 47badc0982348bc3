"""The conditions that isolate owners, each as a mutant; those that others imply, and those that no
attempt reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from memoranda.book import input
from memoranda.book.admin.transfer import Transfer
from memoranda.book.nouns.records import Records
from memoranda.engines.sqlite.file.connections import statements
from memoranda.model.records import Audience
from memoranda.recall.arrays import admission, columns
from memoranda.storage.decide import (
    erasure_plan,
    item_changes,
    memory_changes,
    profile_changes,
    protection,
    state,
    thread_changes,
    undo,
    wide_erasures,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.use_cases import history
from proofs._book import (
    accounts,
    arrivals,
    conversing,
    labours,
    reads,
    recalls,
    storing,
    works,
    writes,
)
from proofs._book.mutants import Mutant, of_function, of_statements, replaced
from proofs._book.session import Session

Try = Callable[[Session], Coroutine[Any, Any, None]]
_UNSEEN = "not change.audience.readable_by(state.batch.view)"
_UNSEEN_THREAD = "not thread.audience.readable_by(state.batch.view)"
_CHECKS: list[tuple[Any, str, str]] = [
    (Audience.readable_by, "self.agent == view.agent", "True"),
    (Audience.readable_by, "not set(self.groups).isdisjoint(view.groups)", "True"),
    (Audience.within, "self.agent == view.agent and wider.readable_by(view)", "True"),
    (BatchState.find, "not record.audience.readable_by(self.batch.view)", "False"),
    (BatchState.end_of, " or not end.audience.readable_by(self.batch.view)", ""),
    (protection.audience_of, _UNSEEN, "False"),
    (protection.audience_of, "not change.audience.within(widest, state.batch.view)", "False"),
    (memory_changes._refused_before, "and other.owner == memory.owner", ""),
    (memory_changes._obstacle, "not winner.audience.readable_by(state.batch.view)", "False"),
    (
        memory_changes._obstacle,
        "not own_key and not loser.audience.readable_by(state.batch.view)",
        "False",
    ),
    (
        memory_changes.confirm,
        "not memory.audience.within(ground.audience, state.batch.view)",
        "False",
    ),
    (
        memory_changes.change_audience,
        "and not change.audience.within(ground.audience, state.batch.view)",
        "and False",
    ),
    (memory_changes.change_audience, _UNSEEN, "False"),
    (thread_changes.open_thread, _UNSEEN_THREAD, "False"),
    (thread_changes.open_thread, "held.audience.readable_by(state.batch.view)", "True"),
    (thread_changes.record_episode, f"change.audience is not None and {_UNSEEN}", "False"),
    (
        thread_changes.record_episode,
        "not change.audience.within(audience, state.batch.view)",
        "False",
    ),
    (profile_changes.patch_profile, "not change.audience.readable_by(batch.view)", "False"),
    (item_changes.put_item, "not item.audience.readable_by(batch.view)", "False"),
    (admission._masks, "one.startswith(only.kind_prefix)", "True"),
    (state.refuse_old_era, "wanted is not None and wanted != era", "False"),
    (undo._check, "not record.audience.readable_by(state.batch.view)", "False"),
    (erasure_plan.plan_erasure, " or not record.audience.readable_by(view)", ""),
    (erasure_plan._redact, " or not record.audience.readable_by(view)", ""),
    (erasure_plan._redact, "_check_own(record, view)", "pass"),
    (wide_erasures.plan_whole_erasure, "not view.whole", "False"),
    (wide_erasures._unname, "record.opens == owner", "True"),
    (erasure_plan._check_own, "view.agent is None or writer != view.agent", "False"),
    (history._step, " if seen.audience.readable_by(view) else None", ""),
    (state.operation_of, "owner_digest_parts(owner), ", ""),
    (input.owner_named, "owner.tenant != tenant", "False"),
    (Transfer.export, "owner is not None and owner.tenant != self._tenant", "False"),
    (Records.ledger, "not as_view(who).whole", "False"),
    (Records.readers, "not as_view(who).whole", "False"),
    (admission._masks, "if chosen is not None:", "if False:"),
    (columns.Facets.where, "for value in values:", "for value in codes_of:"),
    (columns.Facets.where, "admitted &= having", "pass"),
]


@dataclass(frozen=True)
class Covered:
    """A condition that others imply: the reason, and what must be removed with it to make a
    difference.
    """

    reason: str
    #: The name of a mutant.
    by: str


def _together(*patches: Callable[[], AbstractContextManager[Any]]) -> Callable[[], Any]:
    def applied() -> ExitStack:
        stack = ExitStack()
        for patch in patches:
            stack.enter_context(patch())
        return stack

    return applied


def _kept(statement: str) -> Callable[[], Any]:
    return lambda: replaced(statement, f"{statements()[statement]} AND 0")


def _altered(statement: str, part: str, other: str) -> Any:
    return replaced(statement, statements()[statement].replace(part, other))


#: Not conditions of their own, but what makes some conditions superfluous.
_NAMED = "UPDATE owners SET erased_at = ?, held = 0 WHERE no = ?"
COVERS = [
    Mutant("end_era", "the name stays", partial(replaced, "end_era", _NAMED)),
    Mutant(
        "end_era",
        "the name, the shelves and the records stay",
        _together(
            partial(replaced, "end_era", _NAMED),
            *map(
                _kept, ("delete_records", "delete_shelves_of_owner", "delete_shelf_groups_of_owner")
            ),
        ),
    ),
    of_function(BatchState.need, "not isinstance(record, what)", "False"),
    of_function(undo._but_upkeep, "line.id == id and ", ""),
]

#: Left out, the condition by which a passage finds its vector would give it all of the book's: here
#: it gives a wrong one.
_OTHERS_VECTORS = [
    Mutant(
        "passages_since",
        f"{right} and not {wrong}",
        partial(_altered, "passages_since", right, wrong),
    )
    for right, wrong in (
        ("<< 40) + r.no", "<< 40) + r.no - 1"),
        ("WHERE active = 1", "WHERE active = 0"),
    )
]

_ENDED = "an era that ended keeps no name by which it could be found"
_RENAMED = "only what names the owner is touched"
_WAITING = "it chooses among the messages of one shelf, which another condition names; conformance tests what waits"
COVERED: dict[str, Covered] = {
    **{
        f"scan_unformed_{way}: {part}": Covered(_WAITING, f"scan_unformed_{way}: r.shelf = :shelf")
        for way in ("up", "down")
        for part in ("s.no = :shelf", "j.owner = s.owner", "j.kind = 'form'", "r.thread = t.id")
    },
    "jobs_in_state: o.erased_at IS NULL": Covered(_ENDED, "end_era: the name stays"),
    "owner: erased_at IS NULL": Covered(_ENDED, "end_era: the name stays"),
    "owners_of_tenant: erased_at IS NULL": Covered(_ENDED, "end_era: the name stays"),
    "visible_shelves: o.erased_at IS NULL": Covered(
        _ENDED + ", no shelves and no records",
        "end_era: the name, the shelves and the records stay",
    ),
    "other_holders: o.erased_at IS NULL": Covered(
        _ENDED + ", no shelves and no records",
        "end_era: the name, the shelves and the records stay",
    ),
    "visible_shelves: s.audience = 'self'": Covered(
        "only such shelves have an agent", "visible_shelves: s.agent = :agent"
    ),
    "visible_shelves: s.audience = 'group'": Covered(
        "only such shelves have groups",
        "visible_shelves: g.name IN (SELECT value FROM json_each(:groups))",
    ),
    "shelf: audience = ?": Covered("agent and groups tell the kind", "shelf: agent = ?"),
    "other_holders: o.tenant = mine.tenant": Covered(
        _RENAMED, "storage.decide.wide_erasures._unname: record.opens == owner"
    ),
    "other_holders: s.owner = o.no": Covered(
        _RENAMED, "storage.decide.wide_erasures._unname: record.opens == owner"
    ),
    "other_holders: r.shelf = s.no": Covered(
        _RENAMED, "storage.decide.wide_erasures._unname: record.opens == owner"
    ),
    "other_holders: mine.no = ?": Covered(
        _RENAMED, "storage.decide.wide_erasures._unname: record.opens == owner"
    ),
    "version_of: r.owner = :owner (2)": Covered(
        "an id is one owner's", "version_of: r.id = :id (2)"
    ),
    "model.records.Audience.within: self.agent == view.agent and wider.readable_by(view)": Covered(
        "nobody but the owner writes for those who do not include the writer",
        f"storage.decide.protection.audience_of: {_UNSEEN}",
    ),
    "storage.decide.thread_changes.open_thread: held.audience.readable_by(state.batch.view)": Covered(
        "a name is unique within an audience",
        f"storage.decide.thread_changes.open_thread: {_UNSEEN_THREAD}",
    ),
    **{
        f"positions_touching: {part}": Covered(
            "the lines of what it finds are asked for the id again",
            "storage.decide.undo._but_upkeep: line.id == id and ",
        )
        for part in ("id = :id", "r.id = :id")
    },
    "in_thread: owner = ?": Covered(
        "what it finds is loaded as the owner's own", "load_own: r.owner = ?"
    ),
}
#: Conditions that no try of an owner can miss, and why.
_UPKEEP = "whole books are kept in order and restored for no owner and no view; other proofs do"
_TURN = "numbers the turn within a digest that names the thread already"
#: Statements that only a book which moves asks, and what it is laid down with: no try reaches them,
#: a move does.
MOVING = frozenset(
    """
    remove_property era shelves_of_era jobs_of_era ids_on_shelf_after entry_pieces set_shelf
    recount_held_of_all
    """.split()
)
#: What the engine itself trips over where another mark than the one that is meant goes.
TRIPS: dict[str, type[Exception]] = {"remove_property: name = ?": TypeError}
_RESTRICTED = "only hides more of a restricted owner, and none is here; every engine's suite restricts one of two owners"
_NOTED = "only a service's audit and keys ask it; every engine's suite notes reads of two owners and two tenants"
_UNLISTED = "no try gives a record more sources than it lists; a suite of every engine does, and names another's group"
_GROUPED = "what it gives is looked up by its record"
OFF_THE_PATH: dict[str, str] = {
    **dict.fromkeys(
        ("restrictions_of", "restricted", "lift_restriction", "lacking: q.no = t.record"),
        _RESTRICTED,
    ),
    **dict.fromkeys(
        ("lacking: p.no = q.owner", "due_job: p.no = j.owner", "stale_terms: p.no = r.owner"),
        _RESTRICTED,
    ),
    "visible_shelves: x.digest = o.digest": _RESTRICTED,
    **dict.fromkeys(("key_uses_of", "reads_of_tenant", "reads_of_owner", "drop_reads"), _NOTED),
    **{
        f"{name}: x.digest = p.digest": _RESTRICTED
        for name in ("lacking", "due_job", "stale_terms")
    },
    "erasures_of": "only an export of everything about one person asks it; every engine's suite erases one of two owners",
    "version_of": "asked only for records that a line of the owner's own ledger names",
    "last_user_turn": _TURN,
    "version_of: r.owner = :owner": "undo asks for earlier versions only",
    "version_of: r.id = :id": "undo asks for earlier versions only",
    "due_job: o.tenant = :tenant": "only the worker of an open book asks for one tenant's jobs; a suite of every engine does",
    "due_job: other.owner = j.owner": "says when a job is leased, and never whose it is",
    "silence_job: id = ?": "asked only for jobs that tell of what goes; erasure, which does it, has a proof of its own",
    "aged_entries: l.owner = ?": "asked only for ids that left by age, which none does here; a suite of every engine does",
    **dict.fromkeys(("unlink_one", "members", "members_among"), _UNLISTED),
    **dict.fromkeys(("version_pieces", "link_pieces", "vector_pieces"), _GROUPED),
    "standing": "asks for properties of the whole book, which are no owner's; tests of moved books and of restrictions do",
    "job_of": "asked only with the id of a thread that was found as the owner's own; every engine's suite has two owners there",
    "count_expired_items": "asked only at the limit of items, which no try reaches; every engine's suite has two owners there",
    "count_own": "asked only at an agent's limit, which no try reaches; every engine's suite has two owners there",
    "own_memories": "what it finds is loaded as the owner's own, and no try reaches an agent's limit",
    "record_pieces: s.owner = r.owner": "a shelf's number is given out once in a book",
    "holders: r.slot IN ({slots})": "its answer is looked up by the key that was asked for",
    "out_of_view: r.id IN ({ids})": "its answer is looked up by the ids that a record names",
    "reworded_among: id IN ({ids})": "its answer is looked up by the ids that were asked for",
    "lose_vectors: no = ?": "counts the vectors of a set; the check of a book compares that count",
    "writers_of_expired": "asked only at a cap, which no try reaches; every engine's suite has two owners there",
    "end_scrub": _UPKEEP,
    "scrub_waiting": _UPKEEP,
    "recount_held": "counts only an owner that is imported whole; the check of a book compares that count",
    **dict.fromkeys(
        (
            *(
                "stale_terms",
                "find_era",
                "set_derived",
                "erased_eras",
                "owner_of_era",
                "owners_of",
            ),
            # A set is switched to, or given up, for the whole book.
            *("delete_vector_set", "delete_upkeep", "sets_not_due"),
        ),
        _UPKEEP,
    ),
}
#: What is tried more often than else where these are left out: the tries that reach them. A word
#: stands for every mutant with a name that begins so.
FOCUS: dict[Try, tuple[str, ...]] = {
    works.forget_everything: (
        *("owner: erased_at", "owners_of_tenant", "visible_shelves: o.erased_at", "other_holders", "all_of_owner"),
        *("end_era", "ended_era", "delete_shelves", "delete_shelf", "delete_gone", "delete_jobs"),
        *("spent_of_owner", "delete_spent"),
        *("storage.decide.wide_erasures.plan_whole", "storage.decide.wide_erasures._unname", "storage.decide.state.refuse_old_era"),
    ),
    works.forget: (
        *("load_own", "in_thread", "resting_on", "unlink", "blank_versions", "delete_", "buried"),
        *("storage.decide.erasure_plan", "rewrite_entry", "place_taken", "move_held", "where_are", "count_filled", "belongings", "own_jobs"),
    ),
    works.archived_limit: ("count_archived",),
    works.redact_refused: ("storage.decide.erasure_plan._redact",),
    accounts.pay: ("spent", "delete_spent"),
    accounts.usage: ("spent",),
    works.old_era: ("storage.decide.state.refuse_old_era",),
    works.operation: ("by_operation", "storage.decide.state"),
    works.mark_used: ("uses", "delete_uses", "numbers_in_view"),
    arrivals.import_one: ("out_of_view", "buried", "ended_era", "place_taken"),
    arrivals.retracted_elsewhere: ("storage.decide.memory_changes._refused_before",),
    labours.jobs: ("due_job", "one_job", "save_job", "delete_job:", "jobs_in_state", "keep_with_job"),
    reads.list_: ("scan_", "places_", "visible_shelves", "out_of_view"),
    recalls.recall: ("passages_since",),
    recalls.at_the_wall: (
        *("scan_unformed", "most_used", "newest_passages", "count_kinds", "jobs_in_state"),
    ),
    recalls.recall_filtered: ("recall.",),
    recalls.vectors_again: ("renew_vector",),
    recalls.recall_what_moved: ("gone_since",),
    recalls.recall_without_the_others: ("passages_since", "vector_set", "where_passage_is"),
    reads.uses: ("uses",),
    reads.ledger: ("entries_after", "book.nouns.records.Records.ledger"),
    reads.about: ("book.nouns.records.Records.readers",),
    reads.shelves: ("owners_of_tenant",),
    reads.history: ("storage.decide.erasure_plan.plan", "storage.use_cases.history", "versions_of"),
    reads.another_tenant: ("book.input.owner_named", "book.admin.transfer"),
    writes.remember: ("count_run", "oldest_own", "holders: r.owner", "free_slot", "storage.decide.memory_changes"),
    writes.remember_for_another: ("model.records.Audience.within", "storage.decide.protection.audience_of"),
    writes.confirm: ("unlink", "storage.decide.memory_changes.confirm"),
    writes.supersede: ("storage.decide.memory_changes._obstacle",),
    writes.share: ("gone_since", "mark_record", "storage.decide.memory_changes.change_audience", "model.records.Audience.within"),
    writes.amend: ("version_of", "gone_since"),
    storing.put: ("storage.decide.item_changes", "holders: r.owner"),
    storing.get: ("scan_citing",),
    storing.list_: ("newest_passages", "count_kinds", "recall.arrays.admission._masks: one."),
    conversing.undo: ("version_of", "holders: r.slot", "positions_touching", "entry_at", "storage.decide.undo", "keep_version"),
    conversing.undo_what_an_agent_learnt_from: ("positions_touching",),
    conversing.append: ("storage.decide.state.BatchState.end_of",),
    conversing.episode: ("storage.decide.thread_changes.record_episode",),
    conversing.open_thread: ("storage.decide.thread_changes.open_thread",),
    conversing.profile: ("storage.decide.profile_changes.patch_profile",),
}  # fmt: skip
#: How much more often.
FOCUSED = 60


def focus(mutant: Mutant, tries: dict[Try, float]) -> dict[Try, float]:
    """Return how often to try each attempt when a condition is left out."""
    return {
        attempt: weight * (FOCUSED if mutant.name.startswith(FOCUS.get(attempt, ("-",))) else 1)
        for attempt, weight in tries.items()
    }


def mutants() -> list[Mutant]:
    """Return a mutant for every condition of the statements, and of the rules above them."""
    return [*of_statements(), *_OTHERS_VECTORS, *(of_function(*check) for check in _CHECKS)]
