"""The scheme for comparison: after each session three calls, each with the whole session and all
memories.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from evals.corpora import Turn
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory

_PROFILE = """\
Look through the whole conversation and bring the profile of the person up to date. Take what is known already from the block \
of the person's experience, keep every field that still holds, and change only what this conversation changes. Pay attention to:

1. Who the person is: name, age, home, what they do for a living, where they come from.
2. What they care about: interests, hobbies, subjects to which they return, things that they avoid.
3. How they like to talk: tone, length of answers, formality, words of their own, language.

Give the complete profile back, with the old values where nothing changed. Add to lists instead of replacing them, do not guess, and \
leave a field as it is where the conversation says nothing about it."""
_MEMORIES = """\
Read the conversation and find what is worth remembering for later conversations. Look for:

1. Facts and preferences: what the person likes and dislikes, their background, their work and education, the people around them and how \
they are related to them.
2. Circumstances: what holds for a time only (dates, deadlines, journeys), what belongs to a place, projects and aims that they work on, \
what happened to them of late.
3. Ways of talking: how they want to be spoken to, subjects that they enjoy, subjects that need care, words and names of their own.
4. What is open: promises to come back to something, discussions without an end, intentions that they spoke of.

For each memory say in which situation it may matter, with every limit in time or condition, and think about how it may bear on what \
is said next time. Where a memory takes the place of an older one, which you find in the block of the person's experience, name \
the ids of the older ones as superseded. Example: somebody who had said that they live in one city, kept under some id, now says that they \
have moved to another; make a new memory with that id among the superseded ones. Give new memories only; older ones are replaced by \
themselves. The answer is a list of memories, each with its context, its category and its content; prefer what keeps later \
conversations connected with this one."""
_EXPERIENCE = """\
Look at this conversation once more and bring the accumulated experience of the agent up to date. Look for what helps with every \
person and in every session:

1. Knowledge: what was learnt about the subject that is of use to all, which patterns and which mistakes showed, which ways of going about \
it worked whoever asked.
2. Patterns: which common situation this was an example of, which use of tools went well, which principles of decision showed.
3. Rules of thumb: what may be said in general, which earlier rules can be made finer, which circumstances keep deciding about success.

Join it with the experience that is held already in its block: keep what is there and make it better, never write over it. Keep out whatever \
belongs to one person: no preferences, no names, nothing by which somebody could be known. Prefer principles to single cases, describe \
how tools serve in general, and name what should be improved. The experience grows from conversation to conversation."""
_SYSTEM = "You keep the memory of an assistant. Use the knowledge that is stored to understand what is said."


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "default": "", "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_PROFILE_SCHEMA: dict[str, Any] = {
    "title": "Profile",
    "type": "object",
    "properties": {
        "name": _text("What the person is called"),
        "age": {
            "anyOf": [{"type": "integer"}, {"type": "null"}],
            "description": "Age in years, if it is known",
        },
        "interests": _texts("What the person is interested in"),
        "home": _text("Where the person lives"),
        "occupation": _text("What the person does for a living"),
        "conversation_preferences": _texts("How the person likes to be talked to"),
    },
}
_MEMORY_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "title": "Memory",
        "type": "object",
        "description": "Something that the person told and that is worth recalling later",
        "properties": {
            "context": _text(
                "The situation in which this memory may matter, with every caveat and condition: whether it holds only at work, for a "
                "time, with some people; and what else helps to understand when and how to use it"
            ),
            "category": _text("The sort of memory, such as preference, fact or experience"),
            "content": _text("The very information, preference or event that is to be remembered"),
            "superseded_ids": _texts("Ids of memories whose place this one takes"),
        },
        "required": ["context", "category", "content"],
    },
}
_EXPERIENCE_SCHEMA: dict[str, Any] = {
    "title": "AgentExperience",
    "type": "object",
    "properties": {
        "procedural_knowledge": _text(
            "What is understood of how tasks of this kind are gone about"
        ),
        "common_scenarios": _texts("Situations that keep coming, and what usually surrounds them"),
        "effective_strategies": _texts("Ways of going about things that worked well"),
        "known_pitfalls": _texts("What often goes wrong, and how to deal with it"),
        "tool_patterns": _texts("How tools are used well, tool by tool"),
        "heuristics": _texts("Rules of thumb that experience has taught"),
        "user_feedback": _texts(
            "What people said when they were not content, as far as it helps the agent to become better"
        ),
        "improvement_areas": _texts("What should become better, as the feedback may show"),
    },
}
_TASKS = (
    ("profile", _PROFILE, _PROFILE_SCHEMA),
    ("memories", _MEMORIES, _MEMORY_SCHEMA),
    ("experience", _EXPERIENCE, _EXPERIENCE_SCHEMA),
)


def questions(turns: Sequence[Turn], known: Sequence[Memory]) -> Iterator[ModelRequest]:
    """Return the three calls after a session."""
    memories = "\n\n".join(_memory(memory) for memory in known)
    experience = json.dumps({name: [] for name in _EXPERIENCE_SCHEMA["properties"]})
    profile = json.dumps(dict.fromkeys(_PROFILE_SCHEMA["properties"], ""))
    stored = (
        f"<agent_experience>\n{experience}\n</agent_experience>\n\n"
        f"<user_specific_experience>\n{profile}\n\n<memories>\n{memories}\n</memories>\n</user_specific_experience>"
    )
    said = "\n".join(f"{turn.role}: {turn.speaker}: {turn.text}" for turn in turns)
    for task, asked, schema in _TASKS:
        yield ModelRequest(
            task=task,
            instructions=f"{_SYSTEM}\n\n{stored}",
            content=f"{said}\n\n{asked}",
            answer_schema=schema,
            largest=4_000,
        )


def _memory(memory: Memory) -> str:
    return json.dumps(
        {
            "id": str(memory.id),
            "created_at": memory.recorded_at.isoformat(),
            "context": memory.applies_when,
            "category": memory.kind,
            "content": memory.content,
        },
        ensure_ascii=False,
    )
