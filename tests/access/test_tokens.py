"""Tests of tokens of an identity provider, honest and forged."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from memoranda.access import tokens
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ServiceSettings
from memoranda.access.tokens import LEAST_SECONDS, REMEMBERED_SECONDS, IssuerKeys, TokenCheck
from memoranda.errors import Busy
from memoranda.operations import Role

ISSUER, AUDIENCE = "https://id.example.com", "memoranda"


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@cache
def private(name: str) -> Any:
    """Return the issuer's private key of a name; ``ec`` and ``ed`` are of those sorts."""
    if name.startswith("ec"):
        return ec.generate_private_key(ec.SECP256R1())
    if name.startswith("ed"):
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, 2048)


def algorithm_of(name: str) -> str:
    return {"ec": "ES256", "ed": "EdDSA"}.get(name[:2], "RS256")


def public(name: str) -> dict[str, Any]:
    """Return a key as a JWKS has it."""
    made = jwt.get_algorithm_by_name(algorithm_of(name)).to_jwk(
        private(name).public_key(), as_dict=True
    )
    return {**made, "kid": name, "use": "sig"}


def write(path: Path, *names: str, **more: Any) -> None:
    path.write_text(json.dumps({"keys": [{**public(name), **more} for name in names]}), "utf-8")


def token(key: str = "main", header: dict[str, Any] | None = None, **claims: Any) -> str:
    now = int(time.time())
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 300, **claims}
    given = {name: value for name, value in given.items() if value is not None}
    head = {"kid": key} if header is None else header
    return jwt.encode(given, private(key), algorithm_of(key), headers=head)


def unsigned(header: dict[str, Any], signature: bytes = b"", **claims: Any) -> str:
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 300, **claims}
    parts = [json.dumps(part).encode() for part in (header, given)]
    return ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, signature)
    )


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    write(path, "main", "ec", "ed")
    return path


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def checking(
    jwks: Path | str, seconds: Seconds, tenant: str = "default", **given: Any
) -> TokenCheck:
    named = {"token_issuer": ISSUER, "token_audience": AUDIENCE, "token_jwks": str(jwks), **given}
    return TokenCheck(ServiceSettings.model_validate(named), tenant, seconds)


@pytest.fixture
def check(jwks: Path, seconds: Seconds) -> TokenCheck:
    return checking(jwks, seconds)


@pytest.mark.parametrize("key", ["main", "ec", "ed"])
async def test_a_token_opens_the_owner_whom_it_is_about(check: TokenCheck, key: str) -> None:
    found = await check.principal_of(token(key))
    assert found == Principal(
        "ann",
        "default",
        Role.VIEWER,
        owners=frozenset({"ann"}),
        groups=frozenset(),
        person="ann",
        binding=found.binding if found else "",
    )


