"""Merge scores: scripted answers follow from the labels alone, and each pair is counted as the book
has it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.merging import COLUMNS, SET, load, main, measure, report
from evals.pairs import EXPECTED, RULES, Outcome, judge
from evals.scripted import KEY, WAYS, answer, bounds, spoken
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.formation.extract.prompt import Prompt, compose
from memoranda.model.memories import Memory
from memoranda_conformance.builders import ANN, a_memory
from tests.formation.readings import talk

COMPETENT, NEVER, AGAIN, ALWAYS, KEYS = WAYS


def a_pair(relation: str, expect: str, old: str, new: str, **new_fields: Any) -> dict[str, Any]:
    plain = {"kind": "fact", "key": None, "subject": None}
    return {
        "id": f"{relation} {expect}",
        "relation": relation,
        "expect": expect,
        "split": "held" if relation == "compatible" else "dev",
        "old": {**plain, "content": old},
        "new": {**plain, "content": new, **new_fields},
    }


MOVED = a_pair("replacement", "supersede", "User lives in Bern.", "User lives in Basel now.")
TWICE = a_pair(
    "duplicate", "confirm", "User is lactose intolerant.", "User cannot tolerate lactose."
)
BESIDE = a_pair("compatible", "keep-both", "User speaks Danish.", "User speaks Portuguese.")
ONCE_MORE = a_pair("recurring", "keep-both", "User gave blood.", "User gave blood.", kind="event")
FOR_NOW = a_pair("bounded", "keep-both", "User lives in Graz.", "User stays in Rome until Friday.")
FORGOTTEN = a_pair("retraction", "retract-old", "User likes jazz.", "Forget that I like jazz.")
AT_TIMES = a_pair("bounded", "keep-both", "User eats fish.", "User eats no fish during Lent.")
PAIRS = [MOVED, TWICE, BESIDE, ONCE_MORE, FOR_NOW, FORGOTTEN]


def asked(text: str, *held: Memory) -> Prompt:
    prompt = compose(talk(("user", text), candidates=held))
    assert prompt is not None
    return prompt


def noted(way: Any, item: dict[str, Any], held: bool = True) -> dict[str, Any]:
    known = [a_memory(ANN, item["old"]["content"])] if held else []
    (note,) = answer(way, item, "new", asked(item["new"]["content"], *known))["notes"]
    return dict(note)


async def became(item: dict[str, Any], column: str) -> Outcome:
    engine = InMemoryEngine()
    try:
        return await judge(item, column, engine)
    finally:
        await engine.close()


@pytest.mark.parametrize("item", [MOVED, FORGOTTEN])
def test_a_competent_model_names_what_the_label_says_is_to_be_retired(item: dict[str, Any]) -> None:
    assert noted(COMPETENT, item)["supersedes"] == ["c1"]
    assert noted(COMPETENT, item, held=False)["supersedes"] == []
    assert "supersedes" not in noted(NEVER, item)


def test_a_competent_model_names_what_is_repeated_and_writes_no_note() -> None:
    prompt = asked("I cannot tolerate lactose.", a_memory(ANN, "Is lactose intolerant."))
    sources = [{"message": "m1", "quote": "I cannot tolerate lactose."}]
    assert answer(COMPETENT, TWICE, "new", prompt) == {
        "repeats": [{"memory": "c1", "sources": sources}]
    }


@pytest.mark.parametrize("item", [BESIDE, ONCE_MORE, FOR_NOW])
def test_only_a_careless_model_names_what_stays_true(item: dict[str, Any]) -> None:
    assert "supersedes" not in noted(COMPETENT, item)
    assert noted(ALWAYS, item)["supersedes"] == ["c1"]


def test_fields_of_notes_follow_from_the_relation() -> None:
    assert (noted(NEVER, MOVED)["key"], noted(NEVER, MOVED)["cardinality"]) == (KEY, "one")
    assert noted(NEVER, ONCE_MORE)["cardinality"] == "recurring"
    assert noted(NEVER, ONCE_MORE)["kind"] == "fact", "a kind that books do not keep"
    assert noted(NEVER, FOR_NOW)["valid_until"] == "until Friday"
    assert noted(NEVER, BESIDE)["key"] is None
    assert noted(KEYS, BESIDE)["key"] == KEY


def test_what_bounds_a_statement_is_its_end_or_when_it_applies_or_all_of_it() -> None:
    assert bounds("Stays there until May.", "I stay there until May.") == {
        "valid_until": "until May"
    }
    assert bounds("Eats fish on Fridays.", "I eat fish on Fridays.") == {
        "applies_when": "on Fridays"
    }
    assert bounds("Eats no fish.", "I eat no fish.") == {"applies_when": "Eats no fish"}


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("User likes jazz.", "I like jazz."),
        ("The user's sister is a vet.", "My sister is a vet."),
        ("User is tired and has a dog.", "I am tired and has a dog."),
        ("User no longer watches films.", "I no longer watch films."),
        ("User carries nuts for the user's son.", "I carry nuts for my son."),
        ("Ana, the user's boss, drives.", "Ana, my boss, drives."),
        ("Never use emojis.", "Never use emojis."),
        ("User skis.", "I ski."),
        ("User", "I"),
    ],
)
def test_a_note_is_said_as_its_user_would_say_it(note: str, said: str) -> None:
    assert spoken(note) == said


@pytest.mark.parametrize("item", PAIRS, ids=lambda item: str(item["relation"]))
async def test_what_a_competent_model_answers_ends_as_the_label_says(item: dict[str, Any]) -> None:
    assert (await became(item, COMPETENT.name)).faults == set()


@pytest.mark.parametrize(
    ("item", "column", "faults"),
    [
        (TWICE, "never", {"missed_duplicates"}),
        (FORGOTTEN, "never", {"missed_retirements"}),
        (MOVED, "never", set()),
        (BESIDE, "always", {"wrong_retirements"}),
        (ONCE_MORE, "always", set()),
        (FOR_NOW, "always", set()),
        (AT_TIMES, "always", set()),
        (BESIDE, "keys", {"wrong_retirements"}),
        (TWICE, "keys", {"missed_duplicates", "wrong_retirements"}),
        (MOVED, RULES, set()),
        (FORGOTTEN, RULES, set()),
        (ONCE_MORE, RULES, {"not_noted"}),
    ],
)
async def test_carelessness_costs_what_no_rule_can_make_good(
    item: dict[str, Any], column: str, faults: set[str]
) -> None:
    assert (await became(item, column)).faults == faults


@pytest.mark.parametrize("item", PAIRS, ids=lambda item: str(item["relation"]))
async def test_what_is_said_again_is_one_memory_unless_it_recurs(item: dict[str, Any]) -> None:
    outcome = await became(item, AGAIN.name)
    assert outcome.faults == set()
    assert outcome.made == (1 if item is ONCE_MORE else 0)


def test_a_statement_that_was_counted_as_said_again_though_it_says_otherwise_is_a_wrong_merge() -> (
    None
):
    merged = Outcome("m1", "polarity", "supersede", kept=True, again=True, made=0)
    assert merged.faults == {"wrong_merges", "missed_retirements", "not_noted"}
    assert (
        Outcome("m1", "retraction", "retract-old", kept=False, again=False, made=1).faults == set()
    )


def test_figures_count_each_relation_and_all() -> None:
    outcomes = [
        Outcome("a", "compatible", "keep-both", kept=False, again=False, made=1),
        Outcome("b", "compatible", "keep-both", kept=True, again=False, made=1),
        Outcome("c", "duplicate", "confirm", kept=True, again=True, made=0),
        Outcome("d", "polarity", "supersede", kept=False, again=False, made=1),
        Outcome("e", "polarity", "supersede", kept=True, again=True, made=0),
    ]
    figures = report({"one": outcomes})["one"]
    assert figures["all"] == {
        "pairs": 5, "to_stay": 3, "retired": 2,
        "wrong_retirements": 1, "missed_retirements": 1, "wrong_merges": 1, "not_noted": 1,
        "wrong_retirements_percent": 33.3, "wrong_of_retired_percent": 50.0,
        "duplicates": 1, "duplicates_caught": 1, "duplicates_caught_percent": 100.0,
    }  # fmt: skip
    assert figures["relations"]["polarity"]["wrong_retirements_percent"] is None
    assert list(figures["relations"]) == ["compatible", "duplicate", "polarity"]


async def test_books_in_memory_and_in_files_end_alike(tmp_path: Path) -> None:
    found = await measure(PAIRS, "memory://")
    assert list(found) == list(COLUMNS)
    assert found == await measure(PAIRS, tmp_path)


def test_our_own_set_is_labelled_as_it_is_read() -> None:
    items = load(SET, "all")
    assert len(items) >= 120 and {item["expect"] for item in items} == set(EXPECTED)
    assert len(load(SET, "dev")) + len(load(SET, "held")) == len(items)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"items": PAIRS}))
    return path


def test_no_text_of_the_held_half_is_shown(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(data)]) == 0
    out = capsys.readouterr().out
    assert "in memory and in a file the same: yes" in out
    assert TWICE["old"]["content"] in out and BESIDE["old"]["content"] not in out
    main(["--data", str(data), "--half", "held"])
    assert BESIDE["old"]["content"] not in capsys.readouterr().out
    main(["--data", str(data), "--half", "all", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert (figures["pairs"], figures["stores_agree"]) == (len(PAIRS), True)
    assert figures["columns"]["competent"]["all"]["wrong_retirements"] == 0


@pytest.mark.parametrize(
    "text",
    ["[]", "no json", '{"items": [{}]}', json.dumps({"items": [{**BESIDE, "expect": "guess"}]})],
)
def test_a_file_of_another_form_is_refused(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(SystemExit):
        main(["--data", str(path)])
    assert "is no labelled set" in capsys.readouterr().err
