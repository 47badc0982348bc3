"""A passage that a search found, with the reasons why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.recall.scoring.ranking import Term


class MatchSummary(NamedTuple):
    """The part of a search's result that all its matches share."""

    terms: Sequence[Term]
    #: The question's words and then its times, in the question's order.
    words: Sequence[str]


class Match(NamedTuple):
    """A passage that a search found, with the reasons."""

    id: bytes
    score: float
    summary: MatchSummary
    #: The cosine of its vector and the question's; None without vectors.
    cosine: float | None = None
    #: What each word adds to the score by words, and whether the passage has only a near word
    #: instead of it.
    shares: Sequence[float] = ()
    near: Sequence[bool] = ()
    #: What each term adds to the score.
    amounts: Sequence[float] = ()
    #: A number equal for passages with the same words, and rarely for others; odd for memories.
    kin: int = 0
    #: The chance that it answers; None for passages that were only listed.
    confidence: float | None = None

    @property
    def is_memory(self) -> bool:
        """True for a memory, False for a message or an episode; the lowest bit of ``kin`` says
        so.
        """
        return bool(self.kin & 1)

    def terms(self, whole: float) -> tuple[tuple[str, float], ...]:
        """Return what each term adds, where a passage with a score of ``whole`` has 1; terms that
        add nothing are left out.
        """
        amounts = zip(self.summary.terms, self.amounts, strict=False)
        return tuple([(term.value, amount / whole) for term, amount in amounts if amount])

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The question's words that this passage contains, in the question's order, with their
        shares.
        """
        return self._words(near=False)

    @property
    def near_words(self) -> tuple[tuple[str, float], ...]:
        """The question's words of which this passage contains only a near word, with their shares.

        Added to those of ``words``, in the question's order, the shares are the score by words.
        """
        return self._words(near=True) if any(self.near) else ()

    def _words(self, *, near: bool) -> tuple[tuple[str, float], ...]:
        found = zip(self.summary.words, self.shares, self.near, strict=False)
        return tuple([(word, share) for word, share, is_near in found if share and is_near is near])
