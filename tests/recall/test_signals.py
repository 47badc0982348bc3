"""Signals: what tells that a passage answers, besides its words and its meaning."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import memoranda
from memoranda import Book, Embedding, Hits
from memoranda.recall.scoring.scorers import NAMED
from memoranda.recall.scoring.signals import Signal


@pytest.fixture
async def book() -> AsyncIterator[Book]:
    async with memoranda.open("memory://", embed=None) as opened:
        yield opened


async def _told(book: Book, *turns: tuple[str, str]) -> None:
    thread = await book.thread("ana")
    await thread.append([{"role": role, "content": text} for role, text in turns])


async def _asked(book: Book, question: str) -> Hits:
    return await book.recall("ana", question, types=["message"], limit=20)


def _signals(hits: Hits, text: str) -> dict[str, float]:
    return next(dict(hit.signals) for hit in hits if text in hit.text)


TALK = (
    ("user", "My grandmother left me her old piano last spring"),
    ("assistant", "An old piano from a grandmother needs tuning twice a year and a dry room"),
    ("user", "Thank you for that advice about the room then"),
)


async def test_in_a_talk_with_an_assistant_the_users_own_words_come_first(book: Book) -> None:
    await _told(book, *TALK)
    hits = await _asked(book, "Whose grandmother had the old piano")
    assert hits[0].text.startswith("My grandmother")
    assert _signals(hits, "My grandmother")[Signal.OWN_WORDS] > 0
    assert Signal.OWN_WORDS not in _signals(hits, "needs tuning")


async def test_a_question_for_what_the_assistant_said_raises_the_users_words_less(book: Book) -> None:
    await _told(book, *TALK)
    whose = _signals(await _asked(book, "the old piano of grandmother"), "My grandmother")
    yours = _signals(await _asked(book, "what did you say of grandmother's old piano"), "My grandmother")
    assert 0 < yours[Signal.OWN_WORDS] < whose[Signal.OWN_WORDS] / 2


async def test_a_memory_is_raised_like_the_users_words(book: Book) -> None:
    await _told(book, *TALK)
    await book.remember("ana", "Owns the old piano of her grandmother")
    hits = await book.recall("ana", "old piano of grandmother")
    amounts = {hit.record.type.value: dict(hit.signals).get(Signal.OWN_WORDS, 0) for hit in reversed(hits)}
    assert amounts["memory"] > 0


async def test_between_people_with_names_nobody_is_raised(book: Book) -> None:
    thread = await book.thread("ana")
    for role, speaker in (("user", "Ana"), ("assistant", "Ben")):
        await thread.append(
            [
                {
                    "role": role,
                    "speaker": speaker,
                    "content": f"{speaker} repaired the piano of grandmother today",
                }
            ]
        )
    for hit in await _asked(book, "piano of grandmother"):
        assert Signal.OWN_WORDS not in dict(hit.signals)


async def test_what_follows_a_question_with_the_questions_words_is_raised(book: Book) -> None:
    await _told(
        book,
        ("assistant", "Which instrument did you play at the wedding in Porto?"),
        ("user", "The cello, and my brother sang two songs for them"),
        ("user", "Afterwards we drove home through the rain for hours"),
    )
    hits = await _asked(book, "instrument played at the wedding")
    assert _signals(hits, "The cello")[Signal.AFTER_QUESTION] > 0
    assert Signal.AFTER_QUESTION not in _signals(hits, "drove home")


async def test_short_messages_and_short_questions_are_lowered_and_stay_hits(book: Book) -> None:
    await _told(
        book,
        ("user", "The wedding?"),
        ("assistant", "Wedding!"),
        ("user", "The wedding took place in a chapel above the harbour of Porto"),
    )
    hits = await _asked(book, "wedding")
    assert hits[0].text[:13] == "The wedding t"
    assert len(hits) == 3 and all(hit.score > 0 for hit in hits)
    question = _signals(hits, "The wedding?")
    assert question[Signal.SHORT] < 0 and question[Signal.SHORT_QUESTION] < 0
    assert Signal.SHORT_QUESTION not in _signals(hits, "Wedding!")
    assert Signal.SHORT not in _signals(hits, "chapel")


async def test_notes_of_one_voice_are_not_lowered_for_being_short(book: Book) -> None:
    await _told(book, ("user", "Wedding: Porto"), ("user", "Dentist on the third floor of the old house"))
    assert Signal.SHORT not in _signals(await _asked(book, "wedding"), "Porto")


async def test_a_question_for_what_holds_now_raises_the_newer(book: Book) -> None:
    thread = await book.thread("ana")
    for day, phone in enumerate(("Fairphone", "Nokia", "Pixel"), start=1):
        await thread.append(
            [
                {
                    "role": "user",
                    "content": f"My phone is a green {phone} with a cracked glass",
                    "observed_at": f"2025-03-0{day}T10:00:00Z",
                }
            ]
        )
    hits = await _asked(book, "Which phone does she use now")
    assert "Pixel" in hits[0].text
    assert _signals(hits, "Pixel")[Signal.NEWER] > _signals(hits, "Nokia")[Signal.NEWER] > 0
    assert Signal.NEWER not in _signals(await _asked(book, "Which phone was hers"), "Pixel")


async def test_what_lies_in_the_named_time_is_raised(book: Book) -> None:
    thread = await book.thread("ana")
    for month, city in ((3, "Faro"), (7, "Braga")):
        await thread.append(
            [
                {
                    "role": "user",
                    "content": f"We visited {city} together",
                    "observed_at": f"2025-0{month}-10T10:00:00Z",
                }
            ]
        )
    hits = await _asked(book, "Which city was visited in July 2025")
    assert "Braga" in hits[0].text and _signals(hits, "Braga")[Signal.IN_TIME] > 0
    # The year is the right one.
    assert _signals(hits, "Faro")[Signal.IN_TIME] < _signals(hits, "Braga")[Signal.IN_TIME] / 1.5
    assert Signal.IN_TIME not in _signals(await _asked(book, "Which city was visited"), "Braga")


async def test_a_passage_with_a_near_word_is_found_without_a_model(book: Book) -> None:
    await _told(
        book,
        ("user", "The physician told me to rest for two weeks"),
        ("assistant", "Rest is important after an operation of that sort"),
    )
    hits = await _asked(book, "doctor")
    assert "physician" in hits[0].text
    assert [word for word, share in hits[0].near_words if share > 0] == ["doctor"] and hits[0].words == ()
    await _told(book, ("user", "My doctor has his office beside the bakery"))
    first, second = (await _asked(book, "doctor"))[:2]
    assert first.text[:9] == "My doctor" and first.words and not first.near_words
    assert second.near_words


async def test_scores_weights_and_signals_add_up_to_the_score(book: Book) -> None:
    await _told(
        book, *TALK, ("assistant", "Which piano?"), ("user", "The old one of my grandmother, in the kitchen")
    )
    hits = await _asked(book, "the old piano of grandmother now")
    best = {
        one.scorer: max(o.score for hit in hits for o in hit.scores if o.scorer == one.scorer)
        for one in hits[0].scores
    }
    for hit in hits:
        base = sum(one.weight * one.score / best[one.scorer] for one in hit.scores)
        said = base + NAMED * hit.names_speaker + sum(amount for _, amount in hit.signals)
        assert hit.score == pytest.approx(said)


async def test_a_short_question_is_found_where_questions_are_asked_for(book: Book) -> None:
    await _told(
        book,
        ("user", "Where is the red ladder?"),
        ("assistant", "The ladder stands in the shed behind the house of your neighbour, as far as I know"),
        ("user", "Thanks, and the paint is dry by now I suppose"),
    )
    asked = await _asked(book, "what did I ask about the red ladder")
    assert asked[0].text == "Where is the red ladder?"
    assert Signal.SHORT_QUESTION not in _signals(asked, "Where is")
    assert _signals(await _asked(book, "the red ladder stands where"), "Where is")[Signal.SHORT_QUESTION] < 0


class Topics:
    """An embedder that knows two topics."""

    embedding = Embedding("test", "topics", 3)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[0.2, "metric" in text or "marathon" in text, "piano" in text] for text in texts]
        found = np.array(rows, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)  # type: ignore[no-any-return]

    async def query(self, text: str) -> NDArray[np.float32]:
        return (await self.passages([text]))[0]  # type: ignore[no-any-return]

    async def close(self) -> None:
        return None


async def test_a_standing_wish_is_found_for_its_topic_as_a_turn_and_as_a_memory() -> None:
    async with memoranda.open("memory://", embed=Topics()) as book:
        await _told(
            book, ("user", "From now on give lengths in metric units"), ("user", "My metric ruler broke")
        )
        await book.remember("ana", "Always wants metric units for lengths", kind="preference")
        await book.remember("ana", "Owns an old piano in the hall")
        await book.embed()
        hits = await book.recall("ana", "how far is a marathon")
        raised = {hit.text for hit in hits if Signal.STANDING_WISH in dict(hit.signals)}
        assert raised == {"From now on give lengths in metric units", "Always wants metric units for lengths"}
        assert {hit.text for hit in hits[:2]} == raised
