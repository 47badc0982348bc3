"""Talks and notes in German, with questions in German and in English."""

from __future__ import annotations

import random

from evals.talk_shapes.shape_pools import read_pool
from evals.talk_shapes.shape_values import Half, Shelf
from evals.talk_shapes.shelf_plan import Wanted, facts_of
from evals.talk_shapes.short_talks import write_talks

NAME = "german_talks"
OWNERS = 18
_WANTED = Wanted(
    sessions=13, answered=15, unanswered=5, language="de", foreign=0.27, long=0.2, notes=0.4
)


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("german_facts", "german_talk")
    return write_talks(pool, rng, (NAME, f"{NAME}-{number}"), half, _WANTED, facts_of(pool, half))
