"""The answer of the tool ``forget``: it says what was taken out and what is left, and repeats no
word of it.
"""

from __future__ import annotations

from typing import Final

from memoranda.book.forgetting.hidden_facts import Hidden

#: The texts that still tell of what was forgotten, as far as an answer names them.
_TOLD: Final = 5


def taken(hidden: Hidden) -> str:
    """Return a text for the model with counts, the time of the erasure, and the ids of texts that
    are left.
    """
    traces = hidden.traces
    assert traces is not None
    parts = f" and {_counted(len(traces.spans), 'part')} of others" if traces.spans else ""
    lines = [f"Taken out of the memory: {_counted(len(traces.goes), 'record')}{parts}."]
    if hidden.erased_after_hours is None:
        lines.append("It is not erased: it stays hidden until the user or the application decides.")
    elif hidden.erased_after_hours:
        lines.append(
            f"It is erased in {hidden.erased_after_hours:g} hours, unless it is undone before."
        )
    else:
        lines.append("It is erased now, and cannot be undone.")
    still = [f"{one.type.value} {one.id} ({one.why})" for one in traces.still_tells[:_TOLD]]
    left = len(traces.still_tells) - len(still) + traces.more
    if still:
        more = f", and {left} more" if left else ""
        lines.append(f"These stay: {', '.join(still)}{more}.")
    lines.append("Other wordings were not searched for.")
    return " ".join(lines)


def _counted(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
