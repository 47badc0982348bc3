"""A book on a server, given the same work as the one in memory, says and holds the same, whatever
the work is.
"""

from __future__ import annotations

import asyncio
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.postgres_server import Place
from tests.engines.test_engines_agree import STEPS, beside_the_reference

pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "5"))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="HYPOTHESIS_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 2**32)), min_size=1, max_size=60
    )
)
def test_a_server_given_the_same_work_says_and_holds_the_same(
    postgres: Place, steps: list[tuple[str, int]]
) -> None:
    async def work() -> None:
        await beside_the_reference(steps, await PostgresEngine.open(postgres.new_book()))

    asyncio.run(work())
