"""Identifiers: distinct, in the order of their making, and never shared with a forked process."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from uuid import UUID

import pytest

from memoranda.model.values import derived_id, new_id


def test_ids_grow_in_the_order_of_their_making() -> None:
    made = [new_id() for _ in range(5000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(id.version == 7 and id.variant == "specified in RFC 4122" for id in made)


def test_threads_never_make_the_same_id() -> None:
    made: list[UUID] = []
    threads = [
        threading.Thread(target=lambda: made.extend(new_id() for _ in range(2000)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 16_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_draws_other_random_bits() -> None:
    new_id()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, new_id().bytes[8:])
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 8) != new_id().bytes[8:]
    os.close(reading)
    os.close(writing)


def test_an_id_that_is_derived_is_the_same_for_the_same_grounds_and_stands_in_the_order_of_time():
    early, late = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 3, 2, tzinfo=UTC)

    assert derived_id(early, b"tea") == derived_id(early, b"tea")
    assert derived_id(early, b"tea") != derived_id(early, b"milk")
    assert derived_id(early, b"tea") < derived_id(late, b"milk")
    assert derived_id(early, b"tea").version == 7
