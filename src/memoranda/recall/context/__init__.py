"""What an agent reads: blocks of text made of records, within a budget of tokens."""
