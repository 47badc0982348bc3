"""Transcripts of the Claude Agent SDK in a book. It needs no key: the entries are written here, as
the SDK would.

python examples/claude_agent_store.py [BOOK]
"""

from __future__ import annotations

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, SessionKey, SessionStoreEntry

import memoranda
from memoranda.integrations.claude_agent import MemorandaSessionStore, Scope


async def main(address: str) -> None:
    """Store a transcript, list it, read it back, and find it by what was said."""
    async with memoranda.open(address) as book:
        store = MemorandaSessionStore(book, lambda project: Scope(project, "coder"))
        options = ClaudeAgentOptions(session_store=store)
        assert options.session_store is store
        key: SessionKey = {"project_key": "ana", "session_id": "session-1"}
        entries: list[SessionStoreEntry] = [
            {"type": "user", "uuid": "1", "message": {"content": "Fix the login page"}},
            {"type": "custom-title", "customTitle": "Login"},
        ]
        await store.append(key, entries)
        await store.append(key, entries)  # sent again: stored once
        for summary in await store.list_session_summaries("ana"):
            print(
                summary["session_id"],
                summary["data"]["custom_title"],
                len(await store.load(key) or ()),
            )
        for hit in await book.recall("ana", "login", limit=1, agent="coder"):
            print(hit.record.passage_text())
        await store.delete(key)
        print(await store.load(key), len(await book.recall("ana", "login", agent="coder")))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "memory://"))
