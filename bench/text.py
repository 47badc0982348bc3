"""Seeded text that behaves like conversation: sentences over a large vocabulary used as unevenly as
a real one.
"""

from __future__ import annotations

import random
from itertools import accumulate

VOCABULARY = 30_000

#: Function words are real ones, so that the language is recognised and stop words are dropped.
COMMON = """the to and of a in that it is was for on you with he as i we at be this they have from or by not but what
all were when can there an your which their if do will each about how up out them then she many some so these would
other into has more her two like him see time could no make than first been its who now people my made over did down
only way find use may water long little very after words called just where most know""".split()
_STARTS = (
    "b c d f g h j k l m n p r s t v w br ch cl cr dr fl gr pl pr sh sl sp st str th tr".split()
)
_VOWELS = "a e i o u ai ea ee oa ou".split()
_ENDS = "b ck d g l ll m n nd ng nt p r rd rt s sh sk st t x".split()
_SUFFIXES = ("s", "ed", "ing", "er", "ly", "ness", "ment")
#: Words in a topic, and sentences until the topic changes.
_TOPIC_WORDS = 40
_TOPIC_SENTENCES = 150


class Talk:
    """A generator that makes the same text again from the same seed."""

    def __init__(self, seed: int, vocabulary: int = VOCABULARY) -> None:
        self._rng = random.Random(seed)
        self._common = (COMMON, _zipf(len(COMMON)))
        words = _vocabulary(vocabulary - len(COMMON))
        self._rare = (words, _zipf(len(words)))
        #: The current topic's words.
        self._topic: list[str] = []
        self._left = 0

    def sentence(self, least: int = 6, most: int = 18) -> str:
        if self._left == 0:
            self._topic, self._left = (
                self._rng.sample(self._rare[0], _TOPIC_WORDS),
                _TOPIC_SENTENCES,
            )
        self._left -= 1
        words = [self._word() for _ in range(self._rng.randint(least, most))]
        return f"{' '.join(words).capitalize()}{self._rng.choice('..?!')}"

    def _word(self) -> str:
        """Return the next word; nearly half of all words are function words."""
        chance = self._rng.random()
        if chance < 0.12:
            return self._rng.choice(self._topic)
        words, sums = self._common if chance < 0.62 else self._rare
        return self._rng.choices(words, cum_weights=sums)[0]

    def passage(self, sentences: int = 3) -> str:
        """Return one turn of up to a few sentences."""
        return " ".join(self.sentence() for _ in range(self._rng.randint(1, sentences)))

    def characters(self, length: int) -> str:
        """Return a text of exactly this length."""
        text = self.sentence()
        while len(text) < length:
            text += " " + self.sentence()
        return text[: length - 1] + "."

    def question(self, passage: str) -> str:
        """Return five to eight words: some from a passage, so that there is an answer, and common
        and rare ones.
        """
        rng = self._rng
        said = [word.strip(".?!").lower() for word in passage.split()]
        words = rng.sample(said, min(len(said), rng.randint(2, 3)))
        words += rng.sample(self._rare[0][:40], rng.randint(1, 2)) + rng.sample(self._common[0], 2)
        words += rng.sample(self._rare[0], rng.randint(0, 1))
        rng.shuffle(words)
        return " ".join(words) + "?"


def _zipf(count: int) -> list[float]:
    """Return cumulative weights: the n-th word is used about 1/n as often as the first."""
    return list(accumulate(1 / (rank + 2) for rank in range(count)))


def _vocabulary(size: int) -> list[str]:
    """Return pronounceable words, mostly the shorter ones first; the same in every run."""
    rng = random.Random(20_000)
    words: dict[str, None] = {}
    while len(words) < size:
        most = 1 if len(words) < 1000 else 2
        body = "".join(
            rng.choice(_STARTS) + rng.choice(_VOWELS) for _ in range(rng.randint(1, most))
        )
        words[body + rng.choice(_ENDS) + (rng.choice(_SUFFIXES) if rng.random() < 0.3 else "")] = (
            None
        )
    return list(words)
