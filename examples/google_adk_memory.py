"""A book as the memory of an agent of Google's ADK. It needs no key: its model is a few rules.

python examples/google_adk_memory.py [BOOK]
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.genai import types

import memoranda
from memoranda.integrations.google_adk import MemorandaMemoryService, Scope


class Rules(BaseLlm):
    """Answers in place of a language model: looks into the memory for questions, and notes
    everything else.
    """

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield one answer."""
        last = (llm_request.contents[-1].parts or [])[-1]
        if last.function_response is not None:
            part = types.Part(text=f"I found: {last.function_response.response}")
        elif (last.text or "").endswith("?"):
            asked = types.FunctionCall(name="load_memory", args={"query": last.text})
            part = types.Part(function_call=asked)
        else:
            part = types.Part(text="Noted.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main(address: str) -> None:
    """Talk in two sessions; the first is added to the memory, and the second finds it."""
    async with memoranda.open(address) as book:
        memory = MemorandaMemoryService(book, lambda app, user: Scope(user, app))
        sessions = InMemorySessionService()
        agent = LlmAgent(name="helper", model=Rules(model="rules"), tools=[load_memory])
        runner = Runner(
            app_name="garden", agent=agent, session_service=sessions, memory_service=memory
        )
        for prompt in ("I keep bees on the roof.", "Where are my bees?"):
            session = await sessions.create_session(app_name="garden", user_id="ana")
            message = types.Content(role="user", parts=[types.Part(text=prompt)])
            print(f"> {prompt}")
            async for event in runner.run_async(
                user_id="ana", session_id=session.id, new_message=message
            ):
                for part in (event.content.parts if event.content else None) or []:
                    if part.text:
                        print(part.text)
            held = await sessions.get_session(
                app_name="garden", user_id="ana", session_id=session.id
            )
            assert held is not None
            await memory.add_session_to_memory(held)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "memory://"))
