"""Corpora of others: what is odd is read as it was meant, or counted, or refused in plain words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evals.corpora import Corpus, load
from evals.retrieval import SET_NAMES, SETS
from memoranda.errors import InvalidInput


def said(id: str, text: str, speaker: str = "Ana", **more: Any) -> dict[str, Any]:
    return {"dia_id": id, "speaker": speaker, "text": text, **more}


def talk(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": list(turns)
        or [said("D1:1", "I keep bees."), said("D1:2", "Since when?", "Bo")],
        **more,
    }


def asked(evidence: Any = ("D1:1",), **more: Any) -> dict[str, Any]:
    return {"question": "What does Ana keep?", "evidence": evidence, "category": 4, **more}


def read(tmp_path: Path, *conversations: Any) -> Corpus:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(list(conversations)))
    return load(path)


def gold(tmp_path: Path, evidence: Any, **sessions: Any) -> frozenset[str]:
    corpus = read(tmp_path, {"qa": [asked(), asked(evidence)], "conversation": talk(**sessions)})
    return corpus.conversations[0].questions[1].gold


@pytest.mark.parametrize(
    ("evidence", "meant"),
    [
        (["D1:1; D2:1"], {"D1:1", "D2:1"}),
        (["D1:1", "D:2:1"], {"D1:1", "D2:1"}),
        (["D1:01 D02:1"], {"D1:1", "D2:1"}),
        ("D1:2", {"D1:2"}),
        (["D1:1", "D9:9"], {"D1:1"}),
        (["D", "D1:1"], {"D1:1"}),
        ([["D1:1"], None, 7, "D2:1"], {"D1:1", "D2:1"}),
    ],
)
def test_evidence_is_read_as_its_annotator_meant_it(
    tmp_path: Path, evidence: Any, meant: set[str]
) -> None:
    assert gold(tmp_path, evidence, session_2=[said("D2:1", "Bees again.")]) == meant


def test_a_question_without_an_answer_in_the_file_is_counted(tmp_path: Path) -> None:
    odd = [
        asked(["D"]),
        asked([]),
        asked(None),
        {"question": "Who?"},
        asked(["D7:7"]),
        asked(question=" "),
        3,
    ]
    corpus = read(tmp_path, {"qa": [asked(["D1:1", "D9:9"]), *odd], "conversation": talk()})
    assert corpus.asked == 1
    assert corpus.left_out == {
        "pieces of evidence that are no turn": 1,
        "questions whose evidence is no turn": 1,
        "questions without a text": 2,
        "questions without evidence": 4,
    }


def test_what_a_turn_lacks_is_made_up_for(tmp_path: Path) -> None:
    turns = [
        {"text": "No id, nobody."},
        said("D1:2", "", "Bo", blip_caption="a hive", query="never shown"),
        said("D1:3", " "),
        said("D1:2", "The same id again."),
    ]
    corpus = read(
        tmp_path,
        {"qa": [asked(["D1:1"])], "conversation": {"session_1": turns, "session_2_date_time": "x"}},
    )
    found = corpus.conversations[0].turns
    assert [(turn.id, turn.text) for turn in found] == [
        ("D1:1", "No id, nobody."),
        ("D1:2", "[shares a hive]"),
        ("D1:2 (2)", "The same id again."),
    ]
    assert [turn.at for turn in found] == [None] * 3
    assert corpus.left_out == {"dates of sessions": 1, "turns without a text": 1}


@pytest.mark.parametrize(
    "written", ["1:56 pm on 8 May, 2023", "2023-05-08T13:56:00", "2023-05-08T15:56:00+02:00"]
)
def test_dates_are_read_in_their_usual_forms(tmp_path: Path, written: str) -> None:
    corpus = read(tmp_path, {"qa": [asked()], "conversation": talk(session_1_date_time=written)})
    assert corpus.conversations[0].turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    more = {
        "session_10": [said("D10:1", "ten")],
        "session_2": [said("D2:1", "two")],
        "session_3": None,
    }
    corpus = read(tmp_path, {"qa": [asked()], "conversation": talk(said("D1:1", "one"), **more)})
    assert [turn.text for turn in corpus.conversations[0].turns] == ["one", "two", "ten"]


def test_conversations_of_one_name_or_none_are_kept_apart(tmp_path: Path) -> None:
    one = {"qa": [asked()], "conversation": talk()}
    corpus = read(tmp_path, one, one | {"sample_id": "x"}, one | {"sample_id": "x"})
    assert [each.id for each in corpus.conversations] == ["conversation 1", "x", "x (2)"]


def test_categories_may_be_numbers_names_or_nothing(tmp_path: Path) -> None:
    written: list[Any] = [4, "4", 4.0, "adversarial", "Temporal", None]
    questions = [asked(category=each) for each in written]
    corpus = read(tmp_path, {"qa": questions, "conversation": talk()})
    kinds = [question.kind for question in corpus.conversations[0].questions]
    assert kinds == ["4", "4", "4", "5", "temporal", "none"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("not json", "not JSON"),
        ("{}", "neither a list of conversations"),
        ("[1]", "at place 1 has no sessions"),
        ('[{"conversation": {"speaker_a": "Ana"}}]', "at place 1 has no sessions"),
        ('[{"conversation": {"session_1": [{"text": "x"}]}}]', "asks nothing"),
        ("[]", "asks nothing"),
        ('{"name": "x", "conversations": [{"id": "a"}]}', "cannot be read: KeyError"),
    ],
)
def test_a_file_of_another_form_is_refused_in_plain_words(
    tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "data.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=why):
        load(path)


def test_a_file_that_is_not_there_is_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize("name", SET_NAMES)
def test_the_sets_of_our_own_ask_more_than_two_hundred_questions(name: str) -> None:
    corpus = load(SETS / f"{name}.json")
    assert corpus.asked > 200
    assert not corpus.left_out
