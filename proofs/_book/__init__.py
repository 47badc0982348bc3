"""Tools shared by the proofs about whole books; not a proof itself."""
