"""Runs one store in a process and an environment of its own: stores a corpus with vectors, asks
questions, and times them.

It needs the standard library and the store's own package, and is started by ``evals.peers``.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from array import array
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from evals.measuring import resident, size_of

#: As many as the quality is measured on.
LIMIT = 10
_BATCH = 200


class Given:
    """The vectors of all texts, made beforehand; each is returned as a new list, as from a
    provider.
    """

    def __init__(self, texts: Sequence[str], numbers: array[float]) -> None:
        self.dimension = len(numbers) // max(len(texts), 1)
        self._places = {text: place * self.dimension for place, text in enumerate(texts)}
        self._numbers = numbers
        self._ready: tuple[str, list[float]] = ("", [])

    def prepare(self, text: str) -> list[float]:
        """Unpack a question's vector, so that this is not timed."""
        self._ready = text, self._unpacked(text)
        return self._ready[1]

    def of(self, text: str) -> list[float]:
        """Return the vector of a text."""
        return self._ready[1] if self._ready[0] == text else self._unpacked(text)

    def _unpacked(self, text: str) -> list[float]:
        start = self._places[text]
        return self._numbers[start : start + self.dimension].tolist()


class Store(Protocol):
    """A memory that is compared."""

    async def open(self, folder: Path, given: Given) -> None:
        """Open an empty store in this folder."""

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        """Store one owner's turns with their vectors, so that they can be searched at once."""

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        """Return the ids of the best turns, best first."""

    def note(self) -> str:
        """Return a note for readers of its figures; empty if there is none."""

    async def close(self) -> None:
        """Save everything and close."""


