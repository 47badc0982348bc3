"""Parts of the proofs on a MongoDB server."""
