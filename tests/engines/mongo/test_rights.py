"""Over TLS, as a user who may only read and write this database, everything works but what the
documentation names.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pymongo import MongoClient

from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server.abandoned import end_abandoned
from memoranda.errors import ReadOnly, StorageError
from memoranda.model.changes import JobDraft
from memoranda_conformance.builders import BEN, SMALL, Pen, vectors_of
from tools.mongod import Mongod

#: With every change of storage or engines.
pytestmark = pytest.mark.again

USER = "memoranda:hush%2F1@"


def certificate(folder: Path) -> Path:
    """Return a file with a key and the certificate that it signed for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    )
    made = made.serial_number(x509.random_serial_number()).not_valid_before(
        now - datetime.timedelta(days=1)
    )
    made = made.not_valid_after(now + datetime.timedelta(days=1))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = made.add_extension(here, critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = made.sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    place = folder / "server.pem"
    place.write_bytes(private + signed.public_bytes(pem))
    return place


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Mongod, str]]:
    """A server that asks for TLS and a password, and the options of an address."""
    folder = tmp_path_factory.mktemp("guarded")
    pem, key = certificate(folder), folder / "key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    options = [
        "--auth",
        "--keyFile",
        str(key),
        "--tlsMode",
        "requireTLS",
        "--tlsCertificateKeyFile",
        str(pem),
    ]
    options += ["--tlsCAFile", str(pem), "--tlsAllowConnectionsWithoutCertificates"]
    with Mongod(*options, tls=True, tlsCAFile=str(pem)) as server:
        admin: Any = MongoClient(
            "127.0.0.1", server.port, tls=True, tlsCAFile=str(pem), directConnection=True
        )
        # The first user of a server is made from this machine, without a password.
        admin.admin.command("createUser", "root", pwd="root", roles=["root"])
        admin.close()
        admin = MongoClient(
            "127.0.0.1", server.port, username="root", password="root", tls=True, tlsCAFile=str(pem), directConnection=True
        )  # fmt: skip
        admin["memory"].command("createUser", "memoranda", pwd="hush/1", roles=["readWrite"])
        admin["memory"].command("createUser", "reader", pwd="reader", roles=["read"])
        admin.close()
        yield server, f"?replicaSet=rs0&tls=true&tlsCAFile={pem}"


async def test_a_user_with_no_other_rights_does_everything(guarded: tuple[Mongod, str]):
    server, options = guarded
    engine = await MongoEngine.open(f"mongodb://{USER}127.0.0.1:{server.port}/memory{options}")
    woken: asyncio.Queue[None] = asyncio.Queue()
    leave = engine.when_due(lambda: woken.put_nowait(None))
    await engine.begin_set(SMALL)
    pen = Pen(engine)
    thread = await pen.open()
    await pen.say(thread, "likes tea")
    memory = await pen.remember("likes tea", key="drink")
    await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    async with asyncio.timeout(30):
        await woken.get()
        await pen.write(jobs=(JobDraft("form", "one"),))
        await woken.get()
    leave()
    job = await engine.lease(["form"], "one", pen.now, 60)
    assert job is not None and await engine.finish(job)
    await Pen(engine, BEN).remember("stays")
    await pen.erase_all()
    assert "checkpoint" in (await engine.scrub()).pending_because
    assert len(await Pen(engine, BEN).scan()) == 1
    assert "threads" in (await engine.make_views()).made
    # It may end a transaction of its own that was abandoned, and may not see the oplog.
    await end_abandoned(engine.server.client, engine.server.db, 5.0)
    facts = await engine.examine()
    assert (facts.members, facts.oplog_hours) == (1, None)
    assert (await engine.verify()).faults == ()
    assert "hush" not in engine.address
    await engine.close()


async def test_a_wrong_password_is_told_and_not_shown(guarded: tuple[Mongod, str]):
    server, options = guarded
    with pytest.raises(StorageError, match="refuses this user or password") as refused:
        await MongoEngine.open(f"mongodb://memoranda:wrong@127.0.0.1:{server.port}/memory{options}")
    assert "wrong" not in str(refused.value).replace("refuses", "")


async def test_a_user_who_may_only_read_is_told_what_to_grant(guarded: tuple[Mongod, str]):
    server, options = guarded
    with pytest.raises(ReadOnly, match="readWrite"):
        await MongoEngine.open(
            f"mongodb://reader:reader@127.0.0.1:{server.port}/memory{options.replace('memory', 'x')}"
        )