class Memoranda:
    """Messages in threads, one for each session."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._turn_of: dict[str, str] = {}

    async def open(self, folder: Path, given: Given) -> None:
        numbers = import_module("numpy")

        class Served:
            embedding = import_module("memoranda.model.vectors").Embedding(
                "given", "given", given.dimension
            )

            async def passages(self, texts: Sequence[str]) -> Any:
                return numbers.array([given.of(text) for text in texts], dtype=numbers.float32)

            async def query(self, text: str) -> Any:
                return numbers.array(given.of(text), dtype=numbers.float32)

            async def close(self) -> None:
                return None

        self._book = await import_module("memoranda").open(folder / "book.db", embed=Served())

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        for session, of_session in groupby(turns, key=itemgetter("session")):
            thread = await self._book.thread(owner, name=f"session {session}")
            said = list(of_session)
            for start in range(0, len(said), _BATCH):
                part = said[start : start + _BATCH]
                receipt = await thread.append([turn["message"] for turn in part])
                ids = receipt.ids("message")
                self._turn_of |= {str(id): turn["id"] for id, turn in zip(ids, part, strict=True)}
        await self._book.admin.embed()

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        hits = await self._book.recall(
            owner, question, limit=LIMIT, types=["message"], mode=self._mode, vector=vector
        )
        return [self._turn_of[str(hit.id)] for hit in hits]

    def note(self) -> str:
        return ""

    async def close(self) -> None:
        await self._book.close()


class LangGraph:
    """A namespace for each owner; the index goes by the field of the text."""

    async def open(self, folder: Path, given: Given) -> None:
        async def embed(texts: Sequence[str]) -> list[list[float]]:
            return [given.of(text) for text in texts]

        index = {"dims": given.dimension, "embed": embed, "fields": ["text"]}
        self._store = import_module("langgraph.store.memory").InMemoryStore(index=index)

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        for turn in turns:
            await self._store.aput((owner,), turn["id"], {"text": turn["text"], "at": turn["at"]})

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        return [
            item.key for item in await self._store.asearch((owner,), query=question, limit=LIMIT)
        ]

    def note(self) -> str:
        return ""

    async def close(self) -> None:
        return None


class LangGraphSqlite(LangGraph):
    """The same in a file, with the extension for vectors."""

    async def open(self, folder: Path, given: Given) -> None:
        async def embed(texts: Sequence[str]) -> list[list[float]]:
            return [given.of(text) for text in texts]

        # This store names the setting otherwise than its documentation does.
        index = {"dims": given.dimension, "embed": embed, "text_fields": ["text"]}
        store = import_module("langgraph.store.sqlite.aio").AsyncSqliteStore
        self._opened = store.from_conn_string(str(folder / "store.db"), index=index)
        self._store = await self._opened.__aenter__()
        await self._store.setup()

    async def close(self) -> None:
        await self._opened.__aexit__(None, None, None)


class LanceDb:
    """A table for each owner, with an index of its words; both searches are merged by the default
    reranker.
    """

    async def open(self, folder: Path, given: Given) -> None:
        self._tables: dict[str, Any] = {}
        self._folder, self._given = folder, given

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        rows = [
            {"id": turn["id"], "text": turn["text"], "vector": self._given.of(turn["text"])}
            for turn in turns
        ]
        base = import_module("lancedb").connect(str(self._folder))
        # Names of tables take few signs.
        table = self._tables[owner] = base.create_table(f"turns{len(self._tables)}", data=rows)
        table.create_fts_index("text")

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        asked = self._tables[owner].search(query_type="hybrid").vector(vector).text(question)
        return [row["id"] for row in asked.limit(LIMIT).to_list()]

    def note(self) -> str:
        return ""

    async def close(self) -> None:
        return None


class Chroma:
    """A collection for each owner, in files, by the cosine."""

    async def open(self, folder: Path, given: Given) -> None:
        settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
        self._client = import_module("chromadb").PersistentClient(
            path=str(folder), settings=settings
        )
        self._collections: dict[str, Any] = {}
        self._given = given

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        collection = self._collections[owner] = self._client.create_collection(
            owner, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        for start in range(0, len(turns), _BATCH):
            part = turns[start : start + _BATCH]
            collection.add(
                ids=[turn["id"] for turn in part],
                embeddings=[self._given.of(turn["text"]) for turn in part],
                documents=[turn["text"] for turn in part],
                metadatas=[{"at": turn["at"], "session": turn["session"]} for turn in part],
            )

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        found = self._collections[owner].query(query_embeddings=[vector], n_results=LIMIT)
        ids: list[str] = found["ids"][0]
        return ids

    def note(self) -> str:
        return ""

    async def close(self) -> None:
        return None


class Mem0:
    """Raw adds, without a model, over its local Qdrant; the vectors are put in the embedder's
    place.
    """

    async def open(self, folder: Path, given: Given) -> None:
        # Both are read while the package is imported.
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}

        class Served:
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return given.of(text)

            def embed_batch(
                self, texts: Sequence[str], memory_action: str | None = None
            ) -> list[list[float]]:
                return [given.of(text) for text in texts]

        # A client is made for each of them, and none is ever called.
        provider = {"provider": "openai", "config": {"api_key": "none"}}
        vectors = {
            "path": str(folder / "vectors"),
            "embedding_model_dims": given.dimension,
            "collection_name": "turns",
            "on_disk": True,
        }
        self._memory = import_module("mem0").Memory.from_config(
            {
                "llm": provider,
                "embedder": provider,
                "vector_store": {"provider": "qdrant", "config": vectors},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = Served()
        self._turn_of: dict[str, str] = {}
        self._owners: set[str] = set()

    async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
        self._owners.add(owner)
        for start in range(0, len(turns), _BATCH):
            part = turns[start : start + _BATCH]
            said = [{"role": turn["role"], "content": turn["text"]} for turn in part]
            added = self._memory.add(said, user_id=owner, infer=False)["results"]
            self._turn_of |= {one["id"]: turn["id"] for one, turn in zip(added, part, strict=True)}

    async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
        found = self._memory.search(question, filters={"user_id": owner}, top_k=LIMIT)
        return [self._turn_of[one["id"]] for one in found["results"]]

    def note(self) -> str:
        owner = {"user_id": next(iter(self._owners))}
        if self._memory.vector_store.keyword_search("words", top_k=1, filters=owner) is None:
            return "its keyword search is off: fastembed or that library's model is not there"
        return ""

    async def close(self) -> None:
        self._memory.close()


#: By name: the package as installed, as imported, and what makes the store.
STORES: dict[str, tuple[str, str, Any]] = {
    "memoranda": ("memoranda", "memoranda", lambda: Memoranda("hybrid")),
    "memoranda-meaning": ("memoranda", "memoranda", lambda: Memoranda("meaning")),
    "langgraph": ("langgraph", "langgraph.store.memory", LangGraph),
    "langgraph-sqlite": ("langgraph-checkpoint-sqlite", "langgraph.store.sqlite", LangGraphSqlite),
    "lancedb": ("lancedb", "lancedb", LanceDb),
    "chroma": ("chromadb", "chromadb", Chroma),
    "mem0": ("mem0ai", "mem0", Mem0),
}


async def run(store: Store, task: Mapping[str, Any], given: Given, folder: Path) -> dict[str, Any]:
    """Store everything, ask every question once, and return times and sizes."""
    before = resident()
    await store.open(folder, given)
    began = time.perf_counter()
    for owner in task["owners"]:
        await store.add(owner["name"], owner["turns"])
    took = time.perf_counter() - began
    found, milliseconds, processor = [], [], 0.0
    for owner in task["owners"]:
        for place, question in enumerate(owner["questions"]):
            vector = given.prepare(question)
            if place == 0:
                # What is read for an owner's first question is no part of a warm one.
                await store.ask(owner["name"], question, vector)
            began, used = time.perf_counter(), time.process_time()
            answer = await store.ask(owner["name"], question, vector)
            milliseconds.append(1000 * (time.perf_counter() - began))
            processor += time.process_time() - used
            found.append(answer)
    after, note = resident(), store.note()
    await store.close()
    return {
        "found": found,
        "milliseconds": milliseconds,
        "cpu_milliseconds": 1000 * processor,
        "ingest_seconds": took,
        "memory_bytes": None if before is None or after is None else after - before,
        "disk_bytes": size_of(folder),
        "note": note,
    }


def main(name: str, exchange: Path) -> int:
    """Do the task in a folder, and write the answer there."""
    package, module, make = STORES[name]
    if find_spec(module.partition(".")[0]) is None:
        answer: dict[str, Any] = {"missing": f"{package} is not installed in this environment"}
    else:
        import_module(module)
        task = json.loads((exchange / "task.json").read_text("utf-8"))
        numbers = array("f", (exchange / "vectors.f32").read_bytes())
        folder = exchange / name
        folder.mkdir()
        answer = asyncio.run(run(make(), task, Given(task["texts"], numbers), folder))
        answer["version"] = version(package)
    (exchange / f"{name}.json").write_text(json.dumps(answer), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], Path(sys.argv[2])))
