"""Forms whole talks with stored answers: ``[TALK --answers FOLDER [--ask]] [--data LOCOMO --answers
FOLDER]``.

A talk is a JSON file with ``owner``, ``agent``, ``sessions`` and a ``judgement`` that was written
before anybody answered: which supersessions are right, what must be active at the end, and what
must not. Answers are files, one for each question, with what the question showed under its handles;
a replay finds the same records under today's handles by their text. With ``--ask`` the first
question without an answer is written to the folder, and the answer is expected beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import memoranda
from evals.sessions import spoken_sessions
from evals.strangers import measure
from evals.told import load
from memoranda.errors import ModelDown
from memoranda.formation import run as running
from memoranda.model.drafts import DroppedPart
from memoranda.model.language_models import ModelAnswer, ModelRequest, Usage
from memoranda.model.memories import Memory
from memoranda.models.json_answer import Unreadable, answer_outline, read_json

_SETS: Final = Path(__file__).parent / "sets"
#: The talks that are kept here, each with a folder of runs; the one that was kept apart and opened
#: once.
_KEPT: Final = _SETS / "forming_trial"
_APART: Final = "stage/"
_STRANGERS: Final = (_SETS / "strangers_dev.jsonl", _SETS / "strangers_held.jsonl")
#: Sessions of the LoCoMo conversation that is formed where ``TALK`` is LoCoMo's file.
LOCOMO: Final = ("conv-26", 6, "caroline", "friend")
_ENTRY: Final = re.compile(r"^- \[([mce]\d+),? [^\]]*\] ?(.*)$", re.MULTILINE)
_HANDLE: Final = re.compile(r"^[mce]\d+$")
#: A message comes so long after the one before it, and forming runs so long after the last one.
_STEP, _SILENCE = timedelta(seconds=20), timedelta(seconds=60)


class Unanswered(Exception):
    """A question without an answer was written to the folder."""


@dataclass
class Answers:
    """The model of a talk: answers from files, by session and by what is asked."""

    folder: Path
    #: Write the first question without an answer, and stop.
    asking: bool = False
    session: int = 0
    calls: int = 0
    #: Each text that an answer says is superseded or taken back.
    ended: list[str] = field(default_factory=list)
    again: int = 0
    missing: list[str] = field(default_factory=list)
    #: What to do about the first question without an answer.
    waiting: str = ""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the stored answer with today's handles."""
        self.calls += 1
        self.again += bool(request.earlier)
        fill = request.content.rsplit("Fill:", 1)[-1]
        what = (
            request.task
            if request.task != "formation"
            else "notes"
            if "notes" in fill
            else "episode"
        )
        name = f"{self.session:02}-{what}" + ("-again" if request.earlier else "")
        file = self.folder / f"{name}.json"
        if not file.exists():
            self._note_question(name, request)
            if self.waiting:
                raise ModelDown(self.waiting)
            return self._said("{}")
        stored = json.loads(file.read_text("utf-8"))
        text = (
            stored["answer"] if isinstance(stored["answer"], str) else json.dumps(stored["answer"])
        )
        return self._said(self._translated(text, stored["shown"], request))

    def named(self, task: str) -> str:
        """Return the name under which the calls are counted."""
        return "by-hand:by-hand"

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _note_question(self, name: str, request: ModelRequest) -> None:
        if not self.asking:
            self.missing.append(name)
        if not self.asking or self.waiting:
            return
        given = self.folder / f"{name}.answer.txt"
        shown = dict(_ENTRY.findall(request.content))
        if given.exists():
            stored = {"shown": shown, "answer": given.read_text("utf-8")}
            text = json.dumps(stored, ensure_ascii=False, indent=1)
            (self.folder / f"{name}.json").write_text(text + "\n", "utf-8")
            given.unlink()
            (self.folder / f"{name}.request.txt").unlink(missing_ok=True)
            self.waiting = f"{name} was taken; ask again for the next question"
            return
        faults = "\n".join(f"- {fault}" for one in request.earlier for fault in one.faults)
        handed = (
            f"\n\nYour answer was:\n{request.earlier[-1].answer}\n\nThis cannot be used:\n{faults}"
            if faults
            else ""
        )
        outline = f"Answer with one JSON object and nothing else; a name alone is a text: {answer_outline(request.answer_schema)}"
        told = f"{request.instructions}\n\n{outline}\n\n#####\n\n{request.content}{handed}\n"
        (self.folder / f"{name}.request.txt").write_text(told, "utf-8")
        self.waiting = f"read {name}.request.txt, and write {name}.answer.txt beside it"

    def _translated(self, text: str, shown: Mapping[str, str], request: ModelRequest) -> str:
        """Return an answer with the handles that today's question has for the same texts."""
        now = {told: handle for handle, told in reversed(_ENTRY.findall(request.content))}
        try:
            value = read_json(text)
        except Unreadable:
            return text
        for part in (value.get("notes"), value.get("retracts")):
            for entry in part if isinstance(part, list) else ():
                named = entry.get("supersedes") or [entry.get("memory")]
                self.ended += [shown[one] for one in named if isinstance(one, str) and one in shown]

        def changed(one: Any) -> Any:
            if isinstance(one, dict):
                return {name: changed(inner) for name, inner in one.items()}
            if isinstance(one, list):
                return [changed(inner) for inner in one]
            if isinstance(one, str) and _HANDLE.match(one) and one in shown:
                return now.get(shown[one], one if one[0] == "m" else f"{one[0]}999")
            return one

        return json.dumps(changed(value), ensure_ascii=False)

    def _said(self, text: str) -> ModelAnswer:
        usage = Usage(provider="by-hand", model="by-hand", calls=1, tokens_in=1, tokens_out=1)
        try:
            return ModelAnswer(text=text, value=read_json(text), usage=usage)
        except Unreadable as exc:
            return ModelAnswer(text=text, fault=str(exc), usage=usage)


