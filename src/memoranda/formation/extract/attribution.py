"""Attribution: did the user say a statement, or was it recalled, claimed by the assistant, or read
from a stranger?
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memoranda.formation.extract.evidence import (
    Evidence,
    Words,
    bears,
    languages_differ,
    terms_of_text,
)
from memoranda.formation.owner_names import forms_of, owner_names
from memoranda.formation.prompts.turn_lines import shown_turns
from memoranda.formation.rules.replies import (
    asks,
    asks_to_see,
    calls_it_right,
    only_thanks,
    own_words,
    points_at_something,
    says_no,
    says_yes,
    stated_words,
)
from memoranda.model.drafts import Reading
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.text.polarity import ends_something, opposes
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import CONTAINED_COVERAGE, sentences_of

#: A statement is the user's own if the cited words of the user cover at least this share of it.
OWN_COVERAGE: Final = 0.5
#: A message repeats a memory if it covers at least this share of it.
REPEATED_COVERAGE: Final = 0.25
#: Kinds that direct the agent; only the user's own words create them.
DIRECTING: Final = frozenset({"instruction", "preference"})
#: The kind of what the assistant promised; never because of a tool or a web page.
_PROMISE: Final = "commitment"
#: A reply of at most this many words may speak of what the turn before it says.
_SHORT_REPLY: Final = 12
#: A message of fewer words that tell something orders nothing by itself.
_LEAST_SAID: Final = 3
_SPEAKERS: Final = frozenset({Trust.USER, Trust.OPERATOR})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking who said a statement."""

    #: The lowest trust of all its sources, cited or not.
    trust: Trust
    #: The cited words of the user support it; other sources are not needed.
    own: bool = False
    #: Why it cannot be kept, as a stable code and in words; empty if it can.
    code: str = ""
    reason: str = ""


_REASONS: Final = {
    "echo": "it repeats a recalled memory, and no user said it again",
    "claimed": "only the assistant says so; that is not a fact about the user",
    "stranger": "the words of a tool or a web page cannot be a preference, an instruction or a promise",
    "unseen": "it answers what was not shown of the assistant's turn",
    "quoted": "the user only quotes these words; they are not the user's own",
}


def is_from_user(message: Message) -> bool:
    """True if a message holds the user's own words, with the trust of a user or an operator."""
    return message.role == "user" and message.trust in _SPEAKERS


