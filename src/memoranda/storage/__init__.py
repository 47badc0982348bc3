"""Pure decisions: compute what to store from a batch and the stored records; engines read, store
and commit.
"""

from memoranda.storage.decide.batch import decide_batch
from memoranda.storage.decide.erasure_plan import ErasurePlan, plan_erasure
from memoranda.storage.decide.state import Decision, Put
from memoranda.storage.rows import StoredRow, decode, encode

__all__ = [
    "Decision",
    "ErasurePlan",
    "Put",
    "StoredRow",
    "decide_batch",
    "decode",
    "encode",
    "plan_erasure",
]
