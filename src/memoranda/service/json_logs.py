"""Logs of the service, one JSON object a line; they never hold content, secrets or owners."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import TextIO

#: What a record of the service may tell beside its message.
_FIELDS = ("request_id", "verb", "method", "status", "milliseconds", "principal")


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: getattr(record, name) for name in _FIELDS if hasattr(record, name)},
        }
        if record.exc_info:
            # The kind and the place of an error: its text may quote what a person said.
            kind, _, trace = record.exc_info
            line["error"] = kind.__name__ if kind else ""
            line["trace"] = _places(trace)
        return json.dumps(line)


def _places(trace: object) -> list[str]:
    found: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code  # type: ignore[attr-defined]
        found.append(f"{code.co_filename.rpartition('memoranda/')[2]}:{trace.tb_lineno}")  # type: ignore[attr-defined]
        trace = trace.tb_next  # type: ignore[attr-defined]
    return found[-20:]


def log_to(stream: TextIO, level: int = logging.INFO) -> logging.Handler:
    """Write the logs of this program to a stream, and return the handler."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("memoranda").setLevel(level)
    return handler
