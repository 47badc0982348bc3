"""Pure decisions: from changes and what stands in the book to what shall stand; engines answer, store and commit."""

from memoranda.settle.batch import decide_batch
from memoranda.settle.codec import StoredRow, decode, encode
from memoranda.settle.desk import Decision, Put
from memoranda.settle.erasing import ErasurePlan, plan_erasure

__all__ = ["Decision", "ErasurePlan", "Put", "StoredRow", "decide_batch", "decode", "encode", "plan_erasure"]
