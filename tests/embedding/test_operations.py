"""A book and its embedder: who makes vectors, what goes on without them, and how the model is
changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import memoranda
from memoranda import EmbedderDown, EmbeddingFailed
from memoranda.embedding import maker, model_files
from tests.embedding.topics import Down, Larger, Topics, by_meaning, opened, vectors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


class TestMakingThemAside:
    async def test_an_open_book_makes_what_lacks_and_ends_the_job(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            await book.remember("ana", "Keeps bees")
        made = asyncio.Event()

        class Telling(Topics):
            async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
                made.set()
                return await super().passages(texts)

        async with opened(path, Telling(), worker=None):
            await asyncio.wait_for(made.wait(), 10)
        async with opened(path, Topics()) as book:
            assert (await vectors(book))["lack"] == 0
            assert await book.engine.jobs(None, 10) == []

    async def test_a_book_without_a_worker_makes_none_by_itself(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            assert book.embeddings.working is None

    async def test_embed_makes_all_and_takes_the_job_away(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            await book.memories.remember_all(
                "ana", [{"content": text} for text in ("Keeps bees", "Drinks tea")]
            )
            assert [job.kind for job in await book.engine.jobs(None, 10)] == ["embed"]
            assert await book.admin.embed() == 2
            assert await book.engine.jobs(None, 10) == []

    async def test_what_is_damaged_keeps_no_other_from_its_vector(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(maker, "STEP", 2)
        async with opened(path, Topics()) as book:
            for number in range(7):
                await book.remember("ana", f"Keeps {number} bees")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            damaged = "SELECT no FROM records WHERE type = 'memory' ORDER BY no LIMIT 4"
            connection.execute(f"UPDATE records SET body = '[' WHERE no IN ({damaged})")
            connection.commit()
        async with opened(path, Topics()) as book:
            assert await book.admin.embed() == 3
            assert (await vectors(book))["lack"] == 4
            assert await book.engine.jobs(None, 10) == []

    async def test_two_that_make_what_lacks_share_the_work(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(maker, "STEP", 2)
        monkeypatch.setenv("MEMORANDA_EMBEDDING_CACHE_BYTES", "0")
        embedder = Topics()
        async with opened(path, embedder) as book:
            texts = [f"tea number {number}" for number in range(7)]
            await book.memories.remember_all("ana", [{"content": text} for text in texts])
            assert sum(await asyncio.gather(book.admin.embed(), book.admin.embed())) == 7
            assert sorted(text for asked in embedder.asked for text in asked) == texts

    async def test_an_embedder_that_the_application_brought_stays_open(self, path: Path) -> None:
        embedder = Topics()
        async with opened(path, embedder):
            pass
        assert not embedder.closed


class TestByMeaningAlone:
    async def test_without_an_embedder_it_is_an_error_that_says_why(self, path: Path) -> None:
        async with opened(path, None) as book:
            await book.remember("ana", "Keeps bees")
            with pytest.raises(EmbeddingFailed, match="words alone were asked for"):
                await book.recall("ana", "bees", mode="meaning")
            assert len(await book.recall("ana", "bees")) == 1

    @pytest.mark.parametrize("failure", [EmbedderDown("no answer"), ValueError("no answer")])
    async def test_where_the_embedder_is_down_it_is_an_error_and_words_go_on(
        self, path: Path, failure: Exception, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with opened(path, Down(failure)) as book:
            await book.remember("ana", "Keeps bees")
            with pytest.raises(EmbeddingFailed, match=r"no answer|ValueError"):
                await book.recall("ana", "bees", mode="meaning")
            assert len(await book.recall("ana", "bees")) == 1
        assert "recall uses words alone" in caplog.text

    async def test_a_vector_that_the_caller_made_needs_no_embedder_that_answers(
        self, path: Path
    ) -> None:
        embedder = Topics()
        async with opened(path, embedder) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
        async with opened(path, Down()) as book:
            vector = Topics.of("hive").tolist()
            assert len(await book.recall("ana", "hive", mode="meaning", vector=vector)) == 1
        async with opened(path, Larger()) as book:
            vector = Larger.of("hive").tolist()
            with pytest.raises(EmbeddingFailed, match="memoranda reembed"):
                await book.recall("ana", "hive", mode="meaning", vector=vector)


class TestChangingTheModel:
    async def test_recall_goes_on_from_the_old_vectors_until_the_switch(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(maker, "STEP", 2)

        class Stopping(Larger):
            async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
                if len(self.asked) == 2:
                    raise EmbedderDown("the provider did not answer")
                return await super().passages(texts)

        async with opened(path, Topics()) as old:
            for text in (
                "Keeps bees",
                "Drinks tea",
                "Builds model trains",
                "Likes tea",
                "Owns a hive",
            ):
                await old.remember("ana", text, wait_for="embedded")
            async with opened(path, Stopping()) as new:
                assert "reembed" in new.no_vectors_because
                with pytest.raises(EmbedderDown):
                    await new.admin.reembed()
                assert await by_meaning(old, "railway") == ["Builds model trains"]
                assert (await vectors(old))["making"] == {"test/larger/4": 4}
            told: list[int] = []
            async with opened(path, Larger()) as new:
                assert await new.admin.reembed(told.append) == 1
                assert told == [1]
                assert new.no_vectors_because == ""
                assert await by_meaning(new, "railway") == ["Builds model trains"]
                assert (await vectors(new))["making"] == {}

    async def test_after_the_switch_this_book_makes_vectors_of_what_comes(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
        async with opened(path, Larger(), worker=None) as book:
            assert book.embeddings.working is None
            await book.admin.reembed()
            assert book.embeddings.working is not None

    async def test_a_write_says_that_the_vectors_were_changed_under_it(self, path: Path) -> None:
        async with opened(path, Topics()) as old, opened(path, Larger()) as new:
            await new.admin.reembed()
            receipt = await old.remember("ana", "Keeps bees", wait_for="embedded")
            assert receipt.state == "stored" and "open it again" in receipt.no_vectors_because
            await new.admin.embed()
            assert len(await old.recall("ana", "bees")) == 1
            with pytest.raises(EmbeddingFailed, match="open it again"):
                await by_meaning(old, "insects")

    @pytest.mark.parametrize("first", ["recall", "facts"])
    async def test_a_book_that_was_open_says_that_another_changed_the_model_and_takes_its_own_up_again(
        self, path: Path, first: str
    ) -> None:
        async with opened(path, Topics()) as old, opened(path, Larger()) as new:
            await old.remember("ana", "Keeps bees", wait_for="embedded")
            assert (await old.recall("ana", "hive")).no_vectors_because == ""
            await new.admin.reembed()
            if first == "recall":
                hits = await old.recall("ana", "bees")
                assert "open it again with that model" in hits.no_vectors_because
                assert "test/larger/4" in hits.no_vectors_because
            assert "test/larger/4" in (await vectors(old))["no_vectors_because"]
            assert "test/larger/4" in (await old.recall("ana", "bees")).no_vectors_because
            assert "test/larger/4" in (await old.remember("ana", "Drinks tea")).no_vectors_because
            vector = Topics.of("hive").tolist()
            assert (await old.recall("ana", "hive", vector=vector)).no_vectors_because != ""
            async with opened(path, Topics()) as third:
                await third.admin.reembed()
            if first == "facts":
                assert (await vectors(old))["no_vectors_because"] == ""
            hits = await old.recall("ana", "hive")
            assert (hits[0].text, hits.no_vectors_because) == ("Keeps bees", "")
            assert (await vectors(old))["no_vectors_because"] == ""
            assert (await new.recall("ana", "hive")).no_vectors_because != ""

    async def test_a_book_opened_before_its_model_s_vectors_were_made_finds_by_them(
        self, path: Path
    ) -> None:
        async with opened(path, Topics()) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
        async with opened(path, Larger(), worker=None) as waiting:
            assert "reembed" in (await waiting.recall("ana", "hive")).no_vectors_because
            async with opened(path, Larger()) as other:
                await other.admin.reembed()
            assert await by_meaning(waiting, "hive") == ["Keeps bees"]
            assert waiting.embeddings.working is not None and waiting.no_vectors_because == ""

    async def test_without_an_embedder_there_is_nothing_to_change_to(self, path: Path) -> None:
        async with opened(path, None) as book:
            with pytest.raises(EmbeddingFailed, match="has no embedder"):
                await book.admin.reembed()


class TestTelling:
    @staticmethod
    def said(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
        return [(record.levelname, record.message) for record in caplog.records]

    async def test_the_log_says_once_by_what_recall_goes(
        self, path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "memoranda.embedding")
        async with opened(path, Topics()):
            pass
        assert self.said(caplog) == [
            ("INFO", "recall uses words and meaning, with test/topics/3"),
        ]

    @pytest.mark.parametrize(("embed", "level"), [(None, "INFO"), (Larger(), "WARNING")])
    async def test_the_log_says_why_words_alone(
        self, path: Path, embed: Any, level: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with opened(path, Topics()):
            pass
        caplog.set_level(logging.INFO, "memoranda.embedding")
        async with opened(path, embed) as book:
            assert self.said(caplog) == [
                (level, f"recall uses words alone: {book.no_vectors_because}")
            ]

    async def test_the_facts_count_what_has_its_vector(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
            thread = await book.thread("ana")
            position = (await book.remember("ana", "Drinks tea")).position
            await thread.append("user", "hello")
            await book.undo("ana", position, as_owner=True)
            expected = {
                "reads": "test/topics/3",
                "passages": 3,
                "have": 1,
                "lack": 2,
                "making": {},
                "no_vectors_because": "",
            }
            assert await vectors(book) == expected
            assert await book.admin.embed() == 2
            assert (await vectors(book))["lack"] == 0
            await book.forget("ana", [(await thread.newest())[0].id], as_owner=True)
            found = await vectors(book)
            assert (found["passages"], found["have"], found["lack"]) == (2, 2, 0)


class TestSettings:
    async def test_words_alone_may_be_the_settings_wish(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "none")
        async with memoranda.open(path) as book:
            assert book.no_vectors_because == "words alone were asked for"

    async def test_the_settings_may_name_a_folder(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, weights_folder: Path
    ) -> None:
        monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", str(weights_folder))
        async with memoranda.open(path) as book:
            assert book.no_vectors_because == ""


class TestSayingSo:
    async def test_a_recall_by_words_alone_says_why(self, path: Path) -> None:
        async with opened(path, Topics()) as book:
            await book.remember("ana", "Keeps bees", wait_for="embedded")
            assert (await book.recall("ana", "bees")).no_vectors_because == ""
        async with opened(path, Down()) as book:
            found = await book.recall("ana", "bees")
            assert len(found) == 1 and found.no_vectors_because
            assert (await book.admin.facts()).details["vectors"][
                "no_vectors_because"
            ] == found.no_vectors_because
            assert (await book.recall("ana", "bees", mode="words")).no_vectors_because == ""

    async def test_weights_that_are_not_the_published_ones_are_told_before_they_are_used(
        self, path: Path, tmp_path: Path
    ) -> None:
        for file in (model_files.TENSORS, model_files.TOKENIZER):
            with (tmp_path / file.name).open("wb") as made:
                made.truncate(file.size)
        async with memoranda.open(path, embed=tmp_path) as book:
            await book.embeddings.examine()
            assert "SHA-256" in (await book.admin.facts()).details["vectors"]["no_vectors_because"]
