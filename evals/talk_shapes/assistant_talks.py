"""Talks of a user and an assistant whose answers are long."""

from __future__ import annotations

import random

from evals.talk_shapes.shape_pools import read_pool
from evals.talk_shapes.shape_values import Half, Shelf
from evals.talk_shapes.shelf_plan import Planner, Wanted, as_questions, facts_of
from evals.talk_shapes.talk_writer import Turns, Writer, item_of, long_words

NAME = "assistant_talks"
OWNERS = 14
_WANTED = Wanted(sessions=13, answered=22, unanswered=6)


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("assistant_facts", "assistant_facts_2", "assistant_asks", "assistant_talk")
    domains = sorted(pool.domains)
    plan = Planner(pool, rng, _WANTED, domains, {}).draw(facts_of(pool, half))
    turns, writer = Turns(), Writer(pool, rng, {})
    for session in range(_WANTED.sessions):
        turns.begin(session + 1, plan.days[session])
        main = plan.domains[session]
        items = [*plan.items[session]]
        said = [(item.domain, item) for item in items] + [(main, None)] * max(1, 4 - len(items))
        rng.shuffle(said)
        before = ""
        for domain, item in said:
            writer.focus(domain)
            shift = "" if before in (domain, "") else writer.section("shift", domain) + " "
            turns.say(
                "user",
                shift + writer.user(domain, item),
                item_of(item, "u"),
                seconds=rng.randint(40, 400),
            )
            if rng.random() < 0.88:
                answer = writer.answer(domain, item, long_words(rng))
            else:
                answer = writer.short(domain, item)
            turns.say("assistant", answer, item_of(item, "a"), seconds=rng.randint(10, 60))
            before = domain
    owner = f"{NAME}-{number}"
    return Shelf(NAME, owner, half, tuple(turns.written), as_questions(plan, owner, "en"))
