"""What is derived stays bound to what it rests on, as users see it."""

from __future__ import annotations

import commonplace
from commonplace.model.changes import PatchProfile
from commonplace.model.ids import new_id
from commonplace.model.ledger import Actor
from commonplace.model.owner import EVERYONE, WHOLE, Owner

ANA = Owner(id="ana")


async def test_why_tells_what_a_profile_rests_on_now(book: commonplace.Book) -> None:
    thread = await book.thread("ana")
    first = await thread.append("user", "I live in Rome")
    second = await thread.append("user", "I moved to Bonn")
    for town, said in (("Rome", first), ("Bonn", second)):
        change = PatchProfile(new_id(), "Profile", EVERYONE, {"town": town}, sources=said.ids())
        receipt = await book._rooms.door.write(
            ANA, WHOLE, Actor("system"), [change], request=[town], operation=town
        )
    why = await book.why("ana", receipt.id)
    assert [source.quote for source in why.sources] == ["I moved to Bonn"]
    await book.forget("ana", second.id, view="owner")
    assert await book.profile.documents("ana") == []
