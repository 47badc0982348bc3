"""Writes turns around the items of a plan: what a user says, and what an assistant answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from evals.talk_shapes.shape_pools import Pool, fill
from evals.talk_shapes.shape_values import Item, ShapeTurn


class Turns:
    """The turns of one shelf as they are written, session after session."""

    def __init__(self) -> None:
        self.written: list[ShapeTurn] = []
        self._session = self._place = 0
        self._at = datetime.fromtimestamp(0, UTC)

    def begin(self, session: int, at: datetime) -> None:
        """Begin a session."""
        self._session, self._place, self._at = session, 0, at

    def say(
        self,
        role: str,
        text: str,
        *items: Item | None,
        speaker: str | None = None,
        seconds: int = 60,
    ) -> None:
        """Write one turn, and tell its items where they stand."""
        self._place += 1
        self._at += timedelta(seconds=seconds)
        id = f"D{self._session}:{self._place}"
        for item in items:
            if item is not None:
                item.turn = id
        self.written.append(ShapeTurn(id, self._session, self._at, role, speaker, text))


class Writer:
    """Sentences of a pool's domains, the least used first, none twice on a shelf."""

    def __init__(
        self, pool: Pool, rng: random.Random, cast: Mapping[str, str], joiner: str = " "
    ) -> None:
        self.pool, self.rng, self.cast, self.joiner = pool, rng, cast, joiner
        self._used: Counter[str] = Counter()
        self._texts: set[str] = set()
        self._language = ""
        self._focus: dict[str, list[str]] = {}

    def focus(self, domain: str) -> None:
        """Choose the few things that the next turns talk about."""
        lists = self.pool.domains[domain].lists
        self._focus = {
            name: self.rng.sample(found, min(2, len(found))) for name, found in lists.items()
        }

    def line(self, domain: str, mark: str) -> str:
        """Return a sentence of a domain."""
        return self._fresh(self.pool.domains[domain].lines[mark], domain)

    def speak(self, language: str) -> None:
        """Choose the language of what follows."""
        self._language, self.joiner = language, "" if language == "zh" else " "

    def section(self, name: str, domain: str) -> str:
        """Return a sentence that fits every domain, such as an opening."""
        lines = self.pool.sections.get(f"{name}.{self._language}") or self.pool.sections[name]
        return self._fresh(lines, domain)

    def has(self, section: str) -> bool:
        """True if the pool has lines in a section."""
        return section in self.pool.sections

    def _fresh(self, lines: list[str], domain: str) -> str:
        lists = self.pool.lists | self.pool.domains[domain].lists | self._focus
        text = ""
        for _ in range(8):
            least = min(self._used[line] for line in lines)
            line = self.rng.choice([line for line in lines if self._used[line] <= least])
            self._used[line] += 1
            text = fill(line, self.rng, self.cast, lists=lists)
            if text not in self._texts:
                break
        self._texts.add(text)
        return text

    def user(self, domain: str, item: Item | None) -> str:
        """Return what a user says: an item among other things, or a request."""
        rng = self.rng
        if item is None:
            return self.line(domain, "?")
        if item.source != "u":
            return item.prompt or self.line(domain, "?")
        parts = [item.text]
        if rng.random() < 0.55:
            parts.insert(rng.randint(0, 1), self.line(domain, "-"))
        if rng.random() < 0.6:
            parts.append(self.line(domain, "?"))
        return self.joiner.join(parts)

    def answer(self, domain: str, item: Item | None, words: int) -> str:
        """Return an answer of about so many words, with the item in one of its paragraphs."""
        rng = self.rng
        paragraphs = [self.section("open", domain)]
        count = self._count(paragraphs[0])
        placed = item is None or item.source != "a"
        where = rng.uniform(0.15, 0.8)
        while count < words or not placed:
            sentences = [self.line(domain, "~") for _ in range(rng.randint(3, 5))]
            if rng.random() < 0.4 and self.has("any"):
                sentences.insert(rng.randint(0, len(sentences)), self.section("any", domain))
            if not placed and count >= where * words and item is not None:
                sentences.insert(rng.randint(0, len(sentences)), item.text)
                placed = True
            paragraphs.append(self._paragraph(sentences))
            count += self._count(paragraphs[-1])
        if rng.random() < 0.6:
            paragraphs.append(self.section("close", domain))
        return "\n\n".join(paragraphs)

    def short(self, domain: str, item: Item | None) -> str:
        """Return an answer of a few sentences."""
        sentences = [self.line(domain, "~") for _ in range(self.rng.randint(1, 3))]
        if item is not None and item.source == "a":
            sentences.insert(self.rng.randint(0, len(sentences)), item.text)
        return self.joiner.join(sentences)

    def reply(self, domain: str, item: Item | None) -> str:
        """Return a short answer that may have an opening and an end."""
        rng = self.rng
        parts = [self.short(domain, item)]
        if rng.random() < 0.5:
            parts.insert(0, self.section("open", domain))
        if rng.random() < 0.3:
            parts.append(self.section("any", domain))
        if rng.random() < 0.25:
            parts.append(self.section("close", domain))
        return self.joiner.join(parts)

    def _paragraph(self, sentences: list[str]) -> str:
        if self.rng.random() < 0.25:
            return "\n".join(f"- {sentence}" for sentence in sentences)
        return self.joiner.join(sentences)

    def _count(self, text: str) -> int:
        return len(text.split()) if self.joiner else len(text) // 2


def long_words(rng: random.Random) -> int:
    """Return a length for a long answer: most of 205 to 290 words, a few of up to 1,300."""
    if rng.random() < 0.08:
        return rng.randint(600, 1300)
    return rng.randint(205, 290) if rng.random() < 0.75 else rng.randint(330, 560)


def item_of(item: Item | None, source: str) -> Item | None:
    """Return the item if its text comes from this source."""
    return item if item is not None and item.source == source else None
