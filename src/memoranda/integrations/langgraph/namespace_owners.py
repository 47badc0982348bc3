"""The owner of a namespace in a run of LangGraph."""

from __future__ import annotations

from langchain_core.runnables.config import var_child_runnable_config

from memoranda.errors import InvalidInput
from memoranda.wire.store_owners import Labels, OwnerOf


def owner_from_run(name: str = "user_id") -> OwnerOf:
    """Return a function that takes the owner's id from the run: ``config["configurable"][name]``.

    A client of a LangGraph server chooses ``configurable`` itself: there, name ``langgraph_auth_user_id``, which the server sets.
    """

    def owner_of(_namespace: Labels) -> str:
        config = var_child_runnable_config.get() or {}
        owner = config.get("configurable", {}).get(name)
        if not isinstance(owner, str) or not owner:
            raise InvalidInput(
                f"owner: this call is in no run with configurable[{name!r}]; invoke the graph with "
                f'config={{"configurable": {{{name!r}: …}}}}',
                field="owner",
            )
        return owner

    return owner_of
