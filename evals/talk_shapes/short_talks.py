"""Talks of a user and an assistant in short turns, in one language or several."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evals.talk_shapes.shape_pools import Pool
from evals.talk_shapes.shape_values import Fact, Half, Shelf
from evals.talk_shapes.shelf_plan import Planner, Wanted, as_questions
from evals.talk_shapes.talk_writer import Turns, Writer, item_of


def write_talks(
    pool: Pool,
    rng: random.Random,
    names: tuple[str, str],
    half: Half,
    wanted: Wanted,
    facts: Sequence[Fact],
) -> Shelf:
    """Write the shelf of one owner; names are those of the corpus and the owner."""
    corpus, owner = names
    plan = Planner(pool, rng, wanted, sorted({fact.domain for fact in facts}), {}).draw(facts)
    turns, writer = Turns(), Writer(pool, rng, {})
    for session in range(wanted.sessions):
        turns.begin(session + 1, plan.days[session])
        main = plan.domains[session]
        items = plan.items[session]
        said = [(item.domain, item) for item in items] + [(main, None)] * max(2, 5 - len(items))
        rng.shuffle(said)
        before = ""
        for domain, item in said:
            writer.focus(domain)
            writer.speak(domain.partition("-")[0])
            if (
                wanted.notes
                and (item is None or item.source == "u")
                and rng.random() < wanted.notes
            ):
                note = f"{writer.section('note', domain)} {item.text if item else writer.line(domain, '-')}"
                turns.say("user", note, item, seconds=rng.randint(60, 900))
                continue
            shift = (
                "" if before in (domain, "") else writer.section("shift", domain) + writer.joiner
            )
            turns.say(
                "user",
                shift + writer.user(domain, item),
                item_of(item, "u"),
                seconds=rng.randint(30, 300),
            )
            turns.say(
                "assistant",
                writer.reply(domain, item),
                item_of(item, "a"),
                seconds=rng.randint(5, 40),
            )
            before = domain
    return Shelf(
        corpus, owner, half, tuple(turns.written), as_questions(plan, owner, wanted.language)
    )
