"""A service of ours as a process of its own, as ``memoranda serve`` starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def live_service(book: Path | str, *, log: Path | None = None, **settings: str) -> Iterator[str]:
    """Serve a book on a free port of this machine; the value is its address."""
    command = [sys.executable, "-m", "memoranda", "--book", str(book), "serve", "--port", "0"]
    around = {**os.environ, "PYTHONUNBUFFERED": "1", "MEMORANDA_EMBEDDING_USE": "none", **settings}
    with (
        (log or Path(f"{book}.log")).open("w") as errors,
        subprocess.Popen(
            command, env=around, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://\S+:\d+", line)
            assert found is not None, line + Path(errors.name).read_text()
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)
