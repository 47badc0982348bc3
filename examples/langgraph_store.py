"""A LangGraph chatbot that stores its user's facts in a book and finds them on the next run; it
needs no key.
"""

from __future__ import annotations

import sys
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from memoranda.integrations.langgraph import MemorandaStore, owner_from_run


class State(TypedDict):
    """The state of the graph: the user's message and the answer."""

    said: str
    answer: str


def answer(state: State, *, store: BaseStore) -> dict[str, Any]:
    """Store the user's message, and answer with the stored ones that match it."""
    known = store.search(("memories",), query=state["said"], limit=3)
    if not state["said"].endswith("?"):
        store.put(
            ("memories",),
            str(len(store.search(("memories",), limit=1000))),
            {"text": state["said"]},
        )
        return {"answer": "I will remember that."}
    found = [item.value["text"] for item in known if item.score]
    return {"answer": f"You told me: {'; '.join(found)}" if found else "You have not told me."}


def main(address: str) -> None:
    """Talk as two users about one thing."""
    with MemorandaStore(address, owner_of=owner_from_run("user_id")) as store:
        builder = StateGraph(State)
        builder.add_node("answer", answer)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", END)
        graph = builder.compile(store=store)
        for user, said in [
            ("ana", "Which nuts am I allergic to?"),
            ("ana", "I am allergic to walnuts and other nuts."),
            ("ana", "Which nuts am I allergic to?"),
            ("ben", "Which nuts am I allergic to?"),
        ]:
            done = graph.invoke({"said": said, "answer": ""}, {"configurable": {"user_id": user}})
            print(f"{user}> {said}\n{done['answer']}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory://")
