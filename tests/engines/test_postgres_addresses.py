"""What an address of a book on a server says, and what is made of what a server refuses."""

from __future__ import annotations

import pytest

from memoranda import errors
from memoranda.errors import InvalidInput, MemorandaError

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.address import parse  # noqa: E402
from memoranda.engines.postgres.server.connector import Connector  # noqa: E402
from memoranda.engines.postgres.server.faults import from_server, translated  # noqa: E402


def test_what_is_the_books_own_is_told_from_what_is_the_drivers():
    place = parse(
        "postgresql://ann:x@db/books?schema=one&partitions=4&connections=2"
        "&longest_statement=1.5&longest_wait=2&sslmode=require"
    )
    assert place.urls == ("postgresql://ann:x@db/books?sslmode=require",)
    assert (place.schema, place.partitions, place.connections) == ("one", 4, 2)
    assert (place.longest_statement, place.longest_wait) == (1.5, 2.0)
    assert place.name == "postgresql://db:5432/books?schema=one"


def test_each_host_of_an_address_is_asked_by_itself():
    assert parse("postgresql://a:b@one:1,[::1]:2,three/d?x=y").urls == (
        "postgresql://a:b@one:1/d?x=y",
        "postgresql://a:b@[::1]:2/d?x=y",
        "postgresql://a:b@three/d?x=y",
    )
    assert parse("postgresql://a@/d?host=/run,two&port=1,2").urls == (
        "postgresql://a@/d?host=%2Frun&port=1",
        "postgresql://a@/d?host=two&port=2",
    )
    assert parse("postgresql:///d").urls == ("postgresql:///d",)


@pytest.mark.parametrize(
    ("address", "environment", "name"),
    [
        ("postgresql://ann:hush@DB/books", {}, "postgresql://db:5432/books"),
        (
            "postgresql://ann@db:5433/books?schema=memoranda&sslmode=require",
            {},
            "postgresql://db:5433/books",
        ),
        ("postgresql://db/books", {"PGPORT": "5434"}, "postgresql://db:5434/books"),
        ("postgresql:///books?host=db&port=5435", {"PGHOST": "no"}, "postgresql://db:5435/books"),
        ("postgresql:///books", {"PGHOST": "db", "PGPORT": "5436"}, "postgresql://db:5436/books"),
        ("postgresql:///books", {}, "postgresql:///books?port=5432"),
        ("postgresql:///books?port=5437", {}, "postgresql:///books?port=5437"),
        ("postgresql:///books?host=/run/a", {}, "postgresql:///books?host=/run/a&port=5432"),
        (
            "postgresql://%2Frun%2Fa/books?schema=one",
            {},
            "postgresql:///books?host=/run/a&port=5432&schema=one",
        ),
        ("postgresql://one,two:1,[::1]:2/d", {}, "postgresql://one:5432,two:1,[::1]:2/d"),
        ("postgresql:///d?host=/run,two&port=1,2", {}, "postgresql:///d?host=/run,two&port=1,2"),
        ("postgresql://db/?dbname=b%20c", {}, "postgresql://db:5432/b%20c"),
        ("postgresql://ann:hush@db", {}, "postgresql://db:5432/ann"),
        ("postgresql://ann:hush@db", {"PGDATABASE": "d"}, "postgresql://db:5432/d"),
        ("postgresql://db?password=hush", {"PGUSER": "ben"}, "postgresql://db:5432/ben"),
    ],
)
def test_a_place_has_one_name_that_can_be_opened_whoever_opens_it(
    address: str, environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
):
    for variable in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert parse(address).name == name
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGDATABASE", "other")
    assert parse(name).name == name


@pytest.mark.parametrize(
    "wrong",
    [
        "schema=Upper",
        "schema=pg_mine",
        "schema=a%22b",
        "partitions=-1",
        "partitions=257",
        "connections=0",
        "connections=many",
        "longest_statement=0",
        "longest_wait=-1",
        "longest_wait=1e3",
        "longest_wait=٣",
        "host=a,b&port=1,2,3",
        "enable_seqscan=on",
        "row_security=off",
        "tcp_keepalives_idle=5",
    ],
)
def test_options_that_cannot_be_meant_are_refused(wrong: str):
    with pytest.raises(InvalidInput, match="address: "):
        parse(f"postgresql:///books?{wrong}")