def _hmac_with_the_public_key() -> str:
    pem = private("main").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    body = unsigned({"alg": "HS256", "kid": "main", "typ": "JWT"}).rpartition(".")[0]
    signature = hmac.new(pem, body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


FORGED = {
    "no algorithm": lambda: unsigned({"alg": "none", "kid": "main"}),
    "no algorithm, in capitals": lambda: unsigned({"alg": "NONE", "kid": "main"}),
    "an algorithm that is a list": lambda: unsigned({"alg": ["RS256"], "kid": "main"}),
    "the public key as the secret of HS256": _hmac_with_the_public_key,
    "no signature": lambda: token().rpartition(".")[0] + ".",
    "another signature": lambda: (
        token().rpartition(".")[0] + "." + token(sub="ben").rpartition(".")[2]
    ),
    "another issuer's key": lambda: token("other", {"kid": "main"}),
    "an unknown key": lambda: token("other"),
    "a key of another sort": lambda: token("main", {"kid": "ec"}),
    "no key id, where several suit": lambda: token("main", {"typ": "JWT"}),
    "a key of its own": lambda: token("other", {"kid": "other", "jwk": public("other")}),
    "a header that is deeply nested": lambda: (
        base64.urlsafe_b64encode(b'{"alg":' + b"[" * 10_000).decode().rstrip("=") + ".e30.AA"
    ),
    "another audience": lambda: token(aud="billing"),
    "no audience": lambda: token(aud=None),
    "another issuer": lambda: token(iss="https://id.example.com/"),
    "no issuer": lambda: token(iss=None),
    "no expiry": lambda: token(exp=None),
    "an expiry long ago": lambda: token(exp=int(time.time()) - 300),
    "an expiry beyond the skew": lambda: token(exp=int(time.time()) - 60),
    "an endless expiry": lambda: token(exp=float("inf")),
    "an expiry that is a text": lambda: token(exp="soon"),
    "a beginning to come": lambda: token(nbf=int(time.time()) + 300),
    "no person": lambda: token(sub=None),
    "an empty person": lambda: token(sub=" "),
    "a person with a NUL": lambda: token(sub="ann\0"),
    "another tenant": lambda: token(tenant="acme"),
    "owners that are a number": lambda: token(owners=5),
    "owners that hold a number": lambda: token(owners=["ann", 5]),
    "a token that is too long": lambda: token(note="x" * 20_000),
    "nothing": lambda: "..",
    "half a surrogate": lambda: "\ud800.a.b",
}


@pytest.mark.parametrize("made", FORGED.values(), ids=FORGED)
async def test_a_token_with_a_fault_opens_nothing(check: TokenCheck, made: Any, jwks: Path) -> None:
    write(jwks, "main", "second", "ec", "ed")
    assert await check.principal_of(made()) is None
    assert await check.principal_of(token()) is not None


async def test_a_skew_of_the_clocks_is_forgiven_and_no_more(jwks: Path, seconds: Seconds) -> None:
    late, early = token(exp=int(time.time()) - 20), token(nbf=int(time.time()) + 20)
    forgiving, strict = checking(jwks, seconds), checking(jwks, seconds, token_skew_seconds=0)
    for one in (late, early):
        assert await forgiving.principal_of(one) is not None
        assert await strict.principal_of(one) is None


async def test_an_algorithm_that_the_settings_leave_out_is_refused(
    jwks: Path, seconds: Seconds
) -> None:
    check = checking(jwks, seconds, token_algorithms=("ES256",))
    assert await check.principal_of(token("main")) is None
    assert await check.principal_of(token("ec")) is not None


async def test_a_secret_in_the_issuers_set_is_no_key(jwks: Path, check: TokenCheck) -> None:
    secret = base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")
    jwks.write_text(json.dumps({"keys": [{"kty": "oct", "k": secret, "kid": "main"}]}), "utf-8")
    forged = jwt.encode(
        {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": 9e9},
        b"x" * 32,
        "HS256",
        {"kid": "main"},
    )
    assert await check.principal_of(forged) is None
    assert await check.principal_of(token()) is None


@pytest.mark.parametrize(
    ("claims", "role", "owners", "person"),
    [
        ({"role": "editor"}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": "admin"}, Role.ADMIN, None, None),
        # Who may name only some owners is no admin, who may ask everything of everyone.
        ({"role": "admin", "owners": ["ann"]}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": "admin", "owners": "*"}, Role.EDITOR, None, None),
        ({"role": "admin", "agents": ["helper"]}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": "admin", "groups": "*"}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": ["offline_access", "Editor", "viewer"]}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": "openid editor"}, Role.EDITOR, {"ann"}, "ann"),
        ({"role": "superuser"}, Role.VIEWER, {"ann"}, "ann"),
        ({"role": 5}, Role.VIEWER, {"ann"}, "ann"),
        ({"role": "editor", "owners": "ben"}, Role.EDITOR, {"ben"}, None),
        ({"role": "editor", "owners": ["ben", "*"]}, Role.EDITOR, None, None),
        ({"owners": []}, Role.VIEWER, set(), None),
    ],
)
async def test_claims_say_what_a_token_opens(
    check: TokenCheck,
    claims: dict[str, Any],
    role: Role,
    owners: set[str] | None,
    person: str | None,
) -> None:
    found = await check.principal_of(token(**claims))
    assert found is not None
    assert (found.role, found.owners, found.person) == (role, owners, person)


async def test_claims_have_the_names_that_the_settings_give_them(
    jwks: Path, seconds: Seconds
) -> None:
    names = {
        "token_role_claim": "realm_access.roles",
        "token_owners_claim": "https://example.com/owners",
        "token_agents_claim": "bots",
        "token_groups_claim": "teams",
        "token_tenant_claim": "org",
        "token_person_claim": "email",
    }
    check = checking(jwks, seconds, "acme", **names)
    claims: dict[str, Any] = {
        "realm_access": {"roles": ["editor"]},
        "https://example.com/owners": ["ann", "ben"],
        "bots": ["guide"],
        "teams": "shop",
        "org": "acme",
        "email": "ann@example.com",
    }
    found = await check.principal_of(token(**claims))
    assert found is not None
    assert (found.name, found.tenant, found.role) == ("ann@example.com", "acme", Role.EDITOR)
    opened = (found.owners, found.agents, found.groups)
    assert opened == (frozenset({"ann", "ben"}), frozenset({"guide"}), frozenset({"shop"}))
    assert await check.principal_of(token(**{**claims, "org": None})) is None


async def test_a_token_is_bound_to_its_issuer_and_person(check: TokenCheck) -> None:
    found = [await check.principal_of(one) for one in (token(), token(jti="2"), token(sub="ben"))]
    bound = [None if one is None else one.binding for one in found]
    assert bound[0] == bound[1] != bound[2]


async def test_a_verified_token_is_not_verified_again_for_a_while(
    check: TokenCheck, seconds: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifying = Mock(wraps=jwt.decode)
    monkeypatch.setattr(jwt, "decode", verifying)
    one = token()
    for _ in range(5):
        assert await check.principal_of(one) is not None
    assert verifying.call_count == 1
    seconds.now += REMEMBERED_SECONDS
    assert await check.principal_of(one) is not None
    assert verifying.call_count == 2


async def test_a_remembered_token_ends_when_it_expires(jwks: Path, seconds: Seconds) -> None:
    check = checking(jwks, seconds, token_skew_seconds=0)
    soon = token(exp=int(time.time()) + 10)
    assert await check.principal_of(soon) is not None
    ((_, until),) = check._verified.values()
    assert until - seconds.now <= 10


async def test_an_unknown_key_reads_the_issuers_keys_again_but_not_more_often_than_allowed(
    jwks: Path, check: TokenCheck, seconds: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[threading.Thread] = []

    def read(source: str, read_keys: Any = tokens.read_keys) -> Any:
        reads.append(threading.current_thread())
        return read_keys(source)

    monkeypatch.setattr(tokens, "read_keys", read)
    assert await check.principal_of(token()) is not None
    write(jwks, "second")
    rotated = token("second")
    assert await check.principal_of(rotated) is None
    seconds.now += LEAST_SECONDS
    found = await asyncio.gather(*(check.principal_of(rotated) for _ in range(20)))
    assert all(one is not None for one in found)
    for n in range(50):
        assert await check.principal_of(token("other", {"kid": f"made up {n}"})) is None
    assert len(reads) == 2
    # The event loop's thread goes on meanwhile.
    assert threading.main_thread() not in reads


async def test_a_key_that_the_issuer_withdrew_ends(
    jwks: Path, check: TokenCheck, seconds: Seconds
) -> None:
    assert await check.principal_of(token()) is not None
    write(jwks, "second")
    seconds.now += tokens.FRESH_SECONDS
    assert await check.principal_of(token(jti="new")) is None


async def test_keys_stay_in_force_for_a_day_if_the_issuer_does_not_answer(
    jwks: Path, check: TokenCheck, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    assert await check.principal_of(token()) is not None
    jwks.unlink()
    seconds.now += tokens.FRESH_SECONDS
    assert await check.principal_of(token(jti="2")) is not None
    assert "cannot be read" in caplog.text
    seconds.now += 86_401
    with pytest.raises(Busy, match="cannot be checked"):
        await check.principal_of(token(jti="3"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keys": 5}', "\xff"])
async def test_without_the_issuers_keys_a_token_is_neither_taken_nor_called_wrong(
    tmp_path: Path, seconds: Seconds, text: str
) -> None:
    path = tmp_path / "none.json"
    path.write_text(text, "latin-1")
    with pytest.raises(Busy):
        await checking(path, seconds).principal_of(token())


async def test_no_token_and_no_claim_is_logged(
    check: TokenCheck, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = [token(), token(aud="billing"), token(sub="secretive\0"), token("other")]
    for one in tokens:
        await check.principal_of(one)
    assert "a token was refused: InvalidAudienceError" in caplog.text
    assert not any(
        part in caplog.text for one in (*tokens, "billing.secretive") for part in one.split(".")
    )


@pytest.fixture
def issuer(jwks: Path) -> Iterator[str]:
    """Serve the keys at /keys, and a redirect to them elsewhere."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/keys" else 302)
            self.send_header("Location", "/keys")
            self.end_headers()
            if self.path == "/keys":
                self.wfile.write(jwks.read_bytes())

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    serving.join()
    server.server_close()


async def test_the_issuers_keys_are_read_from_an_address_and_redirects_are_not_followed(
    issuer: str, seconds: Seconds
) -> None:
    assert await checking(f"{issuer}/keys", seconds).principal_of(token()) is not None
    with pytest.raises(Busy):
        await IssuerKeys(f"{issuer}/elsewhere", seconds).key_of("RS256", "main")


async def test_without_settings_of_an_issuer_every_token_is_refused(seconds: Seconds) -> None:
    assert await TokenCheck(ServiceSettings(), "default", seconds).principal_of(token()) is None
