"""Parts of the proofs about MCP: the fixtures of the official conformance runner."""