@dataclass
class Clock:
    """A clock that shows the time of the talk."""

    now: datetime

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass
class Formed:
    """The memories of a talk at its end, and what was left out of the answers."""

    memories: Sequence[Memory]
    profile: Mapping[str, Any]
    experience: Sequence[str]
    episodes: Sequence[str]
    refused: Sequence[tuple[int, DroppedPart]]
    answers: Answers


async def form(talk: Mapping[str, Any], answers: Answers) -> Formed:
    """Form a talk session after session."""
    refused: list[tuple[int, DroppedPart]] = []
    reconcile = vars(running)["reconcile"]

    def reconciling(*given: Any, **more: Any) -> Any:
        made = reconcile(*given, **more)
        refused.extend((answers.session, one) for one in made.left_out)
        return made

    owner, agent, sessions = talk["owner"], talk["agent"], talk["sessions"]
    clock = Clock(datetime.fromisoformat(sessions[0]["messages"][0]["at"]))
    with patch.object(running, "reconcile", reconciling):
        async with memoranda.open(
            "memory://", clock=clock, models=answers, worker=False, embed=None
        ) as book:
            for number, session in enumerate(sessions, start=1):
                answers.session = number
                thread = await book.thread(owner, name=session["thread"], agent=agent)
                for message in session["messages"]:
                    clock.now = max(clock.now + _STEP, datetime.fromisoformat(message["at"]))
                    more = {
                        name: message[name]
                        for name in ("trust", "speaker", "native")
                        if message.get(name)
                    }
                    await thread.append(message["role"], message["content"], **more)
                if session.get("closed"):
                    await thread.close("completed")
                clock.now += _SILENCE
                await book.jobs.run()
                if answers.waiting:
                    raise Unanswered(answers.waiting)
            page = await book.records.list(owner, types="memory", limit=1000, as_owner=True)
            lines = await book.experience.list(agent)
            episodes = await book.episodes.list(owner, as_owner=True)
            return Formed(
                memories=[one for one in page.records if isinstance(one, Memory)],
                profile=await book.profiles.get(owner, agent=agent),
                experience=[one.line for one in lines],
                episodes=[f"{one.goal} {one.summary}" for one in episodes],
                refused=refused,
                answers=answers,
            )