class Attribution:
    """Judges who said a statement, given all messages and memories that were read for a prompt."""

    def __init__(self, reading: Reading) -> None:
        said = [read.message for read in reading.messages]
        shown = shown_turns(said)
        self._before = {after.id: before for before, after in pairwise(shown)}
        #: Messages that answer a turn which was shown cut → the whole of that turn.
        self._blind = {
            after.id: before.content
            for (before, after), one in zip(pairwise(said), shown, strict=False)
            if one is not before
        }
        self._seen = [message.content for message in shown]
        self._claims = [
            message.content
            for message in said
            if not is_from_user(message) and message.trust not in STRANGERS
        ]
        self._user_said = "\n".join(
            own_words(message.content) for message in said if is_from_user(message)
        )
        self._shown = tuple(memory.content for memory in reading.candidates)
        names = {message.speaker for message in said if message.speaker and is_from_user(message)}
        self._owner_names = owner_names(reading)
        self._speakers = self._owner_names | {comparable_text(name) for name in names}
        self._strangers = Evidence(message for message in said if message.trust in STRANGERS)

    def judge(
        self,
        statement: str,
        cited: Sequence[Message],
        *,
        kind: str = "fact",
        subject: str | None = None,
        replaces: Sequence[Memory] = (),
    ) -> Verdict:
        """Decide whether a statement that cites these messages may be stored, and with which trust.

        ``replaces`` are the memories that it would end.
        """
        given, cited = cited, self._heard(cited)
        if len(cited) < len(given) and not any(map(is_from_user, cited)):
            return _refused(Trust.USER, "unseen")
        own = [message for message in cited if is_from_user(message)]
        directs = kind in DIRECTING
        words = self._words(statement)
        found = (
            self._whose(words, own, cited, directs, replaces)
            if own
            else self._reported(words, cited)
        )
        if not isinstance(found, Trust):
            return _refused(lowest(message.trust for message in cited), found)
        if found in _SPEAKERS:
            return Verdict(lowest(message.trust for message in own), own=True)
        if found in STRANGERS:
            return _refused(found, "stranger") if directs or kind == _PROMISE else Verdict(found)
        if self._answers(words, own):
            return Verdict(found)
        if self._bearing(words, self._shown):
            return _refused(found, "echo")
        about_user = subject is None or comparable_text(subject) in self._speakers
        return _refused(found, "claimed") if about_user or directs else Verdict(found)

    def is_repeated(self, statement: str, cited: Sequence[Message]) -> bool:
        """True if a user repeated a memory in their own words; hearing it from the assistant is not
        enough.
        """
        words, cited = self._words(statement), self._heard(cited)
        for message in cited:
            if not is_from_user(message):
                continue
            before = self._before.get(message.id)
            told = "" if before is None or before.role != "assistant" else before.content
            agrees = says_yes(message.content) if asks(told) else calls_it_right(message.content)
            if told and agrees and words.share(told) >= REPEATED_COVERAGE:
                return True
            said = own_words(message.content)
            share = words.share(said)
            denied = share >= CONTAINED_COVERAGE and opposes(statement, said)
            if share >= REPEATED_COVERAGE and not denied:
                return True
        return self._answers(words, [message for message in cited if is_from_user(message)])

    def is_ended(self, statement: str, cited: Sequence[Message]) -> bool:
        """True if a user's words take a memory back; a short reply may name it by the turn that it
        answers.
        """
        words, cited = self._words(statement), self._heard(cited)
        for message in cited:
            if not is_from_user(message):
                continue
            said = own_words(message.content)
            if words.share(said) >= REPEATED_COVERAGE:
                return True
            before = self._before.get(message.id)
            if (
                before is not None
                and before.role == "assistant"
                and len(said.split()) <= _SHORT_REPLY
            ):
                said = f"{said}\n{before.content}"
            if ends_something(message.content) and words.count(said):
                return True
        return False

    def is_denied(self, statement: str, cited: Sequence[Message]) -> bool:
        """True if the cited words of the user say the opposite of a statement."""
        own = filter(is_from_user, self._heard(cited))
        return opposes(statement, "\n".join(own_words(one.content) for one in own))

    def also_called(self, name: str) -> None:
        """Take a name for the owner's, such as one that the same answer puts into the profile."""
        self._owner_names |= forms_of(name)
        self._speakers |= forms_of(name)

    def other_subject(self, subject: str) -> str | None:
        """Return the subject of a statement if it is not the owner."""
        return subject if subject and comparable_text(subject) not in self._owner_names else None

    def is_from_stranger(self, statement: str, cited: Sequence[Message] = ()) -> bool:
        """True if a tool result or a web page contains a statement, or what it adds to the cited
        words of others.
        """
        words = self._words(statement)
        said = "\n".join(
            own_words(message.content) for message in cited if message.trust not in STRANGERS
        )
        return bool(self._strangers.bearing(words)) or self._strangers.adds_order(words, said)

    def is_strangers_occasion(self, occasion: str, cited: Sequence[Message]) -> bool:
        """True if the occasions that a note is for come from tools and pages, and not half of them
        from the user.
        """
        words = self._words(occasion)
        if words.share(self._user_said) >= OWN_COVERAGE and not self._strangers.adds_order(
            words, self._user_said
        ):
            return False
        return self.is_from_stranger(occasion, cited)

    def is_lesson_of_strangers(self, line: str, cited: Sequence[Message]) -> bool:
        """True if a line of experience comes from tools and pages, rather than from what user and
        assistant said.
        """
        others = [message for message in cited if message.trust not in STRANGERS]
        if not others or self.is_from_stranger(line, others):
            return True
        words = self._words(line)
        said = "\n".join(own_words(message.content) for message in others)
        if not self._strangers or words.supported(said):
            return False
        # Where a text speaks to agents, what the assistant says may come of it.
        told = said if self._strangers.addresses else "\n".join([said, *self._claims])
        translated = not self._strangers.order and self._is_translated(words, said)
        return words.share(told) < OWN_COVERAGE and not translated

    def _heard(self, cited: Sequence[Message]) -> list[Message]:
        """Return cited messages without what only points into a turn that was shown cut: nobody
        knows what it means.
        """
        heard = (_without_pointing(one) if one.id in self._blind else one for one in cited)
        return [one for one in heard if one.content.strip()]

    def _whose(
        self,
        words: Words,
        own: Sequence[Message],
        cited: Sequence[Message],
        directs: bool,
        replaces: Sequence[Memory],
    ) -> Trust | str:
        """Return the trust of those whose statement it is, or the code of the reason against it."""
        said = "\n".join(own_words(message.content) for message in own)
        stated = "\n".join(stated_words(message.content) for message in own)
        reported = [message for message in cited if message.trust in STRANGERS]
        if reported:
            stated = said = "\n".join(
                stated_words(one.content) for one in own if not asks_to_see(one.content)
            )
        thanked = (
            directs
            and bool(self._strangers)
            and all(only_thanks(message.content) for message in own)
        )
        strange = self._strangers.bearing(words)
        shown = self._bearing(words, self._shown)
        # A question states nothing, unless it contains the whole statement.
        if words.share(said) >= (OWN_COVERAGE if stated.strip() else CONTAINED_COVERAGE) and not (
            ((strange or shown) and opposes(words.text, said))
            or (directs and (thanked or self._strangers.adds_order(words, said)))
        ):
            return Trust.USER
        question = "\n".join(self._question(one) for one in own if says_yes(one.content))
        # A yes to the end of something ends what the question is about, although a tool has told
        # how it began.
        ends = bool(question) and ends_something(words.text) and ends_something(question)
        ends = ends and not (
            self._strangers.adds_order(words, said) or self._strangers.ends_too(words)
        )
        known = "\n".join(memory.content for memory in replaces if ends)
        if question and words.share(f"{said}\n{question}\n{known}") >= OWN_COVERAGE:
            if not ends and (strange or self._strangers.paraphrased(words, said)):
                return self._strangers.trust
            return "unseen" if self._guesses(words, own) else Trust.USER
        if reported and self._is_result(words, stated, replaces):
            return Trust.USER
        if strange:
            return lowest(strange)
        whole = "\n".join(message.content for message in own)
        if words.share(said) < OWN_COVERAGE <= words.share(whole) and not reported:
            return "quoted"
        ended = {memory.content for memory in replaces}
        if shown and all(words.adds(stated, text, ended=text in ended) for text in shown):
            return Trust.USER
        if self._strangers:
            return self._beside_strangers(words, stated, reported, directs, thanked)
        return self._beside_assistant(words, stated, bool(question), directs, shown)

    def _beside_strangers(
        self, words: Words, stated: str, reported: Sequence[Message], directs: bool, thanked: bool
    ) -> Trust:
        """Return the trust of a statement if tools or pages were read beside the user's words and
        none of them contains it.
        """
        strange = lowest([self._strangers.trust, *(message.trust for message in reported)])
        if words.supported(stated) and not thanked:
            told = "\n".join(message.content for message in reported)
            taken = directs and self._strangers.adds_order(words, stated)
            return strange if taken or words.count(told) > words.count(stated) else Trust.USER
        if reported:
            return strange
        if self._is_translated(words, stated):
            return strange if directs and self._strangers.order else Trust.USER
        if (
            directs
            or not stated.strip()
            or self._strangers.order
            or self._strangers.adds(words, stated)
        ):
            return strange
        return Trust.USER

    def _beside_assistant(
        self, words: Words, stated: str, answered: bool, directs: bool, shown: Sequence[str]
    ) -> Trust:
        """Return the trust of a statement if only the user's and the assistant's words and recalled
        memories were read.
        """
        if words.supported(stated) and not shown:
            return Trust.USER
        if self._is_translated(words, stated):
            return Trust.USER
        if shown or self._bearing(words, self._claims):
            return Trust.ASSISTANT
        if not stated.strip() and not answered:
            return Trust.ASSISTANT
        told = "\n".join(self._claims)
        said_little = Words(stated).size < _LEAST_SAID or words.share(told) >= OWN_COVERAGE
        led = directs and not answered and not words.count(stated) and said_little
        return Trust.ASSISTANT if led else Trust.USER

    def _is_result(self, words: Words, stated: str, replaces: Sequence[Memory]) -> bool:
        """True if a stranger only reports the result of a change that the user ordered."""
        ended = [memory for memory in replaces if memory.trust in _SPEAKERS]
        if not ended or not stated.strip():
            return False
        if words.supported(stated):
            return not self._strangers.adds_order(words, stated)
        if self._strangers.addresses:
            return False
        if ends_something(stated) and ends_something(words.text):
            return True
        return any(
            self._words(memory.content).count(stated) or words.adds(stated, memory.content)
            for memory in ended
        )

    def _reported(self, words: Words, cited: Sequence[Message]) -> Trust:
        """Return the trust of a statement that cites no user: that of a stranger whose words the
        assistant repeats.
        """
        trust = lowest(message.trust for message in cited)
        if trust in STRANGERS or not self._strangers or not self._strangers.repeated(words):
            return trust if trust not in _SPEAKERS else Trust.ASSISTANT
        return self._strangers.trust

    def _words(self, statement: str) -> Words:
        return Words(statement, self._speakers)

    @staticmethod
    def _bearing(words: Words, texts: Iterable[str]) -> list[str]:
        return [text for text in texts if bears(text, words)]

    @staticmethod
    def _is_translated(words: Words, stated: str) -> bool:
        """True if statement and cited words differ in language, and the words are enough to carry
        the statement.
        """
        return languages_differ(words.text, stated) and Words(stated).size >= max(
            3, words.size // 2
        )

    def _guesses(self, words: Words, own: Sequence[Message]) -> bool:
        """True if a statement has words of a turn that these messages answer, from a part of it
        that was not shown.
        """
        hidden = "\n".join(self._blind[one.id] for one in own if one.id in self._blind)
        return (
            bool(hidden)
            and words.beyond("\n".join([*self._seen, *self._shown]), terms_of_text(hidden)) > 0
        )

    def _question(self, message: Message) -> str:
        """Return the assistant's turn that a message answers, if it asks something; else an empty
        text.
        """
        before = self._before.get(message.id)
        if before is None or before.role != "assistant" or not asks(before.content):
            return ""
        return before.content

    def _answers(self, words: Words, own: Sequence[Message]) -> bool:
        """True if a user answers an assistant's question with anything but no, and the question
        contains the statement.
        """
        return any(
            bears(self._question(message), words) for message in own if not says_no(message.content)
        )


def _without_pointing(message: Message) -> Message:
    """Return a message without the sentences that point at something, and then without its yes."""
    said = sentences_of(message.content)
    if not any(map(points_at_something, said)):
        return message
    kept = [one for one in said if not points_at_something(one) and not says_yes(one)]
    return message.model_copy(update={"content": "\n".join(kept)})


def _refused(trust: Trust, code: str) -> Verdict:
    return Verdict(trust, code=code, reason=_REASONS[code])
