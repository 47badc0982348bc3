"""Tests of detection: secrets are found by shape, checksum or name, and lookalikes are left
alone.
"""

from __future__ import annotations

import time

import pytest

from memoranda.secrets.detection import find_secrets
from memoranda.secrets.spans import Secret, SecretClass, united
from tests.secrets.cases import LOOKALIKES, PEM, SECRETS


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_a_secret_is_found_from_its_first_character_to_its_last(
    text: str, secret: str, kind: str
) -> None:
    assert [(text[one.start : one.end], one.kind.value) for one in find_secrets(text)] == [
        (secret, kind)
    ]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_several_secrets_of_a_text_are_found_in_their_order() -> None:
    text = (
        "İ my password is hunter2! and the card 4539 1488 0343 6467, IBAN DE75512108001245126199."
    )
    found = find_secrets(text)
    assert [text[one.start : one.end] for one in found] == [
        "hunter2!",
        "4539 1488 0343 6467",
        "DE75512108001245126199",
    ]


def test_spans_that_overlap_become_one_span_of_the_longer_ones_class() -> None:
    spans = [
        Secret(SecretClass.TOKEN, 5, 30),
        Secret(SecretClass.KEY, 0, 8),
        Secret(SecretClass.CARD, 40, 44),
    ]
    assert united(spans) == [Secret(SecretClass.TOKEN, 0, 30), Secret(SecretClass.CARD, 40, 44)]


def test_a_private_key_without_its_last_line_is_found_to_its_end() -> None:
    cut = PEM.rsplit("\n", 1)[0]
    text = f"{cut}\n\nAnd that is all (the rest was cut)."
    (found,) = find_secrets(text)
    assert text[found.start : found.end].startswith(cut)


#: Parts that make one of the patterns begin again and again, or go on for long.
HOSTILE = (
    "a", "4", "4 ", "1-", "password ", "password=", "password for ", "password for a a a a a ", "password (a", "eyJaaaaaaaa.", "sk-",
    "-----BEGIN PRIVATE KEY-----", "://a:b", "://a:b@", "DE89 ", "passport 1", "account number ", "bearer ", "?key=", "pin 1 ", "_pass: ",
    "4539 1488 0343 6467 ", "echo a |", "mysql -p", "mysql a ", "changed it to a ", "passphrase ", "as password ", "net use Z: ",
    "ssn 1", "dni X", "passphrase is \"a b c ",
)  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_takes_no_more_time_than_its_length_allows(part: str) -> None:
    def seconds(length: int) -> float:
        text = (part * length)[:length]
        started = time.process_time()
        find_secrets(text)
        return time.process_time() - started

    short = max(min(seconds(10_000) for _ in range(3)), 0.002)
    # Sixteen times the text takes sixteen times the time, or 256 times if each part looks at all
    # others; a busy machine measures up to three times as much.
    assert seconds(160_000) < 64 * short + 0.05


def test_text_without_digits_and_telling_words_costs_next_to_nothing() -> None:
    plain = "The weather in Lisbon is mild, and most visitors like the hills. " * 8
    rounds = 200
    started = time.process_time()
    for _ in range(rounds):
        assert find_secrets(plain) == []
    assert (time.process_time() - started) / rounds < 0.0005


@pytest.mark.parametrize("sign", ["\u200b", "\u2009", "\u2013", "\u00a0", "\ufeff"])
def test_a_card_in_groups_that_signs_part_which_do_not_show_is_found(sign: str) -> None:
    number = sign.join(("4539", "5787", "6362", "1486"))
    assert [
        (one.kind, one.start, one.end) for one in find_secrets(f"Pays with card {number}.")
    ] == [(SecretClass.CARD, 15, 15 + len(number))]


@pytest.mark.parametrize("first", [0xFF10, 0x0660, 0x06F0])
def test_a_card_in_digits_of_another_script_is_found(first: int) -> None:
    number = "".join(chr(first + int(one)) for one in "4539578763621486")
    assert [one.kind for one in find_secrets(f"card {number}")] == [SecretClass.CARD]
