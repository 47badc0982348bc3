"""The disk that may forget, on logs made by hand."""

from __future__ import annotations

import random
import struct

import pytest

from proofs._powercut.disk import SECTOR
from proofs._powercut.images import Image, final_contents, images
from proofs._powercut.record import BrokenRecord, Event, Kind, parsed

OLD, NEW, LATER = b"o" * SECTOR, b"n" * SECTOR, b"l" * SECTOR


class Story:
    """A log made by hand: each call is one or two events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(
        self,
        kind: Kind,
        inode: int = 0,
        offset: int = 0,
        path: str = "",
        other: str = "",
        data: bytes = b"",
    ) -> int:
        self.events.append(Event(len(self.events), kind, inode, offset, path, other, data))
        return len(self.events) - 1

    def create(self, inode: int, path: str) -> None:
        self.add(Kind.CREATE, inode, path=path)

    def write(self, inode: int, offset: int, data: bytes) -> None:
        self.add(Kind.WRITE, inode, offset, data=data)

    def length(self, inode: int, length: int) -> None:
        self.add(Kind.LENGTH, inode, length)

    def sync(self, inode: int) -> None:
        self.add(Kind.SYNC_END, inode, self.add(Kind.SYNC_BEGIN, inode))

    def sync_directory(self, path: str = ".") -> None:
        self.add(Kind.SYNC_END, 1, self.add(Kind.SYNC_BEGIN, 1, path=path), path=path)

    def mark(self, text: str) -> None:
        self.add(Kind.MARK, data=(text + "\n").encode())

    def durable(self, inode: int, path: str, data: bytes) -> None:
        """A file that is wholly on the disk: content, length and name."""
        self.create(inode, path)
        self.write(inode, 0, data)
        self.sync(inode)
        self.sync_directory()

    def ends(self, count: int = 120) -> list[Image]:
        """Images of cuts after the last event."""
        found = images(self.events, random.Random(5), count * len(self.events))
        return [image for image in found if image.cut == len(self.events)][:count]

    def contents(self, path: str) -> set[bytes | None]:
        """Whatever the path may hold after a cut at the end; None is a path that is not there."""
        return {image.contents.get(path) for image in self.ends()}


@pytest.fixture
def story() -> Story:
    return Story()


def test_what_was_synced_with_its_name_survives_every_cut(story: Story) -> None:
    story.durable(7, "book", OLD + NEW)
    assert story.contents("book") == {OLD + NEW}


def test_an_unsynced_write_is_kept_lost_or_torn_between_sectors(story: Story) -> None:
    story.durable(7, "book", OLD * 2)
    story.write(7, 0, NEW * 2)
    assert story.contents("book") == {OLD * 2, NEW * 2, OLD + NEW, NEW + OLD}


def test_unsynced_writes_reach_the_disk_in_any_order(story: Story) -> None:
    story.durable(7, "book", OLD * 2)
    story.write(7, 0, NEW)
    story.write(7, SECTOR, LATER)
    assert OLD + LATER in story.contents("book")


def test_a_sector_is_one_of_the_states_it_went_through(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.write(7, 0, b"A" * 10)
    story.write(7, 10, b"B" * 10)
    first, second = b"A" * 10 + OLD[10:], b"A" * 10 + b"B" * 10 + OLD[20:]
    assert story.contents("book") == {OLD, first, second}


def test_a_sync_does_not_vouch_for_what_was_written_after_it_began(story: Story) -> None:
    story.durable(7, "book", OLD * 2)
    story.write(7, 0, NEW)
    begin = story.add(Kind.SYNC_BEGIN, 7)
    story.write(7, SECTOR, NEW)
    story.add(Kind.SYNC_END, 7, begin)
    assert story.contents("book") == {NEW + OLD, NEW + NEW}


def test_a_sync_that_has_not_returned_vouches_for_nothing(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.write(7, 0, NEW)
    story.add(Kind.SYNC_BEGIN, 7)
    assert story.contents("book") == {OLD, NEW}


def test_the_name_of_a_synced_file_may_be_lost_until_its_directory_is_synced(story: Story) -> None:
    story.create(7, "book")
    story.write(7, 0, NEW)
    story.sync(7)
    assert story.contents("book") == {None, NEW}
    story.sync_directory()
    assert story.contents("book") == {NEW}


def test_a_name_may_be_kept_while_its_content_is_lost(story: Story) -> None:
    story.create(7, "book")
    story.write(7, 0, NEW)
    assert {None, b"", NEW} <= story.contents("book")


def test_a_rename_happens_wholly_or_not_at_all(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.durable(8, "book.new", NEW)
    story.add(Kind.RENAME, path="book.new", other="book")
    ends = {tuple(sorted(image.contents.items())) for image in story.ends()}
    assert ends == {(("book", OLD), ("book.new", NEW)), (("book", NEW),)}
    story.sync_directory()
    assert story.contents("book") == {NEW} and story.contents("book.new") == {None}


def test_a_file_renamed_before_its_content_was_synced_may_be_empty(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.create(8, "book.new")
    story.write(8, 0, NEW)
    story.add(Kind.RENAME, path="book.new", other="book")
    assert {OLD, NEW, b""} <= story.contents("book")


def test_a_removed_file_may_come_back_as_it_was_until_the_directory_is_synced(story: Story) -> None:
    story.durable(7, "log", OLD)
    story.add(Kind.UNLINK, path="log")
    assert story.contents("log") == {OLD, None}
    story.sync_directory()
    assert story.contents("log") == {None}


def test_a_removed_file_and_its_successor_of_the_same_number_are_two_files(story: Story) -> None:
    story.durable(7, "log", OLD)
    story.add(Kind.UNLINK, path="log")
    story.create(7, "log")
    story.write(7, 0, NEW)
    story.sync(7)
    assert story.contents("log") == {OLD, None, NEW}
    story.sync_directory()
    assert story.contents("log") == {NEW}


def test_a_truncation_may_be_undone_by_the_cut_until_it_is_synced(story: Story) -> None:
    story.durable(7, "log", OLD * 2)
    story.length(7, SECTOR)
    assert {OLD * 2, OLD} <= story.contents("log")
    story.sync(7)
    assert story.contents("log") == {OLD}


def test_a_file_may_have_grown_without_its_data(story: Story) -> None:
    story.durable(7, "log", OLD)
    story.write(7, SECTOR, NEW)
    assert story.contents("log") == {OLD, OLD + NEW, OLD + bytes(SECTOR)}


def test_a_file_grown_by_its_length_alone_is_filled_with_zeros(story: Story) -> None:
    story.durable(7, "log", OLD)
    story.length(7, 2 * SECTOR)
    story.sync(7)
    assert story.contents("log") == {OLD + bytes(SECTOR)}


def test_a_file_is_lost_with_its_directory(story: Story) -> None:
    story.add(Kind.MKDIR, path="backups")
    story.create(7, "backups/one")
    story.write(7, 0, NEW)
    story.sync(7)
    story.sync_directory("backups")
    assert story.contents("backups/one") == {None, NEW}
    story.sync_directory()
    assert story.contents("backups/one") == {NEW}


def test_two_names_of_one_file_show_the_same_content(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.add(Kind.LINK, path="book", other="copy")
    story.write(7, 0, NEW)
    pairs = {
        (image.contents["book"], image.contents["copy"])
        for image in story.ends()
        if "copy" in image.contents
    }
    assert pairs == {(OLD, OLD), (NEW, NEW)}


def test_an_image_knows_the_marks_before_its_cut_and_no_later_ones(story: Story) -> None:
    story.create(7, "book")
    for number in range(20):
        story.write(7, number * SECTOR, NEW)
        story.sync(7)
        story.mark(f"group {number}")
    found = list(images(story.events, random.Random(1), 300))
    assert len(found) == 300
    for image in found:
        before = [event for event in story.events[: image.cut] if event.kind is Kind.MARK]
        assert image.acknowledged == tuple(event.data.decode().strip() for event in before)


def test_the_same_seed_makes_the_same_images(story: Story) -> None:
    story.durable(7, "book", OLD * 8)
    story.write(7, 0, NEW * 8)
    assert list(images(story.events, random.Random(3), 50)) == list(
        images(story.events, random.Random(3), 50)
    )


def test_a_sync_that_lies_loses_what_it_promised(story: Story) -> None:
    story.durable(7, "book", OLD)
    found = images(story.events, random.Random(2), 200, lying_syncs=1.0)
    assert any(image.cut == len(story.events) and "book" not in image.contents for image in found)


def test_with_the_power_on_everything_is_there(story: Story) -> None:
    story.durable(7, "book", OLD)
    story.write(7, SECTOR - 2, b"tail")
    story.add(Kind.RENAME, path="book", other="volume")
    story.create(8, "log")
    assert final_contents(story.events) == {"volume": OLD[:-2] + b"tail", "log": b""}


def test_a_move_between_directories_is_refused_as_not_modelled(story: Story) -> None:
    story.add(Kind.MKDIR, path="backups")
    story.durable(7, "book", OLD)
    story.add(Kind.RENAME, path="book", other="backups/book")
    with pytest.raises(BrokenRecord, match="between directories"):
        final_contents(story.events)


def test_a_write_to_a_file_from_before_the_record_is_refused(story: Story) -> None:
    story.write(7, 0, NEW)
    with pytest.raises(BrokenRecord, match="before the record"):
        final_contents(story.events)


def logged(sequence: int, kind: Kind, path: bytes = b"", data: bytes = b"") -> bytes:
    return (
        struct.pack("<IIQQQII", 0x43504C31, kind, sequence, 7, 3, len(path), len(data))
        + path
        + data
    )


def test_a_log_is_read_as_it_was_written() -> None:
    log = (
        logged(0, Kind.CREATE, b"book")
        + logged(1, Kind.WRITE, b"", NEW)
        + logged(2, Kind.RENAME, b"book\0volume")
    )
    assert parsed(log) == [
        Event(0, Kind.CREATE, 7, 3, "book"),
        Event(1, Kind.WRITE, 7, 3, data=NEW),
        Event(2, Kind.RENAME, 7, 3, "book", "volume"),
    ]


@pytest.mark.parametrize(
    "log",
    [
        logged(0, Kind.CREATE, b"book") + logged(2, Kind.WRITE, data=NEW),
        logged(0, Kind.WRITE, data=NEW)[:-1],
        logged(0, Kind.WRITE)[:-1],
        logged(0, Kind.UNRECORDABLE, b"a writable shared mapping"),
        b"x" * 40,
    ],
    ids=["a gap", "cut data", "a cut head", "what could not be recorded", "another file"],
)
def test_a_log_that_is_not_whole_is_refused(log: bytes) -> None:
    with pytest.raises(BrokenRecord):
        parsed(log)
