"""Forms small talks through the template of a memory service: ``[--model PROVIDER:NAME] [--set
FILE] [--json]``.

It needs the environment of LangGraph (``./dev frameworks langgraph`` makes it). Each case is some
talks with one user, each in a thread of its own, and what must be in the store afterwards: for each
memory type the documents, no more and no fewer, each with at least these fields. Another user must
have nothing. Without ``--model`` the answers of the set itself are given: that shows the way from a
talk to the store, and says nothing about any model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
for place in (ROOT, ROOT / "templates/memory_service/src"):
    sys.path.insert(0, str(place))

from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402
from memory_service import books, chat, memory_graph  # noqa: E402

SET: Final = ROOT / "evals/sets/memory_service.json"
#: The name under which the answers of the set are given.
GIVEN: Final = "given answers"
_ENTRY: Final = re.compile(r"^- \[([mc]\d+)[ ,][^\]]*\] (.*)$", re.MULTILINE)


class GivenAnswers(BaseChatModel):
    """Gives the answer of the present session; texts that name a message or a memory become the
    handles of the prompt.
    """

    answer: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return GIVEN

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        shown = _ENTRY.findall(str(messages[-1].content))
        text = json.dumps(_with_handles(self.answer, shown))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def _with_handles(part: Any, shown: Sequence[tuple[str, str]]) -> Any:
    """Return a part of an answer with ``said`` as its sources, and ``held`` as the memory that it
    is about.
    """
    if isinstance(part, list):
        return [_with_handles(one, shown) for one in part]
    if not isinstance(part, Mapping):
        return part
    found = {
        name: _with_handles(one, shown)
        for name, one in part.items()
        if name not in ("said", "held")
    }
    for field, kind in (("said", "m"), ("held", "c")):
        if field in part:
            handle = next(
                (one for one, line in shown if one.startswith(kind) and part[field] in line), None
            )
            found |= {"memory": handle} if kind == "c" else {"sources": [{"message": handle}]}
    return found


async def measure(
    cases: Sequence[Mapping[str, Any]], given: GivenAnswers | None
) -> list[dict[str, Any]]:
    """Form all cases in the book of the environment; return what is missing, what is too much, and
    the calls of each.
    """
    results = []
    async with books.make_store() as store:
        graph = memory_graph.builder.compile(store=store)
        for place, case in enumerate(cases):
            user, traces = f"user {place}", []
            context = {"user_id": user}
            if case.get("memory_types"):
                context["memory_types"] = case["memory_types"]
            for number, session in enumerate(case["sessions"]):
                if given is not None:
                    given.answer = session["answer"]
                messages = [
                    HumanMessage(text, id=f"{place}-{number}-{at}")
                    for at, text in enumerate(session["turns"])
                ]
                run = {"configurable": {"thread_id": f"{place}-{number}"}}
                traces += (await graph.ainvoke({"messages": messages}, run, context=context))[
                    "trace"
                ]
            missing, surplus = [], []
            for name, expected in case["expected"].items():
                values = [
                    one.value for one in await store.asearch(("memories", user, name), limit=100)
                ]
                lack, left = _compared(values, expected)
                missing += [{name: one} for one in lack]
                surplus += [{name: one} for one in left]
            strangers = await store.asearch(("memories", f"{user} and another"), limit=1)
            calls = sum(one["model"]["calls"] for one in traces)
            left_out = [one["code"] for trace in traces for one in trace["left_out"]]
            right = not (missing or surplus or strangers)
            results.append(
                {
                    "case": case["name"],
                    "right": right,
                    "missing": missing,
                    "surplus": surplus,
                    "left_out": left_out,
                    "calls": calls,
                }
            )
    return results


def _compared(
    values: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> tuple[list[Any], list[Any]]:
    """Return what was expected and is not there, and what is there and was not expected."""
    left, lack = list(values), []
    for wanted in expected:
        found = next(
            (
                one
                for one in left
                if all(_is_alike(one.get(name), of) for name, of in wanted.items())
            ),
            None,
        )
        if found is None:
            lack.append(wanted)
        else:
            left.remove(found)
    return lack, left


def _is_alike(held: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(held, list) and len(held) >= len(wanted)
    return str(held).casefold() == str(wanted).casefold()


async def run(model: str | None, path: Path) -> list[dict[str, Any]]:
    """Measure a set on a new book."""
    given = GivenAnswers() if model is None else None
    if given is not None:
        chat.OWN[GIVEN] = given
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEMORANDA_BOOK"] = str(Path(folder) / "book.db")
        os.environ["MEMORY_MODEL"] = model or GIVEN
        return await measure(json.loads(path.read_text("utf-8")), given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results; 1 if a case is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--model",
        help="a model of LangChain's init_chat_model that forms; without it, the set's answers",
    )
    parser.add_argument("--set", type=Path, default=SET)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    found = asyncio.run(run(chosen.model, chosen.set))
    if chosen.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        sys.stdout.write(f"formed by: {chosen.model or GIVEN + ' (no model was asked)'}\n")
        for one in found:
            told = (
                ""
                if one["right"]
                else f"  missing {one['missing']}, surplus {one['surplus']}, left out {one['left_out']}"
            )
            sys.stdout.write(
                f"{'right' if one['right'] else 'WRONG'}  {one['case']}  ({one['calls']} calls){told}\n"
            )
        sys.stdout.write(f"{sum(one['right'] for one in found)} of {len(found)} right\n")
    return 0 if all(one["right"] for one in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
