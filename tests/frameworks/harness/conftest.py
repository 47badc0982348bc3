"""Real books on each engine."""

from __future__ import annotations

from tests.frameworks.agents.conftest import address as address
from tests.frameworks.agents.conftest import book as book
from tests.frameworks.agents.conftest import postgres as postgres
