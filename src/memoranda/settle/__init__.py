"""Pure decisions: from changes and what stands in the book to what shall stand; engines answer, store and commit."""

from memoranda.settle.batch import settle
from memoranda.settle.codec import StoredRow, decode, encode
from memoranda.settle.desk import Put, Settlement
from memoranda.settle.erasing import ErasurePlan, plan_erasure

__all__ = ["ErasurePlan", "Put", "Settlement", "StoredRow", "decode", "encode", "plan_erasure", "settle"]
