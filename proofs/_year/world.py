"""The world of a simulated year: what is true when, what is said of it, and what is asked; some is
said again, some is a lie.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
#: The days of a whole world; a shorter one has as many facts fewer.
YEAR = 365

_THINGS = """dentist landlord gym bank employer insurer barber vet accountant cafe physiotherapist mechanic neighbour manager
tailor supermarket library therapist lawyer optician pharmacy butcher bakery florist plumber electrician babysitter mentor
roommate hairdresser cleaner gardener tutor coach cardiologist notary bookshop garage hotel airline""".split()
_PEOPLE = [
    ("my", "I"),
    ("my sister's", "my sister"),
    ("my brother's", "my brother"),
    ("my mother's", "my mother"),
    ("my friend Ida's", "my friend Ida"),
]
_SYLLABLES = "ba be bo da de do fa fe ga go ha ja ka ke la le lo ma me mi na ne no pa pe ra re ro sa se ta te to va".split()
_SAYINGS = (
    "{whose} {thing} is {value}",
    "{value} is {whose} {thing}",
    "{whose} current {thing}: {value}",
    "as {thing} {who} chose {value}",
    "for a {thing}, {who} relies on {value}",
)
_LIKINGS = (
    "I like {value}",
    "I am fond of {value}",
    "I really enjoy {value}",
    "I am a big fan of {value}",
)
_NUMBERED = (
    "a parcel with the number {value} is on its way to me",
    "I have a locker with the number {value}",
    "I hold a season ticket with the number {value}",
    "I look after the greenhouse plot with the number {value}",
)


@dataclass
class Fact:
    """Something true, with the days from which each value held; the last one holds still."""

    question: str
    values: list[tuple[int, str]] = field(default_factory=list)
    key: str | None = None

    @property
    def value(self) -> str:
        """The value that holds at the end."""
        return self.values[-1][1]


@dataclass
class Said:
    """A statement of a day about a fact."""

    day: int
    fact: Fact
    text: str
    trust: str = "user"
    agent: str = "a"

    @property
    def key(self) -> str | None:
        """A lie has no key."""
        return self.fact.key if self.trust == "user" else None


class World:
    """The facts of one seed, what is said on each day, and which facts are asked for."""

    def __init__(self, seed: int, days: int) -> None:
        self.days = days
        self._dice = random.Random(seed)
        self._names = self._made_names(1_600)
        self.facts: list[Fact] = []
        self.said: list[Said] = []
        for thing in _THINGS[: max(len(_THINGS) * days // YEAR, 6)]:
            for whose, who in _PEOPLE:
                self._one_at_a_time(thing, whose, who)
        for _ in range(max(200 * days // YEAR, 20)):
            self._liking()
        for text in _NUMBERED:
            for _ in range(max(15 * days // YEAR, 5)):
                self._several_at_a_time(text)
        self.said.sort(key=lambda one: one.day)
        order = list(self.facts)
        self._dice.shuffle(order)
        self._weights = {id(fact): 1 / (place + 1) ** 0.9 for place, fact in enumerate(order)}

    def asked(self, day: int) -> list[Fact]:
        """Return the facts that are asked for on a day: a few of them often, most rarely."""
        known = [fact for fact in self.facts if fact.values[0][0] <= day]
        weights = [self._weights[id(fact)] for fact in known]
        return random.Random(f"{day} {len(known)}").choices(known, weights, k=3) if known else []

    def _made_names(self, count: int) -> list[str]:
        names = set[str]()
        while len(names) < count:
            names.add("".join(self._dice.choice(_SYLLABLES) for _ in range(3)).capitalize())
        return sorted(names, key=lambda _: self._dice.random())

    def _say(self, day: int, fact: Fact, text: str, trust: str = "user", agent: str = "a") -> None:
        self.said.append(
            Said(min(day, self.days - 1), fact, text[0].upper() + text[1:], trust, agent)
        )

    def _one_at_a_time(self, thing: str, whose: str, who: str) -> None:
        dice = self._dice
        fact = Fact(f"Who or what is {whose} {thing} now?")
        fact.key = f"{whose} {thing}" if dice.random() < 0.6 else None

        def words(value: str) -> str:
            return dice.choice(_SAYINGS).format(whose=whose, thing=thing, who=who, value=value)

        day = dice.randrange(self.days * 2 // 3)
        spans = [(day, self._names.pop())]
        if dice.random() < 0.75 and day + 10 < self.days:
            spans.append((dice.randrange(day + 10, self.days), self._names.pop()))
        fact.values = spans
        self.facts.append(fact)
        for (first, value), end in zip(
            spans, [*(span[0] for span in spans[1:]), self.days], strict=True
        ):
            self._say(first, fact, words(value))
            self._again(first, end, fact, partial(words, value))
        if dice.random() < 0.75:
            lie = words(self._names.pop())
            self._say(dice.randrange(self.days), fact, lie, trust=dice.choice(["web", "assistant"]))
        if fact.key is not None and dice.random() < 0.12:
            self._say(
                dice.randrange(self.days * 4 // 5, self.days),
                fact,
                words(self._names.pop()),
                agent="b",
            )

    def _again(self, first: int, end: int, fact: Fact, words: Callable[[], str]) -> None:
        for _ in range(self._dice.choice([0, 1, 1, 2, 2]) if end - first > 2 else 0):
            self._say(self._dice.randrange(first + 1, end), fact, words())

    def _liking(self) -> None:
        day, value = self._dice.randrange(self.days), self._names.pop()
        fact = Fact(f"Do I like {value}?", [(day, value)])
        self.facts.append(fact)

        def words() -> str:
            return self._dice.choice(_LIKINGS).format(value=value)

        self._say(day, fact, words())
        self._again(day, self.days, fact, words)

    def _several_at_a_time(self, text: str) -> None:
        value, day = str(self._dice.randrange(1_000, 10_000)), self._dice.randrange(self.days)
        fact = Fact(f"Is this so: {text.format(value=value)}?", [(day, value)])
        self.facts.append(fact)
        self._say(day, fact, text.format(value=value))
