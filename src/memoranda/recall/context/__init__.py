"""The context of an agent: blocks of text made of records, within a budget of tokens."""
