"""Talks in several shapes: same seed, same text; labels point at their evidence; sizes and shares
hold.
"""

from __future__ import annotations

import json
import re
import statistics
from functools import cache
from pathlib import Path

import pytest

from evals.talk_shapes.shape_counts import counts_of
from evals.talk_shapes.shape_halves import (
    NAMES,
    SEED,
    HeldHalf,
    half_of,
    load_file,
    write_file,
    write_half,
)
from evals.talk_shapes.shape_pools import Pool, read_pool
from evals.talk_shapes.shape_values import Shelf

_UNFILLED = re.compile(
    r"\{[^}]*\|[^}]*\}|\[[a-zA-Z]\]|\[(thing|month|place|tool|who|herb|beast)\]|\[\d+-\d+\]"
)


@cache
def shelves(name: str) -> tuple[Shelf, ...]:
    return (*write_half(name, "open"), *write_half(name, "held", held=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_writes_the_same_text(name: str) -> None:
    again = next(iter(write_half(name, "open")))
    assert SEED and again == shelves(name)[0]


@pytest.mark.parametrize("name", NAMES)
def test_evidence_exists_and_contains_the_words_of_the_answer(name: str) -> None:
    for shelf in shelves(name):
        texts = {turn.id: turn.text for turn in shelf.turns}
        assert len(texts) == len(shelf.turns)
        for question in shelf.questions:
            evidence = "\n".join(texts[id] for id in question.gold)
            if question.gold:
                assert question.keys and question.quotes
            for key in question.keys:
                assert key.lower() in evidence.lower(), (shelf.owner, question)
            for quote in question.quotes:
                assert quote in evidence, (shelf.owner, question)


@pytest.mark.parametrize("name", NAMES)
def test_several_turns_are_two_to_four_of_different_sessions(name: str) -> None:
    for shelf in shelves(name):
        sessions = {turn.id: turn.session for turn in shelf.turns}
        for question in shelf.questions:
            if question.kind in ("several", "continue") and question.gold:
                assert 2 <= len({sessions[id] for id in question.gold}) == len(question.gold) <= 4


@pytest.mark.parametrize("name", NAMES)
def test_no_owner_is_asked_the_same_twice(name: str) -> None:
    for shelf in shelves(name):
        asked = [question.text.casefold() for question in shelf.questions]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", NAMES)
def test_no_slot_or_choice_is_left_unfilled(name: str) -> None:
    for shelf in shelves(name):
        for text in [question.text for question in shelf.questions] + [
            q for x in shelf.questions for q in x.quotes
        ]:
            assert not _UNFILLED.search(text), text


@pytest.mark.parametrize("name", NAMES)
def test_each_corpus_is_large_enough(name: str) -> None:
    counts = counts_of(shelves(name))
    assert counts["answerable"] >= 250
    assert counts["unanswerable"] >= 60
    assert counts["owners"] >= 10
    assert counts["sessions"] >= 40
    assert counts["turns"] >= 1500
    assert counts["few_shared_words"] >= 0.4
    assert counts["long"] >= 20
    assert all(100 <= len(shelf.turns) <= 600 for shelf in shelves(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_has_enough_questions(name: str) -> None:
    kinds = counts_of(shelves(name))["kinds"]
    assert {"single", "several", "updated", "time", "continue", "wish", "identifier"} <= set(kinds)
    assert all(times >= 10 for times in kinds.values()), kinds


def test_over_all_corpora_a_third_of_the_evidence_is_not_the_users() -> None:
    every = [question for name in NAMES for shelf in shelves(name) for question in shelf.questions]
    others = [question for question in every if question.gold and question.source != "user"]
    assert len(others) >= 0.35 * sum(bool(question.gold) for question in every)
    assert sum(" you " not in f" {question.text.lower()} " for question in others) >= 0.5 * len(
        others
    )


@pytest.mark.parametrize("name", NAMES)
def test_halves_share_neither_owners_nor_facts(name: str) -> None:
    facts: dict[str, set[str]] = {"open": set(), "held": set()}
    for shelf in shelves(name):
        assert half_of(int(shelf.owner.rpartition("-")[2])) == shelf.half
        facts[shelf.half] |= {question.fact for question in shelf.questions}
    assert facts["open"] and facts["held"] and not facts["open"] & facts["held"]


def test_answers_of_the_assistant_are_long() -> None:
    said = [
        turn
        for shelf in shelves("assistant_talks")
        for turn in shelf.turns
        if turn.role == "assistant"
    ]
    lengths = [len(turn.text.split()) for turn in said]
    assert sum(200 <= length <= 1500 for length in lengths) >= 0.8 * len(lengths)
    assert statistics.median(lengths) >= 200 and max(lengths) >= 900


def test_documents_have_500_to_2500_words() -> None:
    pasted = {
        (shelf.owner, id): turn.text
        for shelf in shelves("pasted_documents")
        for question in shelf.questions
        for id in question.gold
        for turn in shelf.turns
        if question.source == "document" and turn.id == id and question.kind != "several"
    }
    lengths = [len(text.split()) for text in pasted.values()]
    assert len(lengths) >= 100 and min(lengths) >= 500 and max(lengths) <= 2500


def test_groups_have_four_to_seven_people_and_half_of_them_an_assistant() -> None:
    with_assistant = 0
    for shelf in shelves("group_chats"):
        people = {turn.speaker for turn in shelf.turns if turn.role == "user"}
        assert None not in people and 4 <= len(people) <= 7
        assert len(shelf.turns) >= 300 and len({turn.session for turn in shelf.turns}) >= 10
        with_assistant += any(turn.role == "assistant" for turn in shelf.turns)
    assert with_assistant == len(shelves("group_chats")) / 2


def test_in_groups_both_the_owner_and_others_say_what_is_asked_for() -> None:
    counts = counts_of(shelves("group_chats"))
    assert counts["not_the_users"] >= 0.35
    assert counts["sources"]["user"] >= 0.15 * counts["answerable"]
    assert counts["sources"]["assistant"] and counts["without_you"] >= 0.9


def test_a_question_about_a_speaker_names_who_said_it_while_others_said_something_alike() -> None:
    for shelf in shelves("group_chats"):
        turns = {turn.id: turn for turn in shelf.turns}
        for question in shelf.questions:
            if question.kind == "speaker":
                alike = _alike(read_pool("group_facts"), question.fact)
                said = {turn.speaker for turn in shelf.turns if alike.search(turn.text)}
                assert len(said) >= 2, question
                for id in question.gold:
                    assert str(turns[id].speaker) in question.text and len(said) >= 3


def test_what_is_said_twice_has_both_turns_as_evidence() -> None:
    asked = [
        question
        for shelf in shelves("group_chats")
        for question in shelf.questions
        if question.gold
    ]
    twice = [question for question in asked if question.fact in ("deposit", "gift")]
    assert twice and all(len(question.gold) == len(question.quotes) == 2 for question in twice)


def test_german_talks_have_german_text_and_a_quarter_of_the_questions_in_english() -> None:
    counts = counts_of(shelves("german_talks"))
    questions = [question for shelf in shelves("german_talks") for question in shelf.questions]
    english = [question for question in questions if question.language == "en"]
    assert {question.evidence_language for question in questions} == {"de"}
    assert 0.2 <= len(english) / len(questions) <= 0.33
    assert sum(question.language == "de" and bool(question.gold) for question in questions) >= 180
    assert counts["not_the_users"] >= 0.35
    asked = " ".join(question.text for question in questions if question.language == "de")
    assert all(letter in asked for letter in "äöüß")


def test_german_talks_have_notes_that_nobody_answers() -> None:
    for shelf in shelves("german_talks"):
        after = [*shelf.turns[1:], None]
        alone = [
            turn
            for turn, following in zip(shelf.turns, after, strict=True)
            if turn.role == "user" and (following is None or following.role == "user")
        ]
        assert len(alone) >= 10


@pytest.mark.parametrize(
    ("name", "facts"), [("group_chats", "group_facts"), ("german_talks", "german_facts")]
)
def test_half_of_the_unanswerable_questions_are_near_something_said(name: str, facts: str) -> None:
    near, count = 0, 0
    for shelf in shelves(name):
        text = "\n".join(turn.text for turn in shelf.turns)
        for question in shelf.questions:
            if not question.gold:
                count += 1
                near += bool(_alike(read_pool(facts), question.fact).search(text))
    assert count >= 60 and near >= count / 2


def _alike(pool: Pool, id: str) -> re.Pattern[str]:
    """Return a pattern of a fact's near misses, and of what several people say of themselves."""
    fact = next(each for each in pool.facts if each.id == id)
    wordings = [wording for _, wording in fact.near]
    wordings += [wording for _, wording in fact.says["s"]] if fact.kind == "speaker" else []
    parts = [
        [re.escape(part) for part in re.split(r"\{[^}]*\}|\[\w+\]", each)] for each in wordings
    ]
    return re.compile("|".join("[^\n]+?".join(each) for each in parts))


def test_the_held_half_is_refused_without_saying_so(tmp_path: Path) -> None:
    with pytest.raises(HeldHalf, match="--held"):
        next(write_half(NAMES[0], "held"))
    written = write_file(NAMES[0], "held", tmp_path, held=True)
    with pytest.raises(HeldHalf, match="final"):
        load_file(written)
    assert load_file(written, held=True).corpus.asked


def test_a_written_file_is_read_as_a_corpus(tmp_path: Path) -> None:
    written = write_file(NAMES[0], "open", tmp_path)
    loaded = load_file(written)
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert loaded.corpus.asked == sum(
        bool(each["gold"]) for line in lines for each in line["questions"]
    )
    assert len(loaded.unanswerable) == sum(
        not each["gold"] for line in lines for each in line["questions"]
    )
