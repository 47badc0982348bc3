"""An engine of Memoranda over plain dicts: read it before you write one for your own database.

It holds a book in this process, loses it at the end, and looks through whole tables for every
answer. Read in this order:

1. ``tables``: the rows, and the one executor of all questions and writes that are data.
2. ``engine``: how use cases are run. This is the place of transactions and of durability.
3. ``records``: ``Base`` finds the owner, ``StoreRecords`` stores what was decided about a batch; and what an erasure removes.
4. ``reads``: what a view may see, and what has changed on a shelf since a revision.
5. ``beside``: jobs and their leases, spending, terms, uses, vectors. ``pieces``: copies, imports, verification.

**What an engine must answer.** Every call on a book runs a use case of ``memoranda.storage``, a
generator that asks questions and then yields writes. All of them are classes in
``memoranda.storage`` (``questions``, ``upkeep_questions``, ``service_questions``, ``writes``),
whose docstrings say what is asked. A third of them are data: ``memoranda.storage.asked`` says them
as conditions on the columns of tables. Each of the others has a function here, under ``handles``.
An engine with a better statement for one that is data registers a function for it, too.

**What it gets for nothing.** ``memoranda.storage.store.Store`` has all other methods of
``memoranda.ports.Engine``. Use cases decide batches, recognise repeated operations, plan erasures,
know the states of jobs, and verify, copy and rebuild books.

**What it may leave out.** What only some engines can do has protocols of its own in
``memoranda.ports``: ``NotifiesWorkers``, ``SearchesLargeShelves``, ``ReadsOneMoment``,
``CopiesItself``. An engine declares one by having its methods; this one has none.

``tests/engines/test_dict_engine.py`` runs the conformance suite on it, and opens a book over it.
"""

from examples.extending.dict_engine.engine import DictEngine

__all__ = ["DictEngine"]
