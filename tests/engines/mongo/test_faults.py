"""A fault at any command of a call changes nothing of its result: the server's own fail point makes
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from pymongo import MongoClient

from memoranda.engines.mongo.engine import MongoEngine
from memoranda.errors import OutcomeUnknown
from memoranda.model.changes import JobDraft
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE
from memoranda.storage.use_cases.apply import apply_batch
from memoranda_conformance.builders import ANN, BEN, Pen
from tests.engines.mongo.listening import listening
from tests.engines.mongo_server import MongoPlace
from tools.mongod import Mongod

#: With every change of storage or engines.
pytestmark = pytest.mark.again

TRANSIENT, UNKNOWN, AGAIN = (
    "TransientTransactionError",
    "UnknownTransactionCommitResult",
    "RetryableWriteError",
)
FAULTS: dict[str, dict[str, Any]] = {
    "a cut connection": {"closeConnection": True},
    "a conflict": {"errorCode": 112, "errorLabels": [TRANSIENT]},
    "a step-down": {"errorCode": 189, "errorLabels": [TRANSIENT]},
}
AT_COMMIT: dict[str, dict[str, Any]] = {
    "a cut connection": {"closeConnection": True},
    "an unknown result": {"errorCode": 91, "errorLabels": [UNKNOWN, AGAIN]},
    "a late majority": {
        "writeConcernError": {"code": 64, "errmsg": "late", "errorLabels": [UNKNOWN]}
    },
}


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with asyncio.timeout(120):
        yield


class FailPoint:
    """The server's fail point, which is set by a client that no book has."""

    def __init__(self, place: MongoPlace) -> None:
        self._admin: Any = MongoClient(place.url, appname="the test").admin
        #: The command to fail, counted from the end of the last ``at``; 0 fails none.
        self._left = 0
        self._fault: dict[str, Any] = {}
        self.heard: list[str] = []

    def at(self, number: int, fault: dict[str, Any]) -> None:
        self._left, self._fault = number, fault
        self.heard.clear()

    def hear(self, event: Any) -> None:
        if event.command.get("$db") == "admin" and event.command_name not in (
            "commitTransaction",
            "abortTransaction",
        ):
            return
        self.heard.append(event.command_name)
        self._left -= 1
        if self._left == 0:
            data = {"failCommands": [event.command_name], "appName": "memoranda", **self._fault}
            self._admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=data)

    def off(self) -> None:
        self._left = 0
        self._admin.command("configureFailPoint", "failCommand", mode="off")
        self._admin.client.close()


@pytest.fixture
async def point(mongo: MongoPlace) -> AsyncIterator[FailPoint]:
    if mongo.own is None:
        pytest.skip("only on a server of the tests' own, which has fail points")
    found = FailPoint(mongo)
    with listening(found.hear):
        yield found
    found.off()


@pytest.fixture
async def engine(mongo: MongoPlace, point: FailPoint) -> AsyncIterator[MongoEngine]:
    opened = await MongoEngine.open(mongo.new_book())
    yield opened
    assert (await opened.verify()).faults == ()
    await opened.close()


Call = Callable[[Pen, str], Awaitable[object]]


async def append(pen: Pen, name: str) -> object:
    (thread,) = await pen.scan(types=frozenset({"thread"}))
    change = pen.saying(thread.id, f"said {name}")
    draft = JobDraft("form", "thread", {"thread": str(thread.id)})
    receipt = await pen.write(change, operation=name, request=b"x", jobs=(draft,))
    assert [m.content for m in await pen.scan(types=frozenset({"message"}))].count(
        f"said {name}"
    ) == 1
    return len(receipt.items)


async def remember(pen: Pen, name: str) -> object:
    receipt = await pen.write(
        pen.remembering(f"likes {name}", key="drink"), operation=name, request=b"x"
    )
    (held,) = await pen.scan(types=frozenset({"memory"}), statuses=frozenset({"active"}))
    assert held.content == f"likes {name}"
    return len(receipt.items)


