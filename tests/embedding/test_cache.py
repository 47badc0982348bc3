"""The cache asks the embedder once for each text, and can be cleared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.embedding import CachedEmbedder
from tests.embedding.conftest import Counting

ROOM = 1_000_000


async def test_the_same_question_is_asked_once(counting: Counting) -> None:
    cached = CachedEmbedder(counting, ROOM)
    first = await cached.query("Where?")
    np.testing.assert_array_equal(await cached.query("Where?"), first)
    assert counting.asked == [["Where?"]]


async def test_passages_come_in_their_order_and_only_new_ones_are_made(counting: Counting) -> None:
    cached = CachedEmbedder(counting, ROOM)
    await cached.passages(["b", "c"])
    found = await cached.passages(["a", "b", "a", "d", "c"])
    np.testing.assert_array_equal(found, [counting.of(text) for text in "abadc"])
    assert counting.asked == [["b", "c"], ["a", "d"]]


async def test_a_question_and_a_passage_are_different_things(counting: Counting) -> None:
    # Some models make other vectors of a question than of a passage with the same words.
    cached = CachedEmbedder(counting, ROOM)
    await cached.passages(["Where?"])
    await cached.query("Where?")
    assert len(counting.asked) == 2


async def test_what_is_kept_cannot_be_altered_by_who_got_it(counting: Counting) -> None:
    cached = CachedEmbedder(counting, ROOM)
    passages = await cached.passages(["a"])
    passages[:] = 0
    np.testing.assert_array_equal(await cached.passages(["a"]), [counting.of("a")])
    await cached.query("b")
    with pytest.raises(ValueError, match="read-only"):
        (await cached.query("b"))[0] = 9


async def test_it_stays_within_its_bytes_and_lets_the_oldest_go(counting: Counting) -> None:
    cached = CachedEmbedder(counting, 3 * (4 * 4 + 320))
    for text in ("a", "b", "c"):
        await cached.query(text)
    await cached.query("a")
    await cached.query("d")
    assert 0 < cached.size <= 3 * (4 * 4 + 320)
    counting.asked.clear()
    for text in ("a", "c", "d"):
        await cached.query(text)
    assert counting.asked == []
    await cached.query("b")
    assert counting.asked == [["b"]]


async def test_without_room_it_only_passes_on(counting: Counting) -> None:
    cached = CachedEmbedder(counting, 0)
    np.testing.assert_array_equal(await cached.passages(["a", "a"]), [counting.of("a")] * 2)
    assert cached.size == 0


async def test_nothing_is_kept_after_it_was_let_go(counting: Counting) -> None:
    cached = CachedEmbedder(counting, ROOM)
    await cached.query("a")
    cached.clear()
    assert cached.size == 0
    await cached.query("a")
    assert counting.asked == [["a"], ["a"]]


async def test_what_was_being_made_while_it_was_let_go_is_not_kept(counting: Counting) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Counting):
        async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            begun.set()
            await go_on.wait()
            return await super().passages(texts)

    cached = CachedEmbedder(Slow(), ROOM)
    making = asyncio.create_task(cached.passages(["a secret"]))
    await begun.wait()
    cached.clear()
    go_on.set()
    np.testing.assert_array_equal(await making, [counting.of("a secret")])
    assert cached.size == 0


async def test_tenants_share_nothing(counting: Counting) -> None:
    one, other = CachedEmbedder(counting, ROOM), CachedEmbedder(counting, ROOM)
    await one.query("a")
    await other.query("a")
    assert len(counting.asked) == 2


async def test_half_of_a_pair_is_a_text_like_any_other(counting: Counting) -> None:
    cached = CachedEmbedder(counting, ROOM)
    await cached.query("\ud83d")
    await cached.query("\ud83e")
    assert len(counting.asked) == 2


async def test_a_failure_is_not_kept(counting: Counting) -> None:
    class Failing(Counting):
        fails = True

        async def query(self, text: str) -> NDArray[np.float32]:
            if self.fails:
                raise OSError("down")
            return await super().query(text)

    failing = Failing()
    cached = CachedEmbedder(failing, ROOM)
    with pytest.raises(OSError, match="down"):
        await cached.query("a")
    failing.fails = False
    np.testing.assert_array_equal(await cached.query("a"), counting.of("a"))


async def test_closing_closes_the_embedder_too(counting: Counting) -> None:
    await CachedEmbedder(counting, ROOM).close()
    assert counting.closed
