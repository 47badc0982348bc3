"""By a model: one question for a portion of a conversation, and what was wrong with the answer asked once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memoranda.formation.answer import read_answer
from memoranda.formation.prompt import Prompt
from memoranda.model.asking import Earlier, ModelAnswer, ModelRequest
from memoranda.model.forming import Confirmation, Formed, LeftOut, TakenBack
from memoranda.model.trust import Limits

#: So often what was wrong with an answer is asked again.
MENDINGS: Final = 2
#: The most faults that are handed back.
_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the answers to one prompt have come."""

    #: All that they say together, as far as it holds; None where none could be read.
    formed: Formed | None
    #: What the model may still mend; nothing where it may not, or was asked often enough.
    faults: tuple[str, ...] = ()
    #: The model will not answer; to ask again would buy the same.
    refused: bool = False


def standing(prompt: Prompt, answers: Sequence[ModelAnswer], limits: Limits) -> Standing:
    """What the answers so far come to; the same answers come to the same."""
    formed: Formed | None = None
    faults: tuple[str, ...] = ()
    wanting: frozenset[str] = frozenset()
    for answer in answers:
        if answer.refused:
            return Standing(None if _empty(formed) else formed, refused=_empty(formed))
        if answer.fault or answer.value is None:
            faults = (answer.fault or "the answer is no JSON object",)
            continue
        read = read_answer(answer.value, prompt, limits=limits)
        mendable = [one for one in read.left_out if one.mendable]
        formed = read if formed is None else _joined(formed, read, wanting)
        wanting = frozenset(map(_part, mendable))
        faults = tuple(f"{one.part}: {one.reason}" for one in mendable[:_TOLD])
    if len(answers) > MENDINGS:
        # Of an answer of which nothing holds, there is nothing to go on with.
        return Standing(None if faults and _empty(formed) else formed)
    return Standing(formed, faults)


def request_after(
    prompt: Prompt, answers: Sequence[ModelAnswer], faults: Sequence[str], largest: int
) -> ModelRequest:
    """The question as it is put next: with the last answer and its faults, where there was one."""
    earlier = (Earlier(answer=answers[-1].text, faults=tuple(faults)),) if answers and faults else ()
    return prompt.request(largest, earlier)


def _empty(formed: Formed | None) -> bool:
    return formed is None or formed.empty


def _part(left: LeftOut) -> str:
    """The part of an answer in which something was wrong: notes, patches and so on."""
    return left.part.split("[")[0].split(".")[0]


About = TypeVar("About", bound=Confirmation | TakenBack)


def _added(first: tuple[About, ...], again: tuple[About, ...], mended: bool) -> tuple[About, ...]:
    known = {one.memory for one in first}
    return (*first, *(one for one in again if mended and one.memory not in known))


def _joined(first: Formed, again: Formed, wanting: frozenset[str]) -> Formed:
    """What held before, and of the newer answer the parts that had been wrong; the rest of it was not asked for."""
    everything = "" in wanting
    patched = {patch.schema_name for patch in first.patches}

    def mended(part: str) -> bool:
        return everything or part in wanting

    return first.model_copy(
        update={
            "notes": (*first.notes, *(n for n in again.notes if mended("notes") and n not in first.notes)),
            "confirmations": _added(first.confirmations, again.confirmations, mended("repeats")),
            "taken_back": _added(first.taken_back, again.taken_back, mended("retracts")),
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
