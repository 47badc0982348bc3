"""Excerpts and terms of hits that come from a service: the same as in the book that it serves."""

from __future__ import annotations

from memoranda import Book
from memoranda.client import RemoteBook


async def test_a_hit_of_a_service_has_the_excerpt_that_its_book_gives(
    book: RemoteBook, own_book: Book
) -> None:
    around = "Nobody can plan a whole week in the mountains. " * 30
    await book.remember("ana", "short")
    thread = await book.thread("ana")
    await thread.append(
        [{"role": "user", "content": f"{around}The cellar key is under the pot. {around}"}]
    )
    (far,), (near,) = [
        await one.recall("ana", "cellar key", mode="words") for one in (book, own_book)
    ]
    assert far.excerpt == near.excerpt and "under the pot" in far.excerpt.text
    assert 0 < far.excerpt.start < far.excerpt.end < len(far.text)


async def test_a_hit_of_a_service_has_the_terms_that_its_book_gives(
    book: RemoteBook, own_book: Book
) -> None:
    thread = await book.thread("ana")
    await thread.append(
        [
            {"role": "user", "content": "tea in the harbour"},
            {"role": "assistant", "content": "Noted."},
        ]
    )
    far, near = [
        await one.recall("ana", "harbour", mode="words", limit=1, explain=True)
        for one in (book, own_book)
    ]
    assert far[0].terms == near[0].terms and far[0].cosine == near[0].cosine
    assert dict(far[0].terms).keys() == {"words", "its conversation", "the user's own words"}
    assert sum(amount for _, amount in far[0].terms) == far[0].score
    assert far.missing[0].terms == near.missing[0].terms != ()
