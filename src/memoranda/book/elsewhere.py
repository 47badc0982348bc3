"""A book that moves elsewhere: what is not taken for the place to which it moves, and a person's word to give it up."""

from __future__ import annotations

from memoranda.errors import Conflict, InvalidInput, Moved
from memoranda.model.moving import Departure, Whereabouts, moved
from memoranda.ports import Engine


async def give_up(source: Engine, address: str) -> None:
    """Take back the departure to an address without asking whether the book is whole there."""
    departure = (await source.whereabouts()).departure
    if departure is None:
        raise InvalidInput("source: the book is not moving: there is nothing to give up", field="source")
    refuse_elsewhere(departure, address)
    if departure.whole:
        raise moved(departure)
    await source.depart(None, departure)


def refuse_elsewhere(departure: Departure, address: str, copy: str | None = None) -> None:
    """Refuse to copy a book that moves, or has moved, to another place than this one, or to another copy there."""
    if departure.address == address and copy in (None, departure.copy):
        return
    if departure.whole:
        raise moved(departure)
    raise Conflict(
        f"the book is being moved to {departure.address}: finish that with --switch, take it back by copying to the "
        "same place without --switch, or, if that place is lost for good, with --give-up"
    )


def refuse_another_copy(departure: Departure, there: Whereabouts) -> None:
    """Refuse to take what stands under the address for the copy to which the book began to move: that may be whole."""
    if there.arrival is None or there.arrival.copy != departure.copy:
        raise another_copy(departure)


def another_copy(departure: Departure) -> Conflict | Moved:
    """The refusal of what stands, or does not stand, where the copy was to which the book moves."""
    if departure.whole:
        return moved(departure)
    return Conflict(
        f"the book is being moved to {departure.address}, and what is there now is not the copy that was begun: "
        "bring that back, or, if it is lost for good, take the book back with --give-up"
    )
