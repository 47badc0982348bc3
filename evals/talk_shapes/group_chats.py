"""Chats of four to seven people with names, in half of the groups with an assistant among them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from evals.talk_shapes.shape_pools import Pool, read_pool
from evals.talk_shapes.shape_values import OTHERS, Fact, Half, Item, Shelf
from evals.talk_shapes.shelf_plan import Planner, Wanted, as_questions, facts_of
from evals.talk_shapes.talk_writer import Turns, Writer

NAME = "group_chats"
OWNERS = 12
_WANTED = Wanted(sessions=11, answered=23, unanswered=7)
#: People of a group with its owner, and whether an assistant is among them, by the owner's place in
#: the half.
_GROUPS = ((4, False), (5, True), (6, True), (7, False), (4, True), (6, False))
_ASSISTANT = "Pip"


class GroupPlanner(Planner):
    """Places facts about people of a group, whose names change from fact to fact."""

    def __init__(self, pool: Pool, rng: random.Random, names: Sequence[str]) -> None:
        super().__init__(pool, rng, _WANTED, sorted(pool.domains), {"me": names[0]})
        self._others = names[1:]

    def _values(self, fact: Fact) -> dict[str, str]:
        people = self._rng.sample(self._others, len(OTHERS))
        return super()._values(fact) | dict(zip(OTHERS, people, strict=True))

    def _place(self, fact: Fact) -> None:
        if fact.kind != "speaker":
            return super()._place(fact)
        values = self._values(fact)
        gold = [self._said(fact, values, "p", "v")]
        self._others_say(fact, values)
        self.plan.asked.append(self._ask(fact, values, gold))
        return None

    def _leave_out(self, fact: Fact) -> None:
        if fact.kind != "speaker":
            return super()._leave_out(fact)
        values = self._values(fact)
        self._others_say(fact, values)
        self.plan.asked.append(self._ask(fact, values, []))
        return None

    def _others_say(self, fact: Fact, values: Mapping[str, str]) -> None:
        """Let two others say of themselves what the question asks about the first person."""
        self._said(fact, values, "q", "w")
        self._said(fact, values, "r", "x")
        self._near(fact, values)

    def _said(self, fact: Fact, values: Mapping[str, str], who: str, value: str) -> Item:
        _, wording = self._rng.choice(fact.says["s"])
        prompted = self._rng.random() < 0.5
        session = self._sessions(fact, 1)[0]
        return self._put(
            fact, session, who, wording, {**values, "v": values[value]}, prompted=prompted
        )


class Chat:
    """Writes the messages of a group, session after session."""

    def __init__(self, writer: Writer, names: Sequence[str], *, assistant: bool) -> None:
        self.turns = Turns()
        self._writer, self._rng, self._names, self._assistant = writer, writer.rng, names, assistant
        self._last = ""

    def exchange(self, domain: str, item: Item | None) -> None:
        """Write a message, with an item or without, and what others answer."""
        writer, rng = self._writer, self._rng
        writer.focus(domain)
        if item is None:
            self._next()
            self._say(writer.line(domain, rng.choice("??-")))
            if self._assistant and rng.random() < 0.25:
                self._reply(domain, None)
        elif item.source == "a":
            self._next()
            self._say(f"@{_ASSISTANT} {item.prompt or writer.line(domain, '?')}")
            self._reply(domain, item)
        else:
            speaker = item.speaker or self._names[0]
            if item.prompt:
                self._next(speaker)
                self._say(item.prompt)
            self._begin(speaker)
            self._say(self._among_others(domain, item.text), item)
        for _ in range(rng.choice((0, 1, 2, 2, 3, 4))):
            self._next(self._last)
            self._say(
                writer.section("any", domain) if rng.random() < 0.35 else writer.line(domain, "~"),
            )

    def _among_others(self, domain: str, text: str) -> str:
        parts = [text]
        if self._rng.random() < 0.4:
            parts.insert(self._rng.randint(0, 1), self._writer.line(domain, "-"))
        if self._rng.random() < 0.2:
            parts.insert(0, self._writer.section("shift", domain))
        return " ".join(parts)

    def _reply(self, domain: str, item: Item | None) -> None:
        """Let the assistant answer in a few sentences."""
        rng, writer = self._rng, self._writer
        parts = [writer.section("helper", domain) for _ in range(rng.randint(1, 4))]
        if item is not None:
            parts.insert(rng.randint(0, len(parts)), item.text)
        if rng.random() < 0.5:
            parts.insert(0, writer.section("open", domain))
        if rng.random() < 0.3:
            parts.append(writer.section("close", domain))
        self.turns.say(
            "assistant", " ".join(parts), item, speaker=_ASSISTANT, seconds=rng.randint(3, 20)
        )

    def _next(self, *without: str) -> None:
        self._begin(self._rng.choice([name for name in self._names if name not in without]))

    def _begin(self, speaker: str) -> None:
        """Choose who writes the next message, and the person whom it may name."""
        self._last = speaker
        self._writer.cast = {
            "who": self._rng.choice([name for name in self._names if name != speaker])
        }

    def _say(self, text: str, item: Item | None = None) -> None:
        self.turns.say("user", text, item, speaker=self._last, seconds=self._rng.randint(10, 900))


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner: the chat of a group."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("group_facts", "group_talk")
    people, assistant = _GROUPS[(number - 1) // 2]
    names = rng.sample(pool.lists["name"], people)
    plan = GroupPlanner(pool, rng, names).draw(
        [fact for fact in facts_of(pool, half) if assistant or not _needs_assistant(fact)]
    )
    chat = Chat(Writer(pool, rng, {"who": names[-1]}), names, assistant=assistant)
    for session in range(_WANTED.sessions):
        chat.turns.begin(session + 1, plan.days[session])
        main, size = plan.domains[session], rng.randint(28, 46)
        said: list[tuple[str, Item | None]] = [(item.domain, item) for item in plan.items[session]]
        said += [(main, None)] * max(3, (size - 4 * len(said)) // 3)
        rng.shuffle(said)
        for domain, item in said:
            chat.exchange(domain, item)
    owner = f"{NAME}-{number}"
    return Shelf(NAME, owner, half, tuple(chat.turns.written), as_questions(plan, owner, "en"))


def _needs_assistant(fact: Fact) -> bool:
    return any(source == "a" for says in fact.says.values() for source, _ in says)
