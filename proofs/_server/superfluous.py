"""Conditions on a row's owner that something else implies already, each with its reason."""

from __future__ import annotations

from proofs._server.mutants import Mutant, of_statements

_NUMBERED = "a record's number, a shelf's and a record's id are given out once in a book, and this one is the owner's own"
_ON_SHELF = (
    "a shelf's number is given out once in a book; left out together with the shelf it is missed"
)
_NAMELESS = "an era that ended keeps no name by which it could be found"
_READERS = "only shelves for an agent have an agent, and only those for groups have groups"
_KEYED = "the digest is made with the owner's name"
_RACE = "it only matters to workers that ask at the same moment"
_NOTED = (
    "only a service's audit asks it; every engine's suite notes reads of two owners and two tenants"
)

_LARGE = "only shelves of very many passages are asked so; what is found on them is held against memory by tests of their own"

_BY_STATEMENT = {
    _LARGE: (
        *(
            "shelves_behind",
            "large_shelves_behind",
            "lock_shelf_for_indexing",
            "passages_to_index",
            "put_findable",
            "set_indexed",
            "count_waiting",
            "measured",
            "some_vectors",
            "count_holders",
        ),
        *(
            "count_within",
            "by_terms",
            "newest_said",
            "not_indexed",
            "windows",
            "passages_numbered",
            "terms_numbered",
            "vectors_numbered",
            "marks_of_large_shelf",
            "relation",
            "any_plan",
        ),
        *("near_plan",),
    ),
    _NUMBERED: (
        *(
            "move_mark",
            "set_derived",
            "free_slots",
            "unlink",
            "unlink_some",
            "mark_records",
        ),
        *(
            "delete_vectors",
            "blank_versions",
            "take_away_versions",
            "take_away_terms",
            "take_away_uses",
        ),
        *(
            "where_are",
            "belongings",
            "count_filled",
            "take_away_links",
            "take_away_records",
            "place_taken",
            "last_user_turn",
            "in_thread",
            "positions_touching",
        ),
        *("version_of", "scan_thread_up", "scan_thread_down"),
        *(
            "version_pieces",
            "link_pieces",
            "vector_pieces",
            "set_shelf",
        ),
        *(
            "take_away_records",
            "take_away_links",
            "take_away_versions",
            "take_away_terms",
            "take_away_uses",
        ),
        "lay_unmade",
    ),
    _KEYED: ("holders", "count_run"),
    _RACE: ("owner_is_busy",),
    _NOTED: ("reads_of_owner",),
}
_BY_NAME = {
    **dict.fromkeys(
        ("lock_owner: b.name = 'secret'", "find_owner: b.name = 'secret'"),
        "it names what is read of the book, which is nobody's own",
    ),
    "mark_records: shelf = ?": "it only matters where an audience is changed at the same moment; a test of its own has that",
    "own_memories: r.owner = :owner": "what it finds is loaded as the owner's own",
    **dict.fromkeys(
        ("oldest_own: r.owner = :owner", "count_own: owner = :owner"),
        "seldom are two owners full at once in these programs; every engine's suite has a case of it",
    ),
    **dict.fromkeys(
        (
            "store: r.owner = :owner",
            "change_records: r.owner = :owner",
            "change_records: owner = :owner",
            "passages_left: owner = ?",
        ),
        _NUMBERED,
    ),
    "job_of: j.owner = o.no": "it is asked with the id of a thread that was found as the owner's own",
    "recount_shelves_of_owner: s.owner = ?": "to count the shelves of others again changes nothing",
    "recount_shelves_of_owner: r.shelf = s.no": "these programs seldom import an owner whole; every engine's suite verifies such books",
    "recount_held: owner = owners.no": "these programs import no owner whole; every engine's suite verifies such books",
    "find_owner: erased_at IS NULL": _NAMELESS,
    "lock_owner: erased_at IS NULL": _NAMELESS,
    "visible_shelves: o.erased_at IS NULL": _NAMELESS,
    "shelf: audience = ?": _READERS,
    "visible_shelves: s.audience = 'self'": _READERS,
    "visible_shelves: s.audience = 'group'": _READERS,
}
_SHELVED = (
    *(
        "get",
        "scan_up",
        "scan_down",
        "places_up",
        "places_down",
        "count",
        "newest_passages",
        "count_kinds",
    ),
    *("uses", "most_used", "numbers_in_view", "passages_since", "gone_since"),
)


#: Statements that only a book which moves asks, and what it is laid down with.
MOVING = frozenset(
    {
        *(
            "shelves_of_era",
            "jobs_of_era",
            "record_pieces",
            "entry_pieces",
            "recount_shelves",
        ),
    }
)
#: What the engine itself trips over where it is given rows that are another's.
TRIPS: dict[str, type[Exception]] = {
    "get: r.shelf = ANY(?::bigint[])": KeyError,
    "get: all": KeyError,
    "entries_at: l.owner = ?": RuntimeError,
}


def reason(mutant: Mutant) -> str:
    """Return why this condition is not needed; empty if it is needed."""
    if mutant.name in _BY_NAME:
        return _BY_NAME[mutant.name]
    if mutant.statement in _SHELVED and ("owner =" in mutant.name):
        return _ON_SHELF
    return next(
        (why for why, statements in _BY_STATEMENT.items() if mutant.statement in statements), ""
    )


def needed() -> list[Mutant]:
    """Return conditions that are needed, and those needed once the conditions that imply them are
    left out, too.
    """
    every = list(of_statements())
    alone = [mutant for mutant in every if not reason(mutant)]
    together = {m.statement: m.with_all_others() for m in every if reason(m) == _ON_SHELF}
    return [*alone, *together.values()]


def superfluous() -> list[Mutant]:
    """Return all other conditions."""
    return [mutant for mutant in of_statements() if reason(mutant)]
