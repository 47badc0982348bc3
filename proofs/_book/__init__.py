"""Machinery that the proofs about whole books share; no proof itself."""
