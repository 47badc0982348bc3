"""Tests of keys: made, shown once, checked, rotated and revoked."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import memoranda
from memoranda import Book, Conflict, InvalidInput, NotFound
from memoranda.access.guard import Guard
from memoranda.access.key_check import FRESH_SECONDS, KeyCheck, principal_of_key
from memoranda.book.nouns.keys import digest_of
from memoranda.model.profiles import Key
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.values import new_id
from memoranda.operations import Role
from memoranda.testing.clock import HandClock


class Seconds:
    """Tells the seconds that it was set to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def check(book: Book, seconds: Seconds) -> KeyCheck:
    return KeyCheck(book, seconds)


async def test_a_secret_has_256_random_bits_and_a_prefix_that_the_key_shows(book: Book) -> None:
    made = [await book.keys.create(f"key {n}", role="viewer") for n in range(3)]
    for new in made:
        mark, prefix, drawn = new.secret.split("_", 2)
        assert (mark, prefix) == ("mem", new.key.prefix)
        # 43 letters of base64 hold 256 bits.
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", drawn)
    assert len({new.secret for new in made}) == len({new.key.digest for new in made}) == 3
    assert await book.keys.get("key 0") == made[0].key


async def test_the_holder_of_a_key_gets_its_role_and_what_it_opens(
    book: Book, check: KeyCheck
) -> None:
    new = await book.keys.create("web", role="editor", owners=["ann", "ben"], agents=["guide"])
    found = await check.principal_of(new.secret)
    assert found is not None
    assert (found.name, found.tenant, found.role, found.key) == (
        "web",
        "default",
        Role.EDITOR,
        new.key.id,
    )
    assert (found.owners, found.agents, found.groups) == (
        frozenset({"ann", "ben"}),
        frozenset({"guide"}),
        frozenset(),
    )
    assert found.person is None


