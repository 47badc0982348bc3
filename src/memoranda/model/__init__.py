"""The values of Memoranda: records, their owners and readers, changes, the ledger, and requests to models."""
