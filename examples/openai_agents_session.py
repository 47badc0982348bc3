"""An agent of the OpenAI Agents SDK whose conversations a book keeps. It needs no key: its model is
scripted.

python examples/openai_agents_session.py [BOOK]
"""

from __future__ import annotations

import asyncio
import sys

from agents import Agent, RunConfig, Runner, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

import memoranda
from memoranda.integrations.openai_agents import MemorandaSession, RecallHook, Scope


def answer(text: str) -> ResponseOutputMessage:
    """Return what the model says."""
    said = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="1", type="message", role="assistant", content=[said], status="completed"
    )


async def main(address: str) -> None:
    """Talk on two days; on the second, the model is shown what was said on the first."""
    set_tracing_disabled(True)
    model = ScriptedModel()
    agent = Agent(name="coach", model=model, instructions="Be brief.")
    async with memoranda.open(address) as book:
        hook = RecallHook(book, Scope("ana", "coach"))
        config = RunConfig(call_model_input_filter=hook)
        days = {"monday": "I am allergic to walnuts.", "friday": "What may I not eat, walnuts?"}
        for day, prompt in days.items():
            session = MemorandaSession(book, Scope("ana", "coach", thread=day))
            model.enqueue([answer("Noted." if day == "monday" else "No walnuts.")])
            result = await Runner.run(agent, prompt, session=session, run_config=config)
            shown = model.calls[-1].input
            print(f"{day}> {prompt}\n{result.final_output}")
            print(
                f"(the model was shown {len(shown)} items; the session has {len(await session.get_items())})"
            )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "memory://"))
