"""Pure decisions: from changes and what stands in the book to what shall stand; engines answer, store and commit."""

from commonplace.settle.batch import settle
from commonplace.settle.codec import StoredRow, decode, encode
from commonplace.settle.desk import Put, Settlement
from commonplace.settle.erasing import ErasurePlan, plan_erasure

__all__ = ["ErasurePlan", "Put", "Settlement", "StoredRow", "decode", "encode", "plan_erasure", "settle"]
