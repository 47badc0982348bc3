"""The long proofs: kills, power cuts, races and random programs. Each is a module with a seed, a
count and one result line.
"""

from memoranda.assembly import book_setup, load_all

# What is proved or measured decides by itself which jobs are done, and when, unless it asks for the
# worker of an open book.
#: What lets a book work by itself; a proof that needs it puts it back.
STARTS = book_setup.start_working
vars(book_setup)["start_working"] = lambda *_, **__: None

# The processes that a proof forks find everything loaded.
load_all()
