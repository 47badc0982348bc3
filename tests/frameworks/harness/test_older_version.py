"""Tests that features missing in an older PydanticAI raise an error that names the version
needed.
"""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidInput


def test_conversations_name_the_version_that_they_need() -> None:
    with pytest.raises(InvalidInput, match=r"pydantic-ai-slim>=2\.66"):
        import memoranda.integrations.pydantic_conversations  # noqa: F401, PLC0415
