"""The evaluation of secrets counts wrong spans and covered secrets; the turns of its own set are
made from templates.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evals.secret_turns import HALVES, SET, luhn, right_iban, turns
from evals.secrets import main, measure
from tools.checkout import ROOT

TURNS: list[dict[str, Any]] = [
    {"text": "my password is hunter2!", "secrets": [{"start": 15, "end": 23, "class": "password"}]},
    {
        "text": "the code word is swordfish",
        "secrets": [{"start": 17, "end": 26, "class": "password"}],
    },
    {
        "text": "passport X4821903",
        "secrets": [],
        "optional": [{"start": 9, "end": 17, "class": "passport"}],
    },
    {"text": "our PIN is 4821", "secrets": []},
]


def test_a_span_is_wrong_if_it_touches_neither_a_secret_nor_an_optional_span() -> None:
    found = measure(TURNS)
    assert (found["turns"], found["turns_marked_wrongly"], found["one_in"]) == (4, 1, 4.0)
    assert found["wrong"] == [TURNS[3]]


def test_a_secret_counts_where_it_is_wholly_covered() -> None:
    found = measure(TURNS)
    assert found["classes"] == {"password": {"secrets": 2, "covered": 0.5}}
    cut = [
        {
            "text": "my password is hunter2!",
            "secrets": [{"start": 12, "end": 23, "class": "password"}],
        }
    ]
    assert measure(cut)["covered"] == 0.0


def test_the_figures_are_printed_as_json_without_any_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "turns.jsonl"
    data.write_text("\n".join(map(json.dumps, TURNS)), "utf-8")
    main(["--data", str(data), "--json"])
    printed = capsys.readouterr().out
    assert json.loads(printed)["secrets"] == 2 and "hunter2" not in printed


def test_the_script_runs_as_a_file_too(tmp_path: Path) -> None:
    data = tmp_path / "turns.jsonl"
    data.write_text(json.dumps(TURNS[0]), "utf-8")
    run = subprocess.run(
        [sys.executable, str(ROOT / "evals" / "secrets.py"), "--data", str(data)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "100.0% wholly covered" in run.stdout


made = cache(turns)
CLASSES = {
    *("account", "api_key", "card", "national_id", "passport", "password", "private_key", "token"),
}


def spans(half: str, name: str) -> list[str]:
    return [
        turn["text"][one["start"] : one["end"]]
        for turn in made(half)
        for one in turn["secrets"]
        if one["class"] == name
    ]


def test_without_a_path_the_set_of_our_own_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    counted = []
    for arguments in (["--half", "dev"], ["--half", "held"], []):
        main([*arguments, "--json"])
        figures = json.loads(capsys.readouterr().out)
        assert set(figures["classes"]) == CLASSES
        counted.append((figures["turns"], figures["secrets"]))
    assert counted[2] == (counted[0][0] + counted[1][0], counted[0][1] + counted[1][1])


def test_a_half_of_a_set_of_ones_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path / "turns.jsonl"), "--half", "dev"])


def test_the_same_seed_makes_the_same_turns_and_another_seed_others() -> None:
    assert turns("dev") == made("dev") != turns("dev", "another")


@pytest.mark.parametrize("half", HALVES)
def test_a_half_has_two_thousand_different_turns_and_every_class(half: str) -> None:
    assert len({turn["text"] for turn in made(half)}) == len(made(half)) >= 2000
    assert len({turn["id"] for turn in made(half)}) == len(made(half))
    assert {one["class"] for turn in made(half) for one in turn["secrets"]} == CLASSES
    assert all("«" not in turn["text"] for turn in made(half))


def test_the_halves_share_no_template_and_leave_none_out() -> None:
    dev, held = ({turn["template"] for turn in made(half)} for half in HALVES)
    assert not dev & held
    assert dev | held == {one["id"] for one in json.loads(SET.read_text("utf-8"))["templates"]}


@pytest.mark.parametrize("half", HALVES)
def test_a_span_holds_what_its_slot_made_and_nothing_beside_it(half: str) -> None:
    for name in CLASSES:
        assert all(text and text == text.strip() for text in spans(half, name)), name
    assert all(
        re.fullmatch(r"(?s)-----BEGIN .*-----END [A-Z ]+-----", text)
        for text in spans(half, "private_key")
    )
    assert all(re.fullmatch(r"[\d -]{15,19}", text) for text in spans(half, "card"))
    assert all(re.fullmatch(r"[A-Z]{0,3}[A-Z0-9]{6,9}", text) for text in spans(half, "passport"))
    for turn in made(half):
        for one in [*turn["secrets"], *turn["optional"]]:
            # The password of an address stands between its colon and its @.
            if turn["text"][one["end"] : one["end"] + 1] == "@" and one in turn["secrets"]:
                assert turn["text"][one["start"] - 1] == ":"


@pytest.mark.parametrize("half", HALVES)
def test_the_check_digits_of_cards_and_accounts_are_right_and_those_of_lookalikes_wrong(
    half: str,
) -> None:
    assert all(luhn(re.sub(r"\D", "", text)) for text in spans(half, "card"))
    ibans = [text for text in spans(half, "account") if text[0].isalpha()]
    assert len(ibans) > 20 and all(map(right_iban, ibans))
    wrong = [
        found[0]
        for turn in made(half)
        if "wrong IBAN" in turn["lookalikes"]
        for found in re.finditer(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,}\b", turn["text"])
    ]
    assert wrong and not any(map(right_iban, wrong))


def test_luhn_and_the_checksum_of_ibans_agree_with_published_samples() -> None:
    assert luhn("4242424242424242") and not luhn("4242424242424241")
    assert right_iban("DE89 3704 0044 0532 0130 00") and not right_iban(
        "DE88 3704 0044 0532 0130 00"
    )


def test_a_token_of_the_set_has_the_parts_of_its_form() -> None:
    signed = [text for half in HALVES for text in spans(half, "token") if text.startswith("eyJ")]
    for text in signed:
        head, _, signature = text.split(".")
        assert (
            json.loads(base64.urlsafe_b64decode(head + "=="))["typ"] == "JWT"
            and len(signature) == 43
        )
    assert signed
