"""Check of vectors: exactly one correct vector for each passage, in every set."""

from __future__ import annotations

from memoranda import Book
from memoranda.embedding import VectorMaker
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.vectors import pack_vector
from memoranda.testing.embedder import StubEmbedder
from proofs._book.racing import EMBEDDERS, Returned


async def judge_vectors(book: Book, when: str) -> None:
    """Check that every complete set has exactly one correct vector for each passage."""
    for embedder in EMBEDDERS:
        await VectorMaker(book.engine, embedder).catch_up()
    assert isinstance(book.engine, SqliteEngine)
    strange = await book.engine.file.read(
        lambda connection: connection.execute(_VECTORS).fetchall()
    )
    sets = {one.name: one for one in await book.engine.vector_sets()}
    for embedder in EMBEDDERS:
        found = {id: packed for name, id, packed in strange if name == embedder.embedding.name}
        if None in found:
            raise Returned(f"{when}: a vector is of no passage that stands")
        if embedder.embedding.name not in sets:
            continue
        if sets[embedder.embedding.name].count != len(found):
            raise Returned(
                f"{when}: {embedder.embedding.name} counts other vectors than its {len(found)}"
            )
        await _judge_right(book, embedder, found, when)


async def _judge_right(
    book: Book, embedder: StubEmbedder, found: dict[bytes, bytes], when: str
) -> None:
    for owner in await book.admin.owners():
        page = await book.records.list(owner, types=PASSAGE_TYPES, limit=1000, as_owner=True)
        for record in page.records:
            if found.get(record.id.bytes) != pack_vector(embedder.of(record.passage_text() or "")):
                raise Returned(
                    f"{when}: {record.type} {record.id} of {owner.id} has no vector, or a wrong one"
                )


#: Every vector with the name of its set and the id of its passage; None where there is none.
_VECTORS = """
SELECT s.name, r.id, v.packed FROM vectors AS v LEFT JOIN vector_sets AS s ON s.no = v.place >> 40
LEFT JOIN (records AS r JOIN terms AS t ON t.record = r.no) ON r.no = v.place & 1099511627775
"""
