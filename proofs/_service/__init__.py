"""Tools of the proofs about the service."""
