"""The parts of `./dev` that decide which tests and proofs run."""
