"""The recorder, on the calls of real processes, and the images of what they did."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proofs._powercut import plain
from proofs._powercut.build import CannotRecord, compiler
from proofs._powercut.drive import judge, record
from proofs._powercut.images import final_contents
from proofs._powercut.record import BrokenRecord, Kind


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the functions below be recorded, where this machine can."""
    try:
        compiler()
    except CannotRecord as problem:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(problem))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def every_call(folder: Path) -> None:
    os.mkdir(folder / "deep")
    descriptor = os.open(folder / "deep" / "one", os.O_CREAT | os.O_RDWR)
    os.write(descriptor, b"first ")
    os.writev(descriptor, [b"second ", b"third"])
    os.pwrite(os.dup(descriptor), b"FIRST", 0)
    os.pwritev(descriptor, [b"SEC", b"OND"], 6)
    os.posix_fallocate(descriptor, 0, 100)
    os.ftruncate(descriptor, 90)
    os.fsync(descriptor)
    os.close(descriptor)
    os.truncate(folder / "deep" / "one", 80)
    with (folder / "deep" / "one").open("ab") as appended:
        appended.write(b"the end")
    shutil.copyfile(folder / "deep" / "one", folder / "two")
    os.link(folder / "two", folder / "three")
    os.rename(folder / "two", folder / "four")
    (folder / "five").write_text("short")
    (folder / "five").write_text("new")
    (folder / "six").write_text("gone")
    os.chdir(folder)
    os.unlink("six")
    directory = os.open("deep", os.O_RDONLY)
    relative = os.open("seven", os.O_CREAT | os.O_WRONLY, dir_fd=directory)
    os.write(relative, b"relative")
    os.rename("seven", "eight", src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


def maps_a_file(folder: Path) -> None:
    with (folder / "mapped").open("w+b") as file:
        file.write(bytes(4096))
        file.flush()
        with mmap.mmap(file.fileno(), 4096) as view:
            view[0:4] = b"seen"


def lets_a_child_write(folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", f"open({str(folder / 'unseen')!r}, 'w').write('x')"], check=True
    )


def test_every_call_is_recorded_so_that_the_replay_equals_the_folder(recorder: None) -> None:
    events = record("test_powercut_recorder:every_call", [])
    assert final_contents(events)["five"] == b"new"
    assert final_contents(events)["three"] == final_contents(events)["four"]
    assert [event.path for event in events if event.kind is Kind.SYNC_END] == ["", "deep"]


@pytest.mark.parametrize(
    ("workload", "reason"),
    [("maps_a_file", "writable shared mapping"), ("lets_a_child_write", "differ: unseen")],
)
def test_a_change_that_escapes_the_recorder_is_noticed(
    recorder: None, workload: str, reason: str
) -> None:
    with pytest.raises(BrokenRecord, match=reason):
        record(f"test_powercut_recorder:{workload}", [])


def test_bare_sqlite_keeps_what_it_acknowledged_when_it_syncs(recorder: None) -> None:
    outcome = judge(
        record("proofs._powercut.plain:workload", ["FULL", "11"]), plain.check, 60, seed=11
    )
    assert outcome.losses == ()
    assert outcome.struck > 20


def test_bare_sqlite_loses_when_it_does_not_sync_or_its_syncs_lie(recorder: None) -> None:
    assert judge(
        record("proofs._powercut.plain:workload", ["OFF", "11"]), plain.check, 40, seed=11
    ).missing
    honest = record("proofs._powercut.plain:workload", ["FULL", "11"])
    assert judge(honest, plain.check, 40, seed=11, lying_syncs=0.5).missing