@pytest.mark.parametrize(
    ("setting", "instead"),
    [
        ("search_path", "schema"),
        ("statement_timeout", "longest_statement"),
        ("Lock_Timeout", "longest_wait"),
    ],
)
def test_a_setting_that_a_book_makes_itself_is_refused_with_the_option_that_says_it(
    setting: str, instead: str
):
    with pytest.raises(InvalidInput, match=f"{setting} itself; say {instead}=") as refused:
        parse(f"postgresql://ann:hush@db/books?{setting}=hush")
    assert "hush" not in str(refused.value)


def test_the_name_of_an_application_is_the_addresss_own():
    assert parse("postgresql:///books").application == "memoranda"
    place = parse("postgresql:///books?application_name=night%20shift")
    assert (place.application, place.urls) == ("night shift", ("postgresql:///books",))
    settings = Connector(place, read_only=False)._settings
    assert settings["application_name"] == "night shift"


@pytest.mark.parametrize(
    "password",
    [
        "hu/sh",
        "hu@sh",
        "hu?sh",
        "hu#sh",
        "hu:sh/x",
        "hush#",
        "hu[sh",
        "hu]sh",
        "hu[]sh",
        "hu\N{FULLWIDTH SOLIDUS}sh",
        "hu℀sh",
    ],
)
def test_a_password_that_is_not_written_as_addresses_want_it_is_refused_and_not_shown(
    password: str,
):
    with pytest.raises(InvalidInput) as refused:
        parse(f"postgresql://ann:{password}@host/books")
    assert "%2F" in str(refused.value) and "hu" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong", ["sslmode=maybe", "target_session_attrs=best", "port=many", "sslmode"]
)
async def test_options_that_the_driver_does_not_take_are_refused(wrong: str, tmp_path: object):
    with pytest.raises(MemorandaError) as refused:
        await PostgresEngine.open(f"postgresql://ann:hush@/books?host={tmp_path}&{wrong}")
    assert "hush" not in str(refused.value)
    if wrong != "sslmode":
        assert isinstance(refused.value, InvalidInput)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (asyncpg.CannotConnectNowError("the database system is starting up"), errors.Busy),
        (asyncpg.TooManyConnectionsError("sorry, too many clients already"), errors.Busy),
        (asyncpg.OutOfMemoryError("out of memory"), errors.Busy),
        (asyncpg.LockNotAvailableError("canceling statement due to lock timeout"), errors.Busy),
        (asyncpg.QueryCanceledError("canceling statement due to statement timeout"), errors.Busy),
        (asyncpg.SerializationError("could not serialize access"), errors.Busy),
        (asyncpg.DeadlockDetectedError("deadlock detected"), errors.Busy),
        (asyncpg.ConnectionDoesNotExistError("connection was closed"), errors.Busy),
        (asyncpg.IdleInTransactionSessionTimeoutError("terminating connection"), errors.Busy),
        (ConnectionRefusedError("refused"), errors.Busy),
        (TimeoutError(), errors.Busy),
        (asyncpg.DiskFullError("could not extend file"), errors.StorageFull),
        (asyncpg.DataCorruptedError("invalid page in block 0"), errors.Corrupt),
        (asyncpg.InvalidCatalogNameError('database "x" does not exist'), errors.NotABook),
        (asyncpg.InsufficientPrivilegeError("permission denied"), errors.ReadOnly),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT"), errors.ReadOnly),
        (asyncpg.InvalidPasswordError("password authentication failed"), errors.StorageError),
        (asyncpg.SyntaxOrAccessError("anything else"), errors.StorageError),
    ],
)
def test_what_a_server_refuses_is_told_in_errors_of_our_own(
    theirs: Exception, ours: type[Exception]
):
    assert type(from_server(theirs, "here")) is ours
    with pytest.raises(ours, match="here"), translated("here"):
        raise theirs


def test_a_server_without_room_for_locks_is_told_with_the_setting_that_gives_it_more():
    refused = asyncpg.OutOfMemoryError('out of shared memory: increase "max_locks_per_transaction"')
    with pytest.raises(errors.Busy, match="fewer partitions"), translated("here"):
        raise refused


def test_a_place_is_not_told_by_a_service_whose_file_may_say_something_else(
    monkeypatch: pytest.MonkeyPatch,
):
    for address in (
        "postgresql:///?service=a",
        "postgresql://db/books?service=a",
        "postgresql:///d?service=",
    ):
        with pytest.raises(InvalidInput, match="service"):
            parse(address)
    monkeypatch.setenv("PGSERVICE", "a")
    for address in ("postgresql:///books", "postgresql://ann@/books?port=5433"):
        with pytest.raises(InvalidInput, match="PGSERVICE"):
            parse(address)
    for address in ("postgresql://db/books", "postgresql:///books?host=/run/a"):
        parse(address)
