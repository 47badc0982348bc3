"""MongoDB servers for a proof: books in databases of their own; servers are killed, frozen and
started again.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from tools.mongod import Mongod

#: Seconds within which three members have a primary, and all follow it.
_ELECTED_SECONDS, _BACK_SECONDS = 60.0, 240.0
#: A rollback takes seconds. After this many the member hangs in it, and does so again however often
#: it is started (seen with 6.0.5).
_HUNG_SECONDS = 45.0
#: States in a status of the set.
_PRIMARY, _SECONDARY, _ROLLBACK = 1, 2, 9


class OwnMongo(Mongod):
    """A replica set of one member that runs while its context is entered."""

    def __init__(self, *options: str) -> None:
        super().__init__(*options)
        self._numbers = itertools.count(1)

    def new_book(self) -> str:
        """Return the address of a new book."""
        return self.at(f"book_{next(self._numbers)}")

    def start_again(self) -> None:
        """Start it again on the killed server's files; return when it is the primary."""
        self.start()


class OwnSet:
    """A replica set of three members, whose primary is killed or frozen."""

    def __init__(self) -> None:
        self._members = [Mongod() for _ in range(3)]
        self._numbers = itertools.count(1)
        self._struck: list[Mongod] = []
        #: What the next ``kill`` does: it kills or freezes the primary, or kills the secondaries
        #: and then the primary.
        self.way = "kill"
        #: How often a member that hung in its own rollback was made anew.
        self.hung = 0

    def __enter__(self) -> Self:
        try:
            for member in self._members:
                member.launch()
            hosts = [
                {"_id": n, "host": f"127.0.0.1:{one.port}"} for n, one in enumerate(self._members)
            ]
            # Short, so that an election takes a second; long enough for a busy machine.
            settings = {"electionTimeoutMillis": 1500, "heartbeatIntervalMillis": 300}
            until = time.monotonic() + _ELECTED_SECONDS
            while self.primary() is None and time.monotonic() < until:
                with (
                    suppress(PyMongoError),
                    self._client(self._members[0]) as client,
                    suppress(OperationFailure),
                ):
                    client.admin.command(
                        "replSetInitiate", {"_id": "rs0", "members": hosts, "settings": settings}
                    )
                time.sleep(0.2)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for member in self._members:
            member.__exit__(kind, error, trace)

    def new_book(self) -> str:
        """Return the address of a new book."""
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in self._members)
        return f"mongodb://{hosts}/book_{next(self._numbers)}?replicaSet=rs0"

    def _client(self, member: Mongod) -> MongoClient[dict[str, Any]]:
        return MongoClient(
            "127.0.0.1",
            member.port,
            directConnection=True,
            serverSelectionTimeoutMS=500,
            socketTimeoutMS=1000,
        )

    def primary(self) -> Mongod | None:
        """Return the member that is the primary now; None while there is none."""
        for member in self._members:
            if member not in self._struck:
                with suppress(PyMongoError), self._client(member) as client:
                    if client.admin.command("hello").get("isWritablePrimary"):
                        return member
        return None

    def _until_primary(self) -> Mongod:
        until = time.monotonic() + _ELECTED_SECONDS
        while (found := self.primary()) is None:
            if time.monotonic() > until:
                raise TimeoutError("three members elected no primary")
            time.sleep(0.05)
        return found

    def kill(self) -> None:
        """Strike the primary, as ``way`` says."""
        primary = self._until_primary()
        self._struck = [primary]
        if self.way == "freeze":
            primary.signal(signal.SIGSTOP)
        elif self.way == "kill":
            primary.kill()
        else:
            # Killed, not frozen: to a frozen one the primary goes on sending, and what lies in its
            # socket is read when it wakes.
            others = [member for member in self._members if member is not primary]
            for member in others:
                member.kill()
            time.sleep(0.3)
            primary.kill()
            for member in others:
                member.launch()

    def start_again(self) -> None:
        """Wait for another primary, then let the struck one come back, and wait until it has caught
        up.
        """
        self._until_primary()
        struck, self._struck = self._struck, []
        for member in struck:
            if self.way == "freeze":
                member.signal(signal.SIGCONT)
            else:
                member.launch()
        self._until_all_follow(struck)

    def _until_all_follow(self, struck: list[Mongod]) -> None:
        """Wait until each member has what the primary has now.

        A killed primary is a secondary for a moment, then takes back what the others have not got,
        and gives no vote meanwhile. One that hangs in this is made anew, as an operator would do:
        it begins without data, and copies the others'.
        """
        until, begun = time.monotonic() + _BACK_SECONDS, None
        hung = time.monotonic() + _HUNG_SECONDS
        members: list[dict[str, Any]] = []
        while time.monotonic() < until:
            with suppress(PyMongoError), self._client(self._until_primary()) as client:
                members = client.admin.command("replSetGetStatus")["members"]
                leader = next((one["optime"] for one in members if one["state"] == _PRIMARY), None)
                begun = begun or (leader and leader["ts"])
                if leader and all(
                    one["state"] in {_PRIMARY, _SECONDARY}
                    and one["optime"]["t"] == leader["t"]
                    and one["optime"]["ts"] >= begun
                    for one in members
                ):
                    return
            if time.monotonic() > hung:
                states = {one["name"]: one["state"] for one in members}
                for member in struck:
                    if states.get(f"127.0.0.1:{member.port}") == _ROLLBACK:
                        member.kill()
                        shutil.rmtree(member.folder / "data")
                        member.launch()
                        self.hung += 1
                hung = time.monotonic() + _HUNG_SECONDS
            time.sleep(0.1)
        told = ", ".join(f"{one['name']} {one['stateStr']} {one.get('optime')}" for one in members)
        raise TimeoutError(f"a member did not come back: {told}")