async def first_of_an_owner(pen: Pen, name: str) -> object:
    other = Pen(pen.engine, ANN.model_copy(update={"id": f"new {name}"}))
    receipt = await other.write(
        other.remembering("likes tea"), operation=f"first {name}", request=b"x"
    )
    assert len(await other.ledger()) == 1
    return len(receipt.items)


async def erase(pen: Pen, name: str) -> object:
    memory = await pen.remember(f"forgets {name}")
    receipt = await pen.erase(memory)
    assert await pen.find(memory) is None
    return sum(receipt.removed.values()) + len(receipt.repeated)


async def lease(pen: Pen, name: str) -> object:
    await pen.write(jobs=(JobDraft("form", name),), operation=f"job {name}", request=b"x")
    job = await pen.engine.lease(["form"], "one", pen.now, 60)
    assert job is not None and job.attempts == 1
    assert await pen.engine.finish(job)
    return await pen.engine.jobs(None, 10)


async def read(pen: Pen, name: str) -> object:
    page = await pen.engine.scan(ANN, WHOLE, Filter(), None, 100)
    return len(await pen.engine.get(ANN, WHOLE, [one.id for one in page.records])) == len(
        page.records
    )


CALLS: dict[str, Call] = {
    "append": append,
    "remember": remember,
    "the first of an owner": first_of_an_owner,
    "erase": erase,
    "lease": lease,
    "read": read,
}


@pytest.mark.parametrize("called", CALLS)
async def test_a_fault_at_any_command_changes_nothing_of_the_result(
    engine: MongoEngine, point: FailPoint, called: str
):
    pen, call = Pen(engine), CALLS[called]
    await pen.open()
    await call(pen, "to begin with")
    point.at(0, {})
    expected = await call(pen, "without")
    commands, tried = list(point.heard), 0
    for number, command in enumerate(commands, 1):
        faults = AT_COMMIT if command == "commitTransaction" else FAULTS
        # An erasure and a lease have many commands: each gets one fault, in turn.
        each = (
            [*faults.items()]
            if called not in ("erase", "lease")
            else [[*faults.items()][number % len(faults)]]
        )
        for fault, data in each:
            # After a step-down the driver looks for a primary for half a second: one call is
            # enough.
            if command == "abortTransaction" or (fault == "a step-down" and called != "append"):
                continue
            point.at(number, data)
            try:
                found = await call(pen, f"{number} {fault}")
            except OutcomeUnknown:
                # An erasure has no operation id; asking again finds that it is done.
                assert command == "commitTransaction" and called in ("erase", "lease")
                continue
            assert found == expected, (number, command, fault, commands)
            tried += 1
    assert tried >= len(commands) // 2


async def test_a_book_that_another_process_makes_at_the_same_moment_opens(
    mongo: MongoPlace, point: FailPoint
):
    await (await MongoEngine.open(mongo.new_book())).close()
    # The server refuses one of two transactions that make the same collection.
    inserts = [number for number, name in enumerate(point.heard, 1) if name == "insert"]
    assert inserts
    for number in inserts:
        point.at(number, FAULTS["a conflict"])
        engine = await MongoEngine.open(mongo.new_book())
        await Pen(engine).remember("tea")
        assert len(await Pen(engine).scan()) == 1
        await engine.close()


async def test_a_write_whose_server_dies_in_its_commit_is_told_and_found_by_its_operation():
    with Mongod() as server:
        engine = await MongoEngine.open(server.at("book"))
        pen = Pen(engine, BEN)
        await pen.remember("tea")

        def kill(event: Any) -> None:
            if event.command_name == "commitTransaction":
                server.kill()

        batch = pen.batch(pen.remembering("coffee"), operation="one", request=b"x")
        with listening(kill), pytest.raises(OutcomeUnknown, match="same operation id"):
            await engine.write(
                lambda: apply_batch(batch, UUID(int=1)), repeatable=True, patience=2.0
            )
        server.start()
        receipt = await engine.apply(batch)
        assert [entry.position for entry in await pen.ledger()] == [1, 2]
        again = await engine.apply(batch)
        assert again.repeated and again.position == receipt.position
        await engine.close()
