"""A write that waits for its vectors gets its own, and stands whatever the embedder does."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda import Book, EmbedderDown, InvalidInput, Receipt, open_sync
from memoranda.embedding import LocalEmbedder
from tests.embedding.topics import Down, Topics, by_meaning, opened, vectors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


async def _remember(book: Book, text: str) -> Receipt:
    return await book.remember("ana", text, wait_for="embedded")


async def _remember_all(book: Book, text: str) -> Receipt:
    return await book.memories.remember_all("ana", [{"content": text}], wait_for="embedded")


async def _append(book: Book, text: str) -> Receipt:
    return await (await book.thread("ana")).append("user", text, wait_for="embedded")


async def _remember_in_thread(book: Book, text: str) -> Receipt:
    return await (await book.thread("ana")).remember(text, wait_for="embedded")


async def _record(book: Book, text: str) -> Receipt:
    return await book.episodes.record("ana", goal=text, outcome="succeeded", wait_for="embedded")


async def _close(book: Book, text: str) -> Receipt:
    thread = await book.thread("ana")
    return await thread.close(episode={"goal": text, "outcome": "succeeded"}, wait_for="embedded")


class TestWaiting:
    @pytest.mark.parametrize(
        "write", [_remember, _remember_all, _append, _remember_in_thread, _record, _close]
    )
    async def test_a_write_that_waits_is_found_by_its_meaning_and_makes_no_other_vectors(
        self, path: Path, write: Callable[[Book, str], Awaitable[Receipt]]
    ) -> None:
        embedder = Topics()
        async with opened(path, embedder) as book:
            await book.remember("ana", "Drinks tea")
            receipt = await write(book, "Keeps bees")
            assert (receipt.state, receipt.no_vectors_because) == ("embedded", "")
            assert embedder.asked == [["Keeps bees"]]
            assert await by_meaning(book, "insects in a hive") == ["Keeps bees"]
            assert (await vectors(book))["lack"] == 1

    async def test_what_an_agent_keeps_to_itself_is_embedded_too(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            receipt = await book.remember("ana", "Keeps bees", agent="coach", wait_for="embedded")
            assert receipt.state == "embedded"
            assert [
                hit.id for hit in await book.recall("ana", "hive", mode="meaning", agent="coach")
            ] == [receipt.id]

    async def test_the_write_is_on_disk_before_its_vectors_are_asked_for(self, path: Path) -> None:
        class Looking(Topics):
            seen = 0

            async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
                with sqlite3.connect(path) as other:
                    (self.seen,) = other.execute("SELECT count(*) FROM records").fetchone()
                other.close()
                return await super().passages(texts)

        embedder = Looking()
        async with opened(path, embedder) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
        assert embedder.seen == 1

    async def test_a_write_that_does_not_wait_asks_the_engine_for_nothing_more(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(path, Topics()) as book:
            thread = await book.thread("ana")
            monkeypatch.setattr(book.embeddings, "_engine", None)
            receipt = await thread.append("user", "Keeps bees")
            assert (receipt.state, receipt.no_vectors_because) == ("stored", "")
            monkeypatch.undo()

    @pytest.mark.parametrize(
        ("failure", "said"),
        [
            (EmbedderDown("the provider did not answer"), "did not answer"),
            (
                RuntimeError("a bug of its own, with a secret"),
                "test/topics/3 made no vectors: RuntimeError",
            ),
        ],
    )
    async def test_an_embedder_that_fails_leaves_the_write_standing(
        self, path: Path, failure: Exception, said: str
    ) -> None:
        embedder = Down(failure)
        async with opened(path, embedder) as book:
            receipt = await book.remember("ana", "Keeps bees", wait_for="embedded")
            assert receipt.state == "stored" and said in receipt.no_vectors_because
            assert [hit.id for hit in await book.recall("ana", "bees")] == [receipt.id]
            embedder.failure = None
            assert await book.admin.embed() == 1
            assert await by_meaning(book, "insects") == ["Keeps bees"]

    @pytest.mark.parametrize(
        "given",
        [
            np.ones((1, 1)),
            np.ones((1, 2)),
            np.ones((2, 3)),
            np.ones(3),
            np.full((1, 3), np.nan),
            [[1]],
        ],
    )
    async def test_what_is_no_vector_of_the_embedding_is_never_stored_nor_compared(
        self, path: Path, given: Any
    ) -> None:
        class Wrong(Topics):
            async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
                return given  # type: ignore[no-any-return]

            async def query(self, text: str) -> NDArray[np.float32]:
                return given[0]  # type: ignore[no-any-return]

        async with opened(path, Wrong()) as book:
            receipt = await book.remember("ana", "Keeps bees", wait_for="embedded")
            assert receipt.state == "stored" and "test/topics/3" in receipt.no_vectors_because
            assert (await vectors(book))["have"] == 0
            assert len(await book.recall("ana", "bees")) == 1

    async def test_without_an_embedder_every_receipt_of_a_passage_says_why_words_alone(
        self, path: Path
    ) -> None:
        async with opened(path, None) as book:
            for receipt in (
                await book.remember("ana", "Keeps bees"),
                await book.remember("ana", "Keeps a dog", wait_for="embedded"),
            ):
                assert (receipt.state, receipt.no_vectors_because) == (
                    "stored",
                    "words alone were asked for",
                )
            assert (await book.profiles.patch("ana", {"city": "Porto"})).no_vectors_because == ""

    async def test_a_repeated_operation_compares_as_ever(self, path: Path) -> None:
        async with opened(path, Topics()) as book:

            async def once(**how: Any) -> Receipt:
                receipt: Receipt = await book.remember("ana", "Keeps bees", operation="one", **how)
                return receipt

            first = await once()
            again = await once(wait_for="embedded")
            assert again.state == "embedded"
            assert (
                again == replace(first, repeated=True) == await book.records.operation("ana", "one")
            )
        async with opened(path, None) as book:
            assert await book.remember("ana", "Keeps bees", operation="one") == again

    async def test_what_is_no_way_of_waiting_is_refused_before_anything_is_written(
        self, path: Path
    ) -> None:
        async with opened(path, Topics()) as book:
            with pytest.raises(InvalidInput, match="is not 'stored' or 'embedded'") as caught:
                await book.remember("ana", "Keeps bees", wait_for="indexed")
            assert caught.value.field == "wait_for"
            assert await book.records.count("ana") == 0

    def test_the_synchronous_face_waits_too(self, path: Path) -> None:
        with open_sync(path, embed=Topics(), worker=False) as book:
            assert book.remember("ana", "Keeps bees", wait_for="embedded").state == "embedded"
            assert (
                book.thread("ana").append("user", "I like tea", wait_for="embedded").state
                == "embedded"
            )

    async def test_the_local_model_is_waited_for(self, path: Path, local: LocalEmbedder) -> None:
        async with opened(path, local) as book:
            await book.remember("ana", "Works as a train driver")
            receipt = await book.remember(
                "ana", "Looks after several bee hives", wait_for="embedded"
            )
            assert receipt.state == "embedded"
            assert await by_meaning(book, "Who produces honey?") == [
                "Looks after several bee hives"
            ]


async def test_a_recall_finds_by_meaning_what_was_written_just_before(path: Path) -> None:
    embedder = Topics()
    async with opened(path, embedder, worker=None) as book:
        await book.remember("ana", "Drinks tea")
        await book.admin.embed()
        # The worker looks for work from time to time; nothing here waits for it.
        await book.remember("ana", "Keeps bees")
        await (await book.thread("ana")).append("user", "The hive is full")
        found = [hit.text for hit in await book.recall("ana", "insects", mode="meaning")]
        assert sorted(found[:2]) == ["Keeps bees", "The hive is full"]

        many = [{"role": "user", "content": f"A train to town {number}"} for number in range(40)]
        await (await book.thread("ana")).append(many)
        before = len(embedder.asked)
        await book.recall("ana", "railway")
        assert embedder.asked[before:] == [["railway"]], (
            "what is written by the dozen is left to the worker"
        )
