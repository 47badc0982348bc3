"""The verbs that restrict the processing of an owner's data, and lift the restriction."""

from __future__ import annotations

from memoranda.book.input import owner_named
from memoranda.book.services import Services
from memoranda.errors import InvalidInput
from memoranda.model.records import Owner
from memoranda.model.service_records import CALLER, Appends, Restriction
from memoranda.operations import Part, Role, W, offer


class Restricting(Part[W]):
    """Restricting an owner: nothing of theirs is formed, recalled or placed in a context until it is lifted."""

    _services: Services

    @offer(
        Role.EDITOR,
        "PUT /restriction",
        command="restrict",
        of_the_person="restricting what is done with a person's data",
    )
    async def restrict(self, owner: str | Owner, *, appends: str = "refuse") -> Restriction:
        """Restrict the processing of an owner's data; a second call changes only ``appends``.

        Only the owner's own view still reads it; export, undo of hiding and erasure stay possible. New content is refused
        with ``Restricted``, or stored unread with ``appends="keep_unread"``. The restriction survives an erasure,
        and moves with an export. ``admin.reads`` lists who restricted whom, and when.
        """
        services = self._services
        return await services.engine.restrict(
            owner_named(owner, services.tenant), _as_appends(appends), services.door.clock(), CALLER.get()
        )

    @offer(Role.ADMIN, "DELETE /restriction", command="unrestrict")
    async def unrestrict(self, owner: str | Owner) -> bool:
        """Lift the restriction of an owner; False if there is none."""
        services = self._services
        party = owner_named(owner, services.tenant)
        return await services.engine.unrestrict(party, services.door.clock(), CALLER.get())

    @offer(Role.VIEWER, "GET /restriction", command="restrict")
    async def restriction(self, owner: str | Owner) -> Restriction | None:
        """Return the restriction of an owner; None if there is none."""
        return await self._services.engine.restriction(owner_named(owner, self._services.tenant))


def _as_appends(appends: str) -> Appends:
    try:
        return Appends(appends)
    except ValueError:
        raise InvalidInput(
            f"appends: {appends!r} is none; use refuse or keep_unread", field="appends"
        ) from None
