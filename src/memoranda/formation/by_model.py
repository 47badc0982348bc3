"""Combine a model's answers to one prompt: the first answer, and corrections of what was wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memoranda.formation.answer import read_answer
from memoranda.formation.prompt import Prompt
from memoranda.model.asking import Earlier, ModelAnswer, ModelRequest
from memoranda.model.forming import Confirmation, DroppedPart, Formed, TakenBack
from memoranda.model.trust import Limits

#: How often a model is asked to correct its answer.
MOST_CORRECTIONS: Final = 2
#: The most faults that are sent back to the model.
_MOST_FAULTS: Final = 20


@dataclass(frozen=True, slots=True)
class AnswerState:
    """The combined result of the answers to one prompt so far."""

    #: The valid parts of all answers; None if none could be read.
    formed: Formed | None
    #: Faults to send back to the model; empty if there are none or it was asked often enough.
    faults: tuple[str, ...] = ()
    #: The model refused to answer; asking again would cost the same and change nothing.
    refused: bool = False


def evaluate_answers(prompt: Prompt, answers: Sequence[ModelAnswer], limits: Limits) -> AnswerState:
    """Combine the answers so far; the same answers always give the same state."""
    formed: Formed | None = None
    faults: tuple[str, ...] = ()
    wanting: frozenset[str] = frozenset()
    for answer in answers:
        if answer.refused:
            return AnswerState(None if _empty(formed) else formed, refused=_empty(formed))
        if answer.fault or answer.value is None:
            faults = (answer.fault or "the answer is not a JSON object",)
            continue
        read = read_answer(answer.value, prompt, limits=limits)
        mendable = [one for one in read.left_out if one.mendable]
        formed = read if formed is None else _merged(formed, read, wanting)
        wanting = frozenset(map(_part, mendable))
        faults = tuple(f"{one.part}: {one.reason}" for one in mendable[:_MOST_FAULTS])
    if len(answers) > MOST_CORRECTIONS:
        # If nothing in the answers is valid, there is no result.
        return AnswerState(None if faults and _empty(formed) else formed)
    return AnswerState(formed, faults)


def next_request(
    prompt: Prompt, answers: Sequence[ModelAnswer], faults: Sequence[str], largest: int
) -> ModelRequest:
    """Return the next request: with the last answer and its faults, if there is one."""
    earlier = (Earlier(answer=answers[-1].text, faults=tuple(faults)),) if answers and faults else ()
    return prompt.request(largest, earlier)


def _empty(formed: Formed | None) -> bool:
    return formed is None or formed.empty


def _part(left: DroppedPart) -> str:
    """Return the part of an answer that had a fault: notes, patches and so on."""
    return left.part.split("[")[0].split(".")[0]


About = TypeVar("About", bound=Confirmation | TakenBack)


def _with_new(first: tuple[About, ...], again: tuple[About, ...], mended: bool) -> tuple[About, ...]:
    known = {one.memory for one in first}
    return (*first, *(one for one in again if mended and one.memory not in known))


def _merged(first: Formed, again: Formed, wanting: frozenset[str]) -> Formed:
    """Return the earlier result with those parts of the newer answer that had faults; its other parts are ignored."""
    everything = "" in wanting
    patched = {patch.schema_name for patch in first.patches}

    def mended(part: str) -> bool:
        return everything or part in wanting

    return first.model_copy(
        update={
            "notes": (*first.notes, *(n for n in again.notes if mended("notes") and n not in first.notes)),
            "confirmations": _with_new(first.confirmations, again.confirmations, mended("repeats")),
            "taken_back": _with_new(first.taken_back, again.taken_back, mended("retracts")),
            "patches": (
                *first.patches,
                *(p for p in again.patches if mended("patches") and p.schema_name not in patched),
            ),
            "experience": (
                *first.experience,
                *(one for one in again.experience if mended("experience") and one not in first.experience),
            ),
            "episode": first.episode or (again.episode if mended("episode") else None),
            "left_out": tuple(
                dict.fromkeys((*(one for one in first.left_out if not one.mendable), *again.left_out))
            ),
        }
    )
