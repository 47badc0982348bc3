"""The figures of the open halves: each says how much came right of how much, and a whole run is
recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from evals import open_halves


def test_a_part_prints_what_came_right_and_is_not_recorded_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    open_halves.main(["--only", "times"])
    what, right, _, of = capsys.readouterr().out.rsplit(maxsplit=3)
    assert what == "phrases of time: read rightly" and 0.95 * int(of) <= int(right) <= int(of)
    with pytest.raises(SystemExit):
        open_halves.main(["--only", "times", "--record"])


def test_a_whole_run_is_recorded_with_a_row_for_each_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def one() -> AsyncIterator[open_halves.Row]:
        yield "what was asked", 2, 3

    stored = {}
    monkeypatch.setattr(open_halves, "PARTS", {"one": one, "two": one})
    monkeypatch.setattr(
        open_halves, "record", lambda name, command, tables, covers: stored.update(tables)
    )
    open_halves.main(["--record"])
    row = ("what was asked", "2", "3")
    assert stored == {"open halves": [("", "right", "of"), row, row]}
