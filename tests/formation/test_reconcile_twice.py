"""Tests that reconciling and applying a result twice changes nothing, for any memories and
results.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.formation.reconcile.reconciler import CurrentRecords, reconcile
from memoranda.model.changes import Append, OpenThread, Remember, Supersede
from memoranda.model.drafts import Formed
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.messages import Episode, EpisodeDraft, Outcome
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Trust
from memoranda_conformance.builders import ANN, Pen, packed
from tests.formation.readings import THREAD
from tests.formation.test_reconcile import BEFORE, READING, note
from tests.formation.test_reconcile_parts import a_patch

CONTENTS = st.sampled_from(
    [
        "Likes tea",
        "User likes tea.",
        "Does not like tea",
        "Lives in Rome",
        "Lives in Oslo",
        "Took the pill",
    ]
)
ENDED = datetime(2026, 1, 1, tzinfo=UTC)
DRAFTS = st.builds(
    lambda content, places, **fields: (content, places, fields),
    CONTENTS,
    st.lists(st.integers(1, 6), min_size=1, max_size=2, unique=True),
    key=st.none() | st.sampled_from(["home", "drink"]),
    cardinality=st.sampled_from([*Cardinality]),
    subject=st.none() | st.sampled_from(["Bob"]),
    applies_when=st.sampled_from(["", "", "at work"]),
    trust=st.sampled_from([Trust.USER, Trust.USER, Trust.TOOL]),
    valid_to=st.none() | st.just(ENDED),
    supersedes=st.lists(st.integers(0, 3), max_size=2, unique=True),
)
HELDS = st.lists(
    st.tuples(
        CONTENTS,
        st.fixed_dictionaries(
            {
                "cardinality": st.sampled_from([*Cardinality]),
                "trust": st.sampled_from([Trust.USER, Trust.TOOL]),
                "subject": st.none() | st.just("Bob"),
                "applies_when": st.sampled_from(["", "at work"]),
            }
        ),
        st.booleans(),
    ),
    max_size=4,
)


async def everything(pen: Pen) -> CurrentRecords:
    records = await pen.scan()
    return CurrentRecords(
        memories=tuple(one for one in records if isinstance(one, Memory)),
        profiles=tuple(one for one in records if isinstance(one, ProfileDocument)),
        episodes=tuple(one for one in records if isinstance(one, Episode)),
    )


ONE = {"cardinality": Cardinality.ONE, "trust": Trust.USER, "subject": None, "applies_when": ""}


@settings(max_examples=150, deadline=None)
@given(st.lists(DRAFTS, max_size=4), HELDS)
@example(
    [
        ("Likes tea", [1], {**ONE, "key": None, "valid_to": None, "supersedes": []}),
        ("Does not like tea", [1], {**ONE, "key": None, "valid_to": None, "supersedes": [0]}),
    ],
    [("Likes tea", ONE, False)],
)
@example(
    [
        ("Likes tea", [2], {**ONE, "key": None, "valid_to": ENDED, "supersedes": []}),
        ("Likes tea", [1], {**ONE, "key": "home", "valid_to": ENDED, "supersedes": []}),
        ("Likes tea", [2], {**ONE, "key": "home", "valid_to": None, "supersedes": []}),
    ],
    [],
)
async def test_what_was_applied_is_not_applied_again(drafts, helds):
    pen = Pen(InMemoryEngine(), ANN)
    await pen.write(OpenThread(THREAD))
    messages = tuple(message.changed(seq=0) for message in READING.new)
    await pen.write(
        Append(THREAD.id, messages, tuple(packed(message.content) for message in messages))
    )
    pen.now = BEFORE
    ids: list[UUID] = []
    for content, fields, keyed in helds:
        key = "home" if keyed and fields["cardinality"] is Cardinality.ONE else None
        ids.append(
            await pen.remember(content, key=key, agent="guide", audience=THREAD.audience, **fields)
        )
    pen.now = READING.now
    notes = tuple(
        note(
            content,
            *places,
            **{**fields, "supersedes": tuple(ids[n] for n in fields["supersedes"] if n < len(ids))},
        )
        for content, places, fields in drafts
    )
    patch = a_patch({"op": "add", "path": "/interests/-", "value": "tea"}).patches
    formed = Formed(
        notes=notes, patches=patch, episode=EpisodeDraft(goal="Talk", outcome=Outcome.SUCCEEDED)
    )
    before = await everything(pen)
    found = reconcile(formed, READING, before)
    terms = [
        Remember(change.memory, packed(change.memory.passage_text()), run=change.run)
        if isinstance(change, Remember)
        else change
        for change in found.changes
    ]
    receipt = await pen.write(*terms)

    after = await everything(pen)
    assert [one for one in receipt.ignored if one.code != "superseded"] == []
    assert reconcile(formed, READING, after).changes == ()
    assert {one.id for one in before.memories} <= {one.id for one in after.memories}
    assert not any(
        isinstance(change, Supersede) and change.loser == change.winner for change in found.changes
    )
