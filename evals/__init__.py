"""Evaluations of recall and formation: our own sets, and the programs that measure on them."""

from contextlib import suppress

# Other memories are run in environments of their own, in which the product is not installed.
with suppress(ModuleNotFoundError):
    from memoranda.assembly import book_setup

    # What is proved or measured decides by itself which jobs are done, and when, unless it asks for
    # the worker of an open book.
    vars(book_setup)["start_working"] = lambda *_, **__: None