async def test_a_persons_own_key_opens_that_person(book: Book, check: KeyCheck) -> None:
    own = await book.keys.create("phone", role="editor", person="ann")
    more = await book.keys.create("family", role="editor", person="ann", owners=["ben"])
    every = await book.keys.create("all", role="admin")
    people = [await check.principal_of(new.secret) for new in (own, more, every)]
    assert [None if one is None else one.owners for one in people] == [
        frozenset({"ann"}),
        frozenset({"ann", "ben"}),
        None,
    ]
    assert [None if one is None else one.person for one in people] == ["ann", "ann", None]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"role": "king"}, "role"),
        ({"role": "editor", "owners": "ann"}, "owners"),
        ({"role": "editor", "owners": [""]}, "owners[0]"),
        ({"role": "editor", "person": 5}, "person"),
        ({"role": "admin", "person": "ann"}, "person"),
        ({"role": "admin", "owners": ["ann"]}, "owners"),
        ({"role": "editor", "name": ""}, "name"),
    ],
)
async def test_a_malformed_key_is_refused_by_its_field(
    book: Book, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await book.keys.create(**{"name": "web", **given})
    assert caught.value.field in (field, field.partition("[")[0])
    assert await book.keys.list() == []


async def test_a_key_that_would_be_born_expired_is_refused(book: Book, clock: HandClock) -> None:
    with pytest.raises(InvalidInput, match="has passed"):
        await book.keys.create("web", role="viewer", expires_at=clock.now - timedelta(days=1))


async def test_wrong_secrets_open_nothing(book: Book, check: KeyCheck) -> None:
    new = await book.keys.create("web", role="admin")
    for secret in (
        "",
        "x",
        new.secret[:-1],
        new.secret + "x",
        new.key.digest,
        new.key.prefix,
        "x" * 100_000,
        "\ud800",
    ):
        assert await check.principal_of(secret) is None
    assert await check.principal_of(new.secret) is not None


async def test_an_expired_key_opens_nothing_from_its_very_moment(
    book: Book, check: KeyCheck, clock: HandClock
) -> None:
    until = clock.now + timedelta(hours=1)
    new = await book.keys.create("web", role="viewer", expires_at=until)
    assert await check.principal_of(new.secret) is not None
    clock.now = until
    assert await check.principal_of(new.secret) is None


async def test_a_revoked_key_opens_nothing_once_the_cache_is_old(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    new = await book.keys.create("web", role="viewer")
    assert await check.principal_of(new.secret) is not None
    await book.keys.revoke("web")
    seconds.now += FRESH_SECONDS
    assert FRESH_SECONDS <= 2
    assert await check.principal_of(new.secret) is None


async def test_a_new_key_opens_at_once(book: Book, check: KeyCheck) -> None:
    first = await book.keys.create("first", role="viewer")
    assert await check.principal_of(first.secret) is not None
    second = await book.keys.create("second", role="viewer")
    assert await check.principal_of(second.secret) is not None


async def test_a_rotated_keys_former_secret_ends_at_once(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    old = await book.keys.create("web", role="editor", person="ann")
    bound = await check.principal_of(old.secret)
    new = await book.keys.rotate("web")
    seconds.now += FRESH_SECONDS
    assert await check.principal_of(old.secret) is None
    found = await check.principal_of(new.secret)
    assert found is not None
    assert bound is not None
    assert (found.name, found.role, found.owners, found.person) == (
        "web",
        Role.EDITOR,
        frozenset({"ann"}),
        "ann",
    )
    # What is bound to a credential, such as a cursor, ends with it.
    assert found.binding != bound.binding
    assert new.key.prefix != old.key.prefix


async def test_a_rotated_keys_former_secret_holds_for_its_grace(
    book: Book, check: KeyCheck, clock: HandClock
) -> None:
    old = await book.keys.create("web", role="viewer")
    new = await book.keys.rotate("web", grace_seconds=60)
    assert await check.principal_of(old.secret) is not None
    assert await check.principal_of(new.secret) is not None
    clock.advance(seconds=61)
    assert await check.principal_of(old.secret) is None
    assert await check.principal_of(new.secret) is not None


async def test_revoking_a_name_ends_what_a_rotation_left_too(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    old = await book.keys.create("web", role="viewer")
    new = await book.keys.rotate("web", grace_seconds=3600)
    await book.keys.revoke("web")
    seconds.now += FRESH_SECONDS
    assert [await check.principal_of(one.secret) for one in (old, new)] == [None, None]
    assert [part.code for part in (await book.keys.revoke("web")).ignored] == ["unchanged"]
    with pytest.raises(NotFound, match="none called 'shop'"):
        await book.keys.revoke("shop")


async def test_rotating_what_is_not_there_is_refused(book: Book, clock: HandClock) -> None:
    with pytest.raises(NotFound):
        await book.keys.rotate("web")
    await book.keys.create("web", role="viewer", expires_at=clock.now + timedelta(hours=1))
    for grace in (-1, float("nan"), 10**9, "5"):
        with pytest.raises(InvalidInput, match="grace_seconds"):
            await book.keys.rotate("web", grace_seconds=grace)  # type: ignore[arg-type]
    clock.advance(hours=2)
    with pytest.raises(InvalidInput, match="has passed"):
        await book.keys.rotate("web")
    await book.keys.rotate("web", expires_at=clock.now + timedelta(hours=1))


async def test_a_repeated_creation_makes_no_second_key_and_cannot_show_the_secret_again(
    book: Book,
) -> None:
    await book.keys.create("web", role="viewer", operation="once")
    with pytest.raises(Conflict, match="shown then; rotate"):
        await book.keys.create("web", role="viewer", operation="once")
    with pytest.raises(Conflict, match="in use"):
        await book.keys.create("web", role="viewer")
    assert len(await book.keys.list()) == 1
    await book.keys.rotate("web", operation="again")
    with pytest.raises(Conflict, match="shown then; rotate"):
        await book.keys.rotate("web", operation="again")
    assert len(await book.keys.list()) == 2


async def test_no_secret_is_stored_or_exported_or_logged_or_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with memoranda.open(tmp_path / "book.db") as book:
        made = [
            await book.keys.create("web", role="admin"),
            await book.keys.rotate("web", grace_seconds=60),
        ]
        await book.keys.put("own", digest=digest_of("a secret of the caller"))
        check = KeyCheck(book)
        for new in made:
            assert await check.principal_of(new.secret) is not None
        lines = [line async for line in book.admin.export()]
        shown = [repr(new) + str(new) + repr(new.key) + repr(check) for new in made]
        errors = [repr(await _error(book.keys.put("own", digest=new.secret))) for new in made]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    printed = "".join([*lines, *shown, *errors, caplog.text, *capsys.readouterr()])
    for secret in (*(new.secret for new in made), "a secret of the caller"):
        drawn = secret.split("_", 2)[-1]
        assert drawn not in printed
        assert drawn.encode() not in stored


async def _error(work: Any) -> BaseException | None:
    try:
        await work
    except (Conflict, InvalidInput) as exc:
        return exc
    return None


async def test_digests_are_compared_in_constant_time(book: Book, check: KeyCheck) -> None:
    new = await book.keys.create("web", role="viewer")
    with patch("memoranda.access.key_check.hmac.compare_digest", return_value=False) as compared:
        assert await check.principal_of(new.secret) is None
    compared.assert_called_once_with(new.key.digest, new.key.digest)


async def test_many_requests_read_the_book_once(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    new = await book.keys.create("web", role="viewer")
    with patch.object(book.engine, "count", wraps=book.engine.count) as counted:
        for _ in range(100):
            assert await check.principal_of(new.secret) is not None
        assert counted.call_count == 1
        seconds.now += FRESH_SECONDS
        with patch.object(book.engine, "scan", wraps=book.engine.scan) as scanned:
            await asyncio.gather(*(check.principal_of(new.secret) for _ in range(50)))
            # Nothing was written, so the keys are not read again.
            assert scanned.call_count == 0
        assert counted.call_count <= 3


async def test_wrong_secrets_that_come_at_once_are_looked_up_together(
    book: Book, check: KeyCheck
) -> None:
    await check.principal_of("x")
    with patch.object(book.engine, "count", wraps=book.engine.count) as counted:
        await asyncio.gather(*(check.principal_of(f"wrong {n}") for n in range(500)))
    assert counted.call_count <= 2


async def test_an_erased_person_takes_their_key_along(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    own = await book.keys.create("phone", role="editor", person="ann")
    shared = await book.keys.create("shop", role="editor", owners=["ann", "ben"])
    await book.remember("ann", "likes tea")
    assert await check.principal_of(own.secret) is not None
    await book.forget("ann", everything=True, as_owner=True)
    seconds.now += FRESH_SECONDS
    assert await check.principal_of(own.secret) is None
    left = await check.principal_of(shared.secret)
    assert left is not None
    assert left.owners == frozenset({"ben"})
    assert "ann" not in json.dumps([json.loads(line) async for line in book.admin.export()])


async def test_a_key_that_alone_goes_with_a_person_is_noticed(
    book: Book, check: KeyCheck, seconds: Seconds
) -> None:
    own = await book.keys.create("phone", role="editor", person="ann")
    await book.remember("ann", "likes tea")
    assert await check.principal_of(own.secret) is not None
    await book.forget("ann", everything=True, as_owner=True)
    seconds.now += FRESH_SECONDS
    assert await check.principal_of(own.secret) is None


def _key(**fields: Any) -> Key:
    tenant = Owner(kind=OwnerKind.TENANT, id="default")
    return Key(id=new_id(), owner=tenant, name="old", digest="0" * 64, **fields)


@pytest.mark.parametrize(
    ("key", "role", "owners", "groups"),
    [
        (_key(), Role.VIEWER, None, None),
        (_key(roles=("admin",)), Role.ADMIN, None, None),
        (_key(roles=("admin",), agents=("helper",)), Role.EDITOR, None, None),
        (_key(roles=("reader", "editor")), Role.EDITOR, None, None),
        (_key(opens=Owner(id="ann")), Role.VIEWER, {"ann"}, set()),
        (_key(roles=("admin",), opens=Owner(id="ann")), Role.EDITOR, {"ann"}, set()),
        (_key(opens=Owner(kind=OwnerKind.GROUP, id="team")), Role.VIEWER, set(), {"team"}),
        (_key(opens=Owner(kind=OwnerKind.TENANT, id="default")), Role.VIEWER, None, None),
    ],
)
def test_a_key_of_before_there_were_roles_opens_no_more_than_it_says(
    key: Key, role: Role, owners: set[str] | None, groups: set[str] | None
) -> None:
    found = principal_of_key(key)
    assert (found.role, found.owners, found.groups) == (role, owners, groups)


async def test_a_key_of_one_owner_gets_no_other_through_the_guard(
    book: Book, check: KeyCheck
) -> None:
    await book.remember("ben", "likes rum")
    new = await book.keys.create("phone", role="editor", person="ann")
    holder = await check.principal_of(new.secret)
    assert holder is not None
    guard = Guard(book, holder)
    await guard.call("remember", owner="ann", content="likes tea")
    await guard.call("records.list", owner="ann", as_owner=True)
    with pytest.raises(NotFound):
        await guard.call("records.list", owner="ben")
    for verb in ("keys.list", "keys.create"):
        with pytest.raises(memoranda.NotAllowed):
            await guard.call(verb)