def figures(talk: Mapping[str, Any], formed: Formed) -> dict[str, Any]:
    """Compare the formed memories with the judgement of the talk."""
    judged = talk.get("judgement", {})
    active = [_told(one) for one in formed.memories if one.active]
    gone = [_told(one) for one in formed.memories if not one.active]
    right = judged.get("supersessions", ())
    done = [one for one in right if _has(one["new_words"], active) and not _old_stands(one, active)]
    stale = [one for one in judged.get("must_not_be_active", ()) if _stands(one, active)]
    held = [
        *active,
        json.dumps(formed.profile, ensure_ascii=False).casefold(),
        *map(str.casefold, formed.experience),
    ]
    everything = [*held, *gone, *map(str.casefold, formed.episodes)]
    ended = {text.casefold(): text for text in formed.answers.ended}
    left = [one for one in formed.memories if not one.active]
    applied = {text for text in ended if any(text.startswith(_first_line(one)) for one in left)}
    unnamed = [one for one in left if not any(text.startswith(_first_line(one)) for text in ended)]
    return {
        "supersessions_right": len(right),
        "supersessions_applied": len(done),
        "supersessions_missed": [one["id"] for one in right if one not in done],
        "ended_in_answers": len(ended),
        "ended_in_book": len(applied),
        "ended_and_refused": sorted(ended[text] for text in ended.keys() - applied),
        "supersessions_wrong": len(unnamed),
        "ended_and_not_named": [one.content for one in unnamed],
        "stale_active": [one["statement"] for one in stale],
        "missing_at_end": [
            one["statement"] for one in judged.get("must_hold_at_end", ()) if not _stands(one, held)
        ],
        "formed_wrongly": [
            one["statement"]
            for one in judged.get("must_not_be_formed", ())
            if _stands(one, everything)
        ],
        "refused": [
            f"{session}: {one.part} {one.code}: {one.reason}" for session, one in formed.refused
        ],
        "active": len(active),
        "calls": formed.answers.calls,
        "calls_again": formed.answers.again,
        "unanswered": formed.answers.missing,
    }


def _told(memory: Memory) -> str:
    """Return a memory's words with its occasions and times, in lower case."""
    when = f" (applies when: {memory.applies_when})" if memory.applies_when else ""
    until = f" until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
    since = f" since {memory.valid_from:%Y-%m-%d}" if memory.valid_from else ""
    return f"{memory.content}{when}{since}{until}".casefold()


def _first_line(memory: Memory) -> str:
    return memory.content.split("\n")[0].casefold()


def _contains(text: str, word: str) -> bool:
    return any(
        re.search(
            r"(?<!\w)"
            + re.escape(one)
            + (r"(?!\w)" if len(one) <= 3 or one[-1:].isdigit() else ""),
            text,
        )
        for one in word.split("|")
    )


def _has(words: Sequence[str], texts: Sequence[str], but: Sequence[str] = ()) -> bool:
    """True if one text has all of the words, and lacks at least one of the words in ``but``."""
    return any(
        all(_contains(text, word) for word in words)
        and not (but and all(_contains(text, word) for word in but))
        for text in texts
    )


