"""Pure decisions: they compute from a batch and the stored records what to store. Engines answer questions, store and commit."""

from memoranda.settle.batch import decide_batch
from memoranda.settle.codec import StoredRow, decode, encode
from memoranda.settle.desk import Decision, Put
from memoranda.settle.erasing import ErasurePlan, plan_erasure

__all__ = ["Decision", "ErasurePlan", "Put", "StoredRow", "decide_batch", "decode", "encode", "plan_erasure"]
