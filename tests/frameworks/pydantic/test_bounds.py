"""The environment has a PydanticAI with what older versions lack."""

from __future__ import annotations

from importlib.util import find_spec


def test_this_version_of_pydantic_ai_has_conversation_stores() -> None:
    assert find_spec("pydantic_ai.conversation_store") is not None