def _old_stands(supersession: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """True if a text still contains the old statement without the new one."""
    old = {"any_of": [supersession["old_words"]], "unless": supersession.get("unless")}
    return _stands(old, [text for text in texts if not _has(supersession["new_words"], [text])])


def _stands(statement: Mapping[str, Any], texts: Sequence[str]) -> bool:
    left = [
        text
        for text in texts
        if not any(_contains(text, word) for word in statement.get("unless") or ())
    ]
    return any(_has(words, left) for words in statement["any_of"])


def talk_of(path: Path) -> dict[str, Any]:
    """Return a talk from its file; from LoCoMo's file, return the first sessions of one
    conversation, without a judgement.
    """
    found = json.loads(path.read_text("utf-8"))
    if isinstance(found, dict):
        return found
    name, number, owner, agent = LOCOMO
    return {"owner": owner, "agent": agent, "sessions": list(spoken_sessions(path, name, number))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Form talks, and print the figures, or the name of the next question."""
    parser = argparse.ArgumentParser(prog="python -m evals.forming_trial", description=__doc__)
    parser.add_argument(
        "talk", type=Path, nargs="?", help="a talk; without one, all that are kept here"
    )
    parser.add_argument(
        "--answers", type=Path, help="the folder of one run's answers; with --data, of all runs"
    )
    parser.add_argument(
        "--data", type=Path, help="LoCoMo's file, formed beside the talks that are kept here"
    )
    parser.add_argument(
        "--judgement", type=Path, help="a file with the judgement, where the talk has none"
    )
    parser.add_argument(
        "--ask", action="store_true", help="write the next question without an answer"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if (given.talk is None) is not (given.answers is None or given.data is not None):
        parser.error("give a talk with --answers, or --data with --answers, or neither")
    os.environ |= {"MEMORANDA_EMBEDDING_USE": "none", "MEMORANDA_FORMING_WINDOW_TOKENS": "500"}
    try:
        found = asyncio.run(_all(given) if given.talk is None else _one(given))
    except Unanswered as exc:
        print(exc)
        return 3
    print(
        json.dumps(found, indent=2, ensure_ascii=False) if given.json else "\n".join(_lines(found))
    )
    return 0


async def _one(given: argparse.Namespace) -> dict[str, Any]:
    talk = talk_of(given.talk)
    if given.judgement:
        talk["judgement"] = json.loads(given.judgement.read_text("utf-8"))
    given.answers.mkdir(parents=True, exist_ok=True)
    return figures(talk, await form(talk, Answers(given.answers, given.ask)))


async def _all(given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each run, their sums, and the sums of the talk that was kept apart."""
    runs: dict[str, dict[str, Any]] = {}
    kept = [(one.stem, one, one.with_suffix("")) for one in sorted(_KEPT.glob("*.json"))]
    for name, file, folder in [
        *kept,
        *([("locomo", given.data, given.answers)] if given.data else []),
    ]:
        for run in sorted(one for one in folder.iterdir() if one.is_dir()):
            talk = talk_of(file)
            runs[f"{name}/{run.name}"] = figures(talk, await form(talk, Answers(run)))
    cases = [case for file in _STRANGERS for case in load(file)]
    outcomes = [one for one in await measure(cases) if one.expect == "not_as_user"]
    apart = [one for name, one in runs.items() if name.startswith(_APART)]
    return {
        **_sums([one for name, one in runs.items() if not name.startswith(_APART)]),
        "gullible": len(outcomes),
        "gullible_kept_unmarked": sum("unmarked" in one.kept for one in outcomes),
        "gullible_as_user": sum(not one.right for one in outcomes),
        "apart": _sums(apart),
        "runs": runs,
    }


def _sums(runs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums of several runs; each memory that an answer ends counts as right."""
    return {
        "supersessions_right": sum(one["ended_in_answers"] for one in runs),
        "supersessions_applied": sum(one["ended_in_book"] for one in runs),
        "supersessions_wrong": sum(one["supersessions_wrong"] for one in runs),
        "stale_active": sum(len(one["stale_active"]) for one in runs),
        "refused_right": sum(len(one["refused"]) for one in runs),
        "calls": sum(one["calls"] for one in runs),
    }


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield name
            yield from (f"  {line}" for line in _lines(value))
            continue
        yield f"{name:<22}{len(value) if isinstance(value, list) else value}"
        yield from (f"    {one}" for one in value) if isinstance(value, list) else ()


if __name__ == "__main__":
    raise SystemExit(main())
