"""A book in memory."""

from __future__ import annotations

import pytest

import memoranda


@pytest.fixture
async def book():
    async with memoranda.open("memory://", worker=False, embed=None) as opened:
        yield opened
