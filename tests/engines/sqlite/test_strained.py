"""Strained processes: busy threads, a limit of file sizes, and books that nobody closes."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memoranda

GROWING = """
import resource, sys
import memoranda

largest = 400_000
resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
with memoranda.open_sync(sys.argv[1], embed=None) as book:
    kept = 0
    try:
        for number in range(300):
            book.thread("ana").append("user", f"{number} " + "hello " * 800)
            kept += 1
    except memoranda.StorageFull as full:
        assert "ulimit -f" in str(full), full
        print("full", kept, book.records.count("ana", types="message"), book.admin.verify().faults)
"""


async def test_a_book_opens_copies_and_closes_while_all_threads_of_the_loop_are_busy(
    tmp_path: Path,
) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    done = threading.Event()
    busy = asyncio.ensure_future(asyncio.to_thread(done.wait))
    try:
        async with asyncio.timeout(30):
            book = await memoranda.open(tmp_path / "book.db")
            await book.remember("ana", "Lives in Lisbon")
            assert len(await book.recall("ana", "Lisbon")) == 1
            await book.close()
            assert not busy.done()
    finally:
        done.set()
        await busy


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_limit_of_file_sizes_is_told_as_a_full_disk_with_its_name(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWING, str(tmp_path / "book.db")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert said[0] == "full" and said[1] == said[2] and said[3] == "()"


async def test_a_book_that_is_never_closed_is_told_of_with_its_path(tmp_path: Path) -> None:
    book = await memoranda.open(tmp_path / "book.db", worker=False, embed=None)
    await book.remember("ana", "Lives in Lisbon")
    # The last call of every thread refers to the book.
    await asyncio.gather(*(book.engine.whereabouts() for _ in range(20)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del book
        # A thread may hold its last call for a moment after it has answered.
        for _ in range(200):
            gc.collect()
            if told:
                break
            await asyncio.sleep(0.05)
    assert [str(one.message) for one in told if one.category is ResourceWarning] == [
        f"{tmp_path / 'book.db'} was not closed: close the book, or use it in a with statement"
    ]


async def test_a_book_that_was_closed_is_not(tmp_path: Path) -> None:
    book = await memoranda.open(tmp_path / "book.db")
    await book.close()
    del book
    gc.collect()
